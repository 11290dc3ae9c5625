"""Tests and comparisons: whether they hold, as far as that can be known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import ComparisonExpr, Expression, MemberExpr, NameExpr, OpExpr, TypeInfo, UnaryExpr
from mypy.types import Instance, NoneType, Type, UnionType, get_proper_type

from tensorclass._rules import algebra, errors, sizes
from tensorclass._rules.sizes import UNKNOWN

from . import _codes
from ._evaluate import evaluate, is_key
from ._fields import fields_of
from ._types import is_container, is_ours
from ._values import Box, Items, Mapped, Perhaps, Ref, Sizes, Star, Tensor, Typed, Unset, Value, is_int, is_size

if TYPE_CHECKING:
    from ._walk import Walk


def truth(walk: Walk, expr: Expression) -> bool | None:
    """Whether a test holds, if that can be known."""
    if isinstance(expr, ComparisonExpr):
        if len(expr.operands) > 2 or expr.operators[0] in ("in", "not in", "is", "is not"):
            return compare(walk, expr)
        value = compared(walk, expr)
        if isinstance(value, bool):
            return value
        no_truth(walk, expr, value)
        return None
    if isinstance(expr, OpExpr) and expr.op in ("and", "or"):
        left = truth(walk, expr.left)
        stop = expr.op == "or"
        if left is stop:
            return left
        hush = left is None and walk.guarded(expr.left)
        walk.quiet += hush
        right = truth(walk, expr.right)
        walk.quiet -= hush
        if right is stop and left is not None:
            return right
        return right if left is (not stop) else (right if right is stop else None)
    if isinstance(expr, UnaryExpr) and expr.op == "not":
        known = truth(walk, expr.expr)
        return None if known is None else not known
    value = evaluate(walk, expr)
    if isinstance(value, (bool, int, str, float)) or value is None:
        return bool(value)
    if isinstance(value, tuple):
        return bool(value)
    no_truth(walk, expr, value)
    return None


def no_truth(walk: Walk, expr: Expression, value: Value) -> None:
    """Say that a container has no truth value."""
    thing = walk.here.get(value)
    if isinstance(thing, Box):
        wrong = thing.info is None or _refuses(thing.info)
    else:
        wrong = _may_be_container(thing.type if isinstance(thing, Typed) else _declared(walk, expr, value))
    if wrong:
        walk.say(expr, _codes.FIELD, errors.no_truth())


def _refuses(info: TypeInfo) -> bool:
    """No class of the user's has a truth value of its own for it."""
    own = info.get("__bool__")
    owner = getattr(own.node, "info", None) if own is not None else None
    return owner is None or is_ours(owner)


def _may_be_container(typ: Type | None) -> bool:
    """None or a container, by a type: a test of it holds for the one and fails with the other."""
    proper = get_proper_type(typ) if typ is not None else None
    if not isinstance(proper, UnionType):
        return False
    items = [item for item in map(get_proper_type, proper.items) if not isinstance(item, NoneType)]
    return bool(items) and all(
        isinstance(item, Instance) and is_container(item.type) and _refuses(item.type) for item in items
    )


def _declared(walk: Walk, expr: Expression, value: Value) -> Type | None:
    """The type of a field of which nothing else is known."""
    if value is not UNKNOWN or not isinstance(expr, MemberExpr) or not isinstance(expr.expr, NameExpr):
        return None
    owner = walk.here.get(evaluate(walk, expr.expr))
    field = (fields_of(owner.info) or {}).get(expr.name) if isinstance(owner, Box) and owner.info is not None else None
    return field.type if field is not None else None


def compared(walk: Walk, expr: ComparisonExpr) -> Value:
    if len(expr.operands) == 2 and expr.operators[0] not in ("in", "not in", "is", "is not"):
        left, right = evaluate(walk, expr.operands[0]), evaluate(walk, expr.operands[1])
        a, b = walk.here.get(left), walk.here.get(right)
        if isinstance(a, Box) or isinstance(b, Box):
            from ._containers import operate

            return operate(walk, expr, expr.operators[0], a, b)
        if isinstance(a, Tensor) or isinstance(b, Tensor):
            from ._tensors import operate as operate_tensors

            return operate_tensors(walk, expr, expr.operators[0], a, b)
        known = compare_values(walk, expr.operators[0], left, right)
    else:
        known = compare(walk, expr)
    return UNKNOWN if known is None else known


def compare(walk: Walk, expr: ComparisonExpr) -> bool | None:
    values = [evaluate(walk, operand) for operand in expr.operands]
    answers = [compare_values(walk, op, a, b) for op, a, b in zip(expr.operators, values, values[1:])]
    if False in answers:
        return False
    return None if None in answers else True


def compare_values(walk: Walk, op: str, left: Value, right: Value) -> bool | None:
    """Whether a comparison holds; names of sizes that a program compares are no longer told apart."""
    if op in ("is", "is not"):
        if (left is None or right is None) and left is not UNKNOWN and right is not UNKNOWN:
            if isinstance(left, (Typed, Perhaps)) or isinstance(right, (Typed, Perhaps)):
                return None
            return (left is right) == (op == "is")
        return None
    if op in ("in", "not in"):
        found = contains(walk, left, right)
        return None if found is None else found == (op == "in")
    a = walk.here.get(left)
    b = walk.here.get(right)
    if isinstance(a, Items) and a.items is not None:
        a = a.items
    if isinstance(b, Items) and b.items is not None:
        b = b.items
    if op in ("==", "!="):
        answer = _equal(walk, a, b)
        return None if answer is None else answer == (op == "==")
    if is_size(a) and is_size(b) and is_int(a) and is_int(b) or (isinstance(a, float) and isinstance(b, (int, float))):
        return bool({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}.get(op))
    for one in (a, b):
        doubt(walk, one)
    return None


def doubt(walk: Walk, value: Value) -> None:
    """The program compares these sizes itself: their names are not told apart from here on."""
    for one in value.row if isinstance(value, Sizes) else value if isinstance(value, tuple) else (value,):
        if isinstance(one, algebra.Dim):
            walk.doubted.update(one.names)


def _equal(walk: Walk, a: Value, b: Value) -> bool | None:
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            return None if _has_run(a) or _has_run(b) else False
        answers = [_equal(walk, x, y) for x, y in zip(a, b)]
        return False if False in answers else None if None in answers else True
    if is_size(a) and is_size(b):
        answer = sizes.same(a, b)
        if answer is None:
            for one in (a, b):
                if isinstance(one, algebra.Dim):
                    walk.doubted.update(one.names)
        return answer
    if isinstance(a, Sizes) or isinstance(b, Sizes):
        doubt(walk, a)
        doubt(walk, b)
    simple = (str, bool, int, float, type(None))
    if isinstance(a, simple) and isinstance(b, simple):
        return bool(a == b)
    return None


def _has_run(row: tuple[Value, ...]) -> bool:
    return any(isinstance(item, Star) for item in row)


def contains(walk: Walk, item: Value, row: Value) -> bool | None:
    """`item in row`."""
    thing = walk.here.get(row)
    if isinstance(thing, Box):
        value = thing.fields.get(item) if isinstance(item, str) else None
        if isinstance(value, Unset):
            return False
        if thing.open or not isinstance(item, str):
            return None
        # A field of a class may be None, which is no entry.
        return item in thing.fields if thing.info is None or isinstance(value, (Ref, Tensor)) else None
    names = thing.items if isinstance(thing, (Items, Mapped)) else thing if isinstance(thing, tuple) else None
    if names is None or not is_key(item) or not all(is_key(name) for name in names):
        return None
    return item in tuple(names)
