"""Views of keys, entries and pairs: lazy, in order, asking `in` without reading everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

from torch import Tensor

from ._rules.keys import path, short
from ._tree.node import Node, is_tree
from ._tree.walk import key_paths, paths

K = TypeVar("K")
V = TypeVar("V")


class View:
    """What a view shows: a container, nested or not, leaves or all."""

    __slots__ = ("_leaves_only", "_nested", "_node", "_sort")

    def __init__(self, node: Node, nested: bool, leaves_only: bool, sort: bool) -> None:
        self._node, self._nested, self._leaves_only, self._sort = node, nested, leaves_only, sort

    def _pairs(self) -> list[tuple[Any, Any]]:
        node = self._node
        if not (self._nested or self._leaves_only or self._sort):  # As most are: no walk is needed.
            found = list(node._fields.items())
            return [pair for pair in found if pair[1] is not None] if node._none_is_unset else found
        pairs = [(short(at), value) for at, value in paths(node, self._nested, self._leaves_only)]
        if self._sort:
            pairs.sort(key=lambda pair: pair[0] if isinstance(pair[0], tuple) else (pair[0],))
        return pairs

    def __len__(self) -> int:
        return len(self._pairs())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)})"  # type: ignore[call-overload]  # Each view iterates.


class KeysView(View, Generic[K]):
    """The keys of a container."""

    __slots__ = ()

    def __iter__(self) -> Iterator[K]:
        node = self._node
        if not (self._nested or self._leaves_only or self._sort) and node._items is None:
            fields = node._fields
            plain: Any = [key for key in fields if fields[key] is not None] if node._none_is_unset else list(fields)
            return iter(plain)
        keys: list[Any] = [short(at) for at in key_paths(node, self._nested, self._leaves_only)]
        if self._sort:
            keys.sort(key=lambda key: key if isinstance(key, tuple) else (key,))
        return iter(keys)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, key: object) -> bool:
        at = path(key)
        if len(at) > 1 and not self._nested:
            return False
        node: Any = self._node
        for depth, name in enumerate(at, 1):
            if not is_tree(node) or name not in node._fields:
                return False
            unset = node._none_is_unset
            if depth == len(at):
                node = node._first_and_keys()[0]  # Of a lazy stack the first item will do: nothing is stacked.
            node = node._fields[name]
            if node is None and unset:
                return False
        return isinstance(node, Tensor) or not self._leaves_only

    def __eq__(self, other: object) -> bool:
        return set(self) == set(other) if isinstance(other, Iterable) else NotImplemented

    def __hash__(self) -> int:
        return id(self)

    def __and__(self, other: Any) -> set[K]:
        return set(self) & set(other)

    def __or__(self, other: Any) -> set[K]:
        return set(self) | set(other)

    def __sub__(self, other: Any) -> set[K]:
        return set(self) - set(other)

    def __rsub__(self, other: Any) -> set[Any]:
        return set(other) - set(self)

    def __xor__(self, other: Any) -> set[K]:
        return set(self) ^ set(other)

    def __le__(self, other: Any) -> bool:
        return set(self) <= set(other)

    def __ge__(self, other: Any) -> bool:
        return set(self) >= set(other)

    def isdisjoint(self, other: Any) -> bool:
        """Whether no key is in both."""
        return set(self).isdisjoint(other)


class ValuesView(View, Generic[V]):
    """The entries of a container."""

    __slots__ = ()

    def __iter__(self) -> Iterator[V]:
        return iter([value for _, value in self._pairs()])


class ItemsView(View, Generic[K, V]):
    """Pairs of key and entry."""

    __slots__ = ()

    def __iter__(self) -> Iterator[tuple[K, V]]:
        return iter(self._pairs())

    def __contains__(self, pair: object) -> bool:
        return (
            isinstance(pair, tuple) and len(pair) == 2 and any(k == pair[0] and v is pair[1] for k, v in self._pairs())
        )
