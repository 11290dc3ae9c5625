"""Shape ops of dense containers.

Written by python -m tensorclass._rules.write; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor
from typing_extensions import Self

from .._rules import along as _along
from .._rules import dims as _dims
from .._rules import moves as _moves
from .._rules.shapes import names_after, result
from .._tree.along import rows_after, wide
from .._tree.blocks import viewed
from .._tree.explain import explain
from .._tree.node import Node


class MoveMethods(Node):
    """Shape ops, each a loop over the entries."""

    __slots__ = ()

    def permute(self, *dims: int | Sequence[int]) -> Self:
        """Reorder the batch dims.

        >>> from tensorclass import TensorDict
        >>> TensorDict(a=torch.zeros(4, 3, 2), batch_size=[4, 3]).permute(1, 0).batch_size
        torch.Size([3, 4])
        """
        batch = self._batch
        n = len(batch)
        dims_ = _dims.permutation("permute", dims, n)
        moves = _moves.permute(batch, dims_)
        new = result(batch, moves)
        try:
            fields = {
                k: v.permute((*dims_, *range(n, v.ndim)))
                if isinstance(v, Tensor)
                else type(v).permute(v, (*dims_, *range(n, len(v._batch))))
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("permute", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def transpose(self, dim0: int, dim1: int) -> Self:
        """Swap two batch dims."""
        batch = self._batch
        n = len(batch)
        dim0 = _dims.dim_in("transpose", dim0, n)
        dim1 = _dims.dim_in("transpose", dim1, n)
        moves = _moves.transpose(batch, dim0, dim1)
        new = result(batch, moves)
        try:
            fields = {
                k: v.transpose(dim0, dim1)
                if isinstance(v, Tensor)
                else type(v).transpose(v, dim0, dim1)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("transpose", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    swapaxes = swapdims = transpose

    def movedim(self, source: int | Sequence[int] | None, destination: int | Sequence[int] | None) -> Self:
        """Move some batch dims elsewhere, keeping the order of the rest."""
        batch = self._batch
        n = len(batch)
        source_ = _dims.dims_in("movedim", source, n)
        destination_ = _dims.dims_in("movedim", destination, n)
        moves = _moves.movedim(batch, source_, destination_)
        new = result(batch, moves)
        try:
            fields = {
                k: v.movedim(source_, destination_)
                if isinstance(v, Tensor)
                else type(v).movedim(v, source_, destination_)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("movedim", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    moveaxis = movedim

    def unsqueeze(self, dim: int) -> Self:
        """Insert a batch dim of size 1.

        >>> from tensorclass import TensorDict
        >>> TensorDict(a=torch.zeros(4, 2), batch_size=[4]).unsqueeze(-1).batch_size
        torch.Size([4, 1])
        """
        batch = self._batch
        n = len(batch)
        dim = _dims.new_dim_in("unsqueeze", dim, n)
        moves = _moves.unsqueeze(batch, dim)
        new = result(batch, moves)
        try:
            fields = {
                k: v.unsqueeze(dim)
                if isinstance(v, Tensor)
                else type(v).unsqueeze(v, dim)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("unsqueeze", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def squeeze(self, dim: int | Sequence[int] | None = None) -> Self:
        """Drop batch dims of size 1: those given, or all of them."""
        batch = self._batch
        n = len(batch)
        dim_ = _dims.dims_in("squeeze", dim, n)
        moves = _moves.squeeze(batch, dim_)
        new = result(batch, moves)
        try:
            fields = {
                k: v.squeeze(dim_)
                if isinstance(v, Tensor)
                else type(v).squeeze(v, dim_)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("squeeze", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Self:
        """Make one batch dim out of neighbouring ones.

        >>> from tensorclass import TensorDict
        >>> TensorDict(a=torch.zeros(4, 3, 2), batch_size=[4, 3]).flatten().batch_size
        torch.Size([12])
        """
        batch = self._batch
        n = len(batch)
        start_dim = _dims.dim_in("flatten", start_dim, n)
        end_dim = _dims.dim_in("flatten", end_dim, n)
        moves = _moves.flatten(batch, start_dim, end_dim)
        new = result(batch, moves)
        try:
            fields = {
                k: v.flatten(start_dim, end_dim)
                if isinstance(v, Tensor)
                else type(v).flatten(v, start_dim, end_dim)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("flatten", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Self:
        """Break one batch dim up into several."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("unflatten", dim, n)
        sizes_ = _dims.spread(sizes)
        moves = _moves.unflatten(batch, dim, sizes_)
        new = result(batch, moves)
        try:
            fields = {
                k: v.unflatten(dim, sizes_)
                if isinstance(v, Tensor)
                else type(v).unflatten(v, dim, sizes_)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("unflatten", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def reshape(self, *shape: int | Sequence[int]) -> Self:
        """Give the batch another shape with the same number of elements; each leaf keeps its feature dims.

        >>> from tensorclass import TensorDict
        >>> TensorDict(a=torch.zeros(32, 2), batch_size=[32]).reshape(4, -1).batch_size
        torch.Size([4, 8])
        """
        batch = self._batch
        n = len(batch)
        shape_ = _dims.spread(shape)
        new = _dims.filled("reshape", shape_, batch)
        if not new:  # To torch, v.reshape() without sizes is no call.
            return type(self).squeeze(self)
        try:
            fields = {
                k: v.reshape(*new, *v.shape[n:])
                if isinstance(v, Tensor)
                else type(v).reshape(v, *new, *v._batch[n:])
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("reshape", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, _moves.reshape(batch, shape_)))

    def view(self, *shape: int | Sequence[int]) -> Self:
        """Like reshape, but never copies: fails where the leaves' strides do not allow a view."""
        batch = self._batch
        n = len(batch)
        shape_ = _dims.spread(shape)
        new = _dims.filled("view", shape_, batch)
        if not new:  # To torch, v.reshape() without sizes is no call.
            return type(self).squeeze(self)
        try:
            fields = {
                k: v.view(*new, *v.shape[n:])
                if isinstance(v, Tensor)
                else type(v).view(v, *new, *v._batch[n:])
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("view", self, error)
            raise
        return viewed(self, self._rebuild(fields, new, None if self._names is None else names_after(self._names, _moves.view(batch, shape_))))

    def expand(self, *shape: int | Sequence[int]) -> Self:
        """Repeat batch dims of size 1, or add dims in front, without copying.

        >>> from tensorclass import TensorDict
        >>> TensorDict(a=torch.zeros(4, 2), batch_size=[4]).expand(3, 4).batch_size
        torch.Size([3, 4])
        """
        batch = self._batch
        n = len(batch)
        shape_ = _dims.spread(shape)
        moves = _moves.expand(batch, shape_)
        new = result(batch, moves)
        if not new:  # To torch, v.reshape() without sizes is no call.
            return type(self).squeeze(self)
        try:
            fields = {
                k: v.expand(*new, *v.shape[n:])
                if isinstance(v, Tensor)
                else type(v).expand(v, *new, *v._batch[n:])
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("expand", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    broadcast_to = expand

    def flip(self, *dims: int | Sequence[int]) -> Self:
        """Reverse the order of the rows along some batch dims."""
        batch = self._batch
        n = len(batch)
        dims_ = _dims.dims_in("flip", dims, n)
        moves = _along.flip(batch, dims_)
        new = result(batch, moves)
        try:
            fields = {
                k: v.flip(dims_)
                if isinstance(v, Tensor)
                else type(v).flip(v, dims_)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("flip", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def roll(self, shifts: int | Sequence[int], dims: int | Sequence[int]) -> Self:
        """Shift the rows along some batch dims; what falls off comes back at the other end."""
        batch = self._batch
        n = len(batch)
        dims_ = _dims.dims_in("roll", dims, n)
        moves = _along.roll(batch, shifts, dims_)
        new = result(batch, moves)
        try:
            fields = {
                k: v.roll(shifts, dims_)
                if isinstance(v, Tensor)
                else type(v).roll(v, shifts, dims_)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("roll", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def cumsum(self, dim: int) -> Self:
        """Running sum along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("cumsum", dim, n)
        moves = _along.cumsum(batch, dim)
        new = result(batch, moves)
        try:
            fields = {
                k: v.cumsum(dim)
                if isinstance(v, Tensor)
                else type(v).cumsum(v, dim)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("cumsum", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def cumprod(self, dim: int) -> Self:
        """Running product along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("cumprod", dim, n)
        moves = _along.cumprod(batch, dim)
        new = result(batch, moves)
        try:
            fields = {
                k: v.cumprod(dim)
                if isinstance(v, Tensor)
                else type(v).cumprod(v, dim)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("cumprod", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def logcumsumexp(self, dim: int) -> Self:
        """Running log of the sum of exponentials along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("logcumsumexp", dim, n)
        moves = _along.logcumsumexp(batch, dim)
        new = result(batch, moves)
        try:
            fields = {
                k: v.logcumsumexp(dim)
                if isinstance(v, Tensor)
                else type(v).logcumsumexp(v, dim)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("logcumsumexp", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def softmax(self, dim: int) -> Self:
        """Softmax along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("softmax", dim, n)
        moves = _along.softmax(batch, dim)
        new = result(batch, moves)
        try:
            fields = {
                k: v.softmax(dim)
                if isinstance(v, Tensor)
                else type(v).softmax(v, dim)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("softmax", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def log_softmax(self, dim: int) -> Self:
        """Log of the softmax along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("log_softmax", dim, n)
        moves = _along.log_softmax(batch, dim)
        new = result(batch, moves)
        try:
            fields = {
                k: v.log_softmax(dim)
                if isinstance(v, Tensor)
                else type(v).log_softmax(v, dim)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("log_softmax", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def narrow(self, dim: int, start: int, length: int) -> Self:
        """The rows from start to start + length along a batch dim, without copying."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("narrow", dim, n)
        moves = _along.narrow(batch, dim, start, length)
        new = result(batch, moves)
        try:
            fields = {
                k: v.narrow(dim, start, length)
                if isinstance(v, Tensor)
                else type(v).narrow(v, dim, start, length)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("narrow", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def repeat(self, *repeats: int | Sequence[int]) -> Self:
        """Copy the batch several times along each batch dim."""
        batch = self._batch
        n = len(batch)
        repeats_ = _dims.spread(repeats)
        moves = _along.repeat(batch, repeats_)
        new = result(batch, moves)
        try:
            fields = {
                k: v.repeat(*repeats_, *[1] * (v.ndim - n))
                if isinstance(v, Tensor)
                else type(v).repeat(v, *repeats_, *[1] * (len(v._batch) - n))
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("repeat", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def repeat_interleave(self, repeats: int | Tensor, dim: int) -> Self:
        """Repeat each row along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("repeat_interleave", dim, n)
        moves = _along.repeat_interleave(batch, repeats, dim)
        new = rows_after(batch, dim, repeats)
        try:
            fields = {
                k: v.repeat_interleave(repeats, dim)
                if isinstance(v, Tensor)
                else type(v).repeat_interleave(v, repeats, dim)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("repeat_interleave", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def index_select(self, dim: int, index: Tensor) -> Self:
        """The rows that a 1-d int tensor names, along a batch dim."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("index_select", dim, n)
        moves = _along.index_select(batch, dim, index)
        new = result(batch, moves)
        try:
            fields = {
                k: v.index_select(dim, index)
                if isinstance(v, Tensor)
                else type(v).index_select(v, dim, index)
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("index_select", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def gather(self, dim: int, index: Tensor) -> Self:
        """For each place of the index, the row that it names along a batch dim; all features of the row come along."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("gather", dim, n)
        moves = _along.gather(batch, dim, index)
        new = result(batch, moves)
        try:
            fields = {
                k: v.gather(dim, wide(index, v.shape, n))
                if isinstance(v, Tensor)
                else type(v).gather(v, dim, wide(index, v._batch, n))
                if isinstance(v, MoveMethods)
                else v
                for k, v in self._fields.items()
            }
        except RuntimeError as error:
            explain("gather", self, error)
            raise
        return self._rebuild(fields, new, None if self._names is None else names_after(self._names, moves))

    def unbind(self, dim: int = 0) -> tuple[Self, ...]:
        """One container for each row along a batch dim, without copying."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("unbind", dim, n)
        parts = _along.unbind(batch, dim)
        cut = {
            k: v.unbind(dim) if isinstance(v, Tensor) else type(v).unbind(v, dim)
            for k, v in self._fields.items()
            if isinstance(v, (Tensor, MoveMethods))
        }
        names = None if self._names is None else names_after(self._names, parts[0]) if parts else None
        fields = self._fields
        return tuple([
            self._rebuild({k: cut[k][i] if k in cut else v for k, v in fields.items()}, result(batch, part), names)
            for i, part in enumerate(parts)
        ])

    def split(self, split_size: int | Sequence[int], dim: int = 0) -> tuple[Self, ...]:
        """Cut a batch dim into pieces of a size, or of the sizes given, without copying."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("split", dim, n)
        parts = _along.split(batch, split_size, dim)
        cut = {
            k: v.split(split_size, dim) if isinstance(v, Tensor) else type(v).split(v, split_size, dim)
            for k, v in self._fields.items()
            if isinstance(v, (Tensor, MoveMethods))
        }
        names = self._names if parts else None
        fields = self._fields
        return tuple([
            self._rebuild({k: cut[k][i] if k in cut else v for k, v in fields.items()}, result(batch, part), names)
            for i, part in enumerate(parts)
        ])

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Self, ...]:
        """Cut a batch dim into at most so many equal pieces (the last may be smaller), without copying."""
        batch = self._batch
        n = len(batch)
        dim = _dims.dim_in("chunk", dim, n)
        parts = _along.chunk(batch, chunks, dim)
        cut = {
            k: v.chunk(chunks, dim) if isinstance(v, Tensor) else type(v).chunk(v, chunks, dim)
            for k, v in self._fields.items()
            if isinstance(v, (Tensor, MoveMethods))
        }
        names = self._names if parts else None
        fields = self._fields
        return tuple([
            self._rebuild({k: cut[k][i] if k in cut else v for k, v in fields.items()}, result(batch, part), names)
            for i, part in enumerate(parts)
        ])
