"""What torch cannot do with some kinds of tensor, said with the key of the entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .._rules import errors
from .node import Node
from .walk import tensors_with_paths


def explain(op: str, node: Node, error: Exception) -> None:
    """Raise the error again with the key, if an entry is of a kind that many ops of torch do not take."""
    if isinstance(error, errors.RuleError):
        return
    for at, leaf in tensors_with_paths(node, by_item=True):
        if uncommon(leaf):
            kind = "a nested tensor" if leaf.is_nested else f"a tensor of layout {leaf.layout}"
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise errors.StructureError(
                f"{op}: {errors.name_of(at)} is {kind}, which torch refuses here: {said}; take it out with .exclude(), "
                "or make it dense, first"
            ) from error


def explain_dtype(op: str, node: Node, error: RuntimeError) -> None:
    """Raise the error again with the key, if an entry is of integers and torch asks for floats."""
    if isinstance(error, errors.RuleError) or "floating point" not in str(error):
        return
    for at, leaf in tensors_with_paths(node, by_item=True):
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise errors.StructureError(
                f"{op}: {errors.name_of(at)} is of {leaf.dtype}, and torch takes floats here; .float() first, or take "
                "it out with .exclude()"
            ) from error


def explain_pair(op: str, node: Node, others: Sequence[Any], error: Exception) -> None:
    """Raise the error again with the key and both shapes, if an entry and its other side do not broadcast."""
    explain(op, node, error)
    for (at, leaf), other in zip(tensors_with_paths(node, by_item=True), others):
        if isinstance(other, Tensor) and not broadcast_each_other(leaf.shape, other.shape):
            raise errors.ShapeError(
                f"{op}: {errors.name_of(at)} has shape {list(leaf.shape)}, the other side has {list(other.shape)} there"
            ) from error


def broadcast_each_other(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two shapes broadcast."""
    return all(a == b or a == 1 or b == 1 for a, b in zip(reversed(one), reversed(other)))


def uncommon(leaf: Tensor) -> bool:
    """Whether a tensor is no plain strided one."""
    return leaf.is_nested or leaf.layout is not torch.strided
