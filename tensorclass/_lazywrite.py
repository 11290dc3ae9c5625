"""Writes to a lazy stack: which item, which rows of it, and the part of the value that goes there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Size, Tensor

from ._container import Container
from ._rules import errors, indexing
from ._rules.keys import path
from ._tree.assign import by_name
from ._tree.index import Items, batch_after
from ._tree.node import Node

Write = tuple[Any, Any, Any]  # An item, an index of it, and what to write there.


def writes(stack: Any, items: Items, value: Any) -> list[Write]:
    """The writes to the items that stack[items] = value comes down to."""
    first = items[0] if items else ...
    if -1 in stack._batch:
        if stack._dim == 0 and isinstance(first, (int, slice)):
            return _by_item(stack, first, items[1:] or (...,), value)
        raise errors.RaggedError("index: rows of a ragged stack are written item by item: stack[i][rows] = value")
    at: Any = items if items else ...
    rows = batch_after(stack._batch, items)
    if stack._dim == 0 and _is_row_by_row(first, value):
        return _by_item(stack, first, items[1:] or (...,), value)
    known = _by_place(stack, items, value)
    if known is not None:
        return known
    places = torch.arange(stack._batch.numel()).reshape(stack._batch)[at].reshape(-1)
    part = _rows(value, rows)
    coordinates = torch.unravel_index(places, stack._batch)
    out: list[Write] = []
    for number, item in enumerate(stack._items):
        mine = (coordinates[stack._dim] == number).nonzero().flatten()
        if not len(mine):
            continue
        rest = tuple([one[mine] for dim, one in enumerate(coordinates) if dim != stack._dim])
        out.append((item, rest, part(mine)) if rest else (item, ..., part(int(mine[-1]))))
    return out


def _rows(value: Any, rows: Size, in_dict: bool = False) -> Callable[[Any], Any]:
    """What gives the rows of a value that go to some of the places written; a number goes to all of them."""
    if isinstance(value, Mapping):
        parts = {key: _rows(part, rows, True) for key, part in by_name(value).items()}
        return lambda places: {key: part(places) for key, part in parts.items()}
    if isinstance(value, Node):
        if value._batch[: len(rows)] != rows or (len(value._batch) > len(rows) and not in_dict):
            raise errors.ShapeError(
                f"index: the value has batch size {list(value._batch)}, the rows to write have {list(rows)}; "
                "they must be equal"
            )
        flat: Any = (
            type(value).reshape(value, -1, *value._batch[len(rows) :])  # type: ignore[attr-defined]
            if rows
            else type(value).unsqueeze(value, 0)  # type: ignore[attr-defined]
        )
        return lambda places: type(flat).__getitem__(flat, places)
    if isinstance(value, Tensor) and value.ndim:
        if in_dict and value.shape[: len(rows)] != rows:
            raise errors.ShapeError(f"index: the value has shape {list(value.shape)}, the rows to write {list(rows)}")
        if value.ndim > len(rows) and not in_dict:
            raise errors.ShapeError(f"index: the value has shape {list(value.shape)}, the rows to write {list(rows)}")
        tensor = value if in_dict else value.expand(rows)
        lined_up = tensor.reshape(-1, *tensor.shape[len(rows) :]) if rows else tensor.unsqueeze(0)
        return lambda places: lined_up[places]
    return lambda places: value


def rows_for(stack: Any, names: tuple[str, ...], value: Any) -> list[Any]:
    """What each item gets of a value that is put under a key."""
    count = len(stack._items)
    if isinstance(value, Mapping):
        columns = {key: rows_for(stack, (*names, *path(key)), part) for key, part in value.items()}
        return [{key: column[row] for key, column in columns.items()} for row in range(count)]
    if isinstance(value, (list, tuple)) and len(value) == count and stack._dim == 0:
        return list(value)
    if isinstance(value, Tensor) and value.is_nested:
        rows = list(value.unbind(0))
    elif isinstance(value, Tensor):
        if value.ndim <= stack._dim or value.shape[stack._dim] != count:
            raise errors.ShapeError(errors.batch_mismatch(names, tuple(value.shape), tuple(stack._batch)))
        return list(value.unbind(stack._dim))
    elif isinstance(value, Node):
        if len(value._batch) <= stack._dim or value._batch[stack._dim] != count:
            raise errors.ShapeError(errors.node_mismatch(names, tuple(value._batch), tuple(stack._batch)))
        return list(type(value).unbind(value, stack._dim))
    else:
        return [value] * count
    if len(rows) != count:
        raise errors.ShapeError(f"{errors.name_of(names)} has {len(rows)} rows; the stack has {count}")
    return rows


def _is_row_by_row(first: Any, value: Any) -> bool:
    """Whether each of some items takes its own part of the value: then no row need be looked up."""
    if not isinstance(first, (int, slice)) or isinstance(first, bool):
        return False
    return isinstance(value, (int, float, complex)) or isinstance(value, Node)


def _by_place(stack: Any, items: Items, value: Any) -> list[Write] | None:
    """The writes, where ints and slices alone say which items they go to: nothing is looked up, as in a graph."""
    if not all(item.__class__ in (int, slice) for item in items):
        return None
    at = stack._dim
    mine = items[at] if len(items) > at else slice(None)
    rest = (*items[:at], *items[at + 1 :]) or (...,)
    if isinstance(mine, int):
        indexing.check_int(mine, stack._batch, at)
        return [(stack._items[mine], rest, value)]
    chosen = stack._items[mine]
    if isinstance(value, (int, float, complex)):
        return [(item, rest, value) for item in chosen]
    where = sum(isinstance(item, slice) for item in items[:at]) + max(at - len(items), 0)
    if isinstance(value, Node) and len(value._batch) > where and value._batch[where] == len(chosen):
        parts = type(value).unbind(value, where)
        return [(item, rest, part) for item, part in zip(chosen, parts)]
    return None


def _by_item(stack: Any, first: Any, rest: Any, value: Any) -> list[Write]:
    if isinstance(first, int):
        return [(stack._items[first], rest, value)]
    chosen = stack._items[first]
    if isinstance(value, Container) or (isinstance(value, Tensor) and value.ndim):
        parts: list[Any] = list(type(value).unbind(value, 0))  # type: ignore  # Both have it.
        if len(parts) != len(chosen):
            raise errors.ShapeError(f"index: {len(parts)} rows for {len(chosen)} items")
        return [(item, rest, part) for item, part in zip(chosen, parts)]
    return [(item, rest, value) for item in chosen]
