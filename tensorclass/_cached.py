"""cached_property that cannot go stale: what it was computed from is kept beside the value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ._tree.node import Node


class FreshProperty:
    """A property that is computed again when a field, or the data of one, has changed since."""

    def __init__(self, cached: functools.cached_property[Any]) -> None:
        self.func: Callable[[Any], Any] = cached.func
        self.attrname = cached.attrname
        self.__doc__ = cached.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.attrname = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if torch.compiler.is_compiling():
            return self.func(instance)
        known = instance._cache
        if known is None:
            known = {}
            object.__setattr__(instance, "_cache", known)
        seen = state(instance)
        if self.attrname in known and seen is not None:
            before, value = known[self.attrname]
            if _unchanged(before, seen):
                return value
        value = self.func(instance)
        known[self.attrname] = (state(instance), value)
        return value


def state(node: Node) -> list[Any] | None:
    """Every value in a node, each tensor with its version; None when a version cannot be told."""
    found: list[Any] = [node._batch]
    for name, value in node._fields.items():
        found += (name, value)
        if isinstance(value, Node):
            inner = state(value)
            if inner is None:
                return None
            found += inner
        elif isinstance(value, Tensor):
            if value.is_inference():  # a tensor made in inference mode counts no versions
                return None
            found.append(value._version)
    return found


def _unchanged(before: list[Any] | None, now: list[Any]) -> bool:
    # `is` for tensors and data (== may be elementwise), == for versions, names and the batch size.
    return (
        before is not None
        and len(before) == len(now)
        and all(one is other or (type(one) in _COMPARED and one == other) for one, other in zip(before, now))
    )


_COMPARED = (int, str, torch.Size)


def replace_cached(namespace: dict[str, Any], bases: tuple[type, ...]) -> None:
    """Put a FreshProperty in the place of each cached_property, also of those that plain base classes bring."""
    inherited: dict[str, Any] = {}
    for base in bases:
        for owner in reversed(base.__mro__):
            if not issubclass(owner, Node):
                inherited.update({n: v for n, v in vars(owner).items() if isinstance(v, functools.cached_property)})
    for name, value in [*inherited.items(), *namespace.items()]:
        if isinstance(value, functools.cached_property) and namespace.get(name, value) is value:
            namespace[name] = FreshProperty(value)
