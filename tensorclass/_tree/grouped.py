"""Pointwise ops on all tensors of a tree at once: torch._foreach_* where it takes them, one call each where not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn import Parameter

from .node import Node
from .walk import gather, refill

N = TypeVar("N", bound=Node)
FEWEST = 3  # Below this many tensors the grouped call costs more than it saves.


def groupable(tensors: Sequence[Tensor]) -> bool:
    """Whether one grouped call may do: enough plain tensors, and nobody tracing."""
    if len(tensors) < FEWEST or torch.compiler.is_compiling():
        return False
    for tensor in tensors:
        kind = tensor.__class__
        if kind is not Tensor and kind is not Parameter:
            return False
    return True


def call(
    tensors: list[Tensor], one: Callable[..., Tensor], all_: Callable[..., Any] | None, *args: Any
) -> Sequence[Tensor]:
    """one(tensor, *args) for every tensor, or all_(tensors, *args) if that is possible."""
    if all_ is not None and groupable(tensors):
        try:
            grouped: Sequence[Tensor] = all_(tensors, *args)
            return grouped
        except RuntimeError:
            pass  # No grouped kernel (under vmap, say): the single calls work, or say what is wrong.
    return [one(tensor, *args) for tensor in tensors]


def unary(node: N, one: Callable[[Tensor], Tensor], all_: Callable[..., Any] | None) -> N:
    """A pointwise op of one tree."""
    return refill(node, iter(call(gather(node, []), one, all_)))


def with_number(node: N, number: Any, one: Callable[..., Tensor], all_: Callable[..., Any] | None) -> N:
    """A pointwise op of a tree and a number."""
    return refill(node, iter(call(gather(node, []), one, all_, number)))
