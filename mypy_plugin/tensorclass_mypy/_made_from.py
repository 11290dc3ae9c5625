"""What is made from a container: its largest values, a container of another size, a Python dict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import CallExpr, MemberExpr

from tensorclass._rules import table
from tensorclass._rules.sizes import UNKNOWN

from ._containers import like, op, sizes_of
from ._fields import fields_of
from ._values import Box, Items, Mapped, Unset, Value, is_size

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk


def extremes(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.max(dim): the values and where they were, each as amax gives them; without a dim, leaves folded whole."""
    word = expr.callee.name if isinstance(expr.callee, MemberExpr) else "max"
    row = table.OPS["amax"]._replace(name=word)
    if args.take("dim").get("dim") is None:
        return op(walk, expr, box, row, args)
    values, places = (op(walk, expr, box, row, args) for _ in range(2))
    return (values, places)


def sized(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.new_zeros(*size) and its kind: the entries of x with another batch size."""
    word = expr.callee.name if isinstance(expr.callee, MemberExpr) else ""
    given = [value for value, _ in args.positional]
    first = walk.here.get(given[0]) if given else UNKNOWN
    if word == "new_full" or isinstance(first, (tuple, Items)):
        batch = sizes_of(walk, given[0]) if given else None
    else:
        batch = tuple(given) if given and all(is_size(size) or size is UNKNOWN for size in given) else None
    return like(walk, box, batch, keep=False)


def as_dict(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.to_dict(): the entries under their keys, those of nested containers as dicts too."""
    return UNKNOWN if args.values() else _dict_of(walk, box)


def _dict_of(walk: Walk, box: Box) -> Value:
    names = box.fields if box.info is None else fields_of(box.info)
    if names is None or (box.open and box.info is None):
        return UNKNOWN
    found: dict[str, Value] = {}
    for name in names:
        value = box.fields.get(name, UNKNOWN)
        if isinstance(value, Unset):
            continue
        inner = walk.here.get(value)
        found[name] = _dict_of(walk, inner) if isinstance(inner, Box) else value
    return walk.here.new(Mapped(found, closed=True))
