"""What is undone at the end of a `with` block: a lock, a view."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from .node import Node, is_tree
from .walk import paths

N = TypeVar("N", bound=Node)
Undo = Callable[[Any, bool], None]  # What to do with the container at the end, told whether the block has failed.


def mark(node: Any, undo: Undo) -> None:
    """Say what a `with` block of this container, if there is one, is to undo."""
    if not torch.compiler.is_compiling():
        object.__setattr__(node, "_undo", (undo, entered(node)))


def entered(node: Any) -> tuple[Undo, ...]:
    """What the blocks that a container is in are to undo, the outermost first."""
    try:
        undone: tuple[Undo, ...] = node._undo[1]
    except AttributeError:  # The slot is empty.
        return ()
    return undone


def viewed(source: Node, view: N) -> N:
    """The view, which as a block hands what is new in it back to its source."""
    if not torch.compiler.is_compiling():
        behind = weakref.ref(source)
        object.__setattr__(view, "_undo", (lambda node, failed: None if failed else hand_back(node, behind()), ()))
    return view


def hand_back(view: Node, source: Any) -> None:
    """Put the entries of a view that share no memory with its source into the source."""
    if source is None:
        return
    batch, rank = source._batch, len(view._batch)
    before = dict(paths(source, True, False))
    changed: dict[tuple[str, ...], Any] = {}
    for at, value in paths(view, True, False):
        old = before.get(at)
        if is_tree(value) or value is old or (isinstance(value, Tensor) and _is_same(value, old)):
            continue
        if isinstance(value, Tensor):
            changed[at] = value.reshape(*batch, *value.shape[rank:])
        elif isinstance(value, Node):
            changed[at] = type(value).reshape(value, *batch)  # type: ignore[attr-defined]  # Rows of values have it.
        else:
            changed[at] = value
    type(source).update(source, changed)


def _is_same(value: Tensor, old: Any) -> bool:
    return (
        isinstance(old, Tensor)
        and value.dtype == old.dtype
        and value.numel() == old.numel()
        and value.data_ptr() == old.data_ptr()
    )
