"""What a step of an environment costs next to the loop that one would write by hand: a rollout each, per 100 steps.

By hand: gymnasium's own loop, its SyncVectorEnv, and a pendulum in torch whose rows are stacked at the end.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict
from tensorclass.envs import (
    Bounded,
    Composite,
    EnvBase,
    Next,
    RewardScaling,
    RewardSum,
    StepCounter,
    TransformedEnv,
    Transition,
    Unbounded,
)
from tensorclass.nn import TensorDictModule

from .rows import Case
from .timing import Way

STEPS = 100
LARGE = 4096
ROLLOUT = {1: 2.5, 64: 2.5, LARGE: 1.5}
TRANSFORMED = {1: 4.0, 64: 4.0, LARGE: 2.0}


class Seen(TensorClass):
    angle: Tensor
    speed: Tensor


class Torque(TensorClass):
    u: Tensor


class Pendulum(EnvBase):
    """A batch of pendulums whose state is in the entries."""

    def __init__(self, size: int) -> None:
        super().__init__(batch_size=[size])
        self.observation_spec = Composite(angle=Unbounded((size,)), speed=Unbounded((size,)), shape=(size,))
        self.action_spec = Composite(u=Bounded(-2.0, 2.0, (size, 1)), shape=(size,))

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        angle, speed = start(self.batch_size)
        return TensorDict({"angle": angle, "speed": speed}, self.batch_size)

    def _step(self, tensordict: Any) -> Any:
        angle, speed, cost = swing(tensordict["angle"], tensordict["speed"], tensordict["u"])
        done = torch.zeros_like(cost, dtype=torch.bool)
        return TensorDict({"angle": angle, "speed": speed, "reward": -cost, "terminated": done}, self.batch_size)


class TypedPendulum(EnvBase[Seen, Torque]):
    """The same by class."""

    def __init__(self, size: int) -> None:
        super().__init__(batch_size=[size])
        self.observation_spec = Composite(angle=Unbounded((size,)), speed=Unbounded((size,)), shape=(size,))
        self.action_spec = Composite(u=Bounded(-2.0, 2.0, (size, 1)), shape=(size,))

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Seen:
        angle, speed = start(self.batch_size)
        return Seen(angle=angle, speed=speed, batch_size=self.batch_size)

    def _step(self, tensordict: Transition[Seen, Torque]) -> Next[Seen]:
        seen = tensordict.obs
        angle, speed, cost = swing(seen.angle, seen.speed, tensordict.action.u)
        return Next(
            obs=Seen(angle=angle, speed=speed, batch_size=self.batch_size),
            reward=-cost,
            terminated=torch.zeros_like(cost, dtype=torch.bool),
        )


def start(batch: torch.Size) -> tuple[Tensor, Tensor]:
    return torch.rand(batch) * 6 - 3, torch.rand(batch) * 2 - 1


def swing(angle: Tensor, speed: Tensor, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The next angle and speed, and the cost [*B, 1]."""
    u = u.clamp(-2.0, 2.0).squeeze(-1)
    cost = angle**2 + 0.1 * speed**2 + 0.001 * u**2
    speed = (speed + (15 * angle.sin() + 3 * u) * 0.05).clamp(-8.0, 8.0)
    return torch.remainder(angle + speed * 0.05 + torch.pi, 2 * torch.pi) - torch.pi, speed, cost.unsqueeze(-1)


def by_hand(size: int) -> list[Tensor]:
    """The same steps: the action at random, a look whether to stop, rows stacked at the end."""
    batch = torch.Size([size])
    angle, speed = start(batch)
    rows = []
    for _ in range(STEPS):
        u = torch.rand(size, 1) * 4 - 2
        after, faster, cost = swing(angle, speed, u)
        done = torch.zeros_like(cost, dtype=torch.bool)
        rows.append((angle, speed, u, after, faster, -cost, done))
        if done.any():
            break
        angle, speed = after, faster
    return [torch.stack(column, 1) for column in zip(*rows)]


def light(env: EnvBase) -> Any:
    return TransformedEnv(env, RewardScaling(0.0, 2.0)).append_transform(StepCounter()).append_transform(RewardSum())


def cases() -> Iterator[Case]:
    """Every row; those with gymnasium where it is installed."""
    for size, limit in ROLLOUT.items():
        hand = _calling(by_hand, size)
        yield _case(f"rollout, {size}", limit, Pendulum(size), hand)
        yield _case(f"typed, {size}", limit, TypedPendulum(size), hand)
        yield _case(f"3 transforms, {size}", TRANSFORMED[size], light(Pendulum(size)), hand)
    plain = Pendulum(64)
    yield _case("empty chain over none", 1.1, TransformedEnv(Pendulum(64)), _rolling(plain))
    yield _case("3 transforms over none", 1.3, light(Pendulum(64)), _rolling(plain))
    if importlib.util.find_spec("gymnasium") is not None:
        yield from _with_gymnasium()


def _with_gymnasium() -> Iterator[Case]:
    import gymnasium

    from tensorclass.envs import GymEnv, SerialEnv

    raw = gymnasium.make("CartPole-v1")
    yield _case("CartPole", 8, GymEnv("CartPole-v1"), _calling(_cartpole, raw))
    cart = GymEnv("CartPole-v1")
    for name, limit, chained in (
        ("CartPole, empty chain over none", 1.1, TransformedEnv(GymEnv("CartPole-v1"))),
        ("CartPole, 3 transforms over none", 1.3, light(GymEnv("CartPole-v1"))),
    ):
        yield Case("Env", name, limit, {"ours": _seeded(chained), "by hand": _seeded(cart)}, rounds=40)
    policy = TensorDictModule(_follows, ["observation"], ["action"])
    ways = {"ours": _seeded(light(GymEnv("CartPole-v1")), policy), "by hand": _seeded(cart, policy)}
    yield Case("Env", "CartPole, policy, 3 transforms over none", 1.3, ways, rounds=40)
    many = gymnasium.vector.SyncVectorEnv([_makes_cartpole] * 4)
    serial = SerialEnv(4, _calling(GymEnv, "CartPole-v1"))
    yield _case("SerialEnv of 4", 6, serial, _calling(_vector, many))


def _makes_cartpole() -> Any:
    import gymnasium

    return gymnasium.make("CartPole-v1")


def _cartpole(env: Any) -> list[Any]:
    rows = []
    seen, _ = env.reset()
    for _ in range(STEPS):
        action = env.action_space.sample()
        after, reward, terminated, truncated, _ = env.step(action)
        rows.append((seen, action, after, reward, terminated, truncated))
        seen = env.reset()[0] if terminated or truncated else after
    return rows


def _vector(env: Any) -> list[Any]:
    rows = []
    seen, _ = env.reset()
    for _ in range(STEPS):
        action = env.action_space.sample()
        after, reward, terminated, truncated, _ = env.step(action)
        rows.append((seen, action, after, reward, terminated, truncated))
        seen = after
    return rows


def _case(name: str, limit: float, env: Any, hand: Way) -> Case:
    return Case("Env", name, limit, {"ours": _rolling(env), "by hand": hand}, rounds=15)


def _rolling(env: Any) -> Way:
    return lambda: env.rollout(STEPS, break_when_any_done=False)


def _follows(seen: Tensor) -> Tensor:
    return torch.nn.functional.one_hot((seen[..., 2] > 0).long(), 2)


def _seeded(env: Any, policy: Any = None) -> Way:
    """The same episodes each time: what a rollout costs depends on how often it begins anew."""

    def roll() -> Any:
        env.set_seed(0)
        return env.rollout(STEPS, policy, break_when_any_done=False)

    return roll


def _calling(function: Callable[..., Any], *arguments: Any) -> Any:
    return lambda: function(*arguments)
