"""Indexing carried out: x[index] read on every leaf."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Size, Tensor

from .._rules import errors, indexing
from .._rules.sizes import Ints, Mask
from .explain import explain
from .node import Node, kind

N = TypeVar("N", bound=Node)
Items = tuple[Any, ...]
PICKED = {Tensor}  # The classes of tensors whose own x[rows] does nothing else than torch's.


def read(node: N, index: Any) -> N:
    """x[index] for any index that torch takes, of the batch dims alone."""
    kind_ = index.__class__
    batch = node._batch
    if batch:
        if kind_ is int:
            indexing.check_int(index, batch, 0)
            return _read(node, (index,), index, batch[1:])
        if kind_ is slice:
            return _read(node, (index,), index, (indexing.sliced(batch[0], index), *batch[1:]))
        if is_places(index):
            return _pick(node, index, (*index.shape, *batch[1:]))
    if isinstance(index, str):  # A member of an enum of strings.
        cls: Any = type(node)
        return cls.__getitem__(node, str.__str__(index))  # type: ignore[no-any-return]  # An entry.
    try:
        items = prepared(index, batch)
    except errors.DimError as error:
        error.args = (f"{error}{node._batch_hint()}",)
        raise
    return read_items(node, items, items[0] if len(items) == 1 else items)


def is_places(item: Any) -> bool:
    """Whether an index is a tensor of ints that stand for rows of one dim, which needs no preparing."""
    return item.__class__ is Tensor and item.dtype is torch.int64 and item.ndim > 0


def read_items(node: N, items: Items, index: Any) -> N:
    """x[index], where items are the prepared items of the index."""
    after = batch_after(node._batch, items)
    return _pick(node, index, after) if is_places(index) else _read(node, items, index, after)


def _pick(node: N, index: Tensor, new: tuple[int, ...]) -> N:
    """x[index] for rows in a tensor: torch.index_select gives the same several times as fast, where it can."""
    if index.ndim != 1 or not index.is_cpu or torch.compiler.is_compiling():
        return _read(node, (index,), index, new)
    try:
        fields = {
            key: torch.index_select(value, 0, index)
            if value.__class__ in PICKED and value.is_contiguous()
            else value[index]
            if isinstance(value, Tensor)
            else type(value)._read_items(value, (index,), index)
            if isinstance(value, Node)
            else value
            for key, value in node._fields.items()
        }
    except (IndexError, RuntimeError):  # It counts no rows from the end, and has other words for what is wrong.
        return _read(node, (index,), index, new)
    return node._rebuild(fields, new, node._names)


def _read(node: N, items: Items, index: Any, new: tuple[int, ...]) -> N:
    try:
        fields = {
            key: value[index]
            if isinstance(value, Tensor)
            else type(value)._read_items(value, items, index)
            if isinstance(value, Node)
            else value
            for key, value in node._fields.items()
        }
    except RuntimeError as error:
        explain("index", node, error)
        raise
    return node._rebuild(
        fields,
        new,
        None if node._names is None else _names_after(node._names, items, len(new)),
    )


def prepared(index: Any, batch: Size, spread_masks: bool = True) -> Items:
    """An index as a tuple of ints, slices, None and index tensors that takes batch dims only."""
    items = [one_item(item) for item in (index if isinstance(index, tuple) else (index,))]
    shaped = tuple([as_shape(item) for item in items])
    full = indexing.spelled_out(shaped, tuple(batch))
    dim = 0
    ready: list[Any] = []
    for item, shape in zip(items, shaped):
        if item is Ellipsis:
            slices = len(full) - len(items) + 1
            ready += [slice(None)] * slices
            dim += slices
            continue
        if isinstance(shape, Mask):
            indexing.check_mask(shape.shape, batch, dim)
            # The true places are found once here, not once a leaf.
            ready += item.nonzero(as_tuple=True) if spread_masks and item.ndim else [item]
        else:
            ready.append(item)
        dim += indexing.uses(shape)
    return tuple(ready)


def one_item(item: Any) -> Any:
    """One item of an index: lists, ranges and numpy arrays become tensors, numpy ints become ints."""
    if item is None or item is Ellipsis or isinstance(item, (bool, int, slice)):
        return item
    if isinstance(item, Tensor):
        if item.dtype is torch.uint8:
            return item.bool()
        if item.is_floating_point() or item.is_complex():
            raise errors.DimError(f"index: a tensor of {item.dtype} cannot index; ints or bools would do")
        return item
    if isinstance(item, (list, range)):  # Lists in a list too: torch still reads those as a tuple, and warns.
        return torch.tensor(list(item)) if len(item) else torch.empty(0, dtype=torch.long)
    if type(item).__module__ == "numpy":
        return torch.as_tensor(item) if item.ndim else item.item()
    if isinstance(item, str):
        raise errors.KeyForm(
            f"{item!r} stands among other indices; x[{item!r}][...] reads the entry and then indexes it"
        )
    if hasattr(item, "__index__"):
        return item.__index__()
    raise errors.DimError(f"index: {kind(item)} cannot index; an int, a slice, None, '...', or ints or bools would do")


def as_shape(item: Any) -> Any:
    """An item of an index as the rules want it."""
    if isinstance(item, Tensor):
        return Mask(tuple(item.shape)) if item.dtype is torch.bool else Ints(tuple(item.shape))
    return item


def batch_after(batch: Size, items: Items) -> Size:
    """The batch size of x[items]."""
    if len(items) == 1 and batch:  # The common ones, at once.
        item = items[0]
        if item.__class__ is int:
            indexing.check_int(item, batch, 0)
            return batch[1:]
        if item.__class__ is slice:
            return Size((indexing.sliced(batch[0], item), *batch[1:]))
        if is_places(item):
            return Size((*item.shape, *batch[1:]))
    return Size(indexing.after(tuple(batch), tuple([_counted(item) for item in items])))


def _counted(item: Any) -> Any:
    if isinstance(item, Tensor) and item.dtype is torch.bool:
        return Mask(tuple(item.shape), int(item.sum()))
    return as_shape(item)


def _names_after(names: tuple[str | None, ...], items: Items, rank: int) -> tuple[str | None, ...]:
    picks = [item for item in items if isinstance(item, Tensor)]
    if any(item.__class__ is bool for item in items) or (picks and not _stays_in_place(picks, items)):
        return (None,) * rank
    kept: list[str | None] = []
    dim = 0
    for item in items:
        if item is None:
            kept.append(None)
            continue
        if isinstance(item, slice):
            kept.append(names[dim])
        elif isinstance(item, Tensor):
            kept += [names[dim]] if item.ndim == 1 else [None] * item.ndim
        dim += 1
    return (*kept, *names[dim:])


def _stays_in_place(picks: list[Tensor], items: Items) -> bool:
    """Whether the dims that index tensors give stand where those were that they take."""
    flag = picks[0].ndim == 0 and picks[0].dtype is torch.bool
    return len(picks) == 1 and not flag and not any(item.__class__ is int for item in items)
