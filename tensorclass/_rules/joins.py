"""Joins: many containers in, one out; and choices between two."""

from __future__ import annotations

from collections.abc import Sequence

from . import errors
from .dims import dim_in, new_dim_in
from .sizes import Batch, Size, same, same_batch, show
from .table import Op, add


def stack(batches: Sequence[Batch], dim: int = 0) -> Batch:
    """Join containers of one batch size along a new batch dim.

    >>> stack([(4,), (4,), (4,)])
    (3, 4)
    """
    first = not_empty("stack", batches)
    place = new_dim_in("stack", dim, len(first))
    for number, batch in enumerate(batches):
        if same_batch(batch, first) is False:
            raise errors.ShapeError(
                f"stack: item 0 has batch size {show(first)}, item {number} has {show(batch)}; they must be equal "
                "(lazy_stack keeps items of different sizes)"
            )
    return (*first[:place], len(batches), *first[place:])


def cat(batches: Sequence[Batch], dim: int = 0) -> Batch:
    """Join containers along a batch dim that they have.

    >>> cat([(4, 3), (2, 3)])
    (6, 3)
    """
    first = not_empty("cat", batches)
    place = dim_in("cat", dim, len(first))
    total: Size = 0
    for number, batch in enumerate(batches):
        fits = len(batch) == len(first) and not any(
            same(a, b) is False for at, (a, b) in enumerate(zip(batch, first)) if at != place
        )
        if not fits:
            raise errors.ShapeError(
                f"cat: item 0 has batch size {show(first)}, item {number} has {show(batch)}; "
                f"they may differ in dim {place} alone"
            )
        total = total + batch[place]
    return (*first[:place], total, *first[place + 1 :])


def mask_shape(op: str, batch: Batch, mask: Batch) -> None:
    """Refuse a mask that does not cover the batch."""
    if len(mask) > len(batch) or any(same(a, b) is False for a, b in zip(batch, mask)):
        raise errors.ShapeError(
            f"{op}: the mask has shape {show(mask)}, the batch size is {show(batch)}; "
            "it must have the leading batch dims"
        )


def not_empty(op: str, batches: Sequence[Batch]) -> Batch:
    """The first of the batches, of which there must be one."""
    if not batches:
        raise errors.ShapeError(f"{op}: no containers were given; at least one would do")
    return batches[0]


for _name, _torch in {"stack": ("stack",), "cat": ("cat", "concat", "concatenate")}.items():
    _rule = {"stack": stack, "cat": cat}[_name]
    add(Op(_name, "join", (), _rule, _torch, "", (_rule.__doc__ or "").split("\n")[0]))
