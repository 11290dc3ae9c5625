"""Keys: a string names an entry, a tuple of strings a path through nested containers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from . import errors

Key = str | tuple[str, ...]


def unravel(key: Any) -> Key:
    """A key in its one form: a string, or a tuple of at least two strings.

    >>> unravel(("a", ("b", ("c",))))
    ('a', 'b', 'c')
    >>> unravel(("a",))
    'a'
    """
    return key if key.__class__ is str else short(path(key))


def short(names: tuple[str, ...]) -> Key:
    """A path as a key: one name stands for itself."""
    return names[0] if len(names) == 1 else names


def path(key: Any) -> tuple[str, ...]:
    """A key as the names to follow from the root."""
    if key.__class__ is str:
        return (key,)
    if key.__class__ is tuple and key:
        for part in key:
            if part.__class__ is not str:
                break
        else:
            return key  # A path already, as most are.
    parts = tuple(_parts(key, key))
    if not parts:
        raise errors.KeyForm(f"{key!r} is no key; a key is a string or a tuple of strings")
    return parts


def _parts(key: Any, whole: Any) -> Iterator[str]:
    if isinstance(key, str):
        yield str.__str__(key)  # A member of an enum of strings is found under another hash than its string.
    elif isinstance(key, tuple):
        for part in key:
            yield from _parts(part, whole)
    else:
        raise errors.KeyForm(f"{whole!r} is no key; a key is a string or a tuple of strings")


def under(paths: Iterable[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    """Paths by their first name; a path that ends there counts as the empty rest.

    >>> under([("a",), ("n", "b"), ("n", "c")])
    {'a': [()], 'n': [('b',), ('c',)]}
    """
    groups: dict[str, list[tuple[str, ...]]] = {}
    for one in paths:
        groups.setdefault(one[0], []).append(one[1:])
    return groups
