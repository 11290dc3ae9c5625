"""The sentences about specs: what a value, a bound or a shape should have been."""

from __future__ import annotations

from . import errors
from .errors import Key, RuleError, name_of
from .sizes import Batch, show


class SpecShape(errors.ShapeError, ValueError):
    """Sizes of a spec that do not fit each other."""


class SpecFixed(RuleError, AttributeError):
    """A write to a spec, which is a value."""


class NotInSpec(RuleError, AssertionError):
    """A value that is not in the domain of a spec."""


def leaf_shape(key: Key, shape: Batch, batch: Batch) -> str:
    """An entry of a Composite that does not start with its shape."""
    return (
        f"Composite: {name_of(key)} has shape {show(shape)}; the Composite has shape {show(batch)}, "
        "and every entry starts with it"
    )


def last_dim(kind: str, shape: Batch, size: int, what: str) -> str:
    """A spec whose last dim is not as long as it has to be."""
    return f"{kind}: shape {show(shape)} does not end in {size}, {what}"


def last_dim_moved(kind: str, op: str, size: int) -> str:
    """A shape op that would take the choices of a one-hot spec apart."""
    return f"{op}: the last dim of {kind} is its {size} choices; it must stay whole, and last"


def bounds_shape(low: Batch, high: Batch, shape: Batch) -> str:
    """Bounds that do not broadcast to the shape."""
    return f"Bounded: bounds of shape {show(low)} and {show(high)} do not broadcast to {show(shape)}"


def mask_shape(mask: Batch, shape: Batch) -> str:
    """A mask that does not broadcast to the choices."""
    return f"the mask has shape {show(mask)}, which does not broadcast to {show(shape)}"


def shape_missing(kind: str) -> str:
    """A spec that cannot know its shape."""
    return f"{kind}: bounds that are numbers say no shape; give shape=(), or the shape of the values"


def wrong_shape(shape: Batch, wanted: Batch) -> str:
    """A value that has not the shape of the spec."""
    return f"the value has shape {show(shape)}; the spec has {show(wanted)}, and a value ends in that"


def wrong_dtype(dtype: object, wanted: object) -> str:
    """A value that has not the dtype of the spec."""
    return f"the value is {dtype}; the spec has {wanted}"


def immutable(kind: str, name: str) -> str:
    """A write to a spec, which is a value."""
    return f"cannot set {name!r}: {kind} is a value; .replace({name}=...) makes another"


def no_shape(class_name: str, name: str, words: str) -> str:
    """A field whose annotation says no shape, where a spec is needed."""
    return (
        f"field {name!r} of {class_name} is declared {words}, which says no shape; "
        f'annotate it Float[Tensor, "*batch 3"] or Annotated[Tensor, Unbounded((3,))]'
    )


def two_shapes(where: str, words: str, shape: Batch) -> str:
    """An annotation whose shape and whose spec differ."""
    return f"{where}: the annotation {words} and the spec of shape {show(shape)} do not fit each other"
