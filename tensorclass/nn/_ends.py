"""The two ends of a typed module: which classes its type arguments are, and which keys those stand for."""

from __future__ import annotations

import sys
import typing
from collections.abc import Iterator
from typing import Any, ForwardRef, TypeVar

from torch import Tensor

from .._rules import errors
from .._rules.keys import Key, unravel
from .._tensorclass import TensorClass
from .._tree.node import Node


def bound_ends(cls: type, root: type) -> tuple[Any, Any]:
    """What a class, by way of its bases, gives the two parameters of the root class."""
    for base in cls.__dict__.get("__orig_bases__", cls.__bases__):
        origin = typing.get_origin(base) or base
        if not (isinstance(origin, type) and issubclass(origin, root)):
            continue
        given = typing.get_args(base)
        if origin is root:
            return given if len(given) == 2 else root.__parameters__  # type: ignore[attr-defined]  # It is generic.
        ends = bound_ends(origin, root)
        if given:
            by_variable = dict(zip(origin.__parameters__, given))  # type: ignore[attr-defined]
            return by_variable.get(ends[0], ends[0]), by_variable.get(ends[1], ends[1])
        return ends
    return root.__parameters__  # type: ignore[attr-defined,no-any-return]


def resolved(end: Any, module: str) -> Any:
    """A class named in a string, where it is there by now."""
    if isinstance(end, (str, ForwardRef)):
        name = end if isinstance(end, str) else end.__forward_arg__
        return vars(sys.modules[module]).get(name, end) if module in sys.modules else end
    return end


def class_of(end: Any) -> Any:
    """The class behind a type argument: Shaped[Particles, "b"] and Pair[Obs] stand for their class."""
    end = getattr(end, "array_type", end)
    return typing.get_origin(end) or end


def check_end(owner: str, end: Any) -> None:
    """Refuse a type argument that no value of a typed module can have."""
    if end is Any or isinstance(end, (TypeVar, str, ForwardRef)):
        return
    cls = class_of(end)
    if not (isinstance(cls, type) and issubclass(cls, (Node, Tensor))):
        name = getattr(end, "__name__", repr(end))
        raise errors.KindError(
            f"{owner}: {name} is no class of containers; the type arguments are TensorClass classes (or Tensor)"
        )


def keys_of_class(cls: type[TensorClass]) -> list[Key]:
    """The keys of the fields of a class, those of nested classes as nested keys."""
    return [unravel(at) for at, _ in fields_of_class(cls)]


def fields_of_class(cls: type[TensorClass], inside: tuple[type, ...] = ()) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The path of each field, and whether it must be there."""
    for name, field in declared(cls).items():
        inner = nested_class(cls, name)
        needed = not field.optional and not has_default(cls, name)
        if inner is None or inner in (*inside, cls):
            yield (name,), needed
        else:
            for at, must in fields_of_class(inner, (*inside, cls)):
                yield (name, *at), needed and must


def declared(cls: type[TensorClass]) -> dict[str, Any]:
    """The fields of a class, annotations resolved as far as they can be."""
    if cls._pending:
        from .._declare import finish

        finish(cls)
    return cls._declared


def nested_class(cls: type[TensorClass], name: str) -> type[TensorClass] | None:
    """The class of a field that holds a typed container and nothing else."""
    field = cls._declared[name]
    if field.anything or len(field.held) != 1 or not field.nodes:
        return None
    inner = field.nodes[0].type
    return inner if issubclass(inner, TensorClass) and inner is not TensorClass else None


def has_default(cls: type[TensorClass], name: str) -> bool:
    """Whether a field may be left out of the constructor."""
    import dataclasses

    for column in cls._columns:
        if column.name == name:
            given = (column.default, column.default_factory)
            return any(one is not dataclasses.MISSING for one in given) or not column.init
    return False
