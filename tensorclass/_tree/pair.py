"""Pointwise ops of a tree and something else: a tree with the same keys, a batch-shaped tensor or a number."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import torch
from torch import Tensor

from .._rules import errors, pointwise
from . import grouped, inplace
from .along import with_tensor as with_tensor
from .explain import explain_pair
from .join import beside, equal, leading, rows_of
from .node import Node, kind
from .walk import gather, match, refill

N = TypeVar("N", bound=Node)
NUMBERS = (bool, int, float, complex)


def binary(op: str, node: N, other: Any, one: Callable[..., Tensor], all_: Callable[..., Any] | None) -> N:
    """one(leaf, other) for every leaf."""
    if isinstance(other, NUMBERS):
        return refill(node, iter(grouped.call(gather(node, []), one, all_, other)))
    if node._items is not None:
        lazily: N = _by_item(op, node, other, lambda item, row: binary(op, item, row, one, all_))
        return lazily
    if isinstance(other, Node):
        node, other = broadcast(op, node, other)
        mine, theirs = gather(node, []), match(op, node, other, [])
        try:
            return refill(node, iter(two(mine, theirs, one, all_)))
        except RuntimeError as error:
            explain_pair(op, node, theirs, error)
            raise
    tensor = operand(op, other)
    batch = pointwise.broadcast(op, tuple(node._batch), tuple(tensor.shape))
    if len(batch) > len(node._batch):
        node = type(node).expand(node, *batch)
    dims = len(batch)
    others = beside(node, leading(tensor, dims), [])
    out = refill(node, iter([one(leaf, value) for leaf, value in zip(gather(node, []), others)]))
    return out if out._batch == batch else _resized(out, batch)


def _by_item(op: str, node: Any, other: Any, call: Callable[[Any, Any], Any]) -> Any:
    """An op of a lazy stack: every item with its row of the other side, which may have fewer batch dims, or more."""
    if not isinstance(other, Node):
        other = operand(op, other)
    shape = other._batch if isinstance(other, Node) else other.shape
    items = node._items
    at = len(shape) - len(node._batch) + node._dim
    if at < 0:  # It does not reach the stack dim.
        return node._restack([call(item, other) for item in items])
    kind: Any = type(other) if isinstance(other, Node) else torch.Tensor
    rows = list(kind.unbind(other, at)) if shape[at] != 1 else [kind.squeeze(other, at)] * len(items)
    if len(items) == 1:
        items = items * len(rows)
    if len(rows) != len(items):
        raise errors.ShapeError(f"{op}: {errors.rows_differ(len(rows), len(items))}")
    return node._restack([call(item, row) for item, row in zip(items, rows)], max(at, node._dim))


def reflected(op: str, node: N, other: Any, one: Callable[..., Tensor]) -> N:
    """one(other, leaf) for every leaf: the number or tensor stands on the left."""
    return binary(op, node, other, lambda leaf, number: one(number, leaf), None)


def two(
    mine: list[Tensor], theirs: list[Tensor], one: Callable[..., Tensor], all_: Callable[..., Any] | None
) -> list[Tensor]:
    """one(a, b) for every pair of leaves."""
    if all_ is not None and grouped.groupable(mine) and grouped.groupable(theirs):
        try:
            together: list[Tensor] = all_(mine, theirs)
            return together
        except RuntimeError:
            pass  # As in grouped.call.
    return [one(a, b) for a, b in zip(mine, theirs)]


def in_place(op: str, node: N, other: Any, one: Callable[..., Tensor], all_: Callable[..., Any] | None = None) -> N:
    """leaf.op_(other) for every leaf; shapes and dtypes are checked before the first leaf is written."""
    leaves, others = planned(op, node, other)
    if not torch.compiler.is_compiling():  # A trace fails as a whole, before anything is written.
        values: list[Any] = others if isinstance(others, list) else [others] * len(leaves)
        _check_in_place(op, leaves, values, one)
        if op in pointwise.FAIL_BY_DATA and isinstance(others, list) and any(map(_is_integer, leaves)):
            call = getattr(Tensor, op.removesuffix("_"))
            one, others = Tensor.copy_, [call(leaf, value) for leaf, value in zip(leaves, values)]
    inplace.write(leaves, one, all_, others)
    return node


def planned(op: str, node: Node, other: Any) -> tuple[list[Tensor], Any]:
    """Every leaf; and the number that is their other side, or one other side for each."""
    if isinstance(other, NUMBERS):
        return inplace.leaves_of(op, node), other
    if node._items is not None:
        if not isinstance(other, Node):
            other = operand(op, other).expand(node._batch)
        elif other._batch != node._batch and -1 not in node._batch:
            other = _expanded(op, node, other)
        jobs = [planned(op, item, row) for item, row in zip(node._items, rows_of(node, other))]
        return [leaf for leaves, _ in jobs for leaf in leaves], [value for _, values in jobs for value in values]
    leaves = inplace.leaves_of(op, node)
    if isinstance(other, Node):
        if other._batch != node._batch:
            other = _expanded(op, node, other)
        return leaves, match(op, node, other, [])
    tensor = operand(op, other)
    batch = pointwise.broadcast(op, tuple(node._batch), tuple(tensor.shape))
    if batch != tuple(node._batch):
        raise errors.ShapeError(
            f"{op}: a tensor of shape {list(tensor.shape)} does not fit in batch size {list(node._batch)} in place"
        )
    return leaves, list(beside(node, leading(tensor, len(batch)), []))


def _expanded(op: str, node: Node, other: Any) -> Any:
    if pointwise.broadcast(op, tuple(node._batch), tuple(other._batch)) != tuple(node._batch):
        raise errors.ShapeError(
            f"{op}: batch size {list(other._batch)} does not fit in batch size {list(node._batch)} in place"
        )
    return type(other).expand(other, *node._batch)


def _check_in_place(op: str, leaves: list[Tensor], values: list[Any], one: Callable[..., Tensor]) -> None:
    """Refuse what some leaf does not take."""
    several = len(leaves) > 1  # One leaf: torch itself refuses before it writes.
    tried: set[Any] = set()
    for leaf, value in zip(leaves, values):
        kinds: Any = leaf.dtype
        if isinstance(value, Tensor):
            if value.shape != leaf.shape and not inplace.takes(leaf.shape, value.shape):
                raise errors.ShapeError(
                    f"{op}: a value of shape {list(value.shape)} does not fit in a leaf of shape {list(leaf.shape)} "
                    "in place"
                )
            kinds = (kinds, leaf.ndim == 0, value.dtype, value.ndim == 0)
        if several:
            inplace.check_eager(op, leaf)
        if kinds not in tried:
            tried.add(kinds)
            if isinstance(value, Tensor):
                _try_tensors(op, one, *kinds, leaf.device.type, value.device.type)
            else:
                _try_number(op, one, leaf.dtype, value, leaf.device.type)


@lru_cache(maxsize=1024, typed=True)  # 1, 1.0 and True are three.
def _try_number(op: str, one: Callable[..., Tensor], dtype: torch.dtype, number: Any, device: str) -> None:
    """Refuse a number that leaves of a dtype do not take, unless it has been seen to work."""
    _try(op, one, torch.ones(1, dtype=dtype, device=device), number)


@lru_cache(maxsize=1024)
def _try_tensors(
    op: str,
    one: Callable[..., Tensor],
    dtype: torch.dtype,
    is_number: bool,
    other: torch.dtype,
    is_other_number: bool,
    device: str,
    other_device: str,
) -> None:
    """Refuse tensors that leaves of a dtype do not take, unless they have been seen to work."""
    leaf = torch.ones(() if is_number else (1,), dtype=dtype, device=device)
    _try(op, one, leaf, torch.ones(() if is_other_number else (1,), dtype=other, device=other_device))


def _try(op: str, one: Callable[..., Tensor], leaf: Tensor, value: Any) -> None:
    wanted = torch.result_type(leaf, value)
    if not torch.can_cast(wanted, leaf.dtype):
        raise errors.KindError(f"{op}: a result of {wanted} does not fit in a leaf of {leaf.dtype} in place")
    one(leaf, value)


def _is_integer(leaf: Tensor) -> bool:
    return not leaf.is_floating_point()


def compare(op: str, node: N, other: Any, one: Callable[..., Tensor]) -> Any:
    """one(leaf, other) for every leaf, as bool leaves; plain data is compared by == and != of two containers alone."""
    if node._items is not None and isinstance(other, (Node, Tensor)):
        return _by_item(op, node, other, lambda item, row: compare(op, item, row, one))
    if not isinstance(other, Node):
        if not isinstance(other, (*NUMBERS, Tensor)) and type(other).__module__ != "numpy":
            return NotImplemented
        out = binary(op, node, other, with_tensor(one) if op.startswith("logical") else one, None)
        return _without_data(out)
    node, other = broadcast(op, node, other)
    mine, theirs = gather(node, []), match(op, node, other, [])
    try:
        found = [one(a, b) for a, b in zip(mine, theirs)]
    except RuntimeError as error:
        explain_pair(op, node, theirs, error)
        raise
    return _compared(op, node, other, iter(found))


def _compared(op: str, node: Node, other: Node, tensors: Any) -> Node:
    if node._items is not None:
        return node._restack(
            [_compared(op, item, row, tensors) for item, row in zip(node._items, rows_of(node, other))]
        )
    fields: dict[str, Any] = {}
    for key, value in node._fields.items():
        if isinstance(value, Tensor):
            fields[key] = next(tensors)
        elif isinstance(value, Node) and not value._is_data:
            fields[key] = _compared(op, value, other._fields[key], tensors)
        elif op in ("eq", "ne"):
            against = other._fields.get(key)
            if value is None and against is None:
                fields[key] = None
                continue
            alike = value is against or equal(value, against)
            fields[key] = torch.full(tuple(node._batch), alike == (op == "eq"), dtype=torch.bool)
    if op in ("eq", "ne"):
        for key in other._fields.keys() - node._fields.keys():
            fields[key] = torch.full(tuple(node._batch), op == "ne", dtype=torch.bool)
    return node._bare(fields, tuple(node._batch), node._names)


def _without_data(node: Node) -> Node:
    if node._items is not None:
        return node._restack([_without_data(item) for item in node._items])
    fields = {
        key: _without_data(value) if isinstance(value, Node) else value
        for key, value in node._fields.items()
        if isinstance(value, Tensor) or (isinstance(value, Node) and not value._is_data)
    }
    return node._bare(fields, tuple(node._batch), node._names)


def broadcast(op: str, node: N, other: Any) -> tuple[N, Any]:
    """Two nodes expanded to one batch size."""
    if node._batch == other._batch:
        return node, other
    batch = pointwise.broadcast(op, tuple(node._batch), tuple(other._batch))
    if node._batch != batch:
        node = type(node).expand(node, *batch)
    if other._batch != batch:
        other = type(other).expand(other, *batch)
    return node, other


def operand(op: str, other: Any) -> Tensor:
    """The other side of an op, as a tensor."""
    if isinstance(other, Tensor):
        return other
    if type(other).__module__ == "numpy" or isinstance(other, (list, tuple)):
        return torch.as_tensor(other)
    if isinstance(other, torch.SymInt | torch.SymFloat | torch.SymBool):
        return torch.as_tensor(other)
    raise errors.KindError(
        f"{op}: {kind(other)} has no leaves; a container, a batch-shaped tensor or a number would do"
    )


def _resized(node: N, batch: tuple[int, ...]) -> N:
    fields = {
        key: _resized(value, (*batch, *value._batch[len(batch) :])) if isinstance(value, Node) else value
        for key, value in node._fields.items()
    }
    return node._rebuild(fields, batch, node._names)
