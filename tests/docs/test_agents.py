"""The agents of the examples: what they compute is what the papers say, and they learn; quickly, for a start."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

pytest.importorskip("gymnasium")
pytest.importorskip("matplotlib")

from examples import ppo_cartpole as ppo  # noqa: E402
from examples import td3_pendulum as td3  # noqa: E402
from examples.showing import Curve  # noqa: E402

ROOT = Path(__file__).parents[2]


# ---- proximal policy optimization -----------------------------------------------------------------------------------


def some_steps(count: int = 3, length: int = 40) -> ppo.Steps:
    env = ppo.cartpole(count)
    env.set_seed(0)
    with torch.no_grad():
        return env.rollout(length, ppo.Agent().policy, break_when_any_done=False)


def test_an_advantage_is_the_discounted_sum_of_surprises_up_to_the_end_of_the_episode() -> None:
    steps, critic = some_steps(), ppo.Critic()
    after, lesson = steps.next, ppo.lessons(critic, steps)
    assert after.done.any()

    expected, ahead = critic(steps.obs), critic(after.obs)
    for row in range(3):
        for time in range(40):
            total, weight = torch.tensor(0.0), 1.0
            for later in range(time, 40):
                left = 0.0 if after.terminated[row, later] else ahead[row, later]
                total = total + weight * (after.reward[row, later, 0] + ppo.DISCOUNT * left - expected[row, later])
                weight *= ppo.DISCOUNT * ppo.TRACE
                if after.done[row, later]:
                    break
            torch.testing.assert_close(lesson.advantage[row, time], total)
    torch.testing.assert_close(lesson.goal, lesson.advantage + expected)


def test_the_first_ratio_is_one() -> None:
    env, agent = ppo.cartpole(2), ppo.Agent()
    with torch.no_grad():
        steps = env.rollout(5, agent.policy)

    torch.testing.assert_close(agent.log_prob(steps.obs, steps.action), steps.action.log_prob)


def test_steps_outside_of_the_clip_teach_the_policy_nothing() -> None:
    agent = ppo.Agent()
    lesson = ppo.lessons(agent.critic, some_steps()).flatten()
    assert lesson.push.log_prob is not None
    lesson.advantage = torch.arange(len(lesson)).float()
    better = lesson.advantage > lesson.advantage.mean()
    # As if the good choices had been made much more probable since, and the bad ones much less.
    log_prob = torch.where(better, lesson.push.log_prob - 5, lesson.push.log_prob + 5)
    lesson = lesson.replace(push=ppo.Push(action=lesson.push.action, log_prob=log_prob))
    ppo.loss(agent, lesson, clip=0.2).backward()

    assert all(not one.grad.any() for one in agent.actor.parameters() if one.grad is not None)
    assert any(one.grad.any() for one in agent.critic.parameters() if one.grad is not None)


def test_the_pole_stays_up_longer_after_thirty_rounds() -> None:
    torch.manual_seed(0)
    agent = ppo.Agent()
    before = ppo.returns(agent, seed=1).mean()
    for _ in ppo.train(agent, rounds=30, seed=0):
        pass

    assert ppo.returns(agent, seed=1).mean() > 100 > 2 * before


# ---- twin delayed policy gradients ----------------------------------------------------------------------------------


def remembered(length: int = 5) -> td3.Step:
    return td3.remembered(td3.pendulum().rollout(length))


def test_a_memory_holds_the_last_steps() -> None:
    step = remembered(8)
    memory = td3.Memory(step[0], size=20)
    memory.add(step[:16])
    assert (memory.sample(100).reward.unsqueeze(-1) == step.reward[:16]).any(-1).all()

    memory.add(step[16:])
    assert torch.equal(memory.rows.reward[:12], step.reward[20:])
    assert torch.equal(memory.rows.swing.observation[16:], step.swing.observation[16:20])


def test_what_a_critic_is_to_say_is_what_the_lesser_target_expects() -> None:
    step, learner = remembered(), td3.Learner(td3.Agent())
    target = learner.target
    torch.manual_seed(0)
    found = learner.critics_loss(step)

    torch.manual_seed(0)
    noise = (td3.BLUR * torch.randn(len(step), 1)).clamp(-td3.LIMIT, td3.LIMIT)
    torque = td3.Torque(action=(target.actor(step.after).action + noise).clamp(-td3.TORQUE, td3.TORQUE))
    goal = step.reward + td3.DISCOUNT * target.value(step.after, torque).amin(0)
    one, other = learner.agent.value(step.swing, step.torque)
    torch.testing.assert_close(found, ((one - goal) ** 2).mean() + ((other - goal) ** 2).mean())


@pytest.mark.parametrize("delayed", [False, True])
def test_the_critics_move_always_and_actor_and_target_with_a_delay(delayed: bool) -> None:
    learner = td3.Learner(td3.Agent())
    before = copy.deepcopy(learner)
    learner.learn(remembered(), delayed)

    def moved(one: torch.nn.Module, other: torch.nn.Module) -> bool:
        return any(not torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))

    assert moved(learner.agent.critics, before.agent.critics)
    assert moved(learner.agent.actor, before.agent.actor) is delayed
    assert moved(learner.target, before.target) is delayed


def test_a_pendulum_is_trained_with_a_seed() -> None:
    ends = []
    for _ in range(2):
        torch.manual_seed(0)
        agent = td3.Agent()
        *_, last = td3.train(agent, rounds=td3.RANDOM + 2, seed=0)
        ends.append(last)

    assert torch.equal(ends[0].next.obs.observation, ends[1].next.obs.observation)
    assert ends[0].next.reward.min() >= -0.1 * 16.28


# ---- whole programs -------------------------------------------------------------------------------------------------


def test_a_curve_goes_through_the_mean_of_the_last_twenty() -> None:
    curve = Curve()
    curve.add(10, [1.0] * 20)
    curve.add(20, [])
    curve.add(30, [3.0] * 10)

    assert curve.means == [(10, 1.0), (30, 2.0)]


@pytest.mark.parametrize("name", ["ppo_cartpole", "td3_pendulum"])
def test_a_program_leaves_a_curve_and_a_film_and_says_whether_the_goal_is_reached(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", f"examples.{name}", "--rounds", "2", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "is not reached" in done.stdout
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / f"{name}.gif").read_bytes().startswith(b"GIF89a")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ppo_cartpole", "td3_pendulum"])
def test_a_program_reaches_its_goal(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", f"examples.{name}", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
