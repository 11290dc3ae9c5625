"""torch.einsum: letters bind to sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr

from tensorclass._rules.sizes import UNKNOWN

from . import _codes
from ._evaluate import elements
from ._hints import unlike
from ._operators import broadcast
from ._values import Tensor, Value, has_star, is_int, same_shape, show_shape

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk


def einsum(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """torch.einsum("bi,ij->bj", x, y)"""
    values = [value for value, _ in args.positional]
    if not values or not isinstance(values[0], str):
        return Tensor()
    text, operands = values[0].replace(" ", ""), [walk.here.get(value) for value in values[1:]]
    if len(operands) == 1 and not isinstance(operands[0], Tensor):
        row = elements(walk, values[1])
        operands = [walk.here.get(value) for value in row] if isinstance(row, tuple) else []
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if not operands or not all(isinstance(one, Tensor) for one in operands):
        return Tensor()
    if len(terms) != len(operands):
        walk.say(expr, _codes.SHAPE, f'einsum: "{text}" has {len(terms)} operands, {len(operands)} are given')
        return Tensor()
    bound: dict[str, Any] = {}
    runs: list[Any] = []
    for number, (term, one) in enumerate(zip(terms, operands)):
        if not _bind(walk, expr, number, term, one.shape, bound, runs):
            return Tensor()
    if not arrow:
        letters = [letter for letter in sorted(set(left) - {",", "."}) if left.count(letter) == 1]
        right = "..." * ("." in left) + "".join(letters)
    lead, dots, rest = right.partition("...")
    run = _run(walk, expr, runs) if dots else ()
    kind = operands[0].dtype
    for one in operands[1:]:
        kind = kind if kind == one.dtype else None
    row = [[bound.get(letter, UNKNOWN) for letter in part] for part in (lead, rest)]
    return Tensor(None if run is None else (*row[0], *run, *row[1]), kind)


def _bind(
    walk: Walk, expr: CallExpr, number: int, term: str, shape: Any, bound: dict[str, Any], runs: list[Any]
) -> bool:
    """Bind the letters of one operand; False: they do not fit, which is said."""
    before, dots, after = term.partition("...")
    count = len(before) + len(after)
    if shape is None or (has_star(shape) and not dots):
        runs.append(None if dots else ())
        return True
    if not has_star(shape) and (len(shape) < count or (len(shape) > count and not dots)):
        text = f'einsum: operand {number} has shape {show_shape(shape)}, and "{term}" has '
        walk.say(expr, _codes.SHAPE, f"{text}{'at least ' if dots else ''}{count} dims")
        return False
    behind = len(shape) - len(after)
    run = shape[len(before) : behind]
    if has_star(shape) and not has_star(run):
        runs.append(None)  # The run of dims stands where the letters are.
        return True
    runs.append(run if dots else ())
    for letter, size in [*zip(before, shape), *zip(after, shape[behind:])]:
        before_it = bound.get(letter, 1)
        ones = [is_int(one) and one == 1 for one in (before_it, size)]
        if any(ones):
            bound[letter] = size if ones[0] else before_it  # A size of 1 is broadcast.
            continue
        if unlike(walk, before_it, size):
            sizes = [show_shape((one,))[1:-1] for one in (size, before_it)]
            walk.say(expr, _codes.SHAPE, f"einsum: {letter} is {sizes[0]} in operand {number} and {sizes[1]} before")
            return False
        if before_it is UNKNOWN:
            bound[letter] = size
    return True


def _run(walk: Walk, expr: CallExpr, runs: list[Any]) -> Any:
    """What ... stands for in the result."""
    found: Any = ()
    for run in runs:
        if run is None:
            return None
        if not found or same_shape(found, run):
            found = run
        elif run:
            found = None if has_star(found) or has_star(run) else broadcast(walk, expr, "einsum", found, run)
            if found is None:
                return None
    return found
