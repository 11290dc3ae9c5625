"""Specs under keys, read: what a Composite and a stack of them have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from typing_extensions import Self

from ..._keys import NestedKey
from ..._rules import errors
from ..._rules.errors import Key
from ..._rules.keys import path, unravel
from . import asked
from .base import TensorSpec

if TYPE_CHECKING:
    from ..._tensordict import TensorDict

Entry = TensorSpec | None


class KeyedSpec(TensorSpec):
    """A spec of containers: of each entry, by key."""

    _dtype = None
    data_cls: type[Any] | None

    def _names(self) -> Iterable[str]:
        """The keys at this level."""
        raise NotImplementedError

    def _entry(self, name: str) -> Entry:
        """The spec under one of them."""
        raise NotImplementedError

    @property
    def batch_size(self) -> Any:
        """The leading dims that all entries share."""
        return self._batch

    @overload
    def __getitem__(self, index: str) -> Any: ...
    @overload
    def __getitem__(self, index: tuple[str, ...]) -> Any: ...
    @overload
    def __getitem__(self, index: Any) -> Self: ...
    def __getitem__(self, index: Any) -> Any:
        """The spec under a key, or the spec of the rows that an index picks."""
        if isinstance(index, str) or (isinstance(index, tuple) and index and isinstance(index[0], (str, tuple))):
            return entry(self, path(index))
        return super().__getitem__(index)

    def get(self, key: NestedKey, default: Any = None) -> Any:
        """The spec under a key, or the default."""
        return entry(self, path(key)) if has(self, path(key)) else default

    @overload
    def keys(self, include_nested: Literal[False] = False, leaves_only: bool = False) -> list[str]: ...
    @overload
    def keys(self, include_nested: bool, leaves_only: bool = False) -> list[Key]: ...
    def keys(self, include_nested: bool = False, leaves_only: bool = False) -> Any:
        """The keys; with include_nested also those of nested specs, as tuples."""
        return [key for key, _ in walk(self, include_nested, leaves_only)]

    def values(self, include_nested: bool = False, leaves_only: bool = False) -> list[Any]:
        """The specs, in the order of the keys."""
        return [spec for _, spec in walk(self, include_nested, leaves_only)]

    @overload
    def items(self, include_nested: Literal[False] = False, leaves_only: bool = False) -> list[tuple[str, Any]]: ...
    @overload
    def items(self, include_nested: bool, leaves_only: bool = False) -> list[tuple[Key, Any]]: ...
    def items(self, include_nested: bool = False, leaves_only: bool = False) -> Any:
        """The keys with their specs."""
        return list(walk(self, include_nested, leaves_only))

    def __contains__(self, key: Any) -> bool:
        """Whether there is such a key; is_in asks for values."""
        return isinstance(key, (str, tuple)) and has(self, path(key))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(list(self._names()))

    def is_empty(self) -> bool:
        """Whether it describes nothing."""
        return not list(self._names())

    if TYPE_CHECKING:

        def rand(self, shape: Sequence[int] | int = ()) -> TensorDict: ...
        def sample(self, shape: Sequence[int] | int = ()) -> TensorDict: ...
        def zero(self, shape: Sequence[int] | int = ()) -> TensorDict: ...
        def zeros(self, shape: Sequence[int] | int = ()) -> TensorDict: ...
        def one(self, shape: Sequence[int] | int = ()) -> TensorDict: ...
        def ones(self, shape: Sequence[int] | int = ()) -> TensorDict: ...


def has(spec: Any, names: tuple[str, ...]) -> bool:
    """Whether there is something at the end of a path."""
    for name in names:
        if not isinstance(spec, KeyedSpec) or name not in spec._names():
            return False
        spec = spec._entry(name)
    return True


def entry(spec: Any, names: tuple[str, ...]) -> Any:
    """The spec at the end of a path, or KeyError."""
    for depth, name in enumerate(names):
        if not isinstance(spec, KeyedSpec):
            raise errors.KeyMissing(
                f"no key {names!r}: {errors.name_of(names[:depth])} is no Composite but {asked.word(spec)}"
            )
        if name not in spec._names():
            under = f" (under {errors.name_of(unravel(names[:depth]))})" if depth else ""
            raise errors.KeyMissing(errors.key_missing(name, spec._names()) + under)
        spec = spec._entry(name)
    return spec


def walk(spec: KeyedSpec, include_nested: bool, leaves_only: bool) -> Iterator[tuple[Key, Any]]:
    """Keys and specs, a nested one before what is in it."""
    for key in spec._names():
        value = spec._entry(key)
        nested = isinstance(value, KeyedSpec)
        if not (nested and leaves_only):
            yield key, value
        if isinstance(value, KeyedSpec) and include_nested:
            for below, inner in walk(value, True, leaves_only):
                yield (key, *((below,) if isinstance(below, str) else below)), inner
