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
    for name, field in declared(cls).items():
        value = entries.get(name)
        if value is None and name not in entries:
            if field.optional:
                if not has_default(cls, name):
                    values[name] = None
            elif not has_default(cls, name):
                raise errors.KeyMissing(_missing(tensordict, at, name))
            continue
        if is_tree(value):
            inner = nested_class(cls, name)
            if inner is not None:
                value = as_instance(value, inner, (*at, name))
        values[name] = value
    batch = tensordict._batch
    return cls(
        **values, batch_size=None if not batch and voted(cls) else batch, device=tensordict._device
    )  # With no batch size given, annotations with *batch tell it.


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
