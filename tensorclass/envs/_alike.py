"""Environments side by side: what they must have in common, and which of them has something else."""

from __future__ import annotations

from typing import Any

from .._rules import errors
from .._rules.keys import Key, path
from ._keys import leaves_of
from ._layout import GROUPS
from ._operations import Description

SAME_KEYS = ("reward", "done")  # The groups whose keys must be the same everywhere.


def check_alike(owner: str, found: list[Description]) -> None:
    """Refuse environments whose entries cannot stand side by side: sizes may differ, all else may not."""
    for at, other in enumerate(found[1:], 1):
        if other.batch != found[0].batch:
            raise errors.ShapeError(
                f"{owner}: environment 0 has batch size {list(found[0].batch)}, environment {at} {list(other.batch)}; "
                "they must be equal"
            )
        if None not in (other.device, found[0].device) and other.device != found[0].device:
            raise errors.StructureError(
                f"{owner}: environment 0 is on {found[0].device}, environment {at} on {other.device}; "
                "they must be on the same device"
            )
        for group, slot in GROUPS.items():
            mine, theirs = [(one.output if slot in one.output else one.input)[slot] for one in (found[0], other)]
            check_keys(owner, group, at, leaves_of(mine), leaves_of(theirs))


def check_keys(owner: str, group: str, at: int, mine: dict[Key, Any], theirs: dict[Key, Any]) -> None:
    """Compare the specs of one group, of the first environment and of another one."""
    if group in SAME_KEYS and mine.keys() != theirs.keys():
        raise errors.KeyMissing(
            f"{owner}: the {group} keys of environment 0 are {errors.some_names(mine)}, those of environment {at} "
            f"{errors.some_names(theirs)}; they must be the same"
        )
    for key, spec in mine.items():
        for other_key, other in theirs.items():
            if key == other_key and len(spec.shape) != len(other.shape):
                raise errors.ShapeError(
                    f"{owner}: {errors.name_of(key)} is {spec!r} in environment 0, {other!r} in environment {at}; "
                    "sizes may differ, the number of dims may not"
                )
            if is_inside(key, other_key) or is_inside(other_key, key):
                raise errors.StructureError(
                    f"{owner}: environment 0 has {errors.name_of(key)} ({spec!r}), environment {at} "
                    f"{errors.name_of(other_key)} ({other!r}); an entry is a tensor in all, or a container in all"
                )


def is_inside(key: Key, other: Key) -> bool:
    """Whether a key is that of an entry in the container that is under another one."""
    inner, outer = path(key), path(other)
    return len(inner) > len(outer) and inner[: len(outer)] == outer
