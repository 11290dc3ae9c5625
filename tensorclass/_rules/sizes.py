"""Sizes of batch dims: an int, ragged, symbolic or unknown.

A size is an int (or torch's SymInt) at run time; -1 marks the ragged dim of a lazy stack.  The mypy plugin also
puts UNKNOWN and symbolic sizes in a batch.  A rule that must know a size it does not know raises NotKnown, and the
plugin is then silent: an unknown size is neither 1 nor "not 1".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

RAGGED = -1

Size = Any  # An int, a SymInt, a symbolic size or UNKNOWN: whatever multiplies and compares.
Batch = tuple[Size, ...]


class NotKnown(Exception):
    """A rule needs a size that is unknown."""


class Unknown:
    """The size nobody knows: arithmetic keeps it, a comparison gives up."""

    def _same(self, _other: object = None) -> Unknown:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = _same

    def _give_up(self, _other: object = None) -> bool:
        raise NotKnown

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _give_up
    __bool__ = _give_up

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return "?"


UNKNOWN = Unknown()


class Symbolic:
    """A size with a name, or made of named ones (the mypy plugin has them): it says itself what it equals."""

    __slots__ = ()

    def same(self, other: object) -> bool | None:
        """Whether it equals another size; None when that cannot be known."""
        raise NotImplementedError


class Mask(NamedTuple):
    """A bool tensor in an index: its shape, and how many of its entries are true."""

    shape: Batch
    count: Size = UNKNOWN


class Ints(NamedTuple):
    """An int tensor in an index, by its shape."""

    shape: Batch


def same(one: Size, other: Size) -> bool | None:
    """Whether two sizes are equal; None when that cannot be known."""
    if one is UNKNOWN or other is UNKNOWN:
        return None
    if isinstance(one, Symbolic):
        return one.same(other)
    if isinstance(other, Symbolic):
        return other.same(one)
    return True if one == other else False  # noqa: SIM210  # bool() of a SymInt's == stays symbolic in a trace.


def is_size(one: Size, other: Size) -> bool:
    """Whether two sizes are equal; gives up when that cannot be known."""
    answer = same(one, other)
    if answer is None:
        raise NotKnown
    return answer


def same_batch(one: Batch, other: Batch) -> bool | None:
    """Whether two batch sizes are equal; None when that cannot be known."""
    if len(one) != len(other):
        return False
    answers = [same(a, b) for a, b in zip(one, other)]
    if False in answers:
        return False
    return None if None in answers else True


def product(sizes: Iterable[Size]) -> Size:
    """How many elements a batch of these sizes has."""
    total: Size = 1
    for size in sizes:
        total = total * size
    return total


def show(sizes: Iterable[Size]) -> str:
    """Sizes as they are printed in a message.

    >>> show((4, 3))
    '[4, 3]'
    """
    return "[" + ", ".join(str(size) for size in sizes) + "]"
