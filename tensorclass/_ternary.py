"""Pointwise ops of a container and two other things: clamp, lerp, addcmul, addcdiv."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor
from typing_extensions import Self

from ._rules import errors, pointwise
from ._tree import inplace, walk
from ._tree.contract import NUMBERS
from ._tree.explain import explain_pair
from ._tree.join import beside, leading
from ._tree.node import Node

N = TypeVar("N", bound=Node)


class TernaryMethods(Node):
    """Each side is a number, a batch-shaped tensor or a container with the same keys."""

    __slots__ = ()

    def clamp(self, min: Any = None, max: Any = None) -> Self:
        """Every element held between min and max: numbers, batch-shaped tensors or containers."""
        return _ternary("clamp", torch.clamp, self, min, max)

    def clamp_(self, min: Any = None, max: Any = None) -> Self:
        """Every element held between min and max, in place."""
        if all(bound is None or isinstance(bound, NUMBERS) for bound in (min, max)):
            return inplace.each("clamp_", self, lambda leaf: leaf.clamp_(min, max))
        clamped = type(self).clamp(self, min, max)
        return type(self).copy_(self, clamped)  # type: ignore[attr-defined,no-any-return]  # Every container has it.

    def lerp(self, end: Any, weight: Any) -> Self:
        """self + weight * (end - self), leaf by leaf; the weight is a number, a tensor or a container."""
        return _ternary("lerp", torch.lerp, self, end, weight)

    def addcmul(self, one: Any, two: Any, *, value: float = 1) -> Self:
        """self + value * one * two, leaf by leaf."""
        return _ternary("addcmul", lambda a, b, c: torch.addcmul(a, b, c, value=value), self, one, two)

    def addcdiv(self, one: Any, two: Any, *, value: float = 1) -> Self:
        """self + value * one / two, leaf by leaf."""
        return _ternary("addcdiv", lambda a, b, c: torch.addcdiv(a, b, c, value=value), self, one, two)

    def lerp_(self, end: Any, weight: Any) -> Self:
        """self + weight * (end - self), in place.

        >>> target = TensorDict(a=torch.zeros(2))
        >>> target.lerp_(TensorDict(a=torch.ones(2)), 0.25)["a"]
        tensor([0.2500, 0.2500])
        """
        return _in_place("lerp_", Tensor.lerp_, torch._foreach_lerp_, self, end, weight)

    def addcmul_(self, one: Any, two: Any, *, value: float = 1) -> Self:
        """self + value * one * two, in place."""
        call = partial(Tensor.addcmul_, value=value)
        return _in_place("addcmul_", call, partial(torch._foreach_addcmul_, value=value), self, one, two)

    def addcdiv_(self, one: Any, two: Any, *, value: float = 1) -> Self:
        """self + value * one / two, in place."""
        call = partial(Tensor.addcdiv_, value=value)
        return _in_place("addcdiv_", call, partial(torch._foreach_addcdiv_, value=value), self, one, two)


def _ternary(op: str, call: Callable[..., Tensor], node: N, one: Any, two: Any) -> N:
    sides = [_as_side(side) for side in (one, two)]
    for side in sides:
        if isinstance(side, (Node, Tensor)):
            shape = side._batch if isinstance(side, Node) else side.shape
            batch = pointwise.broadcast(op, tuple(node._batch), tuple(shape))
            node = node if node._batch == batch else type(node).expand(node, *batch)
    mine = walk.gather(node, [])
    rows = [_beside(op, node, mine, side) for side in sides]
    try:
        return walk.refill(node, iter([call(a, b, c) for a, b, c in zip(mine, *rows)]))
    except RuntimeError as error:
        for row in rows:
            explain_pair(op, node, row, error)
        raise


def _in_place(op: str, call: Callable[..., Tensor], all_: Callable[..., Any], node: N, one: Any, two: Any) -> N:
    sides = [_as_side(side) for side in (one, two)]
    for side in sides:
        if isinstance(side, (Node, Tensor)):
            shape = tuple(side._batch if isinstance(side, Node) else side.shape)
            if pointwise.broadcast(op, tuple(node._batch), shape) != tuple(node._batch):
                raise errors.ShapeError(
                    f"{op}: batch size {list(shape)} does not fit in batch size {list(node._batch)} in place"
                )
    leaves = inplace.leaves_of(op, node)
    columns = [_beside(op, node, leaves, side) for side in sides]
    values = [value for column in columns for value in column if isinstance(value, Tensor)]
    for column in columns:
        for leaf, value in zip(leaves, column):
            if isinstance(value, Tensor) and value.shape != leaf.shape and not inplace.takes(leaf.shape, value.shape):
                raise errors.ShapeError(
                    f"{op}: a value of shape {list(value.shape)} does not fit in a leaf of shape {list(leaf.shape)} "
                    "in place"
                )
    inplace.check(op, leaves)
    if len({one.dtype for one in (*leaves, *values)}) == 1:  # Then what fails for one leaf fails for the first.
        numbers = [isinstance(side, NUMBERS) for side in sides]
        inplace.write(
            leaves, call, all_, *[side if number else column for side, number, column in zip(sides, numbers, columns)]
        )
    else:
        made = [call(leaf.clone(), *beside_it) for leaf, *beside_it in zip(leaves, *columns)]
        inplace.write(leaves, Tensor.copy_, None, made)
    return node


def _as_side(side: Any) -> Any:
    return torch.as_tensor(side) if type(side).__module__ == "numpy" else side


def _beside(op: str, node: Any, leaves: list[Tensor], side: Any) -> list[Any]:
    """What stands beside each leaf: that of a container, a batch-shaped tensor, a number."""
    if isinstance(side, Node):
        wide = side if side._batch == node._batch else type(side).expand(side, *node._batch)
        return list(walk.match(op, node, wide, []))
    if not isinstance(side, Tensor):
        return [side] * len(leaves)
    return list(beside(node, leading(side, len(node._batch)), []))
