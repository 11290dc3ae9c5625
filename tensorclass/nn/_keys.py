"""The keys of a module, as users give them and as they are kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._rules import errors
from .._rules.keys import Key, path, unravel


def keys_of(what: str, keys: Any) -> list[Key]:
    """One key or several, as a list: a tuple is one nested key."""
    if isinstance(keys, (str, tuple)):
        keys = [keys]
    if isinstance(keys, Mapping) or not isinstance(keys, Iterable):
        raise errors.OptionError(errors.keys_form(what, keys))
    try:
        return [unravel(key) for key in keys]
    except errors.KeyForm:
        raise errors.OptionError(errors.keys_form(what, keys)) from None


def arguments_of(in_keys: Any, out_to_in_map: bool | None) -> tuple[list[Key], list[str] | None]:
    """The in_keys, and where they are a dict the argument that each one feeds."""
    if not isinstance(in_keys, Mapping):
        if out_to_in_map is not None:
            raise errors.OptionError("out_to_in_map says how to read a dict of in_keys; in_keys is no dict")
        return keys_of("in_keys", in_keys), None
    pairs = [(key, name) for key, name in in_keys.items()]
    if out_to_in_map is not False:
        pairs = [(key, name) for name, key in pairs]
    names = [name for _, name in pairs]
    if not all(isinstance(name, str) for name in names):
        raise errors.OptionError(errors.keys_form("in_keys", dict(in_keys)))
    return keys_of("in_keys", [key for key, _ in pairs]), names


def argument_name(key: Key, separator: str) -> str:
    """The keyword that stands for a key in a call with tensors."""
    return separator.join(path(key))
