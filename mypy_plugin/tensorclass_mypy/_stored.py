"""What one module declares and another needs, kept where mypy's cache keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import FuncDef

if TYPE_CHECKING:
    from ._walk import Walk


def signature_of(walk: Walk, node: FuncDef) -> Any:
    """The declared shapes of a function whose module was read from the cache."""
    return None
