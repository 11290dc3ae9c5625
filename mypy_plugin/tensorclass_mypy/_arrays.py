"""numpy's arrays, as far as they become tensors: their shape and dtype where they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr

from tensorclass._rules.sizes import UNKNOWN

from ._dtypes import TORCH
from ._values import Library, Shape, Tensor, Value, is_size, sizes_value

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk


@dataclass(frozen=True, slots=True)
class Array:
    """An array of numpy's."""

    shape: Shape
    dtype: str | None


def as_tensor(value: Value) -> Value:
    """An array as the tensor that it becomes."""
    return Tensor(value.shape, value.dtype) if isinstance(value, Array) else value


def function(walk: Walk, expr: CallExpr, name: str, args: Args) -> Value:
    """numpy.name(...)"""
    from ._calls import leak
    from ._tensor_functions import literal
    from ._tensors import as_shape

    values = [value for value, _ in args.positional]
    if args.whole and name in ("zeros", "ones", "empty") and values:
        return Array(as_shape(walk, [values[0]]), _dtype(args, "float64"))
    if args.whole and name in ("random.rand", "random.randn") and all(is_size(value) for value in values):
        return Array(tuple(values), "float64")
    if args.whole and name in ("array", "asarray") and len(values) == 1:
        value = values[0]
        if isinstance(value, Array):
            return Array(value.shape, _dtype(args, value.dtype))
        shape, _ = literal(walk, value)
        return Array(shape, _dtype(args, None))
    leak(walk, args.values())
    return UNKNOWN


def _dtype(args: Args, otherwise: str | None) -> str | None:
    if "dtype" not in args.named and len(args.positional) < 2:
        return otherwise
    value = args.named["dtype"][0] if "dtype" in args.named else args.positional[1][0]
    if isinstance(value, Library) and value.name.startswith("numpy."):
        name = value.name[6:]
        return name if TORCH.get(name) == name else None
    return None


def read(array: Array, name: str) -> Value:
    """array.name"""
    if name == "shape":
        return sizes_value(array.shape)
    return UNKNOWN


def method(array: Array, name: str, args: Args) -> Any:
    """array.name(...)"""
    if name == "copy":
        return array
    if name == "astype" and args.positional:
        value = args.positional[0][0]
        known = isinstance(value, Library) and TORCH.get(value.name[6:]) == value.name[6:]
        return Array(array.shape, value.name[6:] if known else None)
    return UNKNOWN
