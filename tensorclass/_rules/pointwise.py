"""Pointwise ops: the batch stays, or two batches broadcast."""

from __future__ import annotations

from . import errors
from .shapes import Moves, keep_all
from .sizes import UNKNOWN, Batch, Size, same, show
from .table import Op, add

# One leaf in, one leaf out.  The names that torch has a grouped kernel for (torch._foreach_<name>) are in FOREACH.
UNARY = (
    "abs neg exp expm1 log log10 log1p log2 sqrt rsqrt square reciprocal sigmoid tanh sin cos tan asin acos atan "
    "sinh cosh erf erfc lgamma digamma sign sgn floor ceil round trunc frac relu positive conj"
).split()
UNARY_BOOL = "isnan isinf isfinite isposinf isneginf isreal signbit logical_not".split()
INPLACE_UNARY = [name for name in UNARY if name not in ("positive", "conj")] + ["logical_not"]
FOREACH = set(
    "abs neg exp expm1 log log10 log1p log2 sqrt rsqrt reciprocal sigmoid tanh sin cos tan asin acos atan sinh cosh "
    "erf erfc lgamma sign floor ceil round trunc frac add sub mul div pow maximum minimum clamp_min clamp_max".split()
)

# A leaf with another leaf, a batch-shaped tensor or a number.
BINARY = (
    "add sub mul div true_divide floor_divide remainder fmod pow maximum minimum fmax fmin atan2 hypot copysign "
    "logaddexp bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"
).split()
COMPARE = "eq ne lt le gt ge logical_and logical_or logical_xor".split()
INPLACE_BINARY = "add sub mul div floor_divide remainder fmod pow bitwise_and bitwise_or bitwise_xor".split()
FAIL_BY_DATA = ("floor_divide_", "remainder_", "fmod_")  # By an integer 0, which is found on the way.

DUNDERS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip
DUNDER_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
DUNDER_UNARY = {"neg": "neg", "abs": "abs", "pos": "positive"}


def keep(batch: Batch) -> Moves:
    """A pointwise op of one container: the batch stays."""
    return keep_all(batch)


def broadcast(op: str, batch: Batch, other: Batch) -> Batch:
    """The batch size of two that broadcast.

    >>> broadcast("add", (4, 1), (3,))
    (4, 3)
    """
    rank = max(len(batch), len(other))
    left = (1,) * (rank - len(batch)) + tuple(batch)
    right = (1,) * (rank - len(other)) + tuple(other)
    return tuple([_one(op, a, b, batch, other) for a, b in zip(left, right)])


def _one(op: str, a: Size, b: Size, batch: Batch, other: Batch) -> Size:
    if same(a, b) is True or same(b, 1) is True:
        return a
    if same(a, 1) is True:
        return b
    if same(a, b) is False and same(a, 1) is False and same(b, 1) is False:
        raise errors.ShapeError(f"{op}: batch sizes {show(batch)} and {show(other)} do not broadcast; {a} is not {b}")
    return UNKNOWN


for _name in [*UNARY, *UNARY_BOOL]:
    add(Op(_name, "pointwise", (), keep, (_name,), f"v.{_name}()", f"Apply torch.{_name} to every leaf."))
for _name in INPLACE_UNARY:
    _doc = f"Apply torch.{_name} to every leaf, in place."
    add(Op(f"{_name}_", "pointwise", (), keep, (f"{_name}_",), f"v.{_name}_()", _doc))
for _name in [*BINARY, *COMPARE]:
    add(Op(_name, "pair", (), keep, (_name,), "", f"Apply torch.{_name} to every pair of leaves."))
for _name in INPLACE_BINARY:
    add(
        Op(f"{_name}_", "pair", (), keep, (f"{_name}_",), "", f"Apply torch.{_name} to every pair of leaves, in place.")
    )
