"""Twin delayed policy gradients swing a pendulum up: a replay memory of a class, an ensemble, targets that follow.

`python -m examples.td3_pendulum` reaches a mean return above -200 in about a minute on one core, and leaves a learning
curve and a film in ./runs. How: docs/guides/agents.md.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from examples.showing import asked, film, followed, verdict
from tensorclass import TensorClass
from tensorclass.envs import Compose, EnvBase, GymEnv, RewardScaling, RewardSum, TransformedEnv, Transition
from tensorclass.nn import EnsembleModule, TensorClassModuleBase, TensorDictModule, soft_update

GOAL, LONGEST = -200.0, 200  # The mean return that is asked for; each episode is as long as this.
ENVS, STEPS = 4, 4  # Side by side, and in a row: one round.
ROUNDS, RANDOM = 625, 60  # In the first rounds the actions are drawn at random, and nothing is learned.
UPDATES, SIZE = 8, 128
DISCOUNT, TAU, RATE = 0.98, 0.01, 3e-3
TORQUE, NOISE, BLUR, LIMIT = 2.0, 0.2, 0.4, 1.0


class Swing(TensorClass):
    """Cosine and sine of the angle, and how fast it changes."""

    observation: Float[Tensor, "*batch 3"]


class Torque(TensorClass):
    action: Float[Tensor, "*batch 1"]


class Step(TensorClass):
    """What is remembered of a step. No episode of this environment ends but by its length, so nothing says that."""

    swing: Swing
    torque: Torque
    reward: Float[Tensor, "*batch"]
    after: Swing


Pendulum = EnvBase[Swing, Torque]
Steps = Transition[Swing, Torque]


def pendulum(count: int = ENVS, render_mode: str | None = None) -> Pendulum:
    env = GymEnv("Pendulum-v1", num_envs=count, obs=Swing, action=Torque, render_mode=render_mode)
    return TransformedEnv(env, Compose(RewardSum(), RewardScaling(loc=0.0, scale=0.1)))


# ---- the modules ----------------------------------------------------------------------------------------------------


def layers(inputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))


class Actor(TensorClassModuleBase[Swing, Torque]):
    def __init__(self) -> None:
        super().__init__()
        self.layers = layers(3)

    def forward(self, swing: Swing) -> Torque:
        return Torque(action=TORQUE * self.layers(swing.observation).tanh())


class Critic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = layers(4)

    def forward(self, observation: Tensor, action: Tensor) -> Tensor:
        value: Tensor = self.layers(torch.cat([observation, action], -1))
        return value.squeeze(-1)


class Agent(nn.Module):
    """The actor, and two critics as one module: what each expects stands in a row of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.actor = Actor()
        critic = TensorDictModule(Critic(), in_keys=["observation", "action"], out_keys=["value"])
        self.critics = EnsembleModule(critic, num_copies=2)

    def value(self, swing: Swing, torque: Torque) -> Float[Tensor, "2 *batch"]:
        value: Tensor = self.critics(observation=swing.observation, action=torque.action)
        return value

    def blurred(self, swing: Swing, scale: float) -> Torque:
        """What the actor does, and some noise."""
        action = self.actor(swing).action
        noise = (scale * torch.randn_like(action)).clamp(-LIMIT, LIMIT)
        return Torque(action=(action + noise).clamp(-TORQUE, TORQUE))


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
    """An agent, another one that follows it, and what moves the first."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.target = agent, copy.deepcopy(agent)
        self.actor = torch.optim.Adam(agent.actor.parameters(), lr=RATE)
        self.critics = torch.optim.Adam(agent.critics.parameters(), lr=RATE)

    def critics_loss(self, step: Step) -> Tensor:
        """How far the critics are from the reward and what the lesser critic of the target expects after it."""
        with torch.no_grad():
            ahead = self.target.value(step.after, self.target.blurred(step.after, BLUR)).amin(0)
            goal = step.reward + DISCOUNT * ahead
        return (self.agent.value(step.swing, step.torque) - goal).square().mean(-1).sum()

    def actor_loss(self, step: Step) -> Tensor:
        return -self.agent.value(step.swing, self.agent.actor(step.swing))[0].mean()

    def learn(self, step: Step, delayed: bool) -> None:
        """Move the critics, and every other time the actor and what follows."""
        descend(self.critics, self.critics_loss(step))
        if delayed:
            descend(self.actor, self.actor_loss(step))
            soft_update(self.target, self.agent, TAU)


def descend(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train(agent: Agent, rounds: int, seed: int) -> Iterator[Steps]:
    """Act and learn, round by round."""
    env, learner = pendulum(), Learner(agent)
    memory = Memory(remembered(env.fake_tensordict())[0], size=ENVS * STEPS * rounds)

    def policy(swing: Swing) -> Torque:
        return agent.blurred(swing, NOISE)

    env.set_seed(seed)
    state = env.reset()
    for number in range(rounds):
        acts = policy if number >= RANDOM else None
        with torch.no_grad():
            steps = env.rollout(STEPS, acts, auto_reset=False, break_when_any_done=False, tensordict=state)
        memory.add(remembered(steps))
        for update in range(UPDATES if number >= RANDOM else 0):
            learner.learn(memory.sample(SIZE), delayed=update % 2 == 1)
        state = env.step_mdp(steps[:, -1])
        yield steps


@torch.no_grad()
def returns(agent: Agent, seed: int, count: int = 100) -> Float[Tensor, "count"]:
    """The returns of so many episodes without noise."""
    env = pendulum(count)
    env.set_seed(seed)
    return env.rollout(LONGEST, agent.actor).next.episode_reward[:, -1, 0]


def main(arguments: Sequence[str] | None = None) -> int:
    options = asked(__doc__, ROUNDS, arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)  # The layers are small: several threads would wait for each other.
    agent = Agent()
    curve = followed(train(agent, options.rounds, options.seed), options.rounds)
    curve.draw("Pendulum-v1: twin delayed policy gradients", GOAL, options.out / "td3_pendulum.png")
    with torch.no_grad():
        film(pendulum(0, "rgb_array"), agent.actor, LONGEST, options.out / "td3_pendulum.gif")
    return verdict(returns(agent, options.seed + 1), GOAL)


if __name__ == "__main__":
    raise SystemExit(main())
