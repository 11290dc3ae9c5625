"""Writes in place: what torch refuses to write in one leaf is found before the first leaf is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from .._rules import errors
from .explain import uncommon
from .node import Node
from .walk import gather

N = TypeVar("N", bound=Node)


def each(op: str, node: N, call: Callable[[Tensor], Any]) -> N:
    """call(leaf) for every leaf, which writes it."""
    leaves = gather(node, [])
    check(op, leaves, call)
    for leaf in leaves:
        call(leaf)
    return node


def check(op: str, leaves: Sequence[Tensor], call: Callable[[Tensor], Any] | None = None) -> None:
    """Refuse leaves that cannot be written; the call is tried on one number of each dtype."""
    if len(leaves) < 2 or torch.compiler.is_compiling():  # One leaf: torch itself refuses before it writes.
        return
    tried = set()
    for leaf in leaves:
        check_leaf(op, leaf)
        if call is not None and leaf.dtype not in tried:
            tried.add(leaf.dtype)
            call(like(leaf))


def check_leaf(op: str, leaf: Tensor) -> None:
    """Refuse a leaf that cannot be written, whatever is written to it."""
    refuse_graph(op, leaf)
    if overlaps(leaf):
        raise errors.StructureError(
            f"{op}: a tensor of shape {list(leaf.shape)} is expanded: several of its elements are one in memory, and "
            "cannot be written alone; .clone() first"
        )


def refuse_graph(op: str, leaf: Tensor) -> None:
    """Refuse a leaf that autograd keeps from being written."""
    if torch.compiler.is_compiling():  # A trace has no leaves and no views to ask.
        return
    if leaf.requires_grad and torch.is_grad_enabled():
        whole = leaf if leaf._base is None else leaf._base
        if whole.is_leaf and whole.requires_grad:
            raise errors.StructureError(
                f"{op}: a tensor of shape {list(leaf.shape)} requires a gradient, and torch refuses to write it in "
                "place; a block of torch.no_grad() allows it"
            )
    if leaf.is_inference() and not torch.is_inference_mode_enabled():
        raise errors.StructureError(
            f"{op}: a tensor of shape {list(leaf.shape)} was made in inference mode, and cannot be written outside it"
        )


def overlaps(leaf: Tensor) -> bool:
    """Whether elements of a tensor share their place in memory, as those of an expanded one do."""
    return not uncommon(leaf) and any(step == 0 and size > 1 for step, size in zip(leaf.stride(), leaf.shape))


def takes(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Whether a value of the other shape can be written into a tensor of this one."""
    return len(other) <= len(shape) and all(b in (a, 1) for a, b in zip(reversed(shape), reversed(other)))


def like(value: Any) -> Any:
    """What stands for a value when a call is tried: one element of its dtype; a number stands for itself."""
    if isinstance(value, Tensor):
        shape = (min(value.numel(), 1),) if value.ndim else ()
        return torch.ones(shape, dtype=value.dtype, device=value.device)
    return value
