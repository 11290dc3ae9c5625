"""rand, zero and one: a new value."""

from __future__ import annotations

from typing import Any

import torch
from torch import Size, Tensor

from ..._data import NonTensorStack
from .asked import full, rand
from .box import Bounded, Unbounded, limits
from .choices import Categorical, OneHot, marks
from .leaf import LeafSpec, drawable
from .multi import Binary, MultiCategorical, MultiOneHot
from .plain import NonTensor


@full.register
def _(spec: LeafSpec, size: Size, number: int) -> Tensor:
    make = torch.ones if number else torch.zeros
    return make((*size, *drawable(spec.shape)), dtype=spec.dtype, device=spec.device)


@rand.register
def _(spec: NonTensor, size: Size) -> Any:
    return NonTensorStack.full(spec.example_data, Size((*size, *spec.shape))) if spec.batched else spec.example_data


@full.register
def _(spec: NonTensor, size: Size, number: int) -> Any:
    return rand(spec, size)


@rand.register
def _(spec: Unbounded, size: Size) -> Tensor:
    shape = (*size, *drawable(spec.shape))
    if spec.dtype.is_floating_point or spec.dtype.is_complex:
        return torch.randn(shape, dtype=spec.dtype, device=spec.device)
    return any_ints(shape, spec.dtype, spec.device)


@rand.register
def _(spec: Bounded, size: Size) -> Tensor:
    shape = (*size, *spec.shape)
    if spec.dtype.is_floating_point:
        if spec._range is not None:
            return torch.empty(shape, dtype=spec.dtype, device=spec.device).uniform_(*spec._range)
        share = torch.rand(shape, dtype=spec.dtype, device=spec.device)
        return torch.lerp(spec.low, spec.high, share) if spec._finite else between(spec.low, spec.high, share)
    low, high = spec.low.to(torch.int64), spec.high.to(torch.int64)
    width = high - low + 1
    raw = any_ints(shape, torch.int64, spec.device) & (2**63 - 1)
    # A range wider than int64 can count wraps around to 0 or less: there, any number that is cut off will do.
    inside = low + raw % width.clamp(min=1)
    wide = any_ints(shape, torch.int64, spec.device).clamp(low, high)
    return torch.where(width > 0, inside, wide).to(spec.dtype)


@rand.register
def _(spec: Categorical, size: Size) -> Tensor:
    if spec.mask is not None:
        return pick(spec.mask, size).to(spec.dtype)
    return torch.randint(spec.n, (*size, *drawable(spec.shape)), dtype=spec.dtype, device=spec.device)


@rand.register
def _(spec: OneHot, size: Size) -> Tensor:
    if spec.mask is not None:
        return marks(pick(spec.mask, size), spec.n).to(spec.dtype)
    shape = (*size, *drawable(spec.shape))
    drawn = torch.randint(spec.n, (*shape[:-1], 1), device=spec.device)
    return torch.zeros(shape, dtype=spec.dtype, device=spec.device).scatter_(-1, drawn, 1)


@rand.register
def _(spec: MultiCategorical, size: Size) -> Tensor:
    return pick(spec.choices().expand(*spec.shape, -1), size).to(spec.dtype)


@rand.register
def _(spec: MultiOneHot, size: Size) -> Tensor:
    return torch.cat([rand(slot, size) for slot in spec.slots()], -1)


@rand.register
def _(spec: Binary, size: Size) -> Tensor:
    return torch.randint(2, (*size, *drawable(spec.shape)), dtype=spec.dtype, device=spec.device)


def any_ints(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Integers over the whole range of a dtype."""
    low, high = (int(end) for end in limits(dtype))
    if high - low < 2**62:
        return torch.randint(low, high + 1, shape, device=device).to(dtype)
    halves = [torch.randint(*ends, shape, device=device) for ends in ((-(2**31), 2**31), (0, 2**32))]
    return ((halves[0] << 32) + halves[1]).view(dtype)


def between(low: Tensor, high: Tensor, share: Tensor) -> Tensor:
    """Numbers between bounds of which some are infinite, or far apart: towards infinity, further is less likely."""
    below, above = low.isinf(), high.isinf()
    normal = torch.randn_like(share)
    drawn = torch.where(below, torch.where(above, normal, high - normal.abs()), low + normal.abs())
    return torch.where(below | above, drawn, inside(low.nan_to_num(), high.nan_to_num(), share))


def inside(low: Tensor, high: Tensor, share: Tensor) -> Tensor:
    """Numbers between finite bounds; written so that bounds far apart do not overflow."""
    return torch.minimum(torch.maximum(low * (1 - share) + high * share, low), high)


def pick(allowed: Tensor, size: Size) -> Tensor:
    """One of the choices that a mask allows along its last dim, each as likely as the other."""
    rows = allowed.expand(*size, *allowed.shape).reshape(-1, allowed.shape[-1])
    return torch.multinomial(rows.float(), 1).reshape((*size, *allowed.shape[:-1]))
