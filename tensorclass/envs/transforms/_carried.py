"""What a transform carries from step to step: in the entries, where they come out as it put them in; else by itself."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..._rules.keys import Key, path
from .._entries import read, write
from .._layout import Layout
from .._stages import survives
from .._transform import Keeps
from ._leafwise import drop_spec


class Carried(Keeps):
    """A transform that reads at each step what it wrote at the one before.

    The entries carry it: then any batch size will do, and any order of steps. Where a later transform changes or drops
    its entry, the transform keeps the value itself.
    """

    _held: frozenset[Key] = frozenset()

    def _adds(self) -> tuple[Key, ...]:
        return self._writes

    def _seen_at_the_end(self, layout: Layout, written_later: set[tuple[str, ...]]) -> None:
        self._held = frozenset(key for key in self._writes if not survives(key, layout, written_later))
        self._memory = {}
        state = layout.spec("state")
        for key in self._held:
            if key in state.keys(True):  # Nobody outside has it to give.
                drop_spec(state, key)

    def _last(self, tensordict: Any, key: Key) -> Any:
        """What was written at the step before, or None."""
        if self._held and key in self._held:
            return self._memory.get(key)
        return read(tensordict, key)

    def _put(self, tensordict: Any, key: Key, value: Tensor) -> None:
        """Write, for now and for the next step."""
        write(tensordict, key, value)
        if self._held and key in self._held:
            self._memory[key] = value

    def _put_at_reset(self, tensordict: Any, tensordict_reset: Any, key: Key, value: Tensor) -> None:
        """Write what an episode begins with; rows that are not reset go on from what they had."""
        if self._held and key in self._held:
            before, mask = self._memory.get(key), reset_mask(tensordict, key, tensordict_reset)
            if before is not None and mask is not None and before.shape == value.shape:
                value = torch.where(over(mask, value), value, before)
        self._put(tensordict_reset, key, value)

    _memory: dict[Key, Tensor] = {}  # Its own in every instance that is in an environment.


def reset_mask(tensordict: Any, key: Key, tensordict_reset: Any) -> Tensor | None:
    """The mask of the rows that are reset, nearest to an entry; None where all are."""
    if tensordict is None:
        return None
    at = path(key)
    for depth in range(len(at) - 1, -1, -1):
        found = read(tensordict, (*at[:depth], "_reset")) if depth else read(tensordict, "_reset")
        if isinstance(found, Tensor):
            return found
    return None


def over(mask: Tensor, value: Tensor) -> Tensor:
    """A mask [*B, 1] as one that broadcasts over a value [*B, ...]."""
    rows = mask.ndim - 1
    return mask.reshape(*mask.shape[:rows], *[1] * (value.ndim - rows))


__all__ = ["Carried", "over", "reset_mask"]
