"""Ragged to dense: padding of tensors and containers of different sizes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._tree.node import is_tree


def padded(column: list[Tensor], dim: int, value: float) -> Tensor:
    """Tensors of different sizes, each filled up to the largest, stacked along a dim."""
    sizes = [max(sizes) for sizes in zip(*[tensor.shape for tensor in column])]
    rows = []
    for tensor in column:
        row = tensor.new_full(sizes, value)
        row[tuple([slice(0, size) for size in tensor.shape])] = tensor
        rows.append(row)
    return torch.stack(rows, dim)


def densified(stack: Any, value: float, mask: str | None) -> Any:
    """A lazy stack as one dense container, filled up with a value."""
    sizes = [max(sizes) for sizes in zip(*[item._batch for item in stack._items])] if stack._items[0]._batch else []
    at = stack._dim
    batch = (*sizes[:at], len(stack._items), *sizes[at:])
    fields: dict[str, Any] = {}
    for key in stack._keys():
        column = [item._fields[key] for item in stack._items]
        if all(isinstance(one, Tensor) for one in column):
            fields[key] = padded(column, at, value)
        elif all(is_tree(one) for one in column):
            fields[key] = densified(type(stack)._restack(stack, column), value, None)
        else:
            fields[key] = stack._joined(key, column)
    if mask is not None:
        fields[mask] = padded([torch.ones(item._batch, dtype=torch.bool) for item in stack._items], at, 0)
    return stack._items[0]._rebuild(fields, batch)
