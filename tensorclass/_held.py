"""The parameters and buffers that a module holds, as nested entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from ._tree.node import Node


def entries_of(module: nn.Module, filter_empty: bool, node: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """The objects themselves under the names that the module has for them; node(entries) for each submodule."""
    if isinstance(module, Node):
        return type(module).copy(module)._fields  # type: ignore[attr-defined,no-any-return]  # Parameters in a container.
    entries: dict[str, Any] = {}
    # From __dict__, and without a generator: the walk is most of what a call with other parameters costs.
    own = module.__dict__
    for name, value in own["_parameters"].items():
        if value is not None:
            entries[name] = value
    if own["_buffers"]:
        for name, value in own["_buffers"].items():
            if value is not None:
                entries[name] = value
    for name, child in own["_modules"].items():
        if child is not None:
            inner = entries_of(child, filter_empty, node)
            if inner or not filter_empty:
                entries[name] = node(inner)
    return entries
