"""The walk over a tree: gather its tensors, do something to them, put them back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from torch import Tensor

from .._rules import errors
from .node import Node, is_tree

N = TypeVar("N", bound=Node)
Path = tuple[str, ...]


def gather(node: Node, into: list[Tensor]) -> list[Tensor]:
    """Every tensor below a node, in order."""
    if node._items is not None:
        for item in node._items:
            gather(item, into)
        return into
    for value in node._fields.values():
        if isinstance(value, Tensor):
            into.append(value)
        elif is_tree(value):
            gather(value, into)
    return into


def refill(node: N, tensors: Iterator[Tensor]) -> N:
    """The same tree with other tensors, taken in the order of gather."""
    if node._items is not None:
        return node._restack([refill(item, tensors) for item in node._items])
    return node._like(
        {
            key: next(tensors) if isinstance(value, Tensor) else refill(value, tensors) if is_tree(value) else value
            for key, value in node._fields.items()
        }
    )


def each(node: N, call: Callable[[Tensor], Any]) -> N:
    """The same tree with call(tensor) for every tensor."""
    if node._items is not None:
        return node._restack([each(item, call) for item in node._items])
    return node._like(
        {
            key: call(value) if isinstance(value, Tensor) else each(value, call) if is_tree(value) else value
            for key, value in node._fields.items()
        }
    )


def match(op: str, one: Node, other: Node, into: list[Tensor], under: Path = ()) -> list[Tensor]:
    """The tensors of another tree, in the order of gather(one); both must have the same keys."""
    if one._items is not None:
        rows = type(other).unbind(other, one._dim) if len(other._batch) > one._dim else ()
        if len(rows) != len(one._items):
            raise errors.ShapeError(f"{op}: {errors.rows_differ(len(rows), len(one._items))}")
        for item, against in zip(one._items, rows):
            match(op, item, against, into, under)
        return into
    mine, theirs = one._fields, other._fields
    for key, value in mine.items():
        if not (isinstance(value, Tensor) or is_tree(value)):
            if isinstance(theirs.get(key), Tensor):
                raise errors.StructureError(
                    f"{op}: {errors.name_of((*under, key))} is a tensor in the second container, not in the first"
                )
            continue
        if key not in theirs:
            raise errors.KeyMissing(errors.keys_differ(op, [(*under, key)], "the second container"))
        against = theirs[key]
        if not isinstance(value, Tensor):
            if not is_tree(against):
                raise errors.StructureError(
                    f"{op}: {errors.name_of((*under, key))} is a container in one, not in the other"
                )
            match(op, value, against, into, (*under, key))
        elif isinstance(against, Tensor):
            into.append(against)
        else:
            raise errors.StructureError(f"{op}: {errors.name_of((*under, key))} is a tensor in one, not in the other")
    if len(mine) != len(theirs) or mine.keys() != theirs.keys():
        extra = [
            (*under, key)
            for key, value in theirs.items()
            if key not in mine and (isinstance(value, Tensor) or is_tree(value))
        ]
        if extra:
            raise errors.KeyMissing(errors.keys_differ(op, extra, "the first container"))
    return into


def paths(node: Node, nested: bool, leaves_only: bool, under: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The paths of a tree and what sits there: what is in a node before the node; leaves are tensors alone."""
    for key, value in list(node._fields.items()):
        here = (*under, key)
        if is_tree(value):
            if nested:
                yield from paths(value, nested, leaves_only, here)
            if not leaves_only:
                yield here, value
        elif isinstance(value, Tensor) or not (leaves_only or (value is None and node._none_is_unset)):
            yield here, value


def key_paths(node: Node, nested: bool, leaves_only: bool, under: Path = ()) -> Iterator[Path]:
    """The paths of a tree, in the order of paths, without reading what is there: a lazy stack stacks nothing."""
    first, keys = node._first_and_keys()
    for key in keys:
        value, here = first._fields[key], (*under, key)
        if is_tree(value):
            if nested:
                yield from key_paths(value if first is node else node._nested(key), nested, leaves_only, here)
            if not leaves_only:
                yield here
        elif isinstance(value, Tensor) or not (leaves_only or (value is None and node._none_is_unset)):
            yield here


def tensors_with_paths(node: Node, under: Path = (), by_item: bool = False) -> Iterator[tuple[Path, Tensor]]:
    """Every tensor below a node with its path; by_item: in the order of gather, those of a lazy stack one by one."""
    if by_item and node._items is not None:
        for item in node._items:
            yield from tensors_with_paths(item, under, True)
        return
    for key, value in node._fields.items():
        if isinstance(value, Tensor):
            yield (*under, key), value
        elif is_tree(value):
            yield from tensors_with_paths(value, (*under, key), by_item)
