"""The agents of the examples: what they compute is what the papers say, and they learn; quickly, for a start."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

pytest.importorskip("gymnasium")
pytest.importorskip("matplotlib")

from PIL import Image, ImageSequence  # noqa: E402

from examples import ppo_cartpole as ppo  # noqa: E402
from examples import sac_pendulum as sac  # noqa: E402
from examples.showing import Curve, film  # noqa: E402

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The layers are small: several threads would wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


# ---- proximal policy optimization -----------------------------------------------------------------------------------


def some_steps(count: int = 3, length: int = 40) -> ppo.Steps:
    env = ppo.cartpole(count)
    env.set_seed(0)
    with torch.no_grad():
        return env.rollout(length, ppo.Agent().policy, break_when_any_done=False)


def test_an_advantage_is_the_discounted_sum_of_surprises_up_to_the_end_of_the_episode() -> None:
    steps, agent = some_steps(), ppo.Agent()
    critic = agent.critic
    after, lesson = steps.next, ppo.lessons(agent, steps)
    assert after.done.any()

    expected, ahead = critic(steps.obs).value, critic(after.obs).value
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

    lesson = ppo.lessons(agent, steps)
    by_hand = agent.actor(steps.obs).logits.log_softmax(-1).gather(-1, steps.action.action.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(lesson.log_prob, by_hand)
    torch.testing.assert_close(agent.log_prob(lesson.cart, lesson.push), lesson.log_prob)


def test_steps_outside_of_the_clip_teach_the_policy_nothing() -> None:
    agent = ppo.Agent()
    lesson = ppo.lessons(agent, some_steps()).flatten()
    lesson.advantage = torch.arange(len(lesson)).float()
    better = lesson.advantage > lesson.advantage.mean()
    # As if the good choices had been made much more probable since, and the bad ones much less.
    lesson.log_prob = torch.where(better, lesson.log_prob - 5, lesson.log_prob + 5)
    ppo.loss(agent, lesson, clip=0.2).backward()

    assert all(not one.grad.any() for one in agent.actor.parameters() if one.grad is not None)
    assert any(one.grad.any() for one in agent.critic.parameters() if one.grad is not None)


def test_the_pole_stays_up_longer_after_some_rounds() -> None:
    torch.manual_seed(0)
    agent = ppo.Agent()
    before = ppo.returns(agent, seed=1).mean()
    for _ in ppo.train(agent, rounds=10, seed=0):
        pass

    assert ppo.returns(agent, seed=1).mean() > 80 > 2 * before


# ---- soft actor-critic ----------------------------------------------------------------------------------------------


def remembered(length: int = 5) -> sac.Step:
    return sac.remembered(sac.pendulum().rollout(length))


def test_a_memory_holds_the_last_steps() -> None:
    step = remembered(8)
    memory = sac.Memory(step[0], size=20)
    memory.add(step[:16])
    assert (memory.sample(100).reward.unsqueeze(-1) == step.reward[:16]).any(-1).all()

    memory.add(step[16:])
    assert torch.equal(memory.rows.reward[:12], step.reward[20:])
    assert torch.equal(memory.rows.swing.observation[16:], step.swing.observation[16:20])


def test_what_a_critic_is_to_say_is_what_the_lesser_target_expects_and_a_bonus() -> None:
    step, agent = remembered(), sac.Agent()
    torch.manual_seed(0)
    found = sac.Learner(agent).critics_loss(step)

    torch.manual_seed(0)
    torque = agent.policy(step.after)
    ahead = sac.value(agent.target, step.after, torque).amin(0) - sac.TEMPERATURE * torque.log_prob
    goal = step.reward + sac.DISCOUNT * ahead
    one, other = sac.value(agent.critics, step.swing, step.torque)
    torch.testing.assert_close(found, ((one - goal) ** 2).mean() + ((other - goal) ** 2).mean())


def test_an_update_moves_policy_and_critics_and_the_target_a_part_of_the_way() -> None:
    agent = sac.Agent()
    before, after = dict(copy.deepcopy(agent).named_parameters()), dict(agent.named_parameters())
    sac.Learner(agent).learn(remembered())

    for name, then in before.items():
        assert not torch.equal(after[name], then), name
        if name.startswith("target."):
            goal = after[name.replace("target.", "critics.")]
            torch.testing.assert_close(after[name], then + sac.TAU * (goal - then))


def test_a_training_repeats_with_its_seed() -> None:
    ends = []
    for _ in range(2):
        torch.manual_seed(0)
        *_, last = sac.train(sac.Agent(), rounds=sac.RANDOM + 2, seed=0)
        ends.append(last)

    assert torch.equal(ends[0].next.obs.observation, ends[1].next.obs.observation)
    assert not torch.equal(ends[0].action.action, sac.pendulum().rollout(sac.STEPS).action.action)


def test_returns_are_those_of_rewards_as_gymnasium_gives_them() -> None:
    steps = sac.pendulum(2).rollout(200)

    torch.testing.assert_close(steps.next.episode_reward[:, -1], 10 * steps.next.reward.sum(1))


# ---- whole programs -------------------------------------------------------------------------------------------------


def test_a_curve_goes_through_the_mean_of_the_last_twenty() -> None:
    curve = Curve()
    curve.add(10, [1.0] * 20)
    curve.add(20, [])
    curve.add(30, [3.0] * 10)

    assert curve.means == [(10, 1.0), (30, 2.0)]


def test_a_curve_and_a_film_are_pictures(tmp_path: Path) -> None:
    pytest.importorskip("pygame")
    curve = Curve()
    curve.add(10, [1.0, 2.0])
    curve.draw("a title", 3.0, tmp_path / "new" / "curve.png")
    film(sac.pendulum(0, "rgb_array"), None, 6, tmp_path / "film.gif")

    assert (tmp_path / "new" / "curve.png").read_bytes().startswith(b"\x89PNG")
    with Image.open(tmp_path / "film.gif") as pictures:
        assert pictures.size == (250, 250)
        assert len(list(ImageSequence.Iterator(pictures))) == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ppo_cartpole", "sac_pendulum"])
def test_a_program_leaves_a_curve_and_a_film_and_says_whether_the_goal_is_reached(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", f"examples.{name}", "--rounds", "2", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "is not reached" in done.stdout
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / f"{name}.gif").read_bytes().startswith(b"GIF89a")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ppo_cartpole", "sac_pendulum"])
def test_a_program_reaches_its_goal(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", f"examples.{name}", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
