"""The nearest right name: what somebody who wrote this probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

Key = str | tuple[str, ...]


def nearest(name: Key, names: Iterable[Key]) -> Key | None:
    """The name most like the one given, or None when none is near.

    >>> nearest("mss", ["pos", "vel", "mass"])
    'mass'
    """
    flat = {_flat(known): known for known in names}
    close = difflib.get_close_matches(_flat(name), list(flat), n=1, cutoff=0.6)
    return flat[close[0]] if close else None


def suggest(name: Key, names: Iterable[Key]) -> str:
    """The end of a sentence: "; did you mean 'mass'?", or nothing.

    >>> suggest("mss", ["pos", "mass"])
    "; did you mean 'mass'?"
    """
    near = nearest(name, names)
    return "" if near is None else f"; did you mean {near!r}?"


def suggest_and(name: Key, names: Iterable[Key], rest: str) -> str:
    """A suggestion, if there is one, and then the rest of what is said.

    >>> suggest_and("mss", ["pos", "mass"], "there are 2 fields")
    "; did you mean 'mass'? There are 2 fields"
    >>> suggest_and("zebra", ["pos", "mass"], "there are 2 fields")
    '; there are 2 fields'
    """
    near = suggest(name, names)
    return f"{near} {rest[0].upper()}{rest[1:]}" if near else f"; {rest}"


def _flat(name: Key) -> str:
    return name if isinstance(name, str) else "\0".join(str(part) for part in name)
