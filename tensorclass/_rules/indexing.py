"""Indexing: what x[...] keeps of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import errors
from .pointwise import broadcast
from .sizes import RAGGED, UNKNOWN, Batch, Ints, Mask, NotKnown, Size, Symbolic, same, show

KEPT = (slice, Mask, Ints, bool)  # What leaves a dim behind; an int takes its dim away.


def as_items(index: Any) -> tuple[Any, ...]:
    """An index as the tuple of its items."""
    return index if isinstance(index, tuple) and not isinstance(index, (Mask, Ints)) else (index,)


def uses(item: Any) -> int:
    """How many batch dims an item of an index takes."""
    if item is None or isinstance(item, bool):
        return 0
    if isinstance(item, Mask):
        return len(item.shape)
    return 1


def spelled_out(items: Sequence[Any], batch: Batch) -> tuple[Any, ...]:
    """The items with the ellipsis written as slices: no item may take a feature dim."""
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise errors.DimError("index: an index can have one ellipsis ('...') only")
    taken = sum([uses(item) for item in items if item is not Ellipsis])
    if taken > len(batch):
        raise errors.DimError(
            f"index: {_indices(taken)} for {errors.count(len(batch), 'batch dim')} "
            f"(batch size {show(batch)}); index a field to reach its feature dims"
        )
    if not dots:
        return tuple(items)
    whole = (slice(None),) * (len(batch) - taken)
    return (*items[: dots[0]], *whole, *items[dots[0] + 1 :])


def after(batch: Batch, index: Any) -> Batch:
    """The batch size of x[index].

    >>> after((4, 3), (None, 0, slice(1, None)))
    (1, 2)

    Index tensors are given as Mask(shape) or Ints(shape); lists and numpy arrays must have become one of them.
    """
    items = spelled_out(as_items(index), batch)
    sizes: list[Size] = []
    dim = 0
    arrays: list[tuple[int, Batch]] = []  # Where each index array stood, and its shape.
    for item in items:
        if item is None:
            sizes.append(1)
        elif isinstance(item, bool):
            arrays.append((len(sizes), (1 if item else 0,)))
        elif isinstance(item, slice):
            sizes.append(sliced(batch[dim], item))
            dim += 1
        elif isinstance(item, Mask):
            check_mask(item.shape, batch, dim)
            arrays.append((len(sizes), (item.count,)))
            dim += len(item.shape)
        elif isinstance(item, Ints) and not item.shape:
            dim += 1  # An int that sits in a tensor.
        elif isinstance(item, Ints):
            arrays.append((len(sizes), item.shape))
            dim += 1
        elif item is UNKNOWN:
            raise NotKnown
        else:
            check_int(item, batch, dim)
            dim += 1
    sizes += batch[dim:]
    if not arrays:
        return tuple(sizes)
    shape = arrays[0][1]
    for _, other in arrays[1:]:
        try:
            shape = broadcast("index", shape, other)
        except errors.ShapeError:
            raise errors.DimError(
                f"index: index tensors of shapes {show(shape)} and {show(other)} do not broadcast"
            ) from None
    together = _together(items)
    place = arrays[0][0] if together else 0
    return (*sizes[:place], *shape, *sizes[place:])


def _together(items: Sequence[Any]) -> bool:
    """Whether the index arrays stand side by side (torch takes ints out first); else their dims come first."""
    kinds = [
        isinstance(item, (Mask, Ints, bool))
        for item in items
        if item is None or (isinstance(item, KEPT) and not (isinstance(item, Ints) and not item.shape))
    ]
    first, last = kinds.index(True), len(kinds) - 1 - kinds[::-1].index(True)
    return all(kinds[first : last + 1])


def sliced(size: Size, cut: slice) -> Size:
    """How many rows a slice keeps."""
    if cut.step is None and size.__class__ is int and size >= 0:
        try:
            return len(range(*cut.indices(size)))
        except TypeError:
            pass  # Some end of the slice is unknown, or no int.
    parts = (cut.start, cut.stop, cut.step)
    if _unknown(parts):
        return UNKNOWN
    if cut == slice(None):
        return size
    step = 1 if cut.step is None else cut.step
    if isinstance(step, int) and step < 1:
        raise errors.ShapeError(f"index: a slice with step {step}; torch takes steps of at least 1")
    if size is UNKNOWN or (isinstance(size, int) and size == RAGGED):
        return UNKNOWN
    if not isinstance(size, int):
        if cut.start in (None, 0) and cut.stop is None and step == 1:
            return size
        return _named(size, cut) if isinstance(size, Symbolic) else len(range(*_bounds(cut, int(size))))
    return len(range(*_bounds(cut, size)))


def _named(size: Any, cut: slice) -> Size:
    """A slice of a dim with a name: n[1:] has n-1 rows, for a name stands for as many as are asked for."""
    start = 0 if cut.start is None else cut.start
    if cut.step not in (None, 1) or not isinstance(start, int) or start < 0:
        return UNKNOWN
    if cut.stop is None:
        return size - start
    ends = isinstance(cut.stop, int) and cut.stop < 0
    return size + cut.stop - start if ends else UNKNOWN


def _unknown(parts: Sequence[Any]) -> bool:
    return any(part is UNKNOWN for part in parts)


def _bounds(cut: slice, size: int) -> tuple[int, int, int]:
    return cut.indices(size)


def check_int(index: Any, batch: Batch, dim: int) -> None:
    """Refuse a row that is not there."""
    size = batch[dim]
    if isinstance(size, int) and isinstance(index, int) and size != RAGGED and not -size <= index < size:
        raise errors.DimError(f"index: {index} is out of range for batch dim {dim} of size {size}")


def check_mask(mask: Batch, batch: Batch, dim: int) -> None:
    """Refuse a mask whose shape is not that of the dims it stands for."""
    for place, size in enumerate(mask):
        if same(size, batch[dim + place]) is False:
            raise errors.DimError(
                f"index: the mask has shape {show(mask)}, the batch size is {show(batch)}; "
                f"its size {size} must equal {batch[dim + place]}, the size of batch dim {dim + place}"
            )


def _indices(number: int) -> str:
    return "1 index" if number == 1 else f"{number} indices"
