"""Rows: a container of many environments taken apart, the rows of each, and put together again."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._rules.keys import path
from .._tensordict import TensorDict
from .._tree import join
from .._tree.node import is_tree
from ._entries import branch, drop
from ._keys import leaves_of
from ._typed import view


def rows_of(tensordict: Any, count: int) -> list[Any]:
    """The rows of a container along its first batch dim; plain data belongs to each of them."""
    if tensordict._items is not None:
        return list(type(tensordict).unbind(tensordict, 0))
    columns: list[tuple[str, Any]] = [
        (key, value.unbind(0) if isinstance(value, Tensor) else unbound(value, count))
        for key, value in tensordict._fields.items()
        if key != "next"
    ]
    batch, device = tensordict._batch[1:], tensordict._device
    return [view(TensorDict, {key: column[at] for key, column in columns}, batch, device) for at in range(count)]


def unbound(value: Any, count: int) -> Any:
    """The rows of a nested container, or plain data for each row."""
    unbind = getattr(type(value), "unbind", None)
    return [value] * count if unbind is None else unbind(value, 0)


def mask_paths(row: Any) -> list[tuple[str, ...]]:
    """Where masks for a reset are in a row."""
    return [at for at in map(path, type(row).keys(row, True, True)) if at[-1] == "_reset"]


def is_reset(row: Any) -> bool:
    """Whether a row is to be reset: a mask in it says so, or there is none."""
    masks = mask_paths(row)
    return not masks or any(bool(row[at].any()) for at in masks)


def unmasked(row: Any) -> Any:
    """A row without masks that are true throughout."""
    masks = mask_paths(row)
    if masks and all(bool(row[at].all()) for at in masks):
        for at in masks:
            drop(row, at)
    return row


def halted(last: Any, row: Any, rewards: Any) -> Any:
    """What an environment gives that is not stepped: what it gave last, with no reward."""
    fields = {**last._fields, **{key: row._fields[key] for key in row._fields if key in last._fields}}
    out = branch(view(TensorDict, fields, row._batch, row._device))
    for key, spec in leaves_of(rewards).items():
        out[key] = spec.zero()
    return out


def stacked(cls: Any, rows: list[Any], batch: torch.Size) -> Any:
    """Rows of the same shapes as one container, with the keys that all have."""
    first, *rest = [row._fields for row in rows]
    fields: dict[str, Any] = {}
    for key, value in first.items():
        if all(key in one for one in rest):
            column = [value, *[one[key] for one in rest]]
            fields[key] = torch.stack(column) if isinstance(value, Tensor) else stacked_others(key, column, batch[1:])
    return view(cls, fields, batch)


def stacked_others(key: str, column: list[Any], batch: torch.Size) -> Any:
    """Nested containers, or plain data, of several rows."""
    if is_tree(column[0]):
        nested = column[0]._batch
        return stacked(TensorDict, column, torch.Size((len(column), *nested)))
    return join.stack([view(TensorDict, {key: value}, batch) for value in column], 0)._fields[key]
