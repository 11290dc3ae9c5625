"""Locks: no entry is added, replaced or deleted, here and below."""

from __future__ import annotations

import weakref
from typing import Any

from typing_extensions import Self

from ._rules import errors
from ._tree.blocks import mark
from ._tree.node import Node, is_tree


class LockMethods(Node):
    """Lock, unlock, and what of it ends with a `with` block."""

    __slots__ = ()

    @property
    def is_locked(self) -> bool:
        """Whether entries can be added, replaced or deleted; tensors can be written in place all the same."""
        return bool(self._locked)

    @is_locked.setter
    def is_locked(self, locked: bool) -> None:
        if locked:
            type(self).lock_(self)
        else:
            type(self).unlock_(self)

    def lock_(self) -> Self:
        """Refuse new, replaced and deleted entries, here and below.

        >>> td = TensorDict(a=torch.zeros(3)).lock_()
        >>> td["b"] = torch.zeros(3)
        Traceback (most recent call last):
        tensorclass._rules.errors.Locked: cannot set 'b': the container is locked; call .unlock_() on it first, or ...

        As a `with` block it holds until the end of the block.
        """
        mark(self, keep_lock if self._locked else unlock)
        if not self._locked:
            object.__setattr__(self, "_locked", True)
        root = weakref.ref(self)
        for node in self._below():
            node._lock_under(root)
        return self

    def _below(self) -> list[Any]:
        """The containers right below this one."""
        return [value for value in self._fields.values() if is_tree(value)]

    def _lock_under(self, root: weakref.ref[Any]) -> None:
        object.__setattr__(self, "_locked", (*locks_of(self, root), root))
        for node in self._below():
            node._lock_under(root)

    def unlock_(self) -> Self:
        """Allow all writes again, here and below; refused for a part of something that is locked.

        >>> td = TensorDict(a=torch.zeros(3)).lock_()
        >>> with td.unlock_():
        ...     td["b"] = torch.ones(3)
        >>> td.is_locked
        True
        """
        me = weakref.ref(self)
        if locks_of(self, me):
            raise errors.Locked("cannot unlock a part of a locked container; call .unlock_() on the whole")
        mark(self, lock if self._locked else keep_lock)
        self._unlock(me)
        return self

    def _unlock(self, root: weakref.ref[Any]) -> None:
        object.__setattr__(self, "_locked", locks_of(self, root) or False)
        for node in self._below():
            node._unlock(root)

    def unlocked(self) -> Any:
        """A with block in which the container is not locked."""
        return Unlocked(self)


def locks_of(node: Any, but: weakref.ref[Any]) -> tuple[weakref.ref[Any], ...]:
    """The locked containers that a container is part of, one aside: each of them keeps it locked."""
    if not isinstance(node._locked, tuple):
        return ()
    return tuple([ref for ref in node._locked if ref is not but and (root := ref()) is not None and root._locked])


def lock(node: Any, failed: bool) -> None:
    """At the end of a block: lock what was locked before."""
    type(node).lock_(node)


def unlock(node: Any, failed: bool) -> None:
    """At the end of a block: unlock what was not locked before."""
    type(node).unlock_(node)


def keep_lock(node: Any, failed: bool) -> None:
    """At the end of a block: nothing, since nothing was changed at its start."""


class Unlocked:
    """A `with` block in which a container is not locked."""

    def __init__(self, node: Any) -> None:
        self.node, self.before = node, bool(node._locked)

    def __enter__(self) -> Any:
        if self.before:
            type(self.node).unlock_(self.node)
        return self.node

    def __exit__(self, *error: object) -> None:
        if self.before:
            type(self.node).lock_(self.node)
