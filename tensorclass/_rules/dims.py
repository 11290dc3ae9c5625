"""Arguments that name dims or give sizes: to one canonical form, or the error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import errors
from .nearest import suggest
from .sizes import Batch, Size, is_size, product, show


def dim_in(op: str, dim: int, batch_dims: int) -> int:
    """A batch dim, counted from the front.

    >>> dim_in("flip", -1, 3)
    2
    """
    if isinstance(dim, str):
        raise errors.DimError(f"{op}: {dim!r} is no dim; an int would do")
    if not -batch_dims <= dim < batch_dims:
        raise errors.DimError(errors.dim_range(op, dim, -batch_dims, batch_dims - 1, batch_dims))
    return dim + batch_dims if dim < 0 else dim


def place_of(op: str, name: str, names: Sequence[str | None] | None) -> int:
    """The place of a dim that is given by its name."""
    known = [one for one in names or () if one is not None]
    if names is None or name not in known:
        said = f"the names are {errors.some_names(known)}" if known else "the dims have no names"
        near = suggest(name, [*known, "feature"])  # Which reductions take in place of a name.
        raise errors.DimError(f"{op}: no dim is called {name!r}{near or f'; {said}'}")
    return list(names).index(name)


def new_dim_in(op: str, dim: int, batch_dims: int) -> int:
    """The place of a dim that is not there yet."""
    if not -batch_dims - 1 <= dim <= batch_dims:
        raise errors.DimError(errors.dim_range(op, dim, -batch_dims - 1, batch_dims, batch_dims))
    return dim + batch_dims + 1 if dim < 0 else dim


def dims_in(op: str, dims: int | Sequence[int | Sequence[int]] | None, batch_dims: int) -> tuple[int, ...]:
    """Several batch dims, each once; None means all of them."""
    if dims is None:
        return tuple(range(batch_dims))
    asked = spread(dims)
    found = tuple([placed(dim_in(op, dim, batch_dims), batch_dims) for dim in asked])
    if len(set(found)) != len(found):
        raise errors.DimError(f"{op}: dim {_twice(found)} appears twice in {asked}")
    return found


def permutation(op: str, dims: Sequence[Any], batch_dims: int) -> tuple[int, ...]:
    """Every batch dim once, in a new order."""
    asked = spread(dims)
    found = [placed(dim + batch_dims if dim < 0 else dim, batch_dims) for dim in asked]
    if sorted(found) != list(range(batch_dims)):
        raise errors.ShapeError(f"{op}: {tuple(asked)} is not a permutation of {errors.count(batch_dims, 'batch dim')}")
    return tuple(found)


def placed(dim: int, batch_dims: int) -> int:
    """A dim as a plain int: in a trace a dim may be symbolic, and then the trace is for this one."""
    if dim.__class__ is int:
        return dim
    return next((place for place in range(batch_dims) if place == dim), dim)


def spread(values: Any) -> tuple[Any, ...]:
    """The values of f(1, 2), f((1, 2)) and f([1, 2]) alike."""
    if isinstance(values, int):
        return (values,)
    if len(values) == 1 and not isinstance(values[0], int) and hasattr(values[0], "__iter__"):
        return tuple(values[0])
    return tuple(values)


def filled(op: str, shape: Sequence[Size], batch: Batch) -> tuple[Size, ...]:
    """The sizes of a reshape, the -1 worked out and the number of elements checked."""
    shape = tuple(shape)
    holes = [place for place, size in enumerate(shape) if isinstance(size, int) and size == -1]
    for size in shape:
        if isinstance(size, int) and size < -1:
            raise errors.ShapeError(
                f"{op}: {show(shape)} has a negative size; -1 (once) is worked out, others are given"
            )
    if len(holes) > 1:
        raise errors.ShapeError(f"{op}: {show(shape)} has -1 more than once; only one size can be worked out")
    total = product(batch)
    if not holes:
        if not is_size(product(shape), total):
            raise errors.ShapeError(_wrong_count(op, shape, batch, total))
        return shape
    rest = product([size for place, size in enumerate(shape) if place != holes[0]])
    if rest == 0:
        raise errors.ShapeError(f"{op}: -1 in {show(shape)} could be anything, because the other sizes hold no element")
    if total % rest != 0:
        raise errors.ShapeError(_wrong_count(op, shape, batch, total))
    place = holes[0]
    return (*shape[:place], total // rest, *shape[place + 1 :])


def _wrong_count(op: str, shape: Sequence[Size], batch: Batch, total: Size) -> str:
    return f"{op}: a batch of size {show(batch)} has {total} elements, which {show(shape)} cannot hold"


def _twice(dims: Sequence[int]) -> int:
    return next(dim for dim in dims if dims.count(dim) > 1)
