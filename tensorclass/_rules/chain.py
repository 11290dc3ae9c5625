"""Sentences about chains of transforms: which key is not there, who has one already, what cannot be a transform."""

from __future__ import annotations

from collections.abc import Iterable

from .errors import Key, KeyMissing, count, key_missing, name_of, no_field, some_names


class ChainKeyMissing(KeyMissing, ValueError):
    """A key that a transform reads or promises, and the environment does not have."""


def in_key_missing(transform: str, key: Key, keys: Iterable[Key], class_name: str | None = None) -> str:
    """A key that a transform reads and nothing before it gives; class_name: the class of the observation, if known."""
    sentence = key_missing(key, keys) if class_name is None else no_field(class_name, key, keys)
    return f"{transform}: {sentence}"


def out_key_unknown(transform: str, key: Key) -> str:
    """A key that a transform writes and no spec tells of."""
    return (
        f"{transform}: no spec for its out_key {name_of(key)}; "
        f"override transform_observation_spec (or that of the reward, done, ...) to return one that has it"
    )


def too_few_dims(
    transform: str, key: Key, shape: tuple[int, ...], batch: tuple[int, ...], least: int, which: str
) -> str:
    """An entry that lacks dims that the transform works on; which: what they are, if there is a name for them."""
    return (
        f"{transform}: {name_of(key)} has shape {list(shape)} and batch size {list(batch)}; "
        f"it must have at least {count(least, 'dim')} after the batch dims{which and ': ' + which}"
    )


def written_over(transform: str, key: Key) -> str:
    """A key that a transform writes, and that something else is under already."""
    return (
        f"{transform}: it writes {name_of(key)}, and there is an entry of that name already; "
        f"give another key, or drop that entry first with ExcludeTransform({name_of(key)})"
    )


def reserved(transform: str, key: Key) -> str:
    """A key that a transform writes, and that has a meaning of its own in an environment."""
    return f"{transform}: it writes {name_of(key)}, a name that environments keep for themselves; give another key"


def field_missing(transform: str, class_name: str, field: str, keys: Iterable[Key]) -> str:
    """A class named for the observation after a transform, and a field of it that the observation has not."""
    return (
        f"{transform}: {class_name} has a field {field!r}, which the observation after it lacks; "
        f"it has {some_names(keys) or 'nothing'}"
    )


def takes_class(transform: str, function: str, wanted: str, given: str) -> str:
    """A function for observations of another class."""
    return f"{transform}: {function} takes {wanted}; the observation is {given} here"


def keys_unpaired(transform: str, name: str, in_keys: Iterable[Key], out_keys: Iterable[Key]) -> str:
    """Keys to read and keys to write that are not as many."""
    reads, writes = list(in_keys), list(out_keys)
    return (
        f"{transform}: {count(len(reads), 'key')} in {name.replace('out', 'in')} ({some_names(reads)}) but "
        f"{count(len(writes), 'key')} in {name} ({some_names(writes)}); give one for each"
    )


def has_owner(transform: str) -> str:
    """A transform that belongs to an environment or a Compose already."""
    return (
        f"{transform}: parent already set: a transform has one owner; "
        "pass transform.clone(), or call transform.reset_parent() first"
    )


def no_transform(given: str) -> str:
    """Something that is no transform."""
    return f"Expected a transform (a Transform, several as Compose(...)) or a callable, not {given}"


def no_parent(transform: str, action: str, gone: bool = False) -> str:
    """What can only be done in an environment; gone: there was one, and nobody has kept it."""
    if gone:
        return f"{transform}: {action} needs its environment, which is no longer there; keep it in a variable"
    return f"{transform}: {action} needs an environment: put the transform into a TransformedEnv first"
