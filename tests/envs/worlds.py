"""Environments that the tests run in: each as small as what it shows allows."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tensorclass import TensorDict
from tensorclass.envs import Bounded, Categorical, Composite, EnvBase, Unbounded


class Counter(EnvBase):
    """Counts its own steps; terminated once `limit` is reached; reward 1 a step."""

    flags: tuple[str, ...] = ("terminated", "done")

    def __init__(self, limit: Any = 5, batch_size: Any = (), **kwargs: Any) -> None:
        super().__init__(batch_size=batch_size, **kwargs)
        self.limit = torch.as_tensor(limit, dtype=torch.float32)
        b = self.batch_size
        self.observation_spec = Composite(observation=Unbounded((*b, 1)), shape=b)
        self.action_spec = Bounded(-1.0, 1.0, (*b, 1))
        self.reward_spec = Unbounded((*b, 1))
        self.count = torch.zeros((*b, 1))
        self.resets = 0

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        self.resets += 1
        mask = None if tensordict is None else tensordict.get("_reset", None)
        zero = torch.zeros_like(self.count)
        self.count = zero if mask is None else torch.where(mask.view_as(self.count), zero, self.count)
        return TensorDict({"observation": self.count.clone()}, batch_size=self.batch_size)

    def _step(self, tensordict: Any) -> Any:
        self.count = self.count + 1
        over = self.count >= self.limit
        flags = {name: over.clone() for name in self.flags}
        entries = {"observation": self.count.clone(), "reward": torch.ones_like(self.count), **flags}
        return TensorDict(entries, batch_size=self.batch_size)

    def _set_seed(self, seed: int | None) -> None:
        torch.manual_seed(0 if seed is None else seed)


class Agents(EnvBase):
    """Two agents side by side, each with observation, action, reward and flags of its own."""

    def __init__(self, batch_size: Any = (), limits: tuple[int, int] = (2, 4)) -> None:
        super().__init__(batch_size=batch_size)
        b = self.batch_size
        each = (*b, 2)
        self.observation_spec = Composite(agents=Composite(pos=Unbounded((*each, 3)), shape=each), shape=b)
        self.action_spec = Composite(agents=Composite(action=Bounded(-1.0, 1.0, (*each, 1)), shape=each), shape=b)
        self.reward_spec = Composite(agents=Composite(reward=Unbounded((*each, 1)), shape=each), shape=b)
        done = Categorical(2, shape=(*each, 1), dtype=torch.bool)
        self.done_spec = Composite(agents=Composite(done=done, shape=each), shape=b)
        self.limits = torch.tensor(limits).view(2, 1)
        self.count = torch.zeros((*each, 1), dtype=torch.int64)

    def _observe(self, **more: Tensor) -> Any:
        b = self.batch_size
        pos = self.count.float().expand(*b, 2, 3).clone()
        return TensorDict({"agents": TensorDict({"pos": pos, **more}, batch_size=(*b, 2))}, batch_size=b)

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        mask = None if tensordict is None else tensordict.get(("agents", "_reset"), None)
        self.count = torch.zeros_like(self.count) if mask is None else torch.where(mask, 0, self.count)
        return self._observe()

    def _step(self, tensordict: Any) -> Any:
        self.count = self.count + 1
        return self._observe(reward=tensordict["agents", "action"] * 2, done=self.count >= self.limits)

    def _set_seed(self, seed: int | None) -> None:
        pass


def pendulum_parameters(batch_size: Any = (), g: float = 10.0) -> TensorDict:
    """What a step of the pendulum depends on, for each pendulum of a batch."""
    numbers = {"max_speed": 8.0, "max_torque": 2.0, "dt": 0.05, "g": g, "m": 1.0, "l": 1.0}
    params = TensorDict({key: torch.tensor(value) for key, value in numbers.items()})
    out = TensorDict({"params": params})
    return out.expand(batch_size).contiguous() if batch_size else out


def composite_of(td: TensorDict) -> Composite:
    """The spec of a container as it is."""
    return Composite(
        {
            key: composite_of(value) if isinstance(value, TensorDict) else Unbounded(value.shape, dtype=value.dtype)
            for key, value in td.items()
        },
        shape=td.shape,
    )


class Pendulum(EnvBase):
    """All state is in the entries: any batch size, and gradients flow through the steps."""

    batch_locked = False

    def __init__(self, td_params: TensorDict | None = None, seed: int | None = 0) -> None:
        td_params = pendulum_parameters() if td_params is None else td_params
        super().__init__(batch_size=[])
        self.observation_spec = Composite(
            th=Bounded(low=-torch.pi, high=torch.pi, shape=(), dtype=torch.float32),
            thdot=Bounded(low=-8.0, high=8.0, shape=(), dtype=torch.float32),
            params=composite_of(td_params["params"]),
            shape=(),
        )
        self.state_spec = self.observation_spec.clone()
        self.action_spec = Bounded(low=-2.0, high=2.0, shape=(1,), dtype=torch.float32)
        self.reward_spec = Unbounded(shape=(*td_params.shape, 1))
        self.set_seed(seed)

    gen_params = staticmethod(pendulum_parameters)

    def _reset(self, tensordict: Any) -> Any:
        if tensordict is None or tensordict.is_empty():
            tensordict = self.gen_params(batch_size=self.batch_size)
        th = (torch.rand(tensordict.shape, generator=self.rng) * 2 - 1) * torch.pi
        thdot = torch.rand(tensordict.shape, generator=self.rng) * 2 - 1
        return TensorDict({"th": th, "thdot": thdot, "params": tensordict["params"]}, batch_size=tensordict.shape)

    @staticmethod
    def _step(tensordict: Any) -> Any:  # pyright: ignore  # As the tutorials write it.
        th, thdot, params = tensordict["th"], tensordict["thdot"], tensordict["params"]
        u = tensordict["action"].squeeze(-1).clamp(-params["max_torque"], params["max_torque"])
        angle = ((th + torch.pi) % (2 * torch.pi)) - torch.pi
        costs = angle**2 + 0.1 * thdot**2 + 0.001 * u**2
        force = 3 * params["g"] / (2 * params["l"]) * th.sin() + 3.0 / (params["m"] * params["l"] ** 2) * u
        new_thdot = (thdot + force * params["dt"]).clamp(-params["max_speed"], params["max_speed"])
        reward = -costs.view(*tensordict.shape, 1)
        new_th = ((th + new_thdot * params["dt"] + torch.pi) % (2 * torch.pi)) - torch.pi
        entries = {"th": new_th, "thdot": new_thdot, "params": params, "reward": reward}
        return TensorDict({**entries, "done": torch.zeros_like(reward, dtype=torch.bool)}, tensordict.shape)

    def _set_seed(self, seed: int | None) -> None:
        self.rng = torch.manual_seed(0 if seed is None else seed)
