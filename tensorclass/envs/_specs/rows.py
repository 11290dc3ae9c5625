"""rand, zero, is_in, project, encode of a stack of specs: item by item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Size, Tensor

from ..._container import Container
from ..._lazystack import lazy_stack
from ..._rules import errors
from ..._tree.node import kind
from .asked import cardinality, encode, fault, full, misfit, project, rand, to_numpy
from .stacked import Rows, Stacked


@rand.register
def _(spec: Rows, size: Size) -> Any:
    return joined(spec, [rand(item, size) for item in spec.specs], len(size))


@full.register
def _(spec: Rows, size: Size, number: int) -> Any:
    return joined(spec, [full(item, size, number) for item in spec.specs], len(size))


@fault.register
def _(spec: Rows, value: Any) -> str | None:
    return first_fault(spec, value, fault)


@misfit.register
def _(spec: Rows, value: Any) -> str | None:
    return first_fault(spec, value, misfit)


@project.register
def _(spec: Rows, value: Any) -> Any:
    rows, more = taken_apart(spec, value)
    return joined(spec, [item.project(row) for item, row in zip(spec.specs, rows)], more)


@encode.register
def _(spec: Rows, value: Any) -> Any:
    rows, more = taken_apart(spec, value)
    return joined(spec, [encode(item, row) for item, row in zip(spec.specs, rows)], more)


@to_numpy.register
def _(spec: Rows, value: Any) -> Any:
    return [to_numpy(item, row) for item, row in zip(spec.specs, taken_apart(spec, value)[0])]


@cardinality.register
def _(spec: Rows) -> float:
    total: float = 1
    for item in spec.specs:
        total *= cardinality(item)
    return total


def joined(spec: Rows, rows: list[Any], more: int) -> Any:
    """Rows as one value, which has `more` dims in front of the spec's own."""
    if not isinstance(spec, Stacked):
        return lazy_stack(rows, spec.dim + more)
    if all(isinstance(row, Tensor) and row.shape == rows[0].shape and row.dtype is rows[0].dtype for row in rows):
        return torch.stack(rows, spec.dim + more)
    return tuple(rows)


def taken_apart(spec: Rows, value: Any) -> tuple[Sequence[Any], int]:
    """The rows of a value, and how many dims it has in front of the spec's own."""
    if isinstance(value, (list, tuple)):
        rows: Sequence[Any] = value
        more = (rows[0].ndim - spec.ndim + 1) if rows and isinstance(rows[0], (Tensor, Container)) else 0
    elif isinstance(value, Container) or (isinstance(value, Tensor) and not value.is_nested):
        more = len(value.shape) - spec.ndim
        rows = value.unbind(spec.dim + more) if more >= 0 else ()
    elif isinstance(value, Tensor):
        rows, more = value.unbind(), 0
    else:
        raise errors.KindError(f"the value is {kind(value)}; one row for each of {len(spec.specs)} specs is needed")
    if len(rows) != len(spec.specs):
        raise errors.ShapeError(f"the value has {len(rows)} rows; the stack has {len(spec.specs)} specs")
    return rows, more


def first_fault(spec: Rows, value: Any, ask: Any) -> str | None:
    """Why the first row that is wrong is wrong."""
    try:
        rows, _more = taken_apart(spec, value)
    except errors.RuleError as error:
        return str(error)
    for number, (item, row) in enumerate(zip(spec.specs, rows)):
        why: str | None = ask(item, row)
        if why is not None:
            return f"item {number}: {why}"
    return None
