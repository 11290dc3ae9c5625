"""Specs from the annotations of a class: shapes, dtypes and domains written once, for one row."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any

import torch
from torch import Size

from ..._declared import Declared
from ..._fields import Field, Held
from ..._rules import errors, spec_errors
from ..._rules.annotations import Dims
from ...nn._ends import declared
from .base import TensorSpec
from .box import Unbounded
from .composite import Composite
from .leaf import LeafSpec
from .plain import NonTensor

# What an annotation that allows several dtypes stands for: Float is float32, Int is int64.
USUAL = (torch.float32, torch.int64, torch.bool, torch.uint8, torch.complex64)


def specs_of(cls: type[Any], typed: bool = True, strict: bool = True) -> Composite:
    """What the annotations of a TensorClass say about one row of it.

    >>> from typing import Annotated
    >>> from jaxtyping import Float
    >>> from tensorclass.envs import Bounded
    >>> class Obs(TensorClass):
    ...     angle: Annotated[Tensor, Bounded(-3.1, 3.1)]
    ...     speed: Annotated[Float[Tensor, "*batch 2"], Bounded(-8.0, 8.0)]
    ...     image: Float[Tensor, "*batch 3 n n"]
    >>> spec = specs_of(Obs)
    >>> spec["angle"].shape, spec["speed"].shape, spec["image"].shape
    (torch.Size([]), torch.Size([2]), torch.Size([3, -1, -1]))

    A spec in Annotated is taken as it is; the shape may stand beside it, and is -1 where it is a name. A nested class
    is a Composite, with `typed` one that has the class as its `data_cls`. Plain data is a NonTensor. A plain Tensor
    says no shape: an error, or with strict=False an entry None, as a class inside itself always is.
    """
    return _specs(cls, typed, strict, ())


def _specs(cls: type[Any], typed: bool, strict: bool, inside: tuple[type[Any], ...]) -> Composite:
    entries = {
        name: _nested(at, typed, strict, (*inside, cls)) or _entry(cls, name, at, strict)
        for name, at in declared(cls).items()
    }
    return Composite(entries, data_cls=cls if typed else None)


def _nested(at: Field, typed: bool, strict: bool, inside: tuple[type[Any], ...]) -> Composite | None:
    """The specs of a field that holds a class; None for one that holds no class, or one that it is inside of."""
    inner = at.nodes[0] if len(at.held) == len(at.nodes) == 1 else None
    if inner is None or inner.spec is not None or inner.type in inside or not issubclass(inner.type, Declared):
        return None
    return _specs(inner.type, typed, strict, inside)


def _entry(cls: type[Any], name: str, at: Field, strict: bool) -> TensorSpec | None:
    held = at.held[0] if len(at.held) == 1 else Held(object)
    if isinstance(held.spec, TensorSpec):
        return _of_shape(held, f"{cls.__name__}.{name}")
    shape = row_shape(held.dims) if held.is_tensor and held.dims is not None else None
    if shape is not None:
        return Unbounded(shape, dtype=usual(held.dtypes))
    if at.data and not at.tensor and not at.nodes:
        return NonTensor(example_data=_default(cls, name))
    if strict and not (at.optional and at.nodes):
        raise errors.KindError(spec_errors.no_shape(cls.__name__, name, "Any" if at.anything else at.words))
    return None


def _of_shape(held: Held, where: str) -> TensorSpec:
    """The spec of an annotation, with the shape that stands beside it."""
    spec: TensorSpec = held.spec
    shape = row_shape(held.dims) if held.dims is not None else None
    if isinstance(spec, LeafSpec):
        beside: dict[str, Any] = {"shape": shape, "dtype": usual(held.dtypes) if held.dtypes is not None else None}
        spec = spec.replace(**{name: beside[name] for name in spec._left if beside[name] is not None})
    if shape is None:
        return spec
    if len(shape) == len(spec.shape) and all(want in (-1, size) for want, size in zip(shape, spec.shape)):
        return spec
    if spec.shape or -1 in shape:
        raise spec_errors.SpecShape(spec_errors.two_shapes(where, held.word, tuple(spec.shape)))
    return spec.expand(shape)


def row_shape(dims: Dims) -> Size | None:
    """The shape of one row: -1 for a size that has a name; None where the number of dims is open."""
    if dims.many is not None and not dims.has_batch:
        return None
    ones = dims.before + dims.after
    return Size([one.size if isinstance(one.size, int) and not one.broadcast else -1 for one in ones])


def usual(dtypes: frozenset[torch.dtype] | None) -> torch.dtype:
    """The dtype that an annotation stands for."""
    if dtypes is None:
        return torch.float32
    return next((dtype for dtype in USUAL if dtype in dtypes), min(dtypes, key=str, default=torch.float32))


def _default(cls: type[Any], name: str) -> Any:
    found = [column.default for column in cls._columns if column.name == name]
    return found[0] if found and found[0] is not MISSING else None
