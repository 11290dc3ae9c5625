"""The ends of sentences that only the plugin has to say; the others come from the rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorclass._rules.nearest import suggest


def meant(name: Any, names: Iterable[Any], rest: str) -> str:
    """The nearest right name, if there is one, and the rest of the sentence.

    >>> meant("mss", ["mass"], "there is nothing else")
    "; did you mean 'mass'? There is nothing else"
    >>> meant("x", ["mass"], "there is nothing else")
    '; there is nothing else'
    """
    near = suggest(name, list(names))
    return f"{near} {rest[0].upper()}{rest[1:]}" if near else f"; {rest}"
