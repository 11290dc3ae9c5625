"""Soft actor-critic: a squashed policy, two critics as one ensemble, and a target that follows them.

A point on a line is pushed towards 0. The whole update, gradients and steps of the optimizer included, is a function
of containers, and compiles in one graph: `python examples/actor_critic.py --compile`.
"""

from __future__ import annotations

import argparse

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.func import grad

from tensorclass import TensorClass, TensorDict, cat, where
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

POINTS, ROUNDS, UPDATES = 128, 60, 4
DISCOUNT, TEMPERATURE, RATE, TAU = 0.95, 0.02, 5e-3, 0.03


class State(TensorClass):
    """Where a point is, and how fast."""

    place: Float[Tensor, "*batch 1"]
    speed: Float[Tensor, "*batch 1"]


class Params(TensorClass):
    loc: Float[Tensor, "*batch 1"]
    scale: Float[Tensor, "*batch 1"]


class Push(TensorClass):
    force: Float[Tensor, "*batch 1"]
    log_prob: Float[Tensor, "*batch"]


class Step(TensorClass):
    """What a point did and what came of it."""

    state: State
    force: Float[Tensor, "*batch 1"]
    reward: Float[Tensor, "*batch"]
    gone: Bool[Tensor, "*batch"]
    after: State


# ---- the modules ----------------------------------------------------------------------------------------------------


class Actor(TensorClassModuleBase[State, Params]):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2), NormalParamExtractor())

    def forward(self, state: State) -> Params:
        loc, scale = self.layers(torch.cat([state.place, state.speed], -1))
        return Params(loc=loc, scale=scale)


class Squashed(ProbabilisticModule[Params, Push]):
    def dist(self, params: Params) -> TanhNormal:
        return TanhNormal(params.loc, params.scale, event_dims=1)


class Critic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, place: Tensor, speed: Tensor, force: Tensor) -> Tensor:
        value: Tensor = self.layers(torch.cat([place, speed, force], -1))
        return value.squeeze(-1)


class Learned(TensorClass):
    """Parameters, and what Adam remembers of their gradients."""

    now: TensorDict
    slope: TensorDict
    spread: TensorDict

    def descend(self, grads: TensorDict) -> None:
        soft_update(self.slope, grads, 0.1)
        soft_update(self.spread, grads * grads, 0.1)
        self.now.sub_(RATE * self.slope / (self.spread.sqrt() + 1e-6))


def learned(module: nn.Module) -> Learned:
    now = TensorDict.from_module(module).data
    return Learned(now=now, slope=now.clone().zero_(), spread=now.clone().zero_())


class Agent:
    """The modules, and the parameters that they are called with."""

    def __init__(self) -> None:
        self.policy = Chain(Actor(), Squashed("random"))
        critic = TensorDictModule(Critic(), in_keys=["place", "speed", "force"], out_keys=["value"])
        self.critics = EnsembleModule(critic, num_copies=2)
        self.policy_learned, self.critics_learned = learned(self.policy), learned(self.critics)
        self.target = self.critics_learned.now.clone()

    def push(self, params: TensorDict, state: State) -> Push:
        with params.to_module(self.policy):
            return self.policy(state)

    def value(self, params: TensorDict, state: State, force: Tensor) -> Tensor:
        """What each critic expects: a row for each."""
        with params.to_module(self.critics):
            value: Tensor = self.critics(place=state.place, speed=state.speed, force=force)
        return value

    # ---- the update -------------------------------------------------------------------------------------------------

    def soft_value(self, policy: TensorDict, critics: TensorDict, state: State) -> Tensor:
        """What the lesser critic expects, and a bonus for being undecided."""
        push = self.push(policy, state)
        return self.value(critics, state, push.force).amin(0) - TEMPERATURE * push.log_prob

    def critics_loss(self, critics: TensorDict, steps: Step, goal: Tensor) -> Tensor:
        return (self.value(critics, steps.state, steps.force) - goal).square().mean()

    def policy_loss(self, policy: TensorDict, steps: Step) -> Tensor:
        return -self.soft_value(policy, self.critics_learned.now, steps.state).mean()

    def update(self, steps: Step) -> None:
        policy, critics = self.policy_learned, self.critics_learned
        ahead = self.soft_value(policy.now, self.target, steps.after)
        goal = steps.reward + DISCOUNT * torch.where(steps.gone, 0.0, ahead)
        critics.descend(grad(self.critics_loss)(critics.now, steps, goal))
        policy.descend(grad(self.policy_loss)(policy.now, steps))
        soft_update(self.target, critics.now, TAU)


# ---- the points -----------------------------------------------------------------------------------------------------


def start() -> State:
    return State(place=2 * torch.rand(POINTS, 1) - 1, speed=torch.zeros(POINTS, 1))


def move(state: State, force: Tensor) -> Step:
    speed = 0.9 * state.speed + 0.1 * force
    after = State(place=state.place + speed, speed=speed)
    gone = (after.place.abs() > 2).squeeze(-1)
    reward = -after.place.square().squeeze(-1) - 10.0 * gone
    return Step(state=state, force=force, reward=reward, gone=gone, after=after)


@torch.no_grad()
def score(agent: Agent) -> float:
    """The mean reward of a step, over all points and 40 steps, without chance in the policy."""
    state, rewards = start(), []
    with set_interaction_type("deterministic"):
        for _ in range(40):
            step = move(state, agent.policy(state).force)
            rewards.append(step.reward)
            state = step.after
    return float(torch.stack(rewards).mean())


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--compile", action="store_true", help="compile the update, as one graph")
    options = arguments.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)  # The layers are so small that a second thread waits more than it works.

    agent = Agent()
    update = torch.compile(agent.update, fullgraph=True) if options.compile else agent.update
    before = score(agent)
    state, memory = start(), []
    for _ in range(ROUNDS):
        with torch.no_grad():
            step = move(state, agent.policy(state).force)
        memory.append(step)
        new = step.gone | (torch.rand(POINTS) < 0.05)
        state = where(new, start(), step.after)
        steps = cat(memory)
        for _ in range(UPDATES):
            update(steps[torch.randint(len(steps), (POINTS,))])
    after = score(agent)
    print(f"reward of a step: {before:.3f} before, {after:.3f} after {ROUNDS * UPDATES} updates")
    return 0 if after > before / 4 else 1


if __name__ == "__main__":
    raise SystemExit(main())
