"""Whole numbers that a user gives: how many steps, frames, environments."""

from __future__ import annotations

from typing import Any

from .._rules import errors


def at_least(least: int, owner: str, name: str, value: Any, more: str = "") -> int:
    """A whole number (1e3 is one, too); something else, or less, is refused by the name of its argument."""
    whole = value.is_integer() if isinstance(value, float) else hasattr(value, "__index__")
    if not whole or isinstance(value, bool):
        raise errors.KindError(f"{owner}: {name} is {value!r}; a whole number would do{more}")
    if value < least:
        raise errors.OptionError(f"{owner}: {name} is {value}; {least} or more would do{more}")
    return int(value)


__all__ = ["at_least"]
