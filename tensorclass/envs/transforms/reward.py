"""Rewards scaled, clipped, or reduced to a sign; and entries clipped to an interval."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..._rules import errors
from .._entries import read, write
from .._specs.box import Bounded, Unbounded
from .._specs.multi import Binary
from .._transform import Keys
from ._leafwise import Leafwise, like, through


class OfRewards(Leafwise):
    """A transform that reads the rewards of the environment where no in_keys are given."""

    _group = "reward"
    _usual = ("reward",)


class RewardScaling(OfRewards):
    """Rewards times `scale` plus `loc`; with standard_normal=True, minus `loc` divided by `scale`.

    >>> RewardScaling(loc=1.0, scale=2.0)(reward=torch.tensor([3.0]))
    tensor([7.])

    Both are buffers, of one number or one for each slot of the reward.
    """

    loc: Tensor
    scale: Tensor

    def __init__(
        self,
        loc: float | Tensor,
        scale: float | Tensor,
        in_keys: Keys = None,
        out_keys: Keys = None,
        standard_normal: bool = False,
    ) -> None:
        super().__init__(in_keys, out_keys)
        self.standard_normal = standard_normal
        self.register_buffer("loc", as_number(loc))
        self.register_buffer("scale", as_number(scale))

    def _apply_transform(self, value: Tensor) -> Tensor:
        loc, scale = self._buffers["loc"], self._buffers["scale"]  # Quicker than as attributes.
        assert loc is not None and scale is not None
        if self.standard_normal:
            return (value - loc) / scale
        if value.dtype is loc.dtype:
            return torch.addcmul(loc, value, scale)  # One call for two.
        return value * scale + loc

    def _step(self, tensordict: Any, next_tensordict: Any) -> Any:
        for in_key, out_key in self._pairs:
            value = read(next_tensordict, in_key)
            if value is None:
                return self._call(next_tensordict)
            write(next_tensordict, out_key, self._apply_transform(value))
        return next_tensordict

    def _leaf_spec(self, spec: Any) -> Any:
        return through(spec, self._apply_transform)


class RewardClipping(OfRewards):
    """Rewards clipped to the interval from clamp_min to clamp_max; None leaves a side open.

    >>> RewardClipping(None, 1.0)(reward=torch.tensor([-3.0, 3.0]))
    tensor([-3.,  1.])
    """

    clamp_min: Tensor | None
    clamp_max: Tensor | None

    def __init__(
        self,
        clamp_min: float | Tensor | None = None,
        clamp_max: float | Tensor | None = None,
        in_keys: Keys = None,
        out_keys: Keys = None,
    ) -> None:
        super().__init__(in_keys, out_keys)
        if clamp_min is None and clamp_max is None:
            raise errors.OptionError("RewardClipping: give clamp_min, clamp_max or both")
        self.register_buffer("clamp_min", as_end(clamp_min))
        self.register_buffer("clamp_max", as_end(clamp_max))

    def _apply_transform(self, value: Tensor) -> Tensor:
        return clipped(value, self.clamp_min, self.clamp_max)

    def _leaf_spec(self, spec: Any) -> Any:
        return clipped_spec(spec, self.clamp_min, self.clamp_max)


class SignTransform(OfRewards):
    """The sign of the rewards (or of other in_keys): -1, 0 or 1.

    >>> SignTransform()(reward=torch.tensor([-3.0, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
    """

    def __init__(
        self, in_keys: Keys = None, out_keys: Keys = None, in_keys_inv: Keys = None, out_keys_inv: Keys = None
    ) -> None:
        super().__init__(in_keys, out_keys, in_keys_inv, out_keys_inv)

    def _apply_transform(self, value: Tensor) -> Tensor:
        return value.sign()

    def _inv_apply_transform(self, value: Tensor) -> Tensor:
        return value.sign()

    def _leaf_spec(self, spec: Any) -> Any:
        return Bounded(-1, 1, spec.shape, device=spec.device, dtype=spec.dtype)

    def _leaf_spec_inv(self, spec: Any) -> Any:
        return spec


class BinarizeReward(OfRewards):
    """1 where a reward is positive, 0 elsewhere.

    >>> BinarizeReward()(reward=torch.tensor([-3.0, 0.0, 2.0]))
    tensor([0, 0, 1])
    """

    def __init__(self, in_keys: Keys = None, out_keys: Keys = None) -> None:
        super().__init__(in_keys, out_keys)

    @property
    def _asks(self) -> tuple[int, str]:
        return 1, ""

    def _apply_transform(self, value: Tensor) -> Tensor:
        return (value > 0).to(torch.int64)

    def _leaf_spec(self, spec: Any) -> Any:
        return Binary(spec.shape[-1], spec.shape, device=spec.device, dtype=torch.int64)


class ClipTransform(Leafwise):
    """Entries clipped to the interval from `low` to `high`; actions, by in_keys_inv, on their way in.

    >>> ClipTransform(in_keys=["speed"], low=-1.0, high=1.0)(speed=torch.tensor([-3.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """

    low: Tensor | None
    high: Tensor | None

    def __init__(
        self,
        in_keys: Keys = None,
        out_keys: Keys = None,
        in_keys_inv: Keys = None,
        out_keys_inv: Keys = None,
        *,
        low: float | Tensor | None = None,
        high: float | Tensor | None = None,
    ) -> None:
        super().__init__(in_keys, out_keys, in_keys_inv, out_keys_inv)
        if low is None and high is None:
            raise errors.OptionError("ClipTransform: give low, high or both")
        if low is not None and high is not None and bool((torch.as_tensor(low) > torch.as_tensor(high)).any()):
            raise errors.OptionError(f"ClipTransform: low ({low}) is above high ({high})")
        self.register_buffer("low", as_end(low))
        self.register_buffer("high", as_end(high))

    def _apply_transform(self, value: Tensor) -> Tensor:
        return clipped(value, self.low, self.high)

    def _inv_apply_transform(self, value: Tensor) -> Tensor:
        return clipped(value, self.low, self.high)

    def _leaf_spec(self, spec: Any) -> Any:
        return clipped_spec(spec, self.low, self.high)

    def _leaf_spec_inv(self, spec: Any) -> Any:
        return spec


def as_number(value: float | Tensor) -> Tensor:
    """A number of a transform as a tensor that can be computed with."""
    tensor = torch.as_tensor(value)
    return tensor.clone() if tensor.is_floating_point() else tensor.to(torch.get_default_dtype())


def as_end(value: float | Tensor | None) -> Tensor | None:
    """An end of an interval as a tensor, or None."""
    return None if value is None else torch.as_tensor(value)


def clipped(value: Tensor, low: Tensor | None, high: Tensor | None) -> Tensor:
    """Values clipped to an interval that may be open on a side; the dtype stays."""
    if low is None and high is None:
        return value
    return value.clamp(low, high).to(value.dtype)


def clipped_spec(spec: Any, low: Tensor | None, high: Tensor | None) -> Any:
    """The spec of clipped values."""
    if isinstance(spec, Bounded):
        return Bounded(clipped(spec.low, low, high), clipped(spec.high, low, high), spec.shape, dtype=spec.dtype)
    if not isinstance(spec, Unbounded):
        return like(spec, clipped(spec.zero(), low, high))
    limits = spec.space
    return Bounded(clipped(limits.low, low, high), clipped(limits.high, low, high), spec.shape, dtype=spec.dtype)
