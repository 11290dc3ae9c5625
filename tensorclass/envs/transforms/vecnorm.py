"""VecNorm: entries normalized by running statistics of themselves."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from typing_extensions import Self

from ..._rules import errors
from ..._rules.keys import Key
from ..._tensordict import TensorDict
from .._entries import read, write
from .._transform import Keys
from ._carried import over, reset_mask
from ._leafwise import Leafwise, like
from .normalise import ObservationNorm


class VecNormV2(Leafwise):
    """Entries minus their running mean, divided by their running standard deviation.

    >>> norm = VecNormV2(in_keys=["a"], decay=0.9)
    >>> for value in (1.0, 3.0, 2.0):
    ...     out = norm(a=torch.tensor([value]))
    >>> norm.loc["a"].item() > 1.0
    True

    decay: how much of the statistics stays at each step. freeze() keeps them as they are, unfreeze() goes on;
    to_observation_norm() gives a transform that does the same with the present ones. reduce_batch_dims=True: all
    environments of a batch share them. Statistics follow what resets and steps give, and are part of the state dict.
    """

    def __init__(
        self,
        in_keys: Keys = None,
        out_keys: Keys = None,
        *,
        decay: float = 0.9999,
        eps: float = 1e-4,
        reduce_batch_dims: bool = False,
        lock: Any = None,
        shared_data: Any = None,
        stateful: bool = True,
    ) -> None:
        if shared_data is not None or not stateful:
            raise errors.OptionError(
                "VecNormV2: statistics shared by several transforms, or kept in the entries, are not supported; "
                "put the transform around a SerialEnv or ParallelEnv, then all environments share it"
            )
        if not 0 < decay <= 1:
            raise errors.OptionError(f"VecNormV2: decay is {decay}; above 0 and up to 1 would do (1: nothing fades)")
        super().__init__(["observation", "reward"] if in_keys is None else in_keys, out_keys)
        self.decay, self.eps, self.reduce_batch_dims = decay, eps, reduce_batch_dims
        self.frozen = False
        self._stats: dict[Key, Stats] = {}

    # ---- the statistics ---------------------------------------------------------------------------------------------

    @property
    def loc(self) -> TensorDict:
        """The running means, by key."""
        return self._as_container({key: one.mean for key, one in self._stats.items()})

    @property
    def scale(self) -> TensorDict:
        """The running standard deviations, by key."""
        return self._as_container({key: one.std(self.eps) for key, one in self._stats.items()})

    @staticmethod
    def _as_container(values: dict[Key, Tensor]) -> TensorDict:
        out = TensorDict()
        for key, value in values.items():
            out[key] = value
        return out

    def freeze(self) -> Self:
        """Keep the statistics as they are."""
        self.frozen = True
        return self

    def unfreeze(self) -> Self:
        """Let the statistics follow what comes again."""
        self.frozen = False
        return self

    def frozen_copy(self) -> Self:
        """A copy whose statistics stay as they are now."""
        return self.clone().freeze()

    def to_observation_norm(self) -> Any:
        """A transform that normalizes with the present statistics: an ObservationNorm for each key."""
        from .._compose import Compose

        if not self._stats:
            raise errors.StructureError("VecNormV2 has seen nothing yet: run the environment first")
        norms = [
            ObservationNorm(one.mean, one.std(self.eps), [in_key], [out_key], standard_normal=True)
            for in_key, out_key in self._pairs
            if (one := self._stats.get(in_key)) is not None
        ]
        return norms[0] if len(norms) == 1 else Compose(*norms)

    # ---- the data ---------------------------------------------------------------------------------------------------

    def _call(self, next_tensordict: Any) -> Any:
        return self._normalized(next_tensordict, None, self.missing_tolerance)

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return self._normalized(tensordict_reset, tensordict, True)

    def _normalized(self, data: Any, before: Any, tolerant: bool) -> Any:
        for in_key, out_key in self._pairs:
            value = read(data, in_key)
            if value is not None:
                mask = reset_mask(before, in_key, data)
                write(data, out_key, self._one(in_key, value, mask, len(data._batch)))
            elif not tolerant:
                self._refuse_missing(in_key, data)
        return data

    def _one(self, key: Key, value: Tensor, mask: Tensor | None, batch_dims: int) -> Tensor:
        numbers = value if value.is_floating_point() else value.to(torch.get_default_dtype())
        stats = self._stats.get(key)
        if stats is None:
            stats = self._stats[key] = Stats.like(numbers, batch_dims if self.reduce_batch_dims else 0)
        if not self.frozen:
            stats.follow(numbers.detach(), self.decay, batch_dims if self.reduce_batch_dims else 0, mask)
        return (numbers - stats.mean) / stats.std(self.eps)

    def _leaf_spec(self, spec: Any) -> Any:
        zero = spec.zero()
        return like(spec, zero if zero.is_floating_point() else zero.to(torch.get_default_dtype()))

    # ---- its state --------------------------------------------------------------------------------------------------

    def get_extra_state(self) -> dict[Any, Any]:
        """The statistics, for a state dict."""
        return {key: (one.mean, one.var, one.count) for key, one in self._stats.items()}

    def set_extra_state(self, state: dict[Any, Any]) -> None:
        """The statistics of a state dict."""
        self._stats = {key: Stats(*[tensor.clone() for tensor in saved]) for key, saved in state.items()}


class Stats:
    """The running mean and variance of an entry, and how many values they stand for."""

    def __init__(self, mean: Tensor, var: Tensor, count: Tensor) -> None:
        self.mean, self.var, self.count = mean, var, count

    @classmethod
    def like(cls, value: Tensor, reduced: int) -> Stats:
        """Those of an entry that was never seen."""
        zero = torch.zeros_like(value).detach()[(0,) * reduced]
        return cls(zero, zero.clone(), zero.clone())

    def std(self, eps: float) -> Tensor:
        """The standard deviation, at least eps."""
        return self.var.sqrt().clamp_min(eps)

    def follow(self, value: Tensor, decay: float, reduced: int, mask: Tensor | None) -> None:
        """Move towards a new value; the first ones count as much as the ones before, so that nothing starts at 0."""
        count = self.count + 1
        part = 1 / count if decay == 1 else (1 - decay) / (1 - decay**count)
        mean, spread = value, torch.zeros_like(value)
        if reduced:
            dims = list(range(reduced))
            mean, spread = value.mean(dims), value.var(dims, unbiased=False)
        gap = mean - self.mean
        new = (self.mean + part * gap, (1 - part) * (self.var + part * gap**2) + part * spread, count)
        if mask is not None and not reduced:
            rows = over(mask, value)
            old = (self.mean, self.var, self.count)
            new = tuple([torch.where(rows, one, other) for one, other in zip(new, old)])  # type: ignore[assignment]  # Three.
        self.mean, self.var, self.count = new


VecNorm = VecNormV2  # The older name: the same transform.
