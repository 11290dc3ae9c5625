"""The entries of a lazy stack: each is stacked when it is read, so that one which cannot be hides no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Entries(Mapping[str, Any]):
    """What a lazy stack has in place of a dict of entries."""

    __slots__ = ("_stack",)

    def __init__(self, stack: Any) -> None:
        self._stack = stack

    def __getitem__(self, key: str) -> Any:
        return self._stack._entry(key)

    def __contains__(self, key: object) -> bool:
        return key in self._stack._keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self._stack._keys())

    def __len__(self) -> int:
        return len(self._stack._keys())
