"""TargetReturn: the return that an episode is to reach, less what it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..._rules import errors
from ..._rules.keys import Key
from .._entries import beside, read, write
from .._layout import Layout
from .._specs.box import Unbounded
from .._transform import Keys
from ._carried import Carried


class TargetReturn(Carried):
    """The return that is aimed at, as an observation; mode "reduce" takes each reward from it, "constant" does not.

    >>> from tensorclass.envs import GymEnv, TransformedEnv
    >>> TransformedEnv(GymEnv("CartPole-v1"), TargetReturn(10.0)).rollout(3)["target_return"].flatten()
    tensor([10.,  9.,  8.])
    """

    _group = "reward"
    _usual = ("reward",)

    def __init__(
        self,
        target_return: float,
        mode: str = "reduce",
        in_keys: Keys = None,
        out_keys: Keys = None,
        reset_key: Key | None = None,
    ) -> None:
        if mode not in ("reduce", "constant"):
            raise errors.OptionError(f"TargetReturn: mode is {mode!r}; 'reduce' or 'constant' would do")
        super().__init__(in_keys, out_keys)
        self.target_return, self.mode, self.reset_key = target_return, mode, reset_key

    def _named(self, reads: tuple[Key, ...]) -> Sequence[Key]:
        return [beside(key, "target_return") for key in reads]

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        found = layout.keys("reward", "observation")
        self._specs = {out_key: found[in_key] for in_key, out_key in self._pairs}

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        for key, spec in self._specs.items():
            target = torch.full_like(spec.zero(), self.target_return)
            self._put_at_reset(tensordict, tensordict_reset, key, target)
        return tensordict_reset

    def _step(self, tensordict: Any, next_tensordict: Any) -> Any:
        for in_key, out_key in self._pairs:
            target, reward = self._last(tensordict, out_key), read(next_tensordict, in_key)
            if target is None:
                target = torch.full_like(reward, self.target_return)
            self._put(next_tensordict, out_key, target - reward if self.mode == "reduce" else target)
        return next_tensordict

    def forward(self, tensordict: Any) -> Any:
        """Put the target into data that has none; take the reward from one that is there."""
        for in_key, out_key in self._pairs:
            target, reward = read(tensordict, out_key), read(tensordict, in_key)
            if reward is None:
                self._refuse_missing(in_key, tensordict)
            if target is None:
                target = torch.full_like(reward, self.target_return)
            elif self.mode == "reduce":
                target = target - reward
            write(tensordict, out_key, target)
        return tensordict

    def transform_observation_spec(self, observation_spec: Any) -> Any:
        """The specs with the target."""
        for key, spec in self._specs.items():
            observation_spec[key] = Unbounded(spec.shape, device=spec.device, dtype=spec.dtype)
        return observation_spec

    def transform_state_spec(self, state_spec: Any) -> Any:
        """The specs with the target: each step reads it."""
        return self.transform_observation_spec(state_spec)
