"""What an update comes down to: found for every entry before the first is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from ._rules import errors
from ._rules.keys import path
from ._tree import inplace
from ._tree.node import Node, is_tree, kind

Path = tuple[str, ...]
Pair = tuple[Path, Any]


@dataclass
class Plan:
    """The options of an update, and what it is to do."""

    clone: bool
    inplace: bool
    only: list[Path] | None
    calls: list[Callable[[], object]] = field(default_factory=list)
    copies: list[tuple[Tensor, Tensor]] = field(default_factory=list)  # A tensor and what is copied into it.

    def wants(self, names: Path, value: Any) -> bool:
        """Whether an entry is among those to update, or may hold some of them."""
        nested = isinstance(value, Mapping) or is_tree(value)
        return any(names[: len(one)] == one or (nested and one[: len(names)] == names) for one in self.only or ())

    def carry_out(self) -> None:
        """Write, now that everything has been found to fit."""
        for call in self.calls:
            call()
        if self.copies:
            leaves, values = [list(column) for column in zip(*self.copies)]
            inplace.write(leaves, Tensor.copy_, torch._foreach_copy_, values)


def pairs_of(given: Any) -> list[tuple[tuple[str, ...], Any]]:
    fields = given._fields if isinstance(given, Node) else given
    skip_none = isinstance(given, Node) and given._none_is_unset
    if not isinstance(fields, Mapping):
        raise errors.KindError(f"update: {kind(given)} has no keys; a container or a dict would do")
    pairs = [(path(key), value) for key, value in fields.items() if not (value is None and skip_none)]
    nested = [names for names, _ in pairs if len(names) > 1]
    if nested:
        _refuse_conflicts(dict(pairs), nested)
    return pairs


def _refuse_conflicts(given: dict[tuple[str, ...], Any], nested: list[tuple[str, ...]]) -> None:
    for names in nested:
        for depth in range(1, len(names)):
            above = given.get(names[:depth])
            if above is not None and not isinstance(above, Mapping) and not is_tree(above):
                raise errors.StructureError(
                    f"update: {errors.name_of(names[:depth])} is {kind(above)}, and {errors.name_of(names)} is given "
                    "inside it"
                )


def flat(given: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for names, value in pairs_of(given):
        if isinstance(value, Mapping) or is_tree(value):
            yield from flat(value, (*at, *names))
        else:
            yield (*at, *names), value


def leaf_paths(given: Any) -> Iterator[Path]:
    """The paths of the entries to update with, without reading those of a lazy stack."""
    if not isinstance(given, Node) or given._items is None:
        for names, value in pairs_of(given):
            nested = isinstance(value, Mapping) or is_tree(value)
            yield from [(*names, *rest) for rest in leaf_paths(value)] if nested else [names]
        return
    for item in given._items[:1]:  # The keys of a lazy stack are those that all its items have.
        yield from [names for names in leaf_paths(item) if names in given]  # type: ignore[operator]  # A container.
