"""Branches and loops on data, with containers as operands: plain Python, and one graph under torch.compile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ._tree import walk
from ._tree.node import Node


def cond(
    pred: Tensor | bool, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()
) -> Any:
    """torch.cond whose operands and results may be containers, which torch.cond itself does not take.

    >>> td = TensorDict(a=torch.ones(2))
    >>> cond(td["a"].sum() > 1, lambda td: td + 1, lambda td: td, (td,))["a"]
    tensor([2., 2.])

    Both branches give the same structure, and plain data is that of the first. A trace follows the first branch once
    more, to see what it gives; nothing of that is left in the code that a compiler makes of it.
    """
    if not torch.compiler.is_compiling():
        return true_fn(*operands) if bool(pred) else false_fn(*operands)
    shown = true_fn(*operands)
    many = isinstance(shown, tuple)

    def on_leaves(branch: Callable[..., Any]) -> Callable[..., Any]:
        def call(*leaves: Tensor) -> tuple[Tensor, ...]:
            out = branch(*_filled(operands, leaves))
            return tuple([leaf.clone() for leaf in _leaves(out if many else (out,))])  # No output may be an input.

        return call

    chosen = torch.cond(pred, on_leaves(true_fn), on_leaves(false_fn), tuple(_leaves(operands)))
    out = _filled(shown if many else (shown,), chosen)
    return out if many else out[0]


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried: Sequence[Any]) -> tuple[Any, ...]:
    """Call body_fn on what it gave last, starting with `carried`, as long as cond_fn says true.

    >>> td = TensorDict(a=torch.ones(2))
    >>> (last,) = while_loop(lambda td: td["a"].sum() < 10, lambda td: (td * 2,), (td,))
    >>> last["a"]
    tensor([8., 8.])

    body_fn gives a tuple of what it takes: tensors and containers of the same structure and shapes.
    """
    carried = tuple(carried)
    if not torch.compiler.is_compiling():
        while bool(cond_fn(*carried)):
            carried = tuple(body_fn(*carried))
        return carried
    from torch._higher_order_ops.while_loop import while_loop as loop

    last = loop(
        lambda *leaves: cond_fn(*_filled(carried, leaves)),
        lambda *leaves: tuple(_leaves(body_fn(*_filled(carried, leaves)))),
        tuple(_leaves(carried)),
    )
    return _filled(carried, last)


def _leaves(values: Sequence[Any]) -> list[Any]:
    """All tensors of containers, and what is no container as it is."""
    out: list[Any] = []
    for value in values:
        if isinstance(value, Node):
            walk.gather(value, out)
        else:
            out.append(value)
    return out


def _filled(values: Sequence[Any], leaves: Sequence[Any]) -> tuple[Any, ...]:
    """The same values with other tensors, in the order of _leaves."""
    rest = iter(leaves)
    return tuple([walk.refill(value, rest) if isinstance(value, Node) else next(rest) for value in values])
