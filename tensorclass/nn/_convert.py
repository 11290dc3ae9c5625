"""Containers by key into instances of a class, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._rules import errors
from .._tensorclass import TensorClass
from .._tensordict import TensorDict, untyped
from .._tree.node import Node, is_tree
from ._ends import declared, has_default, nested_class


def as_instance(tensordict: Node, cls: type[TensorClass], at: tuple[str, ...] = ()) -> Any:
    """The entries of a container as an instance of a class; other entries are left out."""
    if isinstance(tensordict, cls):
        return tensordict
    entries = tensordict._fields
    values: dict[str, Any] = {}
    for name in declared(cls):
        if name in entries:
            value = entries[name]
            if isinstance(value, Node) and is_tree(value):
                inner = nested_class(cls, name)
                if inner is not None:
                    value = as_instance(value, inner, (*at, name))
            values[name] = value
        elif not has_default(cls, name):
            if not cls._declared[name].optional:
                raise errors.KeyMissing(_missing(tensordict, at, name))
            values[name] = None
    batch: Any = tensordict._batch
    if not batch and voted(cls):
        batch = None  # Annotations with *batch tell it.
    if tensordict._device is None:
        return cls(**values, batch_size=batch)
    return cls(**values, batch_size=batch, device=tensordict._device)


def voted(cls: type[TensorClass]) -> bool:
    """Whether the fields of a class tell its batch size."""
    return any(field.votes for field in cls._declared.values())


def _missing(node: Node, at: tuple[str, ...], name: str) -> str:
    under = f" (under {errors.name_of(at)})" if at else ""
    return errors.key_missing(name, node._fields) + under


def as_tensordict(instance: Node) -> TensorDict:
    """The fields that are set as a new TensorDict."""
    return untyped(instance)


def as_mapping(instance: Node) -> Mapping[str, Any]:
    """The fields that are set, by name."""
    return {key: value for key, value in instance._fields.items() if value is not None or not instance._none_is_unset}
