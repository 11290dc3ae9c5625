"""The classes of an environment over the flat layout: which keys their fields are, and instances that share them."""

from __future__ import annotations

import inspect
import typing
from typing import Any, NamedTuple

import torch

from .. import _build
from .._declared import Declared
from .._rules import chain, errors
from .._tensordict import TensorDict, untyped
from .._tree.node import Node, is_tree
from ..nn._ends import class_of, declared, nested_class

TAKEN = ("next", "reward", "done", "terminated", "truncated", "_reset", "_step")  # Keys that every environment has.


class FieldNames(NamedTuple):
    """The fields of a class: their names, those that may be unset, and those that hold another class."""

    names: tuple[str, ...]
    optional: tuple[str, ...]
    nested: tuple[tuple[str, Any], ...]


NAMES: dict[Any, FieldNames] = {}  # Plain tuples, because the compiler cannot read the fields of a class.


def names_of(cls: Any) -> FieldNames:
    """The names of the fields of a class, read when they are first asked for."""
    made = NAMES.get(cls)
    if made is None:
        fields = declared(cls)
        nested = [(name, inner) for name in fields if (inner := nested_class(cls, name)) is not None]
        optional = tuple(name for name, one in fields.items() if one.optional)
        made = NAMES[cls] = FieldNames(tuple(fields), optional, tuple(nested))
        for _, inner in nested:
            names_of(inner)
    return made


def has_fields(cls: Any) -> bool:
    """Whether a type argument is a class of containers with fields."""
    return isinstance(cls, type) and issubclass(cls, Declared)


def known(one: Any) -> Any:
    """A type argument as it is kept: a class of containers, a tensor, or Any."""
    return one if isinstance(class_of(one), type) else Any


def refuse_collisions(owner: str, obs: Any, action: Any) -> None:
    """Refuse classes whose fields would sit under one key in the flat layout."""
    by_class = {cls: names_of(cls).names for cls in map(class_of, (obs, action)) if has_fields(cls)}
    for cls, names in by_class.items():
        for name in names:
            if name in TAKEN:
                raise errors.OptionError(
                    f"{owner}: field {name!r} of {cls.__name__} is a key that every environment has; rename the field"
                )
    if len(by_class) == 2:
        (first, here), (second, there) = by_class.items()
        shared = [name for name in here if name in there]
        if shared:
            raise errors.OptionError(
                f"{owner}: {first.__name__} and {second.__name__} both have a field {shared[0]!r}; observation and "
                "action are entries of one container, so rename one of the fields"
            )


def flat(value: Any) -> dict[str, Any]:
    """The entries of an observation or action as the flat layout has them: nested classes as TensorDicts."""
    return {
        key: untyped(one) if is_tree(one) and one.__class__ is not TensorDict else one
        for key, one in value._fields.items()
        if one is not None or not value._none_is_unset
    }


def built(node: Node, cls: Any) -> Any:
    """An instance of a class with the entries of a container; the tensors are shared, and it is locked."""
    found = NAMES.get(cls) or names_of(cls)
    here = node._fields
    fields = {}
    for name in found.names:
        if name in here:
            fields[name] = here[name]
        elif name in found.optional:
            fields[name] = None
        else:
            raise errors.KeyMissing(f"{cls.__name__}: {errors.key_missing(name, here)}")
    for name, inner in found.nested:
        below = fields[name]
        if isinstance(below, TensorDict):
            fields[name] = built(below, inner)
    if found.nested or torch.compiler.is_compiling():
        return _build.restore(cls, fields, node._batch, node._device, node._names, True)
    out = _build.restore(cls, fields, node._batch, node._device, node._names, False)
    object.__setattr__(out, "_locked", True)  # With nothing below it that is all that a lock does.
    return out


def classes_by(maps: Any, transform: str, obs: Any, action: Any) -> tuple[Any, Any]:
    """The classes after a transform, for those before it, as its __maps__ is annotated; Any where it says nothing."""
    try:
        hints = typing.get_type_hints(maps)
    except Exception:  # An annotation that cannot be resolved says nothing here.
        return Any, Any
    names = list(inspect.signature(maps).parameters)[1:3]
    before = {hints.get(name, Any): given for name, given in zip(names, (obs, action))}
    for wanted, given in before.items():
        if has_fields(wanted) and has_fields(given) and not issubclass(given, wanted):
            raise errors.KindError(chain.takes_class(transform, "__maps__", wanted.__name__, given.__name__))
    after = typing.get_args(hints.get("return"))
    found = [one if has_fields(one) else before.get(one, Any) for one in after]
    return (found[0], found[1]) if len(found) == 2 else (Any, Any)
