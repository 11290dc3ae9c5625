"""The names of files: one for every key, inside the folder whatever the key."""

from __future__ import annotations

import re
from collections.abc import Iterable

META = "meta.json"
TENSOR = ".memmap"
SIZES = ".shape.memmap"  # Beside a nested tensor: the shape of each of its rows.

_FORBIDDEN = re.compile(r'[\x00-\x20\x7f%/\\:*?"<>|]')


def encoded(key: str) -> str:
    """A key as a file name: what no file system forbids stays itself, the rest becomes %XX.

    >>> encoded("a/b"), encoded("x.y"), encoded("..")
    ('a%2Fb', 'x.y', '%2E%2E')
    """
    if key in ("", ".", ".."):
        return key.replace(".", "%2E") or "%"
    return _FORBIDDEN.sub(lambda match: f"%{ord(match[0]):02X}", key)


def file_names(keys: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, str]:
    """The base name of every key, given what its files end in ('' for a folder).

    >>> file_names([("a", (".memmap",)), ("a.memmap", ("",))])
    {'a': 'a', 'a.memmap': 'a%2Ememmap'}

    Two keys that would share a file, or take that of the metadata: the later one has its dots encoded too.
    """
    taken = {META}
    names: dict[str, str] = {}
    for key, endings in keys:
        name = encoded(key)
        while any(name + ending in taken for ending in endings):
            name = name.replace(".", "%2E") if "." in name else name + "%"
        taken.update([name + ending for ending in endings])
        names[key] = name
    return names
