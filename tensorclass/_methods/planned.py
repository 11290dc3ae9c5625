"""Shape ops of lazy stacks and specs.

Written by python -m tensorclass._rules.write; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor
from typing_extensions import Self

from .._rules import along as _along
from .._rules import dims as _dims
from .._rules import moves as _moves
from .._tree.planned import Planned


class PlannedMoves(Planned):
    """Shape ops, each handed on with its moves."""

    __slots__ = ()

    def permute(self, *dims: int | Sequence[int]) -> Self:
        """Reorder the batch dims."""
        batch = self._batch
        n = len(batch)
        dims_ = _dims.permutation("permute", dims, n)
        return self._move("permute", _moves.permute(batch, dims_), {"dims": dims_})

    def transpose(self, dim0: int, dim1: int) -> Self:
        """Swap two batch dims."""
        batch = self._batch
        n = len(batch)
        dim0 = _dims.dim_in("transpose", dim0, n)
        dim1 = _dims.dim_in("transpose", dim1, n)
        return self._move("transpose", _moves.transpose(batch, dim0, dim1), {"dim0": dim0, "dim1": dim1})

    swapaxes = swapdims = transpose

    def movedim(self, source: int | Sequence[int] | None, destination: int | Sequence[int] | None) -> Self:
        """Move some batch dims elsewhere, keeping the order of the rest."""
        batch = self._batch
        n = len(batch)
        source_ = _dims.dims_in("movedim", source, n)
        destination_ = _dims.dims_in("movedim", destination, n)
        return self._move("movedim", _moves.movedim(batch, source_, destination_), {"source": source_, "destination": destination_})

    moveaxis = movedim

    def unsqueeze(self, dim: int) -> Self:
        """Insert a batch dim of size 1."""
        batch = self._batch
        n = len(batch)
        dim = _dims.new_dim_in("unsqueeze", dim, n)
        return self._move("unsqueeze", _moves.unsqueeze(batch, dim), {"dim": dim})

    def squeeze(self, dim: int | Sequence[int] | None = None) -> Self:
        """Drop batch dims of size 1: those given, or all of them."""
        batch = self._batch
        n = len(batch)
        dim_ = _dims.dims_in("squeeze", dim, n)
        return self._move("squeeze", _moves.squeeze(batch, dim_), {"dim": dim_})

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Self:
        """Make one batch dim out of neighbouring ones."""
        batch = self._batch
        n = len(batch)
        start_dim = _dims.dim_in("flatten", start_dim, n)
        end_dim = _dims.dim_in("flatten", end_dim, n)
        return self._move("flatten", _moves.flatten(batch, start_dim, end_dim), {"start_dim": start_dim, "end_dim": end_dim})

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Self:
        """Break one batch dim up into several."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("unflatten", dim, n)
        sizes_ = _dims.spread(sizes)
        return self._move("unflatten", _moves.unflatten(batch, dim, sizes_), {"dim": dim, "sizes": sizes_})

    def reshape(self, *shape: int | Sequence[int]) -> Self:
        """Give the batch another shape with the same number of elements; each leaf keeps its feature dims."""
        batch = self._batch
        shape_ = _dims.spread(shape)
        return self._move("reshape", _moves.reshape(batch, shape_), {"shape": shape_})

    def view(self, *shape: int | Sequence[int]) -> Self:
        """Like reshape, but never copies: fails where the leaves' strides do not allow a view."""
        batch = self._batch
        shape_ = _dims.spread(shape)
        return self._move("view", _moves.view(batch, shape_), {"shape": shape_})

    def expand(self, *shape: int | Sequence[int]) -> Self:
        """Repeat batch dims of size 1, or add dims in front, without copying."""
        batch = self._batch
        shape_ = _dims.spread(shape)
        return self._move("expand", _moves.expand(batch, shape_), {"shape": shape_})

    broadcast_to = expand

    def flip(self, *dims: int | Sequence[int]) -> Self:
        """Reverse the order of the rows along some batch dims."""
        batch = self._batch
        n = len(batch)
        dims_ = _dims.dims_in("flip", dims, n)
        return self._along("flip", lambda: _along.flip(batch, dims_), {"dims": dims_})

    def roll(self, shifts: int | Sequence[int], dims: int | Sequence[int]) -> Self:
        """Shift the rows along some batch dims; what falls off comes back at the other end."""
        batch = self._batch
        n = len(batch)
        dims_ = _dims.dims_in("roll", dims, n)
        return self._along("roll", lambda: _along.roll(batch, shifts, dims_), {"shifts": shifts, "dims": dims_})

    def cumsum(self, dim: int) -> Self:
        """Running sum along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("cumsum", dim, n)
        return self._along("cumsum", lambda: _along.cumsum(batch, dim), {"dim": dim})

    def cumprod(self, dim: int) -> Self:
        """Running product along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("cumprod", dim, n)
        return self._along("cumprod", lambda: _along.cumprod(batch, dim), {"dim": dim})

    def logcumsumexp(self, dim: int) -> Self:
        """Running log of the sum of exponentials along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("logcumsumexp", dim, n)
        return self._along("logcumsumexp", lambda: _along.logcumsumexp(batch, dim), {"dim": dim})

    def softmax(self, dim: int) -> Self:
        """Softmax along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("softmax", dim, n)
        return self._along("softmax", lambda: _along.softmax(batch, dim), {"dim": dim})

    def log_softmax(self, dim: int) -> Self:
        """Log of the softmax along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("log_softmax", dim, n)
        return self._along("log_softmax", lambda: _along.log_softmax(batch, dim), {"dim": dim})

    def narrow(self, dim: int, start: int, length: int) -> Self:
        """The rows from start to start + length along a batch dim, without copying."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("narrow", dim, n)
        return self._along("narrow", lambda: _along.narrow(batch, dim, start, length), {"dim": dim, "start": start, "length": length})

    def repeat(self, *repeats: int | Sequence[int]) -> Self:
        """Copy the batch several times along each batch dim."""
        batch = self._batch
        repeats_ = _dims.spread(repeats)
        return self._along("repeat", lambda: _along.repeat(batch, repeats_), {"repeats": repeats_})

    def repeat_interleave(self, repeats: int | Tensor, dim: int) -> Self:
        """Repeat each row along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("repeat_interleave", dim, n)
        return self._along("repeat_interleave", lambda: _along.repeat_interleave(batch, repeats, dim), {"repeats": repeats, "dim": dim})

    def index_select(self, dim: int, index: Tensor) -> Self:
        """The rows that a 1-d int tensor names, along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("index_select", dim, n)
        return self._along("index_select", lambda: _along.index_select(batch, dim, index), {"dim": dim, "index": index})

    def gather(self, dim: int, index: Tensor) -> Self:
        """For each place of the index, the row that it names along a batch dim; all features of the row come along."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("gather", dim, n)
        return self._along("gather", lambda: _along.gather(batch, dim, index), {"dim": dim, "index": index})

    def unbind(self, dim: int = 0) -> tuple[Self, ...]:
        """One container for each row along a batch dim, without copying."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("unbind", dim, n)
        return self._split("unbind", lambda: _along.unbind(batch, dim), {"dim": dim})

    def split(self, split_size: int | Sequence[int], dim: int = 0) -> tuple[Self, ...]:
        """Cut a batch dim into pieces of a size, or of the sizes given, without copying."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("split", dim, n)
        return self._split("split", lambda: _along.split(batch, split_size, dim), {"split_size": split_size, "dim": dim})

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Self, ...]:
        """Cut a batch dim into at most so many equal pieces (the last may be smaller), without copying."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("chunk", dim, n)
        return self._split("chunk", lambda: _along.chunk(batch, chunks, dim), {"chunks": chunks, "dim": dim})
