"""Operators on tensors: broadcasting, dtypes of results and matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import Node, OpExpr
from mypy.types import Instance

from tensorclass._rules import algebra
from tensorclass._rules.sizes import UNKNOWN

from . import _codes
from ._dtypes import DEFAULT, ORDER, kind_of, wider
from ._hints import unlike
from ._types import known_type
from ._values import (
    INT_PARAMETER,
    Number,
    Shape,
    Star,
    Tensor,
    Value,
    equal,
    has_star,
    is_int,
    is_size,
    known,
    same_shape,
    show_shape,
)

if TYPE_CHECKING:
    from ._walk import Walk

_COMPARES = ("==", "!=", "<", "<=", ">", ">=")


def operate(walk: Walk, node: Node, op: str, a: Any, b: Any) -> Value:
    """An operator with a tensor on a side."""
    if op == "@":
        return matmul(walk, node, a, b)
    a, b = numbered(walk, node, "left", a), numbered(walk, node, "right", b)
    if not all(isinstance(one, (Tensor, Number, int, float, bool)) or is_size(one) for one in (a, b)):
        return Tensor()
    dtype = "bool" if op in _COMPARES else mixed(a, b, op)
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        tensor = a if isinstance(a, Tensor) else b
        return Tensor(tensor.shape, dtype)
    return Tensor(broadcast(walk, node, op, a.shape, b.shape), dtype)


def mixed(a: Any, b: Any, op: str = "+") -> str | None:
    """The dtype of a result."""
    dtypes = [one.dtype if isinstance(one, Tensor) else of_number(one) for one in (a, b)]
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        # A number changes the dtype of a tensor only if it is of a higher kind.
        tensor, number = (dtypes[0], dtypes[1]) if isinstance(a, Tensor) else (dtypes[1], dtypes[0])
        kinds = (kind_of(tensor), kind_of(number))
        if None in kinds:
            return None
        found = tensor if ORDER.index(str(kinds[0])) >= ORDER.index(str(kinds[1])) else number
    else:
        found = wider(*dtypes)
        if kind_of(dtypes[0]) == kind_of(dtypes[1]) and found not in (None, *ORDER) and dtypes[0] != dtypes[1]:
            if any(one.shape is None or has_star(one.shape) or len(one.shape) == 0 for one in (a, b)):
                found = kind_of(found)  # A tensor without dims does not widen one with dims.
    return DEFAULT if op == "/" and kind_of(found) in ("bool", "int") else found


def numbered(walk: Walk, node: Node, side: str, value: Any) -> Any:
    """An operand that is not known, but is a number by its type."""
    if value is not UNKNOWN or not isinstance(node, OpExpr):
        return value
    typ = known_type(walk, getattr(node, side))
    name = typ.type.fullname if isinstance(typ, Instance) else ""
    return Number(name[9:]) if name in ("builtins.int", "builtins.float") else value


def of_number(value: Any) -> str | None:
    """The dtype that torch makes of a number."""
    if isinstance(value, bool):
        return "bool"
    if is_size(value) or value == Number("int"):
        return "int64"
    return DEFAULT if isinstance(value, (float, Number)) else None


def broadcast(walk: Walk, node: Node, op: str, a: Shape, b: Shape) -> Shape:
    """The shape of two that broadcast; two declared names that differ do not."""
    if a is None or b is None:
        return None
    if has_star(a) or has_star(b):
        place = _star_mismatch(walk, a, b)
        if place is not None:
            no_broadcast(walk, node, op, a, b, place)
            return None
        return _star_broadcast(a, b)
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    row: list[Any] = []
    for place, (x, y) in enumerate(zip(left, right)):
        if is_int(x) and x == 1:
            row.append(y)
        elif is_int(y) and y == 1:
            row.append(x)
        elif unlike(walk, x, y) and no_ones(x, y):
            no_broadcast(walk, node, op, a, b, place - rank)
            return None
        else:
            row.append(_wider(x, y))
    return tuple(row)


def no_broadcast(walk: Walk, node: Node, op: str, a: Any, b: Any, place: int) -> None:
    """Say that two shapes differ in a dim, counted from the end."""
    word = {"+": "add", "-": "sub", "*": "mul", "/": "div"}.get(op, op)
    sizes = [shape[place] if -place <= len(shape) else shape[0] for shape in (a, b)]
    shown = [f"in {size!r}" if isinstance(size, Star) else show_shape((size,))[1:-1] for size in sizes]
    text = f"{word}: shapes {show_shape(a)} and {show_shape(b)} do not broadcast; dim {place} is "
    walk.say(node, _codes.SHAPE, text + " and ".join(shown))


def _star_mismatch(walk: Walk, a: Any, b: Any) -> int | None:
    """The dim, counted from the end, in which two shapes with runs of dims cannot be broadcast."""
    for place in range(-1, -min(len(a), len(b)) - 1, -1):
        x, y = a[place], b[place]
        if isinstance(x, Star) or isinstance(y, Star):
            # One annotation declares both, for any sizes: a run that stands beside another dim does not line up.
            size = y if isinstance(x, Star) else x
            shared = isinstance(a[0], Star) and a[0] == b[0] and a[0].owner == 0 and not a[0].gone
            alone = isinstance(size, Star) or not is_size(size) or (is_int(size) and size == 1)
            return place if shared and len(a) != len(b) and not alone and no_ones(size, size) else None
        if any(is_int(size) and size == 1 for size in (x, y)):
            continue
        if unlike(walk, x, y) and no_ones(x, y):
            return place
    return None


def no_ones(x: Any, y: Any) -> bool:
    """Two sizes of which neither can be meant to be 1: an int argument can."""
    names = [name for size in (x, y) if isinstance(size, algebra.Dim) for name in size.names]
    return not any(name.startswith(INT_PARAMETER) for name in names)


def _wider(x: Any, y: Any) -> Any:
    """The size of two that are equal, or of which one is 1; unknown when that depends."""
    if x == y if is_size(x) and is_size(y) else False:
        return x
    for size in (x, y):
        if is_int(size):
            return size
    declared = [
        s for s in (x, y) if isinstance(s, algebra.Dim) and not any(n.startswith(INT_PARAMETER) for n in s.names)
    ]
    return declared[0] if len(declared) == 1 else UNKNOWN


def _star_broadcast(a: Any, b: Any) -> Shape:
    if same_shape(a, b):
        return tuple(a)
    for one, other in ((a, b), (b, a)):
        if len(one) == 0 or (all(is_int(size) and size == 1 for size in one)):
            return other if len(one) < len(other) or not has_star(one) else None
    if len(a) == len(b) and all(equal(x, y) or (is_int(y) and y == 1) for x, y in zip(a, b) if not isinstance(x, Star)):
        return a if all(x == y for x, y in zip(a, b) if isinstance(x, Star)) else None
    return None


def matmul(walk: Walk, node: Node, a: Any, b: Any) -> Value:
    """a @ b"""
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return Tensor()
    dtype = kind_of(mixed(a, b))  # Autocast may have it in another precision.
    x, y = known(a), known(b)
    if x is None or y is None:
        if a.shape is not None and y is not None and len(y) == 2 and is_size(a.shape[-1]):
            if unlike(walk, a.shape[-1], y[0]):
                _no_matmul(walk, node, a.shape, y)
                return Tensor(None, dtype)
            return Tensor((*a.shape[:-1], y[-1]), dtype)
        return Tensor(_star_matmul(walk, node, a.shape, b.shape), dtype)
    if not x or not y:
        return Tensor(None, dtype)
    inner = y[-2] if len(y) > 1 else y[-1]  # pyright: ignore[reportGeneralTypeIssues]  # Not empty here.
    if unlike(walk, x[-1], inner):
        _no_matmul(walk, node, x, y)
        return Tensor(None, dtype)
    if len(x) == 1 and len(y) == 1:
        return Tensor((), dtype)
    if len(y) == 1:
        return Tensor(x[:-1], dtype)
    if len(x) == 1:
        return Tensor((*y[:-2], y[-1]), dtype)  # pyright: ignore[reportGeneralTypeIssues]  # Not empty here.
    lead = broadcast(walk, node, "matmul", x[:-2], y[:-2])
    return Tensor(None if lead is None else (*lead, x[-2], y[-1]), dtype)  # pyright: ignore[reportGeneralTypeIssues]  # Not empty here.


def _star_matmul(walk: Walk, node: Node, a: Shape, b: Shape) -> Shape:
    """The product of two stacks of matrices behind one run of dims."""
    if a is None or b is None or not (isinstance(a[0], Star) and a[0] == b[0] and a[0].owner == 0):
        return None
    if len(a) == 3 and len(b) == 2 and not a[0].gone and is_size(b[1]) and no_ones(b[1], b[1]):
        # As in broadcasting: a run that is not empty makes matrices of the vectors.
        text = f"matmul: {show_shape(b)} has no rows behind {b[0]!r}, as {show_shape(a)} has"
        walk.say(node, _codes.SHAPE, f"{text}; take a vector v as v[..., None]")
        return None
    if len(a) != 3 or len(b) != 3:
        return None
    if unlike(walk, a[2], b[1]):
        _no_matmul(walk, node, a, b)
        return None
    return (a[0], a[1], b[2])


RANKS = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1), "outer": (1, 1)}


def wrong_ranks(name: str, a: Any, b: Any) -> str | None:
    """Why two tensors have the wrong number of dims for a product, or None."""
    for word, one, rank in zip(("first", "second"), (a, b), RANKS.get(name, ())):
        shape = known(one) if isinstance(one, Tensor) else None
        if shape is not None and len(shape) != rank:
            return f"{name}: the {word} tensor has shape {show_shape(shape)}; {name} takes {rank} dims there"
    return None


def _no_matmul(walk: Walk, node: Node, x: Any, y: Any) -> None:
    inner = y[-2] if len(y) > 1 else y[0]
    walk.say(
        node, _codes.SHAPE, f"matmul: shapes {show_shape(x)} and {show_shape(y)} do not fit: the last dim of the first "
        f"is {show_shape((x[-1],))[1:-1]}, the rows of the second are {show_shape((inner,))[1:-1]}"
    )  # fmt: skip
