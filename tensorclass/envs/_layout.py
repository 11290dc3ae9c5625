"""What an environment looks like at one place of a chain of transforms: its specs, keys and classes there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from .._rules import chain, errors
from .._rules.keys import Key, path
from ..nn._ends import declared
from ._keys import leaves_of

OUTPUTS = ("observation", "reward", "done")
INPUTS = ("action", "state")
RESERVED = frozenset(("next", "_reset", "_step"))
GROUPS = {name: f"full_{name}_spec" for name in (*OUTPUTS, *INPUTS)}


@dataclass
class Layout:
    """The specs of what comes out of an environment and of what goes in, and the classes of observation and action."""

    output: Any
    input: Any
    batch: torch.Size
    device: torch.device | None
    obs: Any = Any
    action: Any = Any
    added: frozenset[Key] = frozenset()  # Observations that transforms count or sum: no part of any class.

    def spec(self, group: str) -> Any:
        """The specs of one group: "observation", "reward", "done", "action", "state"."""
        return (self.output if group in OUTPUTS else self.input)[GROUPS[group]]

    def keys(self, *groups: str) -> dict[Key, Any]:
        """The leaf specs of some groups by key."""
        return {key: leaf for group in groups for key, leaf in leaves_of(self.spec(group)).items()}

    def nodes(self, *groups: str) -> set[Key]:
        """The keys of some groups, those of nested containers too."""
        return {key for group in groups for key in self.spec(group).keys(True, False)}

    def check_reads(self, transform: str, keys: Iterable[Key]) -> None:
        """Refuse keys that the environment does not give."""
        self._check(transform, keys, (*OUTPUTS, "state"), self.obs)

    def check_takes(self, transform: str, keys: Iterable[Key]) -> None:
        """Refuse keys that the environment does not take."""
        self._check(transform, keys, INPUTS, Any)

    def _check(self, transform: str, keys: Iterable[Key], groups: tuple[str, ...], cls: Any) -> None:
        known = self.nodes(*groups)
        for key in keys:
            if key not in known:
                raise self._missing(transform, key, groups, cls)

    def _missing(self, transform: str, key: Key, groups: tuple[str, ...], cls: Any) -> Exception:
        fields = class_fields(cls)
        if fields is None:
            return chain.ChainKeyMissing(chain.in_key_missing(transform, key, self.keys(*groups)))
        return chain.ChainKeyMissing(chain.in_key_missing(transform, key, fields, cls.__name__))

    def refuse(self, transform: str, key: Key, group: str) -> None:
        """Say that a key is not among those of a group."""
        raise self._missing(transform, key, (group,), self.obs if group == "observation" else Any)

    def keep_classes(self, before: Layout) -> None:
        """Where a transform names no class: what came before it, if the specs that this describes are as they were."""
        if self.obs is Any and self.spec("observation") == before.spec("observation"):
            self.obs = before.obs
        if self.action is Any and self.spec("action") == before.spec("action"):
            self.action = before.action

    def check_class(self, transform: str) -> None:
        """Refuse a class of observations with fields that there are not."""
        for name in class_fields(self.obs) or ():
            if name not in self.nodes("observation") and not declared(self.obs)[str(name)].optional:
                raise chain.ChainKeyMissing(
                    chain.field_missing(transform, self.obs.__name__, str(name), self.keys("observation"))
                )

    def check_writes(self, transform: str, keys: Iterable[Key]) -> None:
        """Refuse keys that a transform writes and its specs do not tell of."""
        known = self.nodes(*OUTPUTS, *INPUTS)
        for key in keys:
            if key not in known:
                raise chain.ChainKeyMissing(chain.out_key_unknown(transform, key))

    def check_new(self, transform: str, reads: Iterable[Key], writes: Iterable[Key], names: tuple[str, ...]) -> None:
        """Refuse to write over what is there already, and is not what the transform reads."""
        known = self.nodes(*names).difference(reads)
        for key in writes:
            if RESERVED.intersection(path(key)):
                raise errors.StructureError(chain.reserved(transform, key))
            if key in known:
                raise errors.StructureError(chain.written_over(transform, key))

    def check_apart(self, transform: str) -> None:
        """Refuse a key that is in two groups, except a state that is an observation at the same time."""
        for groups in ((*OUTPUTS, "action"), INPUTS):
            found: dict[Key, str] = {}
            for group in groups:
                for key in self.keys(group):
                    if key in found:
                        raise errors.StructureError(f"{transform}: {shared(key, GROUPS[found[key]], GROUPS[group])}")
                    found[key] = group


def shared(key: Key, slot: str, other: str) -> str:
    """What to say of a key that two specs have."""
    return f"{errors.name_of(key)} is in {slot} and in {other}; a key is one or the other"


def class_fields(cls: Any) -> list[Key] | None:
    """The fields of a class of observations, or None where no class is known."""
    from .._tensorclass import TensorClass

    if isinstance(cls, type) and issubclass(cls, TensorClass):
        return list(declared(cls))
    return None
