"""Environments for tests of transforms: pictures, several observations, typed classes."""

from __future__ import annotations

from typing import Annotated, Any

import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict
from tensorclass.envs import Bounded, Composite, EnvBase, Next, Unbounded
from tests.envs.worlds import Counter


class Pictures(EnvBase):
    """uint8 pixels of shape (6, 8, 3) and a float64 vector, all equal to the number of the step; never over."""

    def __init__(self, batch_size: Any = ()) -> None:
        super().__init__(batch_size=batch_size)
        b = self.batch_size
        self.observation_spec = Composite(
            pixels=Bounded(0, 255, (*b, 6, 8, 3), dtype=torch.uint8),
            vec=Unbounded((*b, 3), dtype=torch.float64),
            shape=b,
        )
        self.action_spec = Bounded(-2.0, 2.0, (*b, 2))
        self.reward_spec = Unbounded((*b, 1))
        self.step_number = 0
        self.taken: list[Tensor] = []

    def _observe(self, **more: Tensor) -> TensorDict:
        b, k = self.batch_size, self.step_number
        pixels = torch.full((*b, 6, 8, 3), k, dtype=torch.uint8)
        vec = torch.full((*b, 3), float(k), dtype=torch.float64)
        return TensorDict({"pixels": pixels, "vec": vec, **more}, batch_size=b)

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        self.step_number = 0
        return self._observe()

    def _step(self, tensordict: Any) -> Any:
        self.step_number += 1
        self.taken.append(tensordict["action"].clone())
        b = self.batch_size
        reward = torch.full((*b, 1), float(self.step_number))
        return self._observe(reward=reward, done=torch.zeros((*b, 1), dtype=torch.bool))

    def _set_seed(self, seed: int | None) -> None:
        pass


class Signed(Counter):
    """Observes minus its step number less one: -1, -2, -3, ...; reward is the observation."""

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        out = super()._reset(tensordict, **kwargs)
        return out.set("observation", -out["observation"] - 1)

    def _step(self, tensordict: Any) -> Any:
        out = super()._step(tensordict)
        out["observation"] = -out["observation"] - 1
        return out.set("reward", out["observation"].clone())


class Whole(Counter):
    """Observes an integer."""

    def __init__(self, limit: Any = 5, batch_size: Any = ()) -> None:
        super().__init__(limit, batch_size)
        b = self.batch_size
        self.observation_spec = Composite(observation=Unbounded((*b, 1), dtype=torch.int64), shape=b)

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        out = super()._reset(tensordict, **kwargs)
        return out.set("observation", out["observation"].long())

    def _step(self, tensordict: Any) -> Any:
        out = super()._step(tensordict)
        return out.set("observation", out["observation"].long())


class Pose(TensorClass):
    """What the pendulum shows."""

    angle: Annotated[Tensor, Bounded(-torch.pi, torch.pi, (1,))]
    speed: Annotated[Tensor, Bounded(-8.0, 8.0, (1,))]


class Torque(TensorClass):
    """What the pendulum takes."""

    u: Annotated[Tensor, Bounded(-2.0, 2.0, (1,))]


class Vec(TensorClass):
    """Angle and speed side by side."""

    vector: Tensor


class Pendulum(EnvBase[Pose, Torque]):
    """A typed environment: the angle counts steps by tenths, the speed is the last torque."""

    def __init__(self, batch_size: Any = ()) -> None:
        super().__init__(batch_size=batch_size)
        self.angle = torch.zeros((*self.batch_size, 1))

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        self.angle = torch.zeros_like(self.angle)
        return Pose(angle=self.angle, speed=torch.zeros_like(self.angle), batch_size=self.batch_size)

    def _step(self, tensordict: Any) -> Any:
        self.angle = self.angle + 0.1
        pose = Pose(angle=self.angle, speed=tensordict["u"].clone(), batch_size=self.batch_size)
        return Next(obs=pose, reward=-self.angle.abs(), terminated=torch.zeros_like(self.angle, dtype=torch.bool))

    def _set_seed(self, seed: int | None) -> None:
        pass
