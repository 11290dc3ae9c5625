"""Instances of typed classes made without their __init__: from dicts, from TensorDicts, from pickles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Size, Tensor

from . import _construct
from ._accessors import write_make
from ._columns import is_field
from ._declare import finish_late, read_fields
from ._fields import Field, Held
from ._rules import errors
from ._tensordict import TensorDict
from ._tree.node import Node

if TYPE_CHECKING:
    from ._declared import Declared

T = TypeVar("T", bound="Declared")


def build(cls: type[T], entries: Mapping[Any, Any], batch_size: Any, device: Any, names: Any, bound: Any = ()) -> T:
    """An instance from entries; `bound` says what the type variables of the class stand for."""
    finish_late(cls)
    declared = read_fields(cls, dict(bound)) if bound else cls._declared
    for name in entries:
        if name not in declared:
            raise _construct.unknown_arguments(cls, {name: None})
    values = {
        name: value if isinstance(value, Tensor) else _nested(declared[name], value) for name, value in entries.items()
    }
    node = object.__new__(cls)
    make = None if bound or torch.compiler.is_compiling() else _maker_of(cls)
    if make is not None and len(values) == len(declared):
        make(node, **values, batch_size=batch_size, device=device, names=names)
    else:
        _construct.set_up(node, _completed(cls, declared, values), batch_size, device, names)
    return node


def _maker_of(cls: type[Declared]) -> Any:
    """The generated function that checks all fields of a class and stores them, where it has one."""
    if "_make" not in cls.__dict__:
        cls._make = staticmethod(write_make(cls, cls._columns, cls._declared, cls._options))
    return cls._make


def _completed(cls: type[Declared], declared: Mapping[str, Field], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values for the fields in order, those that are not given by default."""
    values = {}
    for column in cls._columns:
        name = column.name
        if not is_field(column):
            continue
        if name in given:
            values[name] = given[name]
        elif column.default is not MISSING:
            values[name] = column.default
        elif column.default_factory is not MISSING:
            values[name] = column.default_factory()
        elif declared[name].optional:
            values[name] = None
        elif column.init:
            raise errors.KeyMissing(f"{cls.__name__}: {errors.key_missing(name, given)}")
    return values


def _nested(at: Field, value: Any) -> Any:
    if isinstance(value, Node) and (value._is_data or any(isinstance(value, one.type) for one in at.nodes)):
        return value
    entries = value._fields if isinstance(value, Node) else value
    if at.anything or not isinstance(entries, Mapping):
        return value
    typed = [one for one in at.nodes if hasattr(one.type, "_declared")]
    for one in typed:
        if len(typed) == 1 or entries.keys() <= one.type._declared.keys():
            return _typed(one, value, entries)
    return value


def _typed(one: Held, value: Any, entries: Mapping[Any, Any]) -> Any:
    if isinstance(value, Node):
        return build(one.type, entries, value._batch, value._device, value._names, one.bound)
    return build(one.type, entries, None, None, None, one.bound)


def unset(cls: type[Declared]) -> dict[str, None]:
    """The fields that may be unset, unset."""
    return {name: None for name, at in cls._declared.items() if at.optional}


def plain(node: Declared, fields: dict[str, Any]) -> TensorDict:
    """A TensorDict with these entries, and the batch size, device and dim names of an instance."""
    out: TensorDict = TensorDict(None, node._batch, node._device, node._names)
    out._fields.update(fields)
    return out


def fresh(node: Declared, name: str) -> Any:
    """A container for a field that is unset, to be filled by a write to what is inside it."""
    at = type(node)._declared[name]
    if at.anything or any(issubclass(TensorDict, one.type) for one in at.nodes):
        return TensorDict(None, node._batch, node._device)
    if not at.nodes:
        raise errors.StructureError(f"{name!r} is declared {at.words}: nothing can be set inside it")
    raise errors.StructureError(f"field {name!r} of {type(node).__name__} is unset: set it before what is inside it")


def restore(
    cls: type[T],
    fields: dict[str, Any],
    batch: tuple[int, ...],
    device: torch.device | None,
    names: tuple[str | None, ...] | None,
    locked: bool,
) -> T:
    """An instance out of a pickle."""
    new = object.__new__(cls)
    object.__setattr__(new, "_batch", Size(batch))
    object.__setattr__(new, "_device", device)
    object.__setattr__(new, "_names", names)
    object.__setattr__(new, "_locked", False)
    object.__setattr__(new, "_leaves", None)
    new._fill(fields)
    return cls.lock_(new) if locked else new


# It runs nothing: torch.load(weights_only=True) may call it for those classes that its user allows.
torch.serialization.add_safe_globals([restore])
