"""Shape moves: batch dims reordered, merged, broken up, added and dropped; no element is read."""

from __future__ import annotations

from . import errors
from .dims import filled
from .shapes import Grow, Keep, Merge, Move, Moves, New, Part, keep_all
from .sizes import RAGGED, Batch, Size, is_size, same, show
from .table import Dim, NewDim, Permutation, SizeList, Sizes, SomeDims, row


@row("move", leaf="v.permute((*dims, *range(n, v.ndim)))")
def permute(batch: Batch, dims: Permutation) -> Moves:
    """Reorder the batch dims.

    >>> from tensorclass import TensorDict
    >>> TensorDict(a=torch.zeros(4, 3, 2), batch_size=[4, 3]).permute(1, 0).batch_size
    torch.Size([3, 4])
    """
    return [Keep(dim) for dim in dims]


@row("move", leaf="v.transpose(dim0, dim1)", torch=("transpose", "swapaxes", "swapdims"))
def transpose(batch: Batch, dim0: Dim, dim1: Dim) -> Moves:
    """Swap two batch dims."""
    order = list(range(len(batch)))
    order[dim0], order[dim1] = dim1, dim0
    return [Keep(dim) for dim in order]


@row("move", leaf="v.movedim(source, destination)", torch=("movedim", "moveaxis"))
def movedim(batch: Batch, source: SomeDims, destination: SomeDims) -> Moves:
    """Move some batch dims elsewhere, keeping the order of the rest."""
    if len(source) != len(destination):
        raise errors.ShapeError(
            f"movedim: {errors.count(len(source), 'source dim')}, {errors.count(len(destination), 'destination')}; "
            "each dim needs one place"
        )
    rest = [dim for dim in range(len(batch)) if dim not in source]
    order = [-1] * len(batch)
    for dim, place in zip(source, destination):
        order[place] = dim
    for place in range(len(batch)):
        if order[place] == -1:
            order[place] = rest.pop(0)
    return [Keep(dim) for dim in order]


@row("move", leaf="v.unsqueeze(dim)")
def unsqueeze(batch: Batch, dim: NewDim) -> Moves:
    """Insert a batch dim of size 1.

    >>> from tensorclass import TensorDict
    >>> TensorDict(a=torch.zeros(4, 2), batch_size=[4]).unsqueeze(-1).batch_size
    torch.Size([4, 1])
    """
    moves = keep_all(batch)
    moves.insert(dim, New(1))
    return moves


@row("move", leaf="v.squeeze(dim)")
def squeeze(batch: Batch, dim: SomeDims = None) -> Moves:  # type: ignore[assignment]  # None: every dim
    """Drop batch dims of size 1: those given, or all of them."""
    drop = [place for place in dim if batch[place] is not RAGGED and is_size(batch[place], 1)]
    return [Keep(place) for place in range(len(batch)) if place not in drop]


@row("move", leaf="v.flatten(start_dim, end_dim)")
def flatten(batch: Batch, start_dim: Dim = 0, end_dim: Dim = -1) -> Moves:
    """Make one batch dim out of neighbouring ones.

    >>> from tensorclass import TensorDict
    >>> TensorDict(a=torch.zeros(4, 3, 2), batch_size=[4, 3]).flatten().batch_size
    torch.Size([12])
    """
    if start_dim > end_dim:
        raise errors.DimError(f"flatten: start dim {start_dim} comes after end dim {end_dim}")
    no_ragged("flatten", batch, range(start_dim, end_dim + 1))
    before: Moves = [Keep(dim) for dim in range(start_dim)]
    middle: Move = Keep(start_dim) if start_dim == end_dim else Merge(tuple(range(start_dim, end_dim + 1)))
    after: Moves = [Keep(dim) for dim in range(end_dim + 1, len(batch))]
    return [*before, middle, *after]


@row("move", leaf="v.unflatten(dim, sizes)")
def unflatten(batch: Batch, dim: Dim, sizes: SizeList) -> Moves:
    """Break one batch dim up into several."""
    no_ragged("unflatten", batch, [dim])
    sizes = filled("unflatten", sizes, (batch[dim],))
    before: Moves = [Keep(place) for place in range(dim)]
    middle: Moves = [Part((dim,), sizes, place) for place in range(len(sizes))]
    after: Moves = [Keep(place) for place in range(dim + 1, len(batch))]
    return [*before, *middle, *after]


@row("move", leaf="v.reshape(*new, *v.shape[n:])")
def reshape(batch: Batch, shape: Sizes) -> Moves:
    """Give the batch another shape with the same number of elements; each leaf keeps its feature dims.

    >>> from tensorclass import TensorDict
    >>> TensorDict(a=torch.zeros(32, 2), batch_size=[32]).reshape(4, -1).batch_size
    torch.Size([4, 8])
    """
    return regroup("reshape", batch, shape)


@row("move", leaf="v.view(*new, *v.shape[n:])")
def view(batch: Batch, shape: Sizes) -> Moves:
    """Like reshape, but never copies: fails where the leaves' strides do not allow a view."""
    return regroup("view", batch, shape)


@row("move", leaf="v.expand(*new, *v.shape[n:])", torch=("expand", "broadcast_to"))
def expand(batch: Batch, shape: Sizes) -> Moves:
    """Repeat batch dims of size 1, or add dims in front, without copying.

    >>> from tensorclass import TensorDict
    >>> TensorDict(a=torch.zeros(4, 2), batch_size=[4]).expand(3, 4).batch_size
    torch.Size([3, 4])
    """
    added = len(shape) - len(batch)
    if added < 0:
        raise errors.ShapeError(
            f"expand: {show(shape)} has fewer dims than the batch size {show(batch)}; "
            "give all of them, or -1 to keep one"
        )
    moves: Moves = []
    for place, size in enumerate(shape):
        if place < added:
            if isinstance(size, int) and size < 0:
                raise errors.ShapeError(f"expand: {show(shape)} has a negative size for a new dim")
            moves.append(New(size))
            continue
        dim = place - added
        if (isinstance(size, int) and size == -1) or same(size, batch[dim]) is True:
            moves.append(Keep(dim))
        elif is_size(batch[dim], 1):
            moves.append(Grow(dim, size))
        elif not is_size(size, batch[dim]):
            raise errors.ShapeError(
                f"expand: batch size {show(batch)} does not fit {show(shape)}; dim {dim} has size {batch[dim]}, "
                "and only size 1 can grow"
            )
        else:
            moves.append(Keep(dim))
    return moves


def regroup(op: str, batch: Batch, shape: tuple[Size, ...]) -> Moves:
    """The moves of a reshape: which neighbouring dims become which."""
    no_ragged(op, batch, range(len(batch)))
    shape = filled(op, shape, batch)
    moves: Moves = []
    left = right = 0
    while left < len(batch) or right < len(shape):
        old, new = [left] if left < len(batch) else [], [right] if right < len(shape) else []
        have: Size = batch[left] if old else 1
        want: Size = shape[right] if new else 1
        while same(have, want) is not True:
            if _smaller(have, want) and old and old[-1] + 1 < len(batch):
                old.append(old[-1] + 1)
                have = have * batch[old[-1]]
            elif new and new[-1] + 1 < len(shape):
                new.append(new[-1] + 1)
                want = want * shape[new[-1]]
            else:  # A size 0, or sizes that cannot be compared: everything that is left is one group.
                old, new = list(range(left, len(batch))), list(range(right, len(shape)))
                break
        moves += _group(old, [shape[place] for place in new], batch)
        left, right = left + len(old), right + len(new)
    return moves


def _smaller(have: Size, want: Size) -> bool:
    return bool(have < want)


def _group(old: list[int], new: list[Size], batch: Batch) -> Moves:
    if not old:
        return [New(size) for size in new]
    if len(new) == 1:
        return [Keep(old[0])] if len(old) == 1 else [Merge(tuple(old))]
    return [Part(tuple(old), tuple(new), place) for place in range(len(new))]


def no_ragged(op: str, batch: Batch, dims: range | list[int]) -> None:
    """Refuse to merge or break up a dim whose size varies."""
    for dim in dims:
        if batch[dim] is RAGGED or (isinstance(batch[dim], int) and batch[dim] == RAGGED):
            raise errors.RaggedError(errors.ragged(op, dim))
