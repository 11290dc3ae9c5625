"""Soft actor-critic swings a pendulum up: a replay memory of a class, an ensemble of critics, a target that follows.

`python -m examples.sac_pendulum` reaches a mean return above -200 in about a minute on one core, and leaves a learning
curve and a film in ./runs. How: docs/guides/agents.md.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from examples.showing import film, followed, set_up, verdict
from tensorclass import TensorClass
from tensorclass.envs import Compose, EnvBase, GymEnv, RewardScaling, RewardSum, TransformedEnv, Transition
from tensorclass.nn import (
    Chain,
    EnsembleModule,
    NormalParamExtractor,
    ProbabilisticModule,
    TanhNormal,
    TensorClassModuleBase,
    TensorDictModule,
    set_interaction_type,
    soft_update,
)

GOAL, LONGEST = -200.0, 200  # The mean return that is asked for; each episode is as long as this.
ENVS, STEPS = 4, 4  # Side by side, and in a row: one round.
ROUNDS, RANDOM = 600, 50  # In the first rounds the actions are drawn at random, and nothing is learned.
UPDATES, SIZE = 8, 128
DISCOUNT, TEMPERATURE = 0.98, 0.02
RATE, TAU = 3e-3, 0.01


class Swing(TensorClass):
    """Cosine and sine of the angle, and how fast it changes."""

    observation: Float[Tensor, "*batch 3"]


class Params(TensorClass):
    loc: Float[Tensor, "*batch 1"]
    scale: Float[Tensor, "*batch 1"]


class Torque(TensorClass):
    """What turns the pendulum."""

    action: Float[Tensor, "*batch 1"]


class Drawn(Torque):
    """A torque that the policy has drawn, and how probable it was."""

    log_prob: Float[Tensor, "*batch"]


class Step(TensorClass):
    """What is remembered of a step. No episode of this environment ends but by its length, so nothing says that."""

    swing: Swing
    torque: Torque
    reward: Float[Tensor, "*batch"]
    after: Swing


Pendulum = EnvBase[Swing, Torque]
Steps = Transition[Swing, Torque]


def pendulum(count: int = ENVS, render_mode: str | None = None) -> Pendulum:
    """So many pendulums. The returns are those of the rewards before they are scaled."""
    env = GymEnv("Pendulum-v1", num_envs=count, obs=Swing, action=Torque, render_mode=render_mode)
    return TransformedEnv(env, Compose(RewardSum(), RewardScaling(loc=0.0, scale=0.1)))


# ---- the modules ----------------------------------------------------------------------------------------------------


def layers(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs))


class Actor(TensorClassModuleBase[Swing, Params]):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(layers(3, 2), NormalParamExtractor())

    def forward(self, swing: Swing) -> Params:
        loc, scale = self.layers(swing.observation)
        return Params(loc=loc, scale=scale)


class Squashed(ProbabilisticModule[Params, Drawn]):
    def dist(self, params: Params) -> TanhNormal:
        return TanhNormal(params.loc, params.scale, low=-2.0, high=2.0, event_dims=1)


class Critic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = layers(4, 1)

    def forward(self, observation: Tensor, action: Tensor) -> Tensor:
        value: Tensor = self.layers(torch.cat([observation, action], -1))
        return value.squeeze(-1)


class Agent(nn.Module):
    """The policy, and two critics as one module: what each expects stands in a row of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = Chain(Actor(), Squashed("random"))
        critic = TensorDictModule(Critic(), in_keys=["observation", "action"], out_keys=["value"])
        self.critics = EnsembleModule(critic, num_copies=2)
        self.target = copy.deepcopy(self.critics)


def value(critics: EnsembleModule, swing: Swing, torque: Torque) -> Float[Tensor, "2 *batch"]:
    found: Tensor = critics(observation=swing.observation, action=torque.action)
    return found


# ---- what is remembered ---------------------------------------------------------------------------------------------


class Memory:
    """The last steps, in rows that are allocated once."""

    def __init__(self, like: Step, size: int) -> None:
        self.rows = like.expand(size).clone()
        self.seen = 0

    def add(self, step: Step) -> None:
        at = torch.arange(self.seen, self.seen + len(step)) % len(self.rows)
        self.rows[at] = step
        self.seen += len(step)

    def sample(self, count: int) -> Step:
        return self.rows[torch.randint(min(self.seen, len(self.rows)), (count,))]


def remembered(steps: Steps) -> Step:
    reward = steps.next.reward.squeeze(-1)
    return Step(swing=steps.obs, torque=steps.action, reward=reward, after=steps.next.obs).flatten()


# ---- the update -----------------------------------------------------------------------------------------------------


class Learner:
    """An agent, and what moves it."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.policy = torch.optim.Adam(agent.policy.parameters(), lr=RATE)
        self.critics = torch.optim.Adam(agent.critics.parameters(), lr=RATE)

    def soft_value(self, critics: EnsembleModule, swing: Swing) -> Float[Tensor, "*batch"]:
        """What the lesser critic expects of the policy, and a bonus for being undecided."""
        drawn = self.agent.policy(swing)
        return value(critics, swing, drawn).amin(0) - TEMPERATURE * drawn.log_prob

    def critics_loss(self, step: Step) -> Tensor:
        """How far the critics are from the reward and what is to be expected after it."""
        with torch.no_grad():
            goal = step.reward + DISCOUNT * self.soft_value(self.agent.target, step.after)
        return (value(self.agent.critics, step.swing, step.torque) - goal).square().mean(-1).sum()

    def policy_loss(self, step: Step) -> Tensor:
        return -self.soft_value(self.agent.critics, step.swing).mean()

    def learn(self, step: Step) -> None:
        descend(self.critics, self.critics_loss(step))
        descend(self.policy, self.policy_loss(step))
        soft_update(self.agent.target, self.agent.critics, TAU)


def descend(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train(agent: Agent, rounds: int, seed: int) -> Iterator[Steps]:
    """Act and learn, round by round."""
    env, learner = pendulum(), Learner(agent)
    memory = Memory(remembered(env.fake_tensordict())[0], size=ENVS * STEPS * rounds)
    env.set_seed(seed)
    state = env.reset()
    for number in range(rounds):
        policy = agent.policy if number >= RANDOM else None
        with torch.no_grad():
            steps = env.rollout(STEPS, policy, auto_reset=False, break_when_any_done=False, tensordict=state)
        memory.add(remembered(steps))
        if number >= RANDOM:
            for _ in range(UPDATES):
                learner.learn(memory.sample(SIZE))
        state = env.step_mdp(steps[:, -1])
        yield steps


@torch.no_grad()
def returns(agent: Agent, seed: int, count: int = 50) -> Float[Tensor, "count"]:
    """The returns of so many episodes in which the agent does what it thinks best."""
    env = pendulum(count)
    env.set_seed(seed)
    with set_interaction_type("deterministic"):
        return env.rollout(LONGEST, agent.policy).next.episode_reward[:, -1, 0]


def main(arguments: Sequence[str] | None = None) -> int:
    options = set_up(__doc__, ROUNDS, arguments)
    agent = Agent()
    curve = followed(train(agent, options.rounds, options.seed), options.rounds)
    curve.draw("Pendulum-v1: soft actor-critic", GOAL, options.out / "sac_pendulum.png")
    with torch.no_grad(), set_interaction_type("deterministic"):
        film(pendulum(0, "rgb_array"), agent.policy, LONGEST, options.out / "sac_pendulum.gif")
    return verdict(returns(agent, options.seed + 1), GOAL)


if __name__ == "__main__":
    raise SystemExit(main())
