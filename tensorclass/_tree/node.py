"""A node: what the engine needs of a container, and nothing else."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, TypeGuard

import torch
from torch import Size, Tensor
from typing_extensions import Self

from .._rules import errors
from .._rules.errors import Key

Names = tuple["str | None", ...]


class Node:
    """Entries under string keys that share leading dims.

    An entry is a tensor, a node, or plain data (anything else), which every op passes through untouched.
    Library code calls ops as `type(node).op(node)`: an entry of a typed node may have an op's name.
    """

    __slots__ = ()
    _none_is_unset = False  # A typed node: a field that is None is not there.
    _in_dict = False  # Whether entries are kept as instance attributes: __dict__ is the store.
    _is_frozen = False  # An instance of a frozen class, which nothing changes.
    _items: Any = None  # The items of a lazy stack, which has them in place of entries.
    _kin: type | None = None  # The class that instances are joined as, where it is not their own.
    _is_data = False  # A node that stands for one entry per row (NonTensorStack), not for a nested container.

    if TYPE_CHECKING:
        _fields: dict[str, Any]  # Honest Any: an entry is a tensor, a node or plain data.
        _batch: Size
        _device: torch.device | None
        _names: Names | None
        _locked: bool | tuple[weakref.ref[Any], ...]  # By itself, or as a part of these.
        _leaves: tuple[str, ...] | None
        _dim: int  # Of a lazy stack.

        # What Container, the base of all nodes but this one, has for the engine.
        def expand(self, *shape: Any) -> Self: ...
        def unbind(self, dim: int = 0) -> tuple[Self, ...]: ...
        def clone(self, recurse: bool = True, **options: Any) -> Self: ...
        def state_dict(self) -> dict[str, Any]: ...
        def lock_(self) -> Self: ...
        def _restack(self, items: Any, dim: int | None = None) -> Self: ...
        def _dim_name(self) -> str | None: ...
        def _check_batch(self, batch: Size, at: str) -> None: ...
        def _set_batch(self, batch: Size) -> None: ...
        def _set_names(self, names: Names | None) -> None: ...
        def _lock_under(self, root: weakref.ref[Any]) -> None: ...
        def _unlock(self, root: weakref.ref[Any]) -> None: ...
        def _spread_data(self, name: str) -> None: ...
        def _plan_write(self, items: tuple[Any, ...], value: Any, jobs: Any, under: tuple[str, ...]) -> None: ...
        def _selected(self, names: list[tuple[str, ...]]) -> Self: ...
        def _reflected(self, name: str, other: Any) -> Self: ...
        def _absent(self, name: str, default: Any) -> Any: ...

    def _rebuild(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Self:
        """A new node of this kind with these entries: unlocked, unchecked, no __post_init__."""
        raise NotImplementedError

    def _like(self, fields: dict[str, Any]) -> Self:
        """A new node of this kind with other entries and everything else the same."""
        return self._rebuild(fields, self._batch, self._names)

    def _bare(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Node:
        """A node for entries that need not be those of this one: a typed node with missing fields is untyped."""
        return self._rebuild(fields, batch, names)

    def _first_and_keys(self) -> tuple[Node, list[str]]:
        """A node whose entries are of the kinds that the entries here are, and the keys here."""
        return self, list(self._fields)

    def _write_at(self, index: Any, value: Any) -> None:
        """x[index] = value for an index that is no key."""
        raise NotImplementedError

    def _read_items(self, items: tuple[Any, ...], index: Any) -> Any:
        """x[index], where items are the prepared items of the index."""
        raise NotImplementedError

    def _nested(self, key: str) -> Node:
        """The nested container under a key."""
        return self._fields[key]  # type: ignore[no-any-return]  # The caller knows that it is one.

    def _missing(self, key: Key) -> Exception:
        """The error for a key that is not there."""
        return errors.KeyMissing(errors.key_missing(key, self._fields))

    def _batch_hint(self) -> str:
        """The end of a sentence about an index that does not fit, where the class may not say what was meant."""
        return ""

    def _stacks_to_one_value(self) -> bool:
        """Whether equal plain values are stacked to one of them."""
        return True

    def _check_thawed(self, action: str) -> None:
        """Refuse a write that a frozen class forbids."""

    def _check_open(self, action: str) -> None:
        """Refuse a write that a lock forbids."""
        if self._locked:
            raise errors.Locked(errors.locked(action))


def is_tree(value: object) -> TypeGuard[Node]:
    """Whether a value is a nested container (rows of data are not: their positions are no numbers)."""
    return isinstance(value, Node) and not value._is_data


def entry(node: Node, path: tuple[str, ...]) -> Any:
    """The entry at the end of a path, or KeyError."""
    for depth, name in enumerate(path):
        if not isinstance(node, Node):
            raise errors.KeyMissing(f"no key {path!r}: {errors.name_of(path[:depth])} is no container but {kind(node)}")
        fields = node._fields
        if name not in fields:
            missing = node._missing(name)
            if depth:
                missing.args = (f"{missing} (under {errors.name_of(path[:depth])})",)
            raise missing
        node = fields[name]
    return node


def kind(value: object) -> str:
    """What a value is, for a message."""
    if isinstance(value, Tensor):
        if value.is_nested:  # That of the strided layout has no shape.
            return "a nested tensor"
        return f"a tensor of shape {list(value.shape)}"
    if value is None:
        return "None"
    name = type(value).__name__
    return f"an {name}" if name[0].lower() in "aeiou" else f"a {name}"
