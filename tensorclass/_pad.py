"""Ragged to dense and back: padding of tensors and containers of different sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast

import torch
from torch import Size, Tensor

from ._container import Container
from ._data import NonTensorStack
from ._keys import NestedKey
from ._lazystack import lazy_stack
from ._rules import errors
from ._rules.sizes import RAGGED
from ._tree.node import is_tree, kind

C = TypeVar("C", bound=Container)


def pad_sequence(items: Sequence[C], pad: float = 0, mask: str | None = None) -> C:
    """Stack containers of different sizes in one dense container, filled up with a number.

    >>> td = pad_sequence([TensorDict(a=torch.ones(n), batch_size=[n]) for n in (1, 3)], mask="there")
    >>> td["a"].tolist(), td["there"].tolist()
    ([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]], [[True, False, False], [True, True, True]])

    mask: the key to put a bool tensor under that is true where there was something; `unpad` is the way back.
    """
    return type(stacked := lazy_stack(items)).densify(stacked, pad, mask)


def unpad(container: C, mask: Tensor | NestedKey) -> C:
    """The rows of a padded container as a lazy stack, each of the size that it has where a mask is true.

    >>> td = TensorDict(a=torch.arange(6).reshape(2, 3), batch_size=[2, 3])
    >>> [row["a"].tolist() for row in unpad(td, torch.tensor([[True, True, False], [False, True, True]]))]
    [[0, 1], [4, 5]]

    mask: of the batch size, or the key of one, which the rows do without. Rows are views, unless the mask has holes.
    """
    if not isinstance(mask, Tensor):
        key, whole = mask, container
        mask = cast(Any, type(whole).__getitem__(whole, key))
        container = type(whole).exclude(whole, key)
    batch = container._batch
    if not isinstance(mask, Tensor) or mask.dtype is not torch.bool or len(batch) < 2 or mask.shape != batch:
        what = f"of {mask.dtype} and {list(mask.shape)}" if isinstance(mask, Tensor) else f"{kind(mask)}"
        raise errors.ShapeError(
            f"unpad: the mask is {what}; a bool tensor of the batch size {list(batch)}, of two dims at least, would do"
        )
    rows = type(container).unbind(container, 0)
    if not rows:
        return container
    return lazy_stack([_cut(row, part) for row, part in zip(rows, mask.cpu().unbind(0))])


def _cut(row: C, mask: Tensor) -> C:
    """The part of a row where a mask is true."""
    where = mask.nonzero()
    if not len(where):
        index: Any = tuple([slice(0, 0)] * mask.ndim)
    else:
        index = tuple([slice(int(low), int(high) + 1) for low, high in zip(where.amin(0), where.amax(0))])
    if len(where) and not mask[index].all():
        if mask.ndim > 1:
            raise errors.ShapeError("unpad: the true part of a row is no block; one of a row of one dim may have holes")
        index = where[:, 0].to(row._device)
    part: C = type(row).__getitem__(row, index)
    return part


def padded(column: list[Tensor], dim: int, value: float, side: str = "right") -> Tensor:
    """Tensors of different sizes, each filled up to the largest, stacked along a dim."""
    if side not in ("left", "right"):
        raise errors.OptionError(f"get: padding_side is {side!r}; 'left' or 'right' would do")
    sizes = [max(sizes) for sizes in zip(*[tensor.shape for tensor in column])]
    rows = []
    for tensor in column:
        row = tensor.new_full(sizes, value)
        starts = [most - size if side == "left" else 0 for most, size in zip(sizes, tensor.shape)]
        row[tuple([slice(start, start + size) for start, size in zip(starts, tensor.shape)])] = tensor
        rows.append(row)
    return torch.stack(rows, dim)


def densified(stack: Any, value: float, mask: str | None) -> Any:
    """A lazy stack as one dense container, filled up with a value."""
    items = [item if item._items is None else densified(item, value, None) for item in stack._items]
    sizes = [max(sizes) for sizes in zip(*[item._batch for item in items])] if items[0]._batch else []
    at = stack._dim
    batch = Size((*sizes[:at], len(items), *sizes[at:]))
    fields: dict[str, Any] = {}
    for key in items[0]._fields:
        if not all(key in item._fields for item in items):
            continue  # As where a lazy stack is read: it has the keys that all items have.
        column = [item._fields[key] for item in items]
        if all(isinstance(one, Tensor) for one in column):
            if len({one.ndim for one in column}) > 1:
                raise errors.StructureError(
                    f"densify: {errors.name_of(key)} has another number of dims in each item "
                    f"({errors.some_names([one.ndim for one in column])})"
                )
            fields[key] = padded(column, at, value)
        elif all(is_tree(one) for one in column):
            fields[key] = densified(type(stack)._restack(stack, column, at), value, None)
        elif any(isinstance(one, NonTensorStack) for one in column) and RAGGED in stack._batch:
            fields[key] = _padded_rows(column, [item._batch for item in items], at)
        else:
            fields[key] = stack._joined(key, column)
    out = items[0]._rebuild(fields, batch, stack._names)
    if mask is not None:
        type(out).set(out, mask, padded([torch.ones(item._batch, dtype=torch.bool) for item in items], at, 0))
    return out


def _padded_rows(column: list[Any], batches: list[Size], dim: int) -> NonTensorStack:
    """Plain values, one a row, filled up with None."""
    values: list[Any] = [None]
    places = []
    for one, batch in zip(column, batches):
        rows = one if isinstance(one, NonTensorStack) else NonTensorStack.full(one, batch)
        places.append(rows._fields["positions"] + len(values))
        values += rows._values
    return NonTensorStack._from_positions(values, padded(places, dim, 0))
