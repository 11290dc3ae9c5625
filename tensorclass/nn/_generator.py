"""Samples out of a generator of one's own, the global random state untouched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from .._rules import errors
from .._rules.keys import unravel
from .._tree import walk
from .._tree.node import Node, kind


@contextmanager
def drawing_from(generator: torch.Generator | None) -> Iterator[None]:
    """A block in which torch draws from a generator, which moves on."""
    if generator is None or torch.compiler.is_compiling():
        yield
        return
    cuda = generator.device.type == "cuda"
    before = torch.cuda.get_rng_state(generator.device) if cuda else torch.get_rng_state()
    _set(generator, generator.get_state())
    try:
        yield
        generator.set_state(torch.cuda.get_rng_state(generator.device) if cuda else torch.get_rng_state())
    finally:
        _set(generator, before)


def _set(generator: torch.Generator, state: Tensor) -> None:
    if generator.device.type == "cuda":
        torch.cuda.set_rng_state(state, generator.device)
    else:
        torch.set_rng_state(state)


class Source:
    """Where a module has its generator from: a generator, a seed, or an entry that is one of these."""

    def __init__(self, given: Any) -> None:
        self.given = given
        self.made: torch.Generator | None = None

    def generator(self, tensordict: Any, params: Any) -> torch.Generator | None:
        """The generator for a call."""
        given = self.given
        if given is None or isinstance(given, torch.Generator):
            return given
        if isinstance(given, int):
            if self.made is None:
                self.made = _seeded(given, params)
            return self.made
        entry = tensordict[unravel(given)]
        if isinstance(entry, torch.Generator):
            return entry
        if isinstance(entry, (int, Tensor)):
            return _seeded(int(entry), params)
        raise errors.KindError(f"generator: entry {given!r} is {kind(entry)}; a generator or a seed would do")


def _seeded(seed: int, params: Any) -> torch.Generator:
    return torch.Generator(_device(params)).manual_seed(seed)


def _device(params: Any) -> torch.device:
    for value in params.values():
        if isinstance(value, Tensor):
            return value.device
        if isinstance(value, Node):
            leaves = walk.gather(value, [])
            if leaves:
                return leaves[0].device
    return torch.device("cpu")
