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


def one_edit(one: Any, other: Any) -> bool:
    """Two keys that a slip of the finger turns into one another; numbered keys (h1, h2) are no slips."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        differing = [(a, b) for a, b in zip(one, other) if a != b]
        return len(differing) == 1 and one_edit(*differing[0])
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    if any(c.isdigit() for c in set(one) ^ set(other)) or min(len(one), len(other)) < 4:
        return False
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1:
        return False
    if len(long) == len(short):
        places = [at for at in range(len(long)) if long[at] != short[at]]
        swapped = (
            len(places) == 2
            and places[1] == places[0] + 1
            and long[places[0]] == short[places[1]]
            and long[places[1]] == short[places[0]]
        )
        return len(places) == 1 or swapped
    return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))
