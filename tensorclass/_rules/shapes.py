"""Where each output dim came from: the one vocabulary that all shape ops are written in."""

from __future__ import annotations

from typing import NamedTuple

from .sizes import Batch, Size, product


class Keep(NamedTuple):
    """Input dim, whole."""

    dim: int


class New(NamedTuple):
    """A dim that was not there."""

    size: Size


class Grow(NamedTuple):
    """Input dim of size 1, repeated."""

    dim: int
    size: Size


class Merge(NamedTuple):
    """Neighbouring input dims made one."""

    dims: tuple[int, ...]


class Part(NamedTuple):
    """One piece of a dim (or of neighbouring dims made one) broken up: the piece at `place` of `sizes`."""

    dims: tuple[int, ...]
    sizes: tuple[Size, ...]
    place: int


class Sized(NamedTuple):
    """Input dim with another size: rows picked, repeated or cut along it."""

    dim: int
    size: Size


Move = Keep | New | Grow | Merge | Part | Sized
Moves = list[Move]


def keep_all(batch: Batch) -> Moves:
    """Every dim where it was."""
    return [Keep(dim) for dim in range(len(batch))]


def result(batch: Batch, moves: Moves) -> Batch:
    """The batch size after the moves.

    >>> result((4, 3), [New(1), Merge((0, 1))])
    (1, 12)
    """
    return tuple([size_of(batch, move) for move in moves])


def size_of(batch: Batch, move: Move) -> Size:
    """The size of one output dim."""
    if isinstance(move, Keep):
        return batch[move.dim]
    if isinstance(move, Merge):
        return product([batch[dim] for dim in move.dims])
    if isinstance(move, Part):
        return move.sizes[move.place]
    return move.size


def sources(move: Move) -> tuple[int, ...]:
    """The input dims that one output dim reads."""
    if isinstance(move, (Keep, Grow, Sized)):
        return (move.dim,)
    if isinstance(move, (Merge, Part)):
        return move.dims
    return ()


def is_whole(moves: Moves, dim: int) -> bool:
    """Whether a dim is only moved: never merged, split, grown or cut."""
    return all(isinstance(move, Keep) or dim not in sources(move) for move in moves)


def names_after(names: tuple[str | None, ...], moves: Moves) -> tuple[str | None, ...]:
    """Dim names follow the dims that stay themselves."""
    return tuple([names[move.dim] if isinstance(move, (Keep, Grow, Sized)) else None for move in moves])
