"""What a wrapped module gives, sorted by out-key."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from .._rules import errors
from .._rules.keys import Key, path
from .._tree.node import Node
from ._graph import short_name

MISSING: Any = object()


def values_for(result: Any, out_keys: Sequence[Key], source: Any) -> Sequence[Any]:
    """One value for each out-key, from a tensor, a tuple, a dict, a dataclass or a container that a module gave."""
    if isinstance(result, Tensor):
        values: Sequence[Any] = (result,)
    elif isinstance(result, tuple) or (isinstance(result, list) and len(out_keys) > 1):
        values = result
    elif result is None:
        values = ()
    else:
        names = named(result)
        values = (result,) if names is None else _by_name(result, names, out_keys)
    if len(values) != len(out_keys):
        text = errors.more_tensors if len(values) > len(out_keys) else errors.more_out_keys
        raise errors.StructureError(f"{text(len(values), out_keys)} The module is {short_name(source.module)}.")
    return values


def named(result: Any) -> Mapping[str, Any] | None:
    """The named values of a dict, a container or a dataclass; None of anything else."""
    if isinstance(result, Node):
        return None if result._is_data else result._fields
    if isinstance(result, Mapping):
        return result
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    return None


def _by_name(result: Any, names: Mapping[str, Any], out_keys: Sequence[Key]) -> list[Any]:
    found = [None if key == "_" else _find(result, names, key) for key in out_keys]
    if len(found) == 1 and found[0] is MISSING:
        return [result]  # One key and no such name: the output as a whole is what belongs there.
    for key, value in zip(out_keys, found):
        if value is MISSING:
            raise errors.KeyMissing(errors.not_in_output(key, list(names)))
    return found


def _find(result: Any, names: Mapping[Any, Any], key: Key) -> Any:
    if key in names:
        return names[key]
    value = result
    for name in path(key):
        inner = named(value)
        if inner is None or name not in inner:
            return MISSING
        value = inner[name]
    return value
