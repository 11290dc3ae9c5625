"""Writes in place: what torch refuses to write in one leaf is found before the first leaf is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from types import MethodDescriptorType
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch._C._functorch import maybe_current_level

from .._rules import errors
from . import grouped
from .explain import uncommon
from .node import Node, is_tree

N = TypeVar("N", bound=Node)


def each(op: str, node: N, call: Callable[[Tensor], Any], all_: Callable[[list[Tensor]], Any] | None = None) -> N:
    """call(leaf) for every leaf, which writes it; or all_(leaves), where one grouped call may do."""
    leaves = leaves_of(op, node)
    check(op, leaves, call)
    write(leaves, call, all_)
    return node


def leaves_of(op: str, node: Node) -> list[Tensor]:
    """Every tensor below a node, in order, about to be written: an instance of a frozen class refuses."""
    into: list[Tensor] = []
    _gather(f"{op}()", node, into)
    return into


def _gather(action: str, node: Node, into: list[Tensor]) -> None:
    node._check_thawed(action)
    if node._items is not None:
        for item in node._items:
            _gather(action, item, into)
        return
    for value in node._fields.values():
        if isinstance(value, Tensor):
            into.append(value)
        elif is_tree(value):
            _gather(action, value, into)


def write(leaves: list[Tensor], call: Callable[..., Any], all_: Callable[..., Any] | None, *sides: Any) -> None:
    """call(leaf, *sides) for every leaf, or all_(leaves, *sides); a list among the sides has one for each leaf."""
    if len(leaves) > 1 and not torch.compiler.is_compiling():
        rare = [place for place, leaf in enumerate(leaves) if is_rare(leaf)]
        for place in rare:  # Torch has few ops for these: what it refuses is to be found before anything is written.
            call(leaves[place].detach().clone(), *[side[place] if _is_list(side) else side for side in sides])
    if all_ is not None and _groupable(leaves) and all(grouped.groupable(side) for side in sides if _is_list(side)):
        all_(leaves, *sides)
        return
    for place, leaf in enumerate(leaves):
        call(leaf, *[side[place] if _is_list(side) else side for side in sides])


COMMON = frozenset(
    getattr(torch, name)
    for name in "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
)


def is_rare(leaf: Tensor) -> bool:
    """Whether a tensor is of a layout or dtype that many ops of torch do not take."""
    return leaf.layout is not torch.strided or leaf.is_nested or leaf.dtype not in COMMON


def _is_list(side: Any) -> bool:
    return side.__class__ is list


def _groupable(leaves: list[Tensor]) -> bool:
    """Whether a grouped call may write: never a tensor twice, nor where vmap or grad may have no rule for it."""
    return grouped.groupable(leaves) and len(set(map(id, leaves))) == len(leaves) and maybe_current_level() is None


def check(op: str, leaves: Sequence[Tensor], call: Callable[[Tensor], Any] | None = None) -> None:
    """Refuse leaves that cannot be written; the call is tried on one number of each dtype."""
    if len(leaves) < 2 or torch.compiler.is_compiling():  # One leaf: torch itself refuses before it writes.
        return
    tried = {leaves[0].dtype}  # What fails on the first leaf has written nothing.
    for leaf in leaves:
        check_eager(op, leaf)
        if call is not None and leaf.dtype not in tried:
            tried.add(leaf.dtype)
            if call.__class__ is MethodDescriptorType:
                try_once(call, leaf.dtype, leaf.device.type)
            else:
                call(like(leaf))


@lru_cache(maxsize=1024)
def try_once(call: Callable[[Tensor], Any], dtype: torch.dtype, device: str) -> None:
    """Call a method of tensors on one number of a dtype, unless it has been seen to work."""
    call(torch.ones(1, dtype=dtype, device=device))


def check_leaf(op: str, leaf: Tensor) -> None:
    """Refuse a leaf that cannot be written, whatever is written to it."""
    if not torch.compiler.is_compiling():  # A trace has no leaves and no views to ask.
        check_eager(op, leaf)


def check_eager(op: str, leaf: Tensor) -> None:
    """check_leaf, where nothing is being compiled."""
    if leaf.requires_grad or leaf.is_inference():
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


def are_alike(one: Node, other: Node) -> bool:
    """Whether two nodes hold tensors alone, of the same shapes under the same keys."""
    mine, theirs = one._fields, other._fields
    if one._items is not None or other._items is not None or len(mine) != len(theirs):
        return False
    for key, leaf in mine.items():
        new: Any = theirs.get(key)
        if leaf.__class__ is not Tensor or new.__class__ is not Tensor or leaf.is_nested or leaf.shape != new.shape:
            return False
    return True


def overlaps(leaf: Tensor) -> bool:
    """Whether elements of a tensor share their place in memory, as those of an expanded one do."""
    if uncommon(leaf) or leaf.is_contiguous():
        return False
    return any(step == 0 and size > 1 for step, size in zip(leaf.stride(), leaf.shape))


def takes(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Whether a value of the other shape can be written into a tensor of this one."""
    return len(other) <= len(shape) and all(b in (a, 1) for a, b in zip(reversed(shape), reversed(other)))


def like(leaf: Tensor) -> Tensor:
    """What stands for a leaf when a call is tried: one element of its dtype."""
    return torch.ones(min(leaf.numel(), 1) if leaf.ndim else (), dtype=leaf.dtype, device=leaf.device)
