"""Joins carried out: stack and cat of nodes, key by key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import torch
from torch import Tensor

from .._rules import errors, joins
from .node import Node, kind

N = TypeVar("N", bound=Node)


def stack(nodes: Sequence[N], dim: int = 0, call: Callable[..., Tensor] = torch.stack) -> N:
    """Join nodes of one batch size along a new batch dim; `call` does it to tensors."""
    first = nodes[0]
    batch = first._batch
    place = dim + len(batch) + 1 if dim < 0 else dim
    if not 0 <= place <= len(batch) or [node._batch for node in nodes].count(batch) != len(nodes):
        joins.stack([tuple(node._batch) for node in nodes], dim)
    names = first._names
    return first._bare(
        _columns("stack", nodes, place, call),
        (*batch[:place], len(nodes), *batch[place:]),
        None if names is None else (*names[:place], None, *names[place:]),
    )  # type: ignore[return-value]  # A node of the first's class, unless fields went missing.


def cat(nodes: Sequence[N], dim: int = 0) -> N:
    """Join nodes along a batch dim that they have."""
    first = nodes[0]
    alike = [node._batch for node in nodes].count(first._batch) == len(nodes)  # Told without slicing, which costs.
    if dim == 0 and alike and first._batch:
        batch: tuple[int, ...] = (len(nodes) * first._batch[0], *first._batch[1:])
    else:
        batch = joins.cat([tuple(node._batch) for node in nodes], dim)
    place = dim + len(batch) if dim < 0 else dim
    return first._bare(_columns("cat", nodes, place, torch.cat), batch, first._names)  # type: ignore[return-value]


def _columns(op: str, nodes: Sequence[Node], dim: int, join: Callable[..., Tensor]) -> dict[str, Any]:
    first = nodes[0]
    if len({*map(type, nodes)}) != 1:
        _check_kin(op, nodes)
        rows = [node._fields for node in nodes]
    else:  # The instance itself is the store of some: read there, it costs half.
        rows = [node.__dict__ for node in nodes] if first._in_dict else [node._fields for node in nodes]
    keys = rows[0]
    for number, row in enumerate(rows):
        if len(row) != len(keys):
            _raise_keys_differ(op, first, nodes[number], number)
    fields: dict[str, Any] = {}
    for key, value in keys.items():
        try:
            column = [row[key] for row in rows]
        except KeyError:
            number = next(number for number, row in enumerate(rows) if key not in row)
            _raise_keys_differ(op, first, nodes[number], number)
        if isinstance(value, Tensor):
            try:
                fields[key] = join(column, dim)
            except (RuntimeError, TypeError) as error:
                _raise_column(op, key, column, error)
        elif isinstance(value, Node):
            fields[key] = _nodes(op, key, column, dim)
        else:
            fields[key] = _data(op, key, column, nodes, dim)
    return fields


def _check_kin(op: str, nodes: Sequence[Node]) -> None:
    first = nodes[0]
    for number, node in enumerate(nodes):
        if kin(type(node)) is not kin(type(first)):
            raise errors.KindError(
                f"{op}: item 0 is {_kind(first)}, item {number} is {_kind(node)}; items must have one class"
            )


def _nodes(op: str, key: str, column: list[Any], dim: int) -> Any:
    if not all(isinstance(value, Node) for value in column):
        if any(getattr(value, "_is_data", False) for value in column):
            return type(column[0])._join_data(op, column, dim)
        _raise_column(op, key, column, None)
    try:
        return type(column[0])._join(op, column, dim)
    except errors.RuleError as error:
        if error.args and not str(error).startswith(f"{op}: in "):
            error.args = (str(error).replace(f"{op}: ", f"{op}: in {key!r}: ", 1),)
        raise


def _data(op: str, key: str, column: list[Any], nodes: Sequence[Any], dim: int) -> Any:
    first = column[0]
    if all(value is first or equal(value, first) for value in column[1:]):
        if first is None or op != "stack" or nodes[0]._stacks_to_one_value():
            return first
    if any(isinstance(value, Tensor) or (isinstance(value, Node) and not value._is_data) for value in column):
        _raise_column(op, key, column, None)
    if any(value is None for value in column) and nodes[0]._none_is_unset:
        _raise_column(op, key, column, None)
    return type(nodes[0])._join_plain(op, column, [node._batch for node in nodes], dim)


def equal(one: Any, other: Any) -> bool:
    """Whether two plain values are equal and of one type, so that one can stand for both."""
    if type(one) is not type(other):
        return False
    try:
        return bool(one == other)
    except Exception:  # An object whose == is no truth value: not known to be equal.
        return False


def _raise_keys_differ(op: str, first: Node, node: Node, number: int) -> NoReturn:
    missing = [key for key in first._fields if key not in node._fields]
    if missing:
        raise errors.KeyMissing(errors.keys_differ(op, missing, f"item {number}"))
    extra = [key for key in node._fields if key not in first._fields]
    raise errors.KeyMissing(errors.keys_differ(op, extra, "item 0"))


def _raise_column(op: str, key: str, column: list[Any], cause: Exception | None) -> None:
    first = column[0]
    for number, value in enumerate(column):
        differs = type(value) is not type(first)
        if isinstance(value, Tensor) and isinstance(first, Tensor):
            differs = value.is_nested != first.is_nested or (not value.is_nested and value.shape != first.shape)
        if differs:
            raise errors.StructureError(
                f"{op}: {key!r} is {kind(first)} in item 0 and {kind(value)} in item {number}; they must be alike "
                "(lazy_stack keeps items that differ)"
            ) from cause
    raise errors.StructureError(f"{op}: {key!r}: {cause}") from cause


def kin(cls: type[Any]) -> type[Any]:
    """The class that a class joins with others as."""
    return cls if cls._kin is None else cls._kin


def _kind(node: Node) -> str:
    return f"a {type(node).__name__}"


def as_mask(op: str, mask: Any) -> Tensor:
    """A mask as the user gives it, as a tensor of bools."""
    tensor: Tensor = torch.as_tensor(mask)
    if tensor.dtype is torch.uint8:
        return tensor.bool()
    if tensor.dtype is not torch.bool:
        raise errors.KindError(f"{op}: a tensor of {tensor.dtype} is no mask; one of bools would do")
    return tensor


def right(tensor: Tensor, features: int) -> Tensor:
    """A batch-shaped tensor with dims of size 1 for the feature dims of a leaf."""
    return tensor.reshape(*tensor.shape, *[1] * features) if features and tensor.ndim else tensor


def beside(node: Node, tensor: Tensor, into: list[Tensor]) -> list[Tensor]:
    """A tensor whose dims are the first batch dims, for every tensor of a tree in the order of gather."""
    if node._items is not None:
        at = node._dim
        if tensor.ndim <= at:
            rows = [tensor] * len(node._items)
        else:
            rows = list(tensor.expand(*tensor.shape[:at], len(node._items), *tensor.shape[at + 1 :]).unbind(at))
        for item, row in zip(node._items, rows):
            beside(item, row, into)
        return into
    for value in node._fields.values():
        if isinstance(value, Tensor):
            into.append(right(tensor, value.ndim - tensor.ndim))
        elif isinstance(value, Node) and not value._is_data:
            beside(value, tensor, into)
    return into


def leading(tensor: Tensor, rank: int) -> Tensor:
    """A tensor that broadcasts with a batch of this rank, with dims of size 1 in front so that it has as many."""
    return tensor.reshape(*[1] * (rank - tensor.ndim), *tensor.shape) if 0 < tensor.ndim < rank else tensor


def rows_of(stack: Any, other: Any) -> list[Any]:
    """What goes with each item of a lazy stack: rows of a container or a batch-shaped tensor, the same number."""
    at, count = stack._dim, len(stack._items)
    if isinstance(other, Node) and len(other._batch) > at:
        rows: list[Any] = list(type(other).unbind(other, at))
    elif isinstance(other, Tensor) and other.ndim > at:
        rows = list(other.unbind(at))
    elif isinstance(other, Node):
        raise errors.ShapeError(errors.rows_differ(0, count))
    else:
        return [other] * count
    if len(rows) != count:
        raise errors.ShapeError(errors.rows_differ(len(rows), count))
    return rows
