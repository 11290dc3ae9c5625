"""Entries of what passes through a chain of transforms: read, put, dropped, by flat or nested key, unchecked."""

from __future__ import annotations

from typing import Any

from .._rules.keys import Key
from .._tensordict import TensorDict
from .._tree.node import Node


def read(tensordict: Any, key: Key) -> Any:
    """The entry under a key, or None."""
    if key.__class__ is str:
        return tensordict._fields.get(key)
    for name in key:
        if not isinstance(tensordict, Node):
            return None
        tensordict = tensordict._fields.get(name)
    return tensordict


def write(tensordict: Any, key: Key, value: Any) -> None:
    """Put an entry under a key; only a TensorDict that is open takes it as it is."""
    if isinstance(key, str) and isinstance(tensordict, TensorDict) and not tensordict._locked:
        tensordict._fields[key] = value
    else:
        type(tensordict).set(tensordict, key, value)


def drop(tensordict: Any, key: Key) -> None:
    """Forget the entry under a key, and a nested container that is empty then."""
    path = (key,) if isinstance(key, str) else key
    if path not in tensordict:
        return
    type(tensordict).del_(tensordict, path)
    parent = read(tensordict, path[:-1]) if len(path) > 1 else None
    if isinstance(parent, Node) and not parent._fields:
        drop(tensordict, path[:-1])


def branch(tensordict: Any) -> Any:
    """The same entries in containers of their own, nested ones too: what is put into them is not seen elsewhere."""
    fields = {
        key: branch(value) if isinstance(value, TensorDict) else value for key, value in tensordict._fields.items()
    }
    return tensordict._like(fields)


def prefix(key: Key) -> tuple[str, ...]:
    """The containers that a key goes through."""
    return () if isinstance(key, str) else key[:-1]


def beside(key: Key, name: str) -> Key:
    """The key of that name in the same container.

    >>> beside(("agents", "reward"), "episode_reward")
    ('agents', 'episode_reward')
    """
    return (*prefix(key), name) if prefix(key) else name


def first(key: Key) -> str:
    """The name at the root that a key begins with."""
    return key if isinstance(key, str) else key[0]
