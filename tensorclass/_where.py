"""Rows of one container or of another, as a condition says: tensors and plain values."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor

from ._data import NonTensorStack, joined
from ._rules import errors
from ._rules.pointwise import broadcast
from ._tree import join, walk
from ._tree.explain import explain_pair
from ._tree.join import as_mask, equal
from ._tree.node import Node, is_tree, kind

N = TypeVar("N", bound=Node)


def join_where(condition: Any, one: N, other: Any) -> N:
    """torch.where with a container on the left."""
    condition = as_mask("where", condition)
    batch = tuple(one._batch)
    if tuple(condition.shape) != batch[: condition.ndim] and tuple(condition.shape) != batch:
        raise errors.ShapeError(errors.condition_mismatch(tuple(condition.shape), batch))
    if one._is_data:
        return _chosen(condition, one, other, one._batch)  # type: ignore[no-any-return]  # Rows of values.
    mine = walk.gather(one, [])
    if type(other).__module__ == "numpy":
        other = torch.as_tensor(other)
    if isinstance(other, Node):
        if other._batch != one._batch:
            raise errors.ShapeError(
                f"where: batch sizes {list(batch)} and {list(other._batch)} differ; they must be equal"
            )
        theirs: list[Any] = list(walk.match("where", one, other, []))
    elif isinstance(other, Tensor):
        if broadcast("where", batch, tuple(other.shape)) != batch:
            raise errors.ShapeError(
                f"where: a tensor of shape {list(other.shape)} does not fit in batch size {list(batch)}"
            )
        theirs = list(join.beside(one, join.leading(other, len(batch)), []))
    elif isinstance(other, (bool, int, float, complex)):
        theirs = [other] * len(mine)
    else:
        raise errors.KindError(f"where: {kind(other)} has no leaves; a container, a tensor or a number would do")
    try:
        conditions = join.beside(one, condition, [])
        chosen = [torch.where(*row) for row in zip(conditions, mine, theirs)]
    except RuntimeError as error:
        explain_pair("where", one, theirs, error)
        raise
    made = walk.refill(one, iter(chosen))
    return _with_data(made, condition, one, other) if isinstance(other, Node) else made


def _with_data(made: N, condition: Tensor, one: Any, other: Any) -> N:
    """The container with the plain values, too, taken from one or the other."""
    if made._items is not None:
        rows = condition.unbind(made._dim) if made._dim < condition.ndim else [condition] * len(made._items)
        for item, row, mine, theirs in zip(made._items, rows, one._items, type(other).unbind(other, made._dim)):
            _with_data(item, row, mine, theirs)
        return made
    for key, value in list(made._fields.items()):
        theirs = other._fields.get(key)
        if is_tree(value):
            _with_data(value, condition, one._fields[key], theirs)
        elif not isinstance(value, Tensor) and key in other._fields:
            if isinstance(value, NonTensorStack) or not equal(value, theirs):  # Rows are not compared: no graph could.
                made._fields[key] = _chosen(condition, value, theirs, made._batch)
    return made


def _chosen(condition: Tensor, one: Any, other: Any, batch: Any) -> Any:
    """Plain values, one a row; a value alone where there is but one row."""
    rows = [value if isinstance(value, NonTensorStack) else NonTensorStack.full(value, batch) for value in (one, other)]
    both = joined("stack", rows, 0)
    first, second = both._fields["positions"]
    places = torch.where(condition.reshape([*condition.shape, *[1] * (first.ndim - condition.ndim)]), first, second)
    return both._rebuild({"positions": places}, places.shape)
