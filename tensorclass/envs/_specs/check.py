"""is_in and type_check: why a value is not in the domain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..._data import NonTensorStack, is_non_tensor
from ..._rules import spec_errors
from ..._tree.node import Node, kind
from .asked import fault, misfit
from .box import Bounded, Unbounded, ordered
from .choices import Categorical, OneHot
from .leaf import LeafSpec, number, shape_fits
from .multi import Binary, MultiCategorical, MultiOneHot
from .plain import NonTensor


@misfit.register
def _(spec: LeafSpec, value: Any) -> str | None:
    if not isinstance(value, Tensor):
        return f"the value is {kind(value)}; a tensor is needed"
    if not shape_fits(value.shape, spec.shape):
        return spec_errors.wrong_shape(tuple(value.shape), tuple(spec.shape))
    return None if value.dtype is spec.dtype else spec_errors.wrong_dtype(value.dtype, spec.dtype)


@misfit.register
def _(spec: NonTensor, value: Any) -> str | None:
    data = not isinstance(value, (Tensor, Node)) or is_non_tensor(value) or isinstance(value, NonTensorStack)
    return None if data else f"the value is {kind(value)}; one that is no tensor is needed"


Words = Callable[[Any, Tensor], str]


def within(holds: Callable[[Any, Tensor], Tensor], words: Words) -> Callable[[Any, Any], str | None]:
    """The check of a kind of spec: which numbers of a value that fits are allowed, and what they should have been."""

    def check(spec: Any, value: Any) -> str | None:
        why = misfit(spec, value)
        if why is not None:
            return why
        value = value.to(spec.device)
        good = holds(spec, value)
        return None if bool(good.all()) else f"the value has {some(value, ~good)}; {words(spec, ~good)}"

    return check


def some(value: Tensor, bad: Tensor) -> str:
    """The first numbers that are not allowed, or the first row of marks."""
    rows = value[bad]
    return ", ".join([number(one) for one in (rows[:3] if rows.ndim == 1 else rows[0])])


def between(spec: Bounded, value: Tensor) -> Tensor:
    """Whether a number is within its bounds."""
    value = ordered(value)
    return (value >= spec.low) & (value <= spec.high)


def ends(spec: Bounded, bad: Tensor) -> str:
    """The bounds of the first number that is outside."""
    low, high = [number(end.expand(bad.shape)[bad][0]) for end in spec.space]
    return f"{low} to {high} would do"


def marked(spec: OneHot, value: Tensor) -> Tensor:
    """Whether one entry is marked, and an allowed one."""
    good = value.sum(-1) == 1
    if value.dtype is not torch.bool:
        good = good & ((value == 0) | (value == 1)).all(-1)
    return good if spec.mask is None else good & ((value == 0) | spec.mask).all(-1)


def allowed(spec: Categorical, value: Tensor) -> Tensor:
    """Whether a number is that of an allowed choice."""
    good = (value >= 0) & (value < spec.n)
    if spec.mask is None:
        return good
    mask = spec.mask.expand(*value.shape, spec.n)
    return good & mask.gather(-1, value.clamp(0, spec.n - 1).to(torch.int64).unsqueeze(-1)).squeeze(-1)


def allowed_slots(spec: MultiCategorical, value: Tensor) -> Tensor:
    """Whether the number in every slot is that of an allowed choice."""
    choices = spec.choices()
    most = choices.shape[-1]
    row = choices.expand(*value.shape, most).gather(-1, value.clamp(0, most - 1).to(torch.int64).unsqueeze(-1))
    return (value >= 0) & (value < spec.nvec) & row.squeeze(-1)


def marked_slots(spec: MultiOneHot, value: Tensor) -> Tensor:
    """Whether one entry in every slot is marked, and an allowed one."""
    parts = zip(spec.slots(), value.split(spec.nvec, -1))
    return torch.stack([marked(slot, part) for slot, part in parts], -1).all(-1)


fault.register(Unbounded, misfit)
fault.register(NonTensor, misfit)
fault.register(Bounded, within(between, ends))
fault.register(Categorical, within(allowed, lambda spec, bad: f"an allowed one of 0 to {spec.n - 1} would do"))
fault.register(OneHot, within(marked, lambda spec, bad: f"one mark among {spec.n}, at an allowed place, would do"))
fault.register(MultiCategorical, within(allowed_slots, lambda spec, bad: "that is no allowed choice of its slot"))
fault.register(MultiOneHot, within(marked_slots, lambda spec, bad: f"one mark in each of {list(spec.nvec)} would do"))
fault.register(Binary, within(lambda spec, value: (value == 0) | (value == 1), lambda spec, bad: "0 or 1 would do"))
