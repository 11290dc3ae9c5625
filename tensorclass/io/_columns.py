"""A container with one batch dim as columns, one value a row: what tables of any kind hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from .._data import NonTensorStack
from .._lazystack import lazy_stack
from .._rules import errors
from .._tensordict import TensorDict
from .._tree import walk
from .._tree.node import Node, is_tree, kind
from ._bytes import storable
from ._errors import DataDamaged, NotStorable
from ._load import _as_saved, _class_called, typed_as

At = tuple[str, ...]
Columns = dict[At, Any]  # Tensors whose first dim is the rows, nested tensors, and lists of plain values.


class Laid:
    """A container laid out in columns."""

    def __init__(self, op: str, node: Any) -> None:
        if not is_tree(node):
            raise errors.KindError(f"{op}: {kind(node)} is no container; a TensorDict or a typed class would do")
        if len(node._batch) != 1:
            raise errors.ShapeError(
                f"{op}: batch size {list(node._batch)} is no row of rows; one batch dim would do, "
                "and .reshape(-1) makes one of several"
            )
        self.columns: Columns = {}
        self.plain: list[tuple[At, Any]] = []  # What is the same for all rows.
        self.nodes: list[tuple[At, str | None, int]] = []  # Containers: where, the class, and how many batch dims.
        self._add(node, ())

    def _add(self, node: Node, at: At) -> None:
        cls = type(node) if node._items is None else type(node._items[0])
        name = f"{cls.__module__}:{cls.__qualname__}" if hasattr(cls, "_declared") else None
        self.nodes.append((at, name, len(node._batch)))
        for key in node._first_and_keys()[1]:
            value = node._fields[key] if node._items is None else _stacked(node, key)
            here = (*at, key)
            if is_tree(value):
                self._add(value, here)
            elif isinstance(value, NonTensorStack):
                self.columns[here] = value.tolist()
            elif isinstance(value, Tensor):
                try:
                    self.columns[here] = storable(value).cpu()
                except NotStorable as error:
                    raise NotStorable(f"{errors.name_of(here)}: {error}") from None
            elif value is not None or not node._none_is_unset:
                self.plain.append((here, value))

    def names(self, op: str, separator: str) -> list[str]:
        """A name for each column: its keys, joined."""
        names = [separator.join(at) for at in self.columns]
        for name in names:
            if names.count(name) > 1:
                raise errors.KeyTaken(f"{op}: two entries would be called {name!r}; another separator would do")
        return names


def _stacked(stack: Any, key: str) -> Any:
    """An entry of a lazy stack; a nested tensor where its rows differ in size."""
    try:
        return stack._entry(key)
    except errors.RaggedError:
        return stack.get(key, as_nested_tensor=True)


def gathered(columns: Mapping[At, Any], rows: int, plain: Sequence[tuple[At, Any]] = ()) -> TensorDict:
    """The container that columns make."""
    out = TensorDict(batch_size=[rows])
    for at, value in columns.items():
        _put(out, at, NonTensorStack._from_positions(value, torch.arange(rows)) if type(value) is list else value, rows)
    for at, value in plain:
        _put(out, at, value, rows)
    return out


def _put(out: TensorDict, at: At, value: Any, rows: int) -> None:
    node = out
    for key in at[:-1]:
        inner = node._fields.get(key)
        if inner is None:
            inner = node._fields[key] = TensorDict(batch_size=[rows])
        if not isinstance(inner, TensorDict):
            raise errors.KeyTaken(f"{errors.name_of(at)}: {errors.name_of(at[:-1])} is a column itself")
        node = inner
    if at[-1] in node._fields:
        raise errors.KeyTaken(f"{errors.name_of(at)} is a column, and others stand below it")
    node._fields[at[-1]] = node._validate(at, value) if isinstance(value, (Tensor, Node)) else value


def as_class(cls: Any, node: TensorDict, nodes: Sequence[tuple[At, str | None, int]] = ()) -> Any:
    """A container as an instance of a class, or of the classes that it was laid out from."""
    inner: dict[At, Any] = {(): node}
    for at, _, rank in nodes:
        parent = inner.get(at[:-1])
        if not at or parent is None or parent._items is not None:
            continue
        here = parent._fields.get(at[-1])
        if isinstance(here, TensorDict):
            inner[at] = parent._fields[at[-1]] = _of_rank(here, rank)
    if cls is not None:
        return typed_as(cls, node)
    for at, name, _ in reversed(nodes):  # Those further in come later, and must be ready first.
        if at in inner:
            made = _as_saved(_class_called(name), inner[at])
            if not at:
                return made
            inner[at[:-1]]._fields[at[-1]] = made
    return node


def _of_rank(node: TensorDict, rank: int) -> Any:
    """A container with so many batch dims; where rows differ in size they were those of a lazy stack."""
    if rank == 1 or not len(node):
        return node
    if any(leaf.is_nested for leaf in walk.gather(node, [])):
        return lazy_stack([type(row).auto_batch_size_(row, rank - 1) for row in node.unbind(0)])
    return node.auto_batch_size_(rank)


def split_name(name: str, separator: str | None) -> At:
    """The keys of a column that has no note of them."""
    parts = tuple(name.split(separator)) if separator else (name,)
    return parts if all(parts) else (name,)


def jagged(name: str, rows: Sequence[Tensor]) -> Tensor:
    """The rows of a column, of different sizes, as one nested tensor."""
    if len({row.shape[1:] for row in rows}) > 1 or any(row.ndim == 0 for row in rows):
        shapes = errors.some_names([list(row.shape) for row in rows])
        raise DataDamaged(f"column {name!r} has rows of shapes {shapes}, which differ in more than the first dim")
    return torch.nested.as_nested_tensor(list(rows), layout=torch.jagged)
