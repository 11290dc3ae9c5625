"""Operators on two values: numbers, sizes, rows; tensors and containers have files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import Node

from tensorclass._rules import algebra
from tensorclass._rules.sizes import UNKNOWN

from . import _late
from ._values import Box, Items, Number, Sizes, Star, Tensor, Value, is_int, is_size

if TYPE_CHECKING:
    from ._walk import Walk


def binary(walk: Walk, node: Node, op: str, left: Value, right: Value) -> Value:
    """An operator on two values."""
    if is_size(left) and is_size(right):
        return arithmetic(op, left, right)
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return arithmetic(op, left, right)
    if all(isinstance(one, (Number, int, float)) or is_size(one) for one in (left, right)):
        return Number("float")
    if isinstance(left, str) and isinstance(right, str) and op == "+":
        return left + right
    a, b = walk.here.get(left), walk.here.get(right)
    if op == "*" and isinstance(a, (tuple, Items)) and is_int(right) and 0 <= right <= 64:
        items_of = a if isinstance(a, tuple) else a.items
        again = None if items_of is None else items_of * right
        return again if isinstance(a, tuple) else walk.here.new(Items(again))
    if isinstance(a, (tuple, Items)) != isinstance(b, (tuple, Items)):
        walk.here.expose(left)
        walk.here.expose(right)
    if op == "+" and isinstance(a, tuple) and isinstance(b, tuple):
        return a + b
    if op == "+" and isinstance(a, (tuple, Sizes)) and isinstance(b, (tuple, Sizes)):
        row = (a.row if isinstance(a, Sizes) else a) + (b.row if isinstance(b, Sizes) else b)
        one_run = sum(isinstance(size, Star) for size in row) == 1
        return Sizes(row) if one_run and all(is_size(size) or isinstance(size, Star) for size in row) else UNKNOWN
    if op == "+" and isinstance(a, Items) and isinstance(b, Items):
        if a.items is None or b.items is None:
            walk.here.expose(left)
            walk.here.expose(right)
            return walk.here.new(Items(None))
        return walk.here.new(Items(a.items + b.items))
    if isinstance(a, Box) or isinstance(b, Box):
        return _late.containers.operate(walk, node, op, a, b)
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return _late.tensors.operate(walk, node, op, a, b)
    return UNKNOWN


def arithmetic(op: str, left: Any, right: Any) -> Value:
    """Numbers and sizes."""
    try:
        if op == "+":
            return left + right
        if op == "-":
            return left - right
        if op == "*":
            return left * right
        if op == "//":
            return left // right
        if op == "%":
            return left % right
        if op == "**" and is_int(right) and right < 0 and isinstance(left, algebra.Dim):
            return Number("float")
        if op == "**" and is_int(right) and abs(right) <= 64 and not (is_int(left) and abs(left) > 1 << 20):
            return left**right
        if op == "/" and not isinstance(left, algebra.Dim) and not isinstance(right, algebra.Dim):
            return left / right
        if op == "/" or (op == "**" and isinstance(right, float)):
            return Number("float")
        if op in ("<<", ">>") and is_int(left) and is_int(right) and 0 <= right < 64:
            return left << right if op == "<<" else left >> right
    except Exception:
        return UNKNOWN
    return UNKNOWN
