"""What the environment below reads at a step: its own entries, not what transforms have made of them.

An environment may keep its state in what it shows (`tensordict.obs`), and a chain may change or drop that. So the chain
remembers what the environment gave, and hands it back in place of what came of it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._rules.keys import Key, path
from ._entries import read, write
from ._keys import Plan
from ._layout import Layout
from ._masks import chosen
from ._transform import Transform


def changed_keys(members: list[Transform], base: Plan, outside: Layout) -> tuple[Key, ...]:
    """The entries that the environment gives and reads, and that do not come back to it as they are."""
    if not members:
        return ()
    shown = outside.nodes("observation", "state")
    written = {path(key) for one in members for key in one._writes}
    undone = {key for one in members for key in one._takes}
    opaque = any(one._opaque for one in members)
    return tuple(
        [
            key
            for key in dict.fromkeys([*base.observations, *base.states])
            if key not in undone and (opaque or key not in shown or any(path(key)[: len(at)] == at for at in written))
        ]
    )


class Remembered:
    """What the environment gave last under some keys, and what came of it."""

    def __init__(self, keys: tuple[Key, ...]) -> None:
        self.keys = keys
        self.given: dict[Key, Any] = {}
        self.shown: dict[Key, Any] = {}

    def take(self, out: Any, mask: Tensor | None = None) -> None:
        """Remember what the environment gives, before the transforms; mask: for which rows."""
        given = {key: read(out, key) for key in self.keys}
        if mask is not None:
            for key, old in self.given.items():
                if isinstance(old, Tensor) and isinstance(given[key], Tensor) and old.shape == given[key].shape:
                    given[key] = chosen(mask, given[key], old)
        self.given = given

    def show(self, out: Any) -> None:
        """Remember what came of it."""
        self.shown = {key: read(out, key) for key in self.keys}

    def put(self, inner: Any) -> None:
        """Put what the environment gave last, whatever there is."""
        for key, given in self.given.items():
            if given is not None:
                write(inner, key, given)

    def give_back(self, tensordict: Any, inner: Any) -> None:
        """Put what the environment gave in place of what came of it; entries from elsewhere stay."""
        for key, given in self.given.items():
            if given is None:
                continue
            shown, now = self.shown.get(key), read(tensordict, key)
            if now is None or now is shown:
                write(inner, key, given)
            elif isinstance(now, Tensor) and isinstance(shown, Tensor) and now.shape == shown.shape:
                write(inner, key, same_rows(now, shown, given, len(tensordict._batch)))


def same_rows(now: Tensor, shown: Tensor, given: Tensor, batch_dims: int) -> Tensor:
    """Rows of what was given where the entry is what was shown, those of the entry elsewhere."""
    same = now == shown
    same = same.flatten(batch_dims).all(-1) if same.ndim > batch_dims else same
    if given.shape != now.shape or given.dtype is not now.dtype:
        return given if bool(same.all()) else now
    return torch.where(same.reshape((*same.shape, *[1] * (now.ndim - batch_dims))), given, now)
