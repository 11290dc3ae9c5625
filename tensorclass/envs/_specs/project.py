"""project: the value of the domain that is nearest."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..._rules import errors, spec_errors
from ..._tree.node import kind
from .asked import misfit, project
from .box import Bounded, Unbounded, ordered
from .choices import Categorical, OneHot, marks
from .leaf import LeafSpec, shape_fits
from .multi import Binary, MultiCategorical, MultiOneHot
from .plain import NonTensor


def fitting(spec: LeafSpec, value: Any) -> Tensor:
    """A tensor of the right shape, on the device of the spec."""
    if not isinstance(value, Tensor):
        raise errors.KindError(f"project: the value is {kind(value)}; a tensor is needed")
    if not shape_fits(value.shape, spec.shape):
        raise errors.ShapeError(f"project: {spec_errors.wrong_shape(tuple(value.shape), tuple(spec.shape))}")
    return value.to(spec.device)


@project.register
def _(spec: NonTensor, value: Any) -> Any:
    why = misfit(spec, value)
    if why is not None:
        raise errors.KindError(f"project: {why}")
    return value


@project.register
def _(spec: Unbounded, value: Any) -> Tensor:
    return fitting(spec, value).to(spec.dtype)


@project.register
def _(spec: Bounded, value: Any) -> Tensor:
    value, low, high = ordered(fitting(spec, value)), spec.low, spec.high
    if value.is_floating_point():  # No bound is near to nan: 0 stands for it.
        value = torch.where(value.isnan(), torch.zeros_like(value), value)
    common = torch.promote_types(value.dtype, low.dtype)
    clamped = torch.minimum(torch.maximum(value.to(common), low.to(common)), high.to(common)).to(low.dtype)
    # An integer bound may have been rounded on its way through a float.
    return torch.minimum(torch.maximum(clamped, low), high).to(spec.dtype)


@project.register
def _(spec: Categorical, value: Any) -> Tensor:
    number = as_number(fitting(spec, value), spec.n)
    if spec.mask is not None:
        number = nearest(spec.mask.expand(*number.shape, spec.n), number)
    return number.to(spec.dtype)


@project.register
def _(spec: OneHot, value: Any) -> Tensor:
    return likeliest(fitting(spec, value), spec.mask).to(spec.dtype)


@project.register
def _(spec: MultiCategorical, value: Any) -> Tensor:
    choices = spec.choices()
    value = as_number(fitting(spec, value), choices.shape[-1])
    return nearest(choices.expand(*value.shape, choices.shape[-1]), value).to(spec.dtype)


@project.register
def _(spec: MultiOneHot, value: Any) -> Tensor:
    parts = fitting(spec, value).split(spec.nvec, -1)
    return torch.cat([project(slot, part) for slot, part in zip(spec.slots(), parts)], -1)


@project.register
def _(spec: Binary, value: Any) -> Tensor:
    return as_number(fitting(spec, value), 2).to(spec.dtype)


def as_number(value: Tensor, n: int) -> Tensor:
    """The nearest of 0 to n - 1."""
    if value.is_floating_point():
        value = value.nan_to_num().round()
    return value.clamp(0, n - 1).to(torch.int64) if value.dtype is not torch.bool else value.to(torch.int64)


def nearest(allowed: Tensor, value: Tensor) -> Tensor:
    """The nearest choice that a mask allows; of two that are as near, the lower."""
    n = allowed.shape[-1]
    away = (value.unsqueeze(-1) - torch.arange(n, device=value.device)).abs()
    return away.masked_fill(~allowed, n).argmin(-1)


def likeliest(value: Tensor, mask: Tensor | None) -> Tensor:
    """A mark at the greatest entry that is allowed."""
    value = value.nan_to_num() if value.is_floating_point() else value.to(torch.int64)
    if mask is not None:
        low = -float("inf") if value.is_floating_point() else torch.iinfo(torch.int64).min
        value = value.masked_fill(~mask, low)
    return marks(value.argmax(-1), value.shape[-1])
