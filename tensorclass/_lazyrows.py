"""Rows of a lazy stack: which items an index picks, and their dicts as one."""

from __future__ import annotations

from typing import Any

import torch
from torch import Size, Tensor

from ._rules.indexing import check_int
from ._tree.index import Items
from ._tree.join import equal
from ._tree.node import Node


def is_flag(index: Tensor) -> bool:
    """Whether an index is a single bool, which adds a dim and takes none."""
    return index.ndim == 0 and index.dtype is torch.bool


def are_apart(index: Items) -> bool:
    """Whether index tensors have something between them that leaves a dim: the dims that they give then come first."""
    left = [item for item in index if not isinstance(item, int)]
    places = [place for place, item in enumerate(left) if isinstance(item, Tensor) and item.ndim]
    return len(places) > 1 and places[-1] - places[0] >= len(places)


def picked(items: list[Any], index: Any, batch: Size, dim: int) -> list[Any]:
    """The items that a slice, a 1-d tensor of ints or a mask picks."""
    if isinstance(index, slice):
        return items[index]
    if index.dtype is torch.bool:
        return [item for item, keep in zip(items, index.tolist()) if keep]
    rows: list[int] = index.tolist()
    for row in rows:
        check_int(row, batch, dim)
    return [items[row] for row in rows]


def row_of(item: Any, index: Items) -> Any:
    if len(index) == 1:  # Bare, it is read the short way.
        return type(item).__getitem__(item, index[0])
    return type(item).__getitem__(item, index) if index else item


def column_of(items: list[Any], names: tuple[str, ...], form: dict[str, Any]) -> list[Any]:
    """The entry of each item under a key, in the form asked for where that is ragged in itself."""
    return [type(item).get(item, names, **(form if _is_lazy(item, names) else {})) for item in items]


def _is_lazy(node: Any, names: tuple[str, ...]) -> bool:
    """Whether a lazy stack is met on the way to an entry."""
    for name in names:
        if not isinstance(node, Node) or node._items is not None:
            return isinstance(node, Node)
        node = node._fields.get(name)
    return False


def no_rows(item: Any, dim: int) -> Any:
    """A dense container like a stack of such items that has none of them."""
    return type(item).narrow(type(item).unsqueeze(item, dim), dim, 0, 0)


def joined_rows(rows: list[dict[str, Any]], dim: int) -> dict[str, Any]:
    """Dicts of rows as one dict: tensors stacked where their shapes agree, lists where they differ."""
    out: dict[str, Any] = {}
    for key, first in rows[0].items():
        column = [row[key] for row in rows if key in row]
        if isinstance(first, dict):
            out[key] = joined_rows(column, dim)
        elif all(isinstance(value, Tensor) and value.shape == first.shape for value in column):
            out[key] = torch.stack(column, dim)
        elif not isinstance(first, Tensor) and all(equal(value, first) for value in column):
            out[key] = first
        else:
            out[key] = column
    return out
