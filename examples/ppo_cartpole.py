"""Proximal policy optimization balances a pole: typed from the environment to the update.

`python -m examples.ppo_cartpole` reaches the greatest return there is, 500, in less than a minute on one core, and
leaves a learning curve and a film in ./runs. How: docs/guides/agents.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.distributions import Categorical

from examples.showing import film, followed, set_up, verdict
from tensorclass import TensorClass
from tensorclass.envs import EnvBase, GymEnv, RewardSum, TransformedEnv, Transition
from tensorclass.nn import Chain, ProbabilisticModule, TensorClassModuleBase, set_interaction_type

GOAL, LONGEST = 475.0, 500  # CartPole-v1 counts as solved at this mean return; no episode is longer.
ENVS, STEPS = 8, 32  # Side by side, and in a row: one round.
ROUNDS = 200
EPOCHS, SIZE = 20, 256
DISCOUNT, TRACE = 0.98, 0.8
RATE, CLIP = 1e-3, 0.2


class Cart(TensorClass):
    """Where the cart is and how fast, how the pole leans and how fast."""

    observation: Float[Tensor, "*batch 4"]


class Scores(TensorClass):
    logits: Float[Tensor, "*batch 2"]


class Value(TensorClass):
    """The discounted return that is to be expected."""

    value: Float[Tensor, "*batch"]


class Push(TensorClass):
    """To the left or to the right."""

    action: Int[Tensor, "*batch"]


class Lesson(TensorClass):
    """What a step teaches: how probable it was, how much better than expected it went, and what was to be expected."""

    cart: Cart
    push: Push
    log_prob: Float[Tensor, "*batch"]
    advantage: Float[Tensor, "*batch"]
    goal: Float[Tensor, "*batch"]


CartPole = EnvBase[Cart, Push]
Steps = Transition[Cart, Push]


def cartpole(count: int = ENVS, render_mode: str | None = None) -> CartPole:
    env = GymEnv(
        "CartPole-v1",
        num_envs=count,
        obs=Cart,
        action=Push,
        categorical_action_encoding=True,
        render_mode=render_mode,
    )
    return TransformedEnv(env, RewardSum())


# ---- the modules ----------------------------------------------------------------------------------------------------


def layers(outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


class Actor(TensorClassModuleBase[Cart, Scores]):
    def __init__(self) -> None:
        super().__init__()
        self.layers = layers(2)

    def forward(self, cart: Cart) -> Scores:
        return Scores(logits=self.layers(cart.observation))


class Choice(ProbabilisticModule[Scores, Push]):
    def dist(self, scores: Scores) -> Categorical:
        return Categorical(logits=scores.logits)


class Critic(TensorClassModuleBase[Cart, Value]):
    def __init__(self) -> None:
        super().__init__()
        self.layers = layers(1)

    def forward(self, cart: Cart) -> Value:
        return Value(value=self.layers(cart.observation).squeeze(-1))


class Agent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.actor, self.choice, self.critic = Actor(), Choice("random"), Critic()
        self.policy = Chain(self.actor, self.choice)

    def log_prob(self, cart: Cart, push: Push) -> Float[Tensor, "*batch"]:
        return self.choice.log_prob(self.actor(cart), push)


# ---- the update -----------------------------------------------------------------------------------------------------


@torch.no_grad()
def lessons(agent: Agent, steps: Steps) -> Lesson:
    """Generalized advantage estimation, backwards through time."""
    after = steps.next
    reward, terminated, done = (one.squeeze(-1) for one in (after.reward, after.terminated, after.done))
    expected, ahead = agent.critic(steps.obs).value, agent.critic(after.obs).value
    surprise = reward + DISCOUNT * torch.where(terminated, 0.0, ahead) - expected
    advantage = torch.empty_like(surprise)
    later = torch.zeros_like(surprise[:, 0])
    for time in reversed(range(surprise.shape[1])):
        later = surprise[:, time] + DISCOUNT * TRACE * torch.where(done[:, time], 0.0, later)
        advantage[:, time] = later
    return Lesson(
        cart=steps.obs,
        push=steps.action,
        log_prob=agent.log_prob(steps.obs, steps.action),
        advantage=advantage,
        goal=advantage + expected,
    )


def loss(agent: Agent, lesson: Lesson, clip: float) -> Tensor:
    ratio = (agent.log_prob(lesson.cart, lesson.push) - lesson.log_prob).exp()
    advantage = (lesson.advantage - lesson.advantage.mean()) / (lesson.advantage.std() + 1e-8)
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    return nn.functional.mse_loss(agent.critic(lesson.cart).value, lesson.goal) / 2 - gain.mean()


def learn(agent: Agent, optimizer: torch.optim.Optimizer, lesson: Lesson, clip: float) -> None:
    for _ in range(EPOCHS):
        for batch in lesson[torch.randperm(len(lesson))].split(SIZE):
            optimizer.zero_grad()
            loss(agent, batch, clip).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def train(agent: Agent, rounds: int, seed: int) -> Iterator[Steps]:
    """Act and learn, round by round; what is learned from one is less and less."""
    env = cartpole()
    env.set_seed(seed)
    optimizer = torch.optim.Adam(agent.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, rounds)
    state = env.reset()
    for number in range(rounds):
        with torch.no_grad():
            steps = env.rollout(STEPS, agent.policy, auto_reset=False, break_when_any_done=False, tensordict=state)
        learn(agent, optimizer, lessons(agent, steps).flatten(), CLIP * (1 - number / rounds))
        schedule.step()
        state = env.step_mdp(steps[:, -1])
        yield steps


@torch.no_grad()
def returns(agent: Agent, seed: int, count: int = 24) -> Float[Tensor, "count"]:
    """The returns of so many episodes in which the agent does what it thinks best."""
    env = cartpole(count)
    env.set_seed(seed)
    with set_interaction_type("deterministic"):
        steps = env.rollout(LONGEST, agent.policy, break_when_all_done=True)
    return steps.next.episode_reward[:, -1, 0]


def main(arguments: Sequence[str] | None = None) -> int:
    options = set_up(__doc__, ROUNDS, arguments)
    agent = Agent()
    curve = followed(train(agent, options.rounds, options.seed), options.rounds)
    curve.draw("CartPole-v1: proximal policy optimization", GOAL, options.out / "ppo_cartpole.png")
    with torch.no_grad(), set_interaction_type("deterministic"):
        film(cartpole(0, "rgb_array"), agent.policy, LONGEST, options.out / "ppo_cartpole.gif")
    return verdict(returns(agent, options.seed + 1), GOAL)


if __name__ == "__main__":
    raise SystemExit(main())
