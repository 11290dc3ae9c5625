"""rand, zero, is_in, project, encode of a Composite: entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Size

from ..._rules import errors
from ..._tensordict import TensorDict
from ..._tree.node import Node, kind
from .asked import cardinality, encode, fault, full, misfit, project, rand, to_numpy
from .composite import Composite
from .leaf import drawable


def made(spec: Composite, size: Size, make: Callable[[Any], Any]) -> Any:
    """A value with make(entry) under every key."""
    fields = {key: make(entry) for key, entry in spec._specs.items() if entry is not None}
    shape = drawable(spec.shape)
    batch = Size((*size, *shape)) if size else shape
    if spec.data_cls is not None:
        return spec.data_cls.from_dict(fields, batch_size=batch, device=spec.device)
    out: TensorDict = TensorDict(None, batch, spec.device)
    out._fields.update(fields)
    return out


@rand.register
def _(spec: Composite, size: Size) -> Any:
    return made(spec, size, lambda entry: rand(entry, size))


@full.register
def _(spec: Composite, size: Size, number: int) -> Any:
    return made(spec, size, lambda entry: full(entry, size, number))


def entries_of(value: Any) -> Mapping[str, Any] | None:
    """The entries of a container or dict; None for anything else."""
    if isinstance(value, Node):
        return value._fields
    return value if isinstance(value, Mapping) else None


def first_fault(spec: Composite, value: Any, ask: Callable[[Any, Any], str | None]) -> str | None:
    """Why the first entry that is wrong is wrong."""
    entries = entries_of(value)
    if entries is None:
        return f"the value is {kind(value)}; a container is needed"
    for key, inner in spec._specs.items():
        if inner is None:
            continue
        try:
            entry = entries.get(key)
        except errors.RuleError as error:  # A lazy stack has an entry that differs from item to item.
            return str(error)
        if entry is None:
            return errors.key_missing(key, entries)
        why = ask(inner, entry)
        if why is not None:
            return f"{key!r}: {why}"
    return None


@fault.register
def _(spec: Composite, value: Any) -> str | None:
    return first_fault(spec, value, fault)


@misfit.register
def _(spec: Composite, value: Any) -> str | None:
    return first_fault(spec, value, misfit)


@project.register
def _(spec: Composite, value: Any) -> Any:
    entries = entries_of(value)
    if entries is None:
        raise errors.KindError(f"project: the value is {kind(value)}; a container is needed")
    changed = {
        key: inner.project(entries[key])
        for key, inner in spec._specs.items()
        if inner is not None and entries.get(key) is not None
    }
    if not isinstance(value, Node):
        return {**entries, **changed}
    return value._like({**entries, **changed})


@encode.register
def _(spec: Composite, value: Any) -> Any:
    entries = entries_of(value)
    if entries is None:
        raise errors.KindError(f"encode: the value is {kind(value)}; a dict or container is needed")
    for key in entries:
        if key not in spec._specs:
            raise errors.KeyMissing(f"encode: {errors.key_missing(key, spec._specs)}")
    known = {key: inner for key, inner in spec._specs.items() if inner is not None}
    fields = {key: known[key].encode(given) for key, given in entries.items() if key in known}
    return TensorDict(fields, spec.shape, spec.device)


@to_numpy.register
def _(spec: Composite, value: Any) -> Any:
    entries = entries_of(value) or {}
    return {key: inner.to_numpy(entries[key]) for key, inner in spec._specs.items() if inner is not None}


@cardinality.register
def _(spec: Composite) -> float:
    total: float = 1
    for inner in spec._specs.values():
        total *= 1 if inner is None else cardinality(inner)
    return total
