"""Ops along a batch dim: torch's own call on every leaf, with the dim checked and its new size known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import errors
from .moves import no_ragged
from .shapes import Keep, Moves, Sized, keep_all
from .sizes import UNKNOWN, Batch, Size, same, show
from .table import Dim, Dims, Int, Ints, Pieces, Repeats, Shifts, Sizes, StarDims, row


@row("along", leaf="v.flip(dims)")
def flip(batch: Batch, dims: StarDims) -> Moves:
    """Reverse the order of the rows along some batch dims."""
    return keep_all(batch)


@row("along", leaf="v.roll(shifts, dims)")
def roll(batch: Batch, shifts: Shifts, dims: Dims) -> Moves:
    """Shift the rows along some batch dims; what falls off comes back at the other end."""
    given = 1 if isinstance(shifts, int) else len(shifts)
    if given != len(dims):
        raise errors.ShapeError(f"roll: {errors.count(given, 'shift')} for {errors.count(len(dims), 'dim')}")
    return keep_all(batch)


@row("along", leaf="v.cumsum(dim)")
def cumsum(batch: Batch, dim: Dim) -> Moves:
    """Running sum along a batch dim."""
    return keep_all(batch)


@row("along", leaf="v.cumprod(dim)")
def cumprod(batch: Batch, dim: Dim) -> Moves:
    """Running product along a batch dim."""
    return keep_all(batch)


@row("along", leaf="v.logcumsumexp(dim)")
def logcumsumexp(batch: Batch, dim: Dim) -> Moves:
    """Running log of the sum of exponentials along a batch dim."""
    return keep_all(batch)


@row("along", leaf="v.softmax(dim)")
def softmax(batch: Batch, dim: Dim) -> Moves:
    """Softmax along a batch dim."""
    return keep_all(batch)


@row("along", leaf="v.log_softmax(dim)")
def log_softmax(batch: Batch, dim: Dim) -> Moves:
    """Log of the softmax along a batch dim."""
    return keep_all(batch)


@row("along", leaf="v.narrow(dim, start, length)")
def narrow(batch: Batch, dim: Dim, start: Int, length: Int) -> Moves:
    """The rows from start to start + length along a batch dim, without copying."""
    no_ragged("narrow", batch, [dim])
    size = batch[dim]
    if not -size <= start <= size:
        raise errors.DimError(f"narrow: start {start} is out of range for dim {dim} of size {size}")
    begin = start + size if start < 0 else start
    if length < 0 or begin + length > size:
        raise errors.ShapeError(
            f"narrow: start {start} and length {length} leave dim {dim} of size {size}; "
            f"at most {size - begin} rows are there"
        )
    return resized(batch, dim, length)


@row("along", leaf="v.repeat(*repeats, *[1] * (v.ndim - n))")
def repeat(batch: Batch, repeats: Sizes) -> Moves:
    """Copy the batch several times along each batch dim."""
    if len(repeats) != len(batch):  # torch adds dims in front; here more numbers count feature dims by mistake.
        raise errors.ShapeError(
            f"repeat: {errors.count(len(repeats), 'number')} for {errors.count(len(batch), 'batch dim')}; "
            "give one a dim"
        )
    if any(isinstance(times, int) and times < 0 for times in repeats):
        raise errors.ShapeError(f"repeat: {show(repeats)} has a negative number")
    no_ragged("repeat", batch, range(len(batch)))
    return [Sized(dim, batch[dim] * times) for dim, times in enumerate(repeats)]


@row("along", leaf="v.repeat_interleave(repeats, dim)")
def repeat_interleave(batch: Batch, repeats: Repeats, dim: Dim) -> Moves:
    """Repeat each row along a batch dim."""
    no_ragged("repeat_interleave", batch, [dim])
    if not isinstance(repeats, int):
        shape = shape_of(repeats)
        if len(shape) > 1 or (shape and same(shape[0], 1) is False and same(shape[0], batch[dim]) is False):
            raise errors.ShapeError(
                f"repeat_interleave: the numbers have shape {show(shape)}; "
                f"one for each of the {batch[dim]} rows would do"
            )
        return resized(batch, dim, UNKNOWN)
    if repeats < 0:
        raise errors.ShapeError(f"repeat_interleave: {repeats} is negative")
    return resized(batch, dim, batch[dim] * repeats)


@row("along", leaf="v.index_select(dim, index)")
def index_select(batch: Batch, dim: Dim, index: Ints) -> Moves:
    """The rows that a 1-d int tensor names, along a batch dim."""
    shape = shape_of(index)
    if len(shape) > 1:
        raise errors.ShapeError(f"index_select: the index has {len(shape)} dims; a 1-d tensor would do")
    return resized(batch, dim, shape[0] if shape else 1)


@row("along", leaf="v.gather(dim, wide(index, v.shape, n))")
def gather(batch: Batch, dim: Dim, index: Ints) -> Moves:
    """For each place of the index, the row that it names along a batch dim; all features of the row come along."""
    shape = shape_of(index)
    if len(shape) != len(batch):
        raise errors.ShapeError(
            f"gather: the index has {errors.count(len(shape), 'dim')}, the batch has {len(batch)}; they must be equal"
        )
    return [Sized(place, size) for place, size in enumerate(shape)]


@row("split", leaf="v.unbind(dim)")
def unbind(batch: Batch, dim: Dim = 0) -> list[Moves]:
    """One container for each row along a batch dim, without copying."""
    no_ragged("unbind", batch, [dim])
    rest: Moves = [Keep(place) for place in range(len(batch)) if place != dim]
    return [rest for _ in range(counted(batch[dim]))]


@row("split", leaf="v.split(pieces, dim)", torch=("split", "split_with_sizes"))
def split(batch: Batch, split_size: Pieces, dim: Dim = 0) -> list[Moves]:
    """Cut a batch dim into pieces of a size, or of the sizes given, without copying."""
    no_ragged("split", batch, [dim])
    return [resized(batch, dim, size) for size in pieces("split", split_size, batch[dim], dim)]


@row("split", leaf="v.chunk(chunks, dim)")
def chunk(batch: Batch, chunks: Int, dim: Dim = 0) -> list[Moves]:
    """Cut a batch dim into at most so many equal pieces (the last may be smaller), without copying."""
    no_ragged("chunk", batch, [dim])
    if chunks < 1:
        raise errors.ShapeError(f"chunk: {chunks} chunks; at least 1 would do")
    size = counted(batch[dim])
    step = max(-(-size // chunks), 1)
    cuts = [min(step, size - start) for start in range(0, size, step)] if size else [0] * chunks
    return [resized(batch, dim, cut) for cut in cuts]


def pieces(op: str, split_size: int | Sequence[int], size: Size, dim: int) -> list[int]:
    """The sizes of the pieces of a dim."""
    if isinstance(split_size, int):
        if split_size < 0 or (split_size == 0 and size != 0):
            raise errors.ShapeError(f"{op}: pieces of size {split_size} cannot fill dim {dim} of size {size}")
        total = counted(size)
        return [min(split_size, total - start) for start in range(0, total, split_size)] if total else [0]
    sizes = list(split_size)
    if sum(sizes) != size:
        raise errors.ShapeError(f"{op}: sizes {show(sizes)} sum to {sum(sizes)}; dim {dim} has size {size}")
    if min(sizes, default=0) < 0:
        raise errors.ShapeError(f"{op}: sizes {show(sizes)} have a negative one")
    return sizes


def resized(batch: Batch, dim: int, size: Size) -> Moves:
    """Every dim kept, one with another size."""
    moves = keep_all(batch)
    moves[dim] = Sized(dim, size)
    return moves


def counted(size: Size) -> int:
    """A size as a number to count with; gives up when it is not known."""
    if size is UNKNOWN:
        size = bool(size == 0)  # Raises NotKnown.
    return int(size)


def shape_of(index: Any) -> Batch:
    """The shape of an index tensor, or of what stands for one."""
    return tuple(index.shape)
