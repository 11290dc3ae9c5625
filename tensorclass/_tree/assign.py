"""Indexing carried out: x[index] = value, every pair checked before the first element is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Size, Tensor

from .._rules import errors, indexing
from .._rules.keys import path
from .explain import uncommon
from .index import Items, as_shape, batch_after, is_places, prepared
from .inplace import check_leaf, is_rare, overlaps, refuse_graph
from .join import right
from .node import Node, is_tree

Path = tuple[str, ...]
Job = tuple[Any, Any, Any]  # What is written to (a leaf, or what takes rows like one), where, and what.
Jobs = list[Job]


def write(node: Node, index: Any, value: Any) -> None:
    """x[index] = value: a container with the same keys, a dict with some of them, a batch-shaped tensor or a number."""
    kind = index.__class__
    if node._batch and (kind is int or kind is slice or is_places(index)):
        items: Items = (index,)  # As prepared() would give it.
    else:
        items = prepared(index, node._batch, spread_masks=isinstance(value, (Node, Mapping, Tensor)))
    check_ints(items, node._batch)
    jobs: Jobs = []
    if isinstance(value, Node) and node._items is None and _has_nothing(node) and not value._is_data:
        write_first(node, items, value)
        return
    node._plan_write(items, value, jobs, ())
    carry_out(jobs)


def _has_nothing(node: Node) -> bool:
    """Whether a container has no entry; a typed one: whether no field is set."""
    return not node._fields or (node._none_is_unset and all(value is None for value in node._fields.values()))


def write_first(node: Node, items: Items, row: Node) -> None:
    """Write rows into a container without entries, which has zeros in all others then."""
    node._check_open("make entries")
    for key in row._fields if node._none_is_unset else ():
        if key not in node._fields:
            raise node._missing(key)
    jobs: Jobs = []
    filled = node._rebuild(zeros_for(node._batch, row, node._device), node._batch)
    filled._plan_write(items, row, jobs, ())
    carry_out(jobs)
    node._fields.update(filled._fields)


def zeros_for(batch: Size, row: Node, device: torch.device | None) -> dict[str, Any]:
    """Zeros with a batch size in place of that of a row."""
    rank = len(row._batch)
    fields: dict[str, Any] = {}
    for key, value in row._fields.items():
        if isinstance(value, Tensor):
            fields[key] = value.new_zeros((*batch, *value.shape[rank:]), device=device)
        elif is_tree(value):
            inner = Size((*batch, *value._batch[rank:]))
            fields[key] = value._rebuild(zeros_for(inner, value, device), inner)
        else:
            fields[key] = value
    return fields


def carry_out(jobs: Jobs) -> None:
    """Write, once everything has been found to fit."""
    for leaf, at, new in jobs if len(jobs) > 1 else ():
        if isinstance(leaf, Tensor) and is_rare(leaf):  # What torch refuses is to be found before anything is written.
            leaf.detach().clone()[at] = new
    for leaf, at, new in jobs:
        leaf[at] = new


def plan(node: Node, items: Items, value: Any, jobs: Jobs, under: Path) -> None:
    """Collect the writes that node[items] = value comes down to, or raise what forbids one of them."""
    node._check_thawed("write rows in place")
    given: Mapping[str, Any] | None = by_name(value) if isinstance(value, Mapping) else None
    rows = batch_after(node._batch, items)
    if isinstance(value, Node):
        if not _all_tensors(node._fields, value._fields):
            _check_same_keys(node, value, under)
        if value._batch != rows and not broadcasts(value._batch, rows):
            raise errors.ShapeError(
                f"index: the value has batch size {list(value._batch)}, the rows to write have {list(rows)}; "
                "they must be equal"
            )
        given = value._fields
    elif given is not None:
        extra = [(*under, key) for key in given if key not in node._fields]
        if extra:
            raise node._missing(extra[0] if len(extra[0]) > 1 else extra[0][0])
    at = items[0] if len(items) == 1 else items
    for key, leaf in node._fields.items():
        if given is not None and key not in given:
            continue
        new = value if given is None else given[key]
        if isinstance(leaf, Tensor):
            jobs.append(_plan_leaf(node, (*under, key), leaf, items, at, new, rows, given is None))
        elif isinstance(leaf, Node):
            if leaf._is_data and given is None:
                continue  # A number, or a tensor, is for the tensors.
            if isinstance(new, Tensor) and given is not None and not leaf._is_data:
                raise errors.StructureError(
                    f"index: {errors.name_of((*under, key))} is a container, the value a tensor"
                )
            if given is None and isinstance(new, Tensor):  # Batch-shaped; the batch dims of a nested node may be more.
                new = right(new, len(leaf._batch) - len(node._batch))
            type(leaf)._plan_write(leaf, items, new, jobs, (*under, key))
        elif given is not None and not _equal(leaf, new):
            jobs.append((_spread(node, key), at, new))


def by_name(given: Mapping[Any, Any]) -> dict[str, Any]:
    """A dict whose keys may be nested, as dicts in dicts."""
    out: dict[str, Any] = {}
    for key, value in given.items():
        *above, name = path(key)
        inner = out
        for step in above:
            inner = inner.setdefault(step, {})
            if not isinstance(inner, dict):
                raise errors.StructureError(f"index: {errors.name_of(step)} has two values, one of them nested")
        inner[name] = value
    return out


def _plan_leaf(
    node: Node, key: Path, leaf: Tensor, items: Items, at: Any, new: Any, rows: Size, batch_shaped: bool
) -> Job:
    check_target(leaf, at)
    if uncommon(leaf):
        check_uncommon(key, leaf, at)
    if isinstance(new, (bool, int, float, complex)):
        number: Any = new
        torch.ones(1, dtype=leaf.dtype).fill_(number)  # What the dtype cannot hold fails here.
        return leaf, at, number
    if isinstance(new, Node):
        raise errors.StructureError(f"index: {errors.name_of(key)} is a tensor, the value has a container there")
    if new is None or isinstance(new, str):
        raise errors.KindError(f"index: {errors.name_of(key)} is a tensor and cannot take {new!r}")
    tensor = new if isinstance(new, Tensor) else torch.as_tensor(new)
    features = leaf.shape[len(node._batch) :]
    if batch_shaped and tensor.ndim:
        if not broadcasts(tensor.shape, rows):
            raise errors.ShapeError(
                f"index: the value has shape {list(tensor.shape)}, the rows to write {list(rows)}; a tensor is written "
                "to every entry, so it has the shape of the rows"
            )
        tensor = tensor.reshape(*tensor.shape, *[1] * len(features))
    elif tensor.shape != rows + features and not broadcasts(tensor.shape, rows + features):
        raise errors.ShapeError(
            f"index: {errors.name_of(key)} gets a value of shape {list(tensor.shape)} for rows of shape "
            f"{[*rows, *features]}"
        )
    if tensor.device != leaf.device and tensor.ndim:
        tensor = tensor.to(leaf.device)
    return leaf, at, tensor


def check_target(leaf: Tensor, at: Any) -> None:
    """Refuse rows of a leaf that cannot be written."""
    if torch.compiler.is_compiling():
        return
    if leaf.requires_grad or leaf.is_inference():
        refuse_graph("index", leaf)
    if overlaps(leaf):
        items = at if isinstance(at, tuple) else (at,)
        check_leaf("index", leaf if any(isinstance(item, Tensor) for item in items) else leaf[at])


def check_uncommon(key: Path, leaf: Tensor, at: Any) -> None:
    """Refuse rows of a nested or sparse tensor, but for those of the jagged layout that torch takes."""
    if leaf.layout is torch.jagged:
        try:
            leaf[at]
            return
        except (RuntimeError, ValueError):  # What cannot be read there cannot be written either.
            pass
    what = "a nested tensor" if leaf.is_nested else f"a tensor of layout {leaf.layout}"
    raise errors.StructureError(f"index: {errors.name_of(key)} is {what}, and torch refuses to write these rows of it")


def check_ints(items: Items, batch: Size) -> None:
    """Refuse ints that are out of range: torch finds them when some rows are written."""
    if torch.compiler.is_compiling():
        return
    dim = 0
    for item in items:
        if isinstance(item, Tensor) and item.dtype is not torch.bool:
            if item.device.type == "cpu" and item.numel():
                for row in map(int, item.aminmax()):
                    if not -batch[dim] <= row < batch[dim]:
                        raise errors.DimError(f"index: {row} is out of range for batch dim {dim} of size {batch[dim]}")
        dim += indexing.uses(as_shape(item))


class Target:
    """Something that takes rows by a call, as a tensor does by x[at] = new."""

    def __init__(self, put: Callable[[Any, Any], None]) -> None:
        self._put = put

    def __setitem__(self, at: Any, new: Any) -> None:
        self._put(at, new)


def _spread(node: Node, key: str) -> Target:
    """A plain value, which becomes one value a row once some rows of it are written."""

    def put(at: Any, new: Any) -> None:
        node._spread_data(key)
        node._fields[key][at] = new

    return Target(put)


def broadcasts(shape: Any, want: Any) -> bool:
    """Whether a value of this shape can be written where that shape is wanted."""
    extra = len(shape) - len(want)
    if extra > 0 and any(size != 1 for size in shape[:extra]):
        return False
    return all(have == need or have == 1 for have, need in zip(reversed(shape), reversed(want)))


def _equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    try:
        return bool(one == other)
    except Exception:  # An object whose == is not a truth value: not known to be equal.
        return False


def _all_tensors(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """Whether two nodes have the same keys, and tensors under all of them."""
    if len(mine) != len(theirs):
        return False
    for key, leaf in mine.items():
        if not (isinstance(leaf, Tensor) and isinstance(theirs.get(key), Tensor)):
            return False
    return True


def _check_same_keys(node: Node, value: Node, under: Path) -> None:
    mine, theirs = _entries(node), _entries(value)
    missing = [(*under, key) for key in mine if key not in theirs]
    if missing:
        raise errors.KeyMissing(errors.keys_differ("index", missing, "the value"))
    extra = [(*under, key) for key in theirs if key not in mine]
    if extra:
        raise errors.KeyMissing(errors.keys_differ("index", extra, "the container written to"))


def _entries(node: Node) -> list[str]:
    return [key for key, leaf in node._fields.items() if isinstance(leaf, Tensor) or is_tree(leaf)]
