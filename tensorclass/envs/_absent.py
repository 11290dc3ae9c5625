"""Attributes that an environment or a transform does not have: the error names the nearest that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

from .._container import failed_property
from .._rules.elsewhere import Later
from .._rules.nearest import suggest


class Suggesting(nn.Module):
    """A module that, asked for an attribute that it lacks, names the nearest one."""

    if not TYPE_CHECKING:  # To checkers it has what a module has.

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                if name.startswith("_"):  # Asked for by libraries, often, to see whether it is there.
                    raise
            raise failed_property(self, name) or absent(self, name)


def absent(owner: Any, name: str) -> AttributeError:
    """The error for an attribute that a module does not have."""
    return AttributeError(Later(sentence, owner, name))


def sentence(owner: Any, name: str) -> str:
    """What is said of it; __dir__ of a module lists what it holds, too."""
    known = [one for one in dir(owner) if not one.startswith("_")]
    return f"{type(owner).__name__} has no attribute {name!r}{suggest(name, known)}"
