"""einops: rearrange, reduce and repeat, by their patterns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from mypy.nodes import CallExpr

from tensorclass._rules import algebra
from tensorclass._rules.sizes import UNKNOWN, product

from . import _codes
from ._dtypes import kind_of
from ._hints import unlike
from ._values import Tensor, Value, is_int, is_size, known, show_shape, show_size

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

Side: TypeAlias = "list[tuple[str, ...]]"  # A dim is a group of axes; ("...",) stands for several dims.

_TOKEN = re.compile(r"\s*(\(|\)|\.\.\.|[A-Za-z]\w*|\d+)")


def function(walk: Walk, expr: CallExpr, name: str, args: Args) -> Value:
    """rearrange(x, "b (h d) -> b h d", h=2)"""
    names = "tensor pattern" if name != "reduce" else "tensor pattern reduction"
    given = args.take(names)
    tensor, pattern = walk.here.get(given.get("tensor", UNKNOWN)), given.get("pattern")
    if not isinstance(tensor, Tensor) or not isinstance(pattern, str) or not args.whole:
        return Tensor()
    left, arrow, right = pattern.partition("->")
    before, after = _side(left), _side(right)
    result = Tensor(None, tensor.dtype if name != "reduce" or kind_of(tensor.dtype) == "float" else None)
    if not arrow or before is None or after is None:
        return result
    axes = {key: value for key, value in given.items() if key not in names.split()}
    shape = known(tensor)
    if name == "rearrange" and not _same_axes(walk, expr, pattern, before, after):
        return result
    sizes = None if shape is None else _bound(walk, expr, name, before, left.strip(), shape, axes)
    if sizes is None:
        return result
    row: list[Any] = []
    for group in after:
        row.extend(sizes["..."] if group == ("...",) else [_product(group, sizes, axes)])
    return Tensor(tuple(row), result.dtype)


def _side(text: str) -> Side | None:
    """The dims that one side of a pattern names; None: it is written in a way that is not read here."""
    found: Side = []
    group: list[str] | None = None
    at, text = 0, text.rstrip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        word, at = token[1], token.end()
        if word == "(" and group is None:
            group = []
        elif word == ")" and group is not None:
            found.append(tuple(group))
            group = None
        elif word in "()" or (word == "..." and group is not None):
            return None
        elif group is not None:
            group.append(word)
        else:
            found.append((word,))
    names = _axes(found)
    return None if group is not None or len(names) != len(set(names)) else found


def _axes(side: Side) -> list[str]:
    return [word for group in side for word in group if not word.isdigit()]


def _same_axes(walk: Walk, expr: CallExpr, pattern: str, left: Side, right: Side) -> bool:
    """Whether rearrange has the same axes on both sides; else that is said."""
    alone = set(_axes(left)) ^ set(_axes(right))
    if alone:
        shown = ", ".join(sorted(alone))
        walk.say(expr, _codes.SHAPE, f'rearrange: {shown} stands on one side of "{pattern}" alone')
    return not alone


def _bound(
    walk: Walk, expr: CallExpr, name: str, side: Side, text: str, shape: Any, axes: dict[str, Value]
) -> dict[str, Any] | None:
    """The size of each axis of the left side; None: the shape does not fit, which is said."""
    dots = ("...",) in side
    few = len(side) - dots
    if len(shape) < few or (len(shape) > few and not dots):
        text = f'{name}: the tensor has shape {show_shape(shape)}, and "{text}" has {"at least " if dots else ""}{few}'
        walk.say(expr, _codes.SHAPE, f"{text} dim{'s' * (few != 1)}")
        return None
    place = side.index(("...",)) if dots else few
    behind = len(shape) - (few - place)
    sizes: dict[str, Any] = {"...": shape[place:behind]}
    rest = [group for group in side if group != ("...",)]
    for group, size in zip(rest, (*shape[:place], *shape[behind:])):
        if not _split(walk, expr, name, group, size, axes, sizes):
            return None
    return sizes


def _split(
    walk: Walk,
    expr: CallExpr,
    name: str,
    group: tuple[str, ...],
    size: Any,
    axes: dict[str, Value],
    sizes: dict[str, Any],
) -> bool:
    """Bind the axes of one dim; False: they do not fit, which is said."""
    open_ = [word for word in group if not word.isdigit() and word not in axes]
    parts = [_size(word, sizes, axes) for word in group if word not in open_]
    whole = product(parts) if all(is_size(one) for one in parts) else UNKNOWN
    sizes.update({word: axes[word] for word in group if word in axes})
    sizes.update(dict.fromkeys(open_, UNKNOWN))
    if not is_size(whole) or not is_size(size):
        return True
    if not open_ and unlike(walk, whole, size):
        text = f"{name}: ({' '.join(group)}) is {show_size(whole)}, and the dim is {show_size(size)}"
        walk.say(expr, _codes.SHAPE, text)
        return False
    if len(open_) != 1:
        return True
    if is_int(whole) and whole == 0:
        return True
    if is_int(size) and is_int(whole) and size % whole:
        walk.say(expr, _codes.SHAPE, f"{name}: ({' '.join(group)}) is {size}, no multiple of {whole}")
        return False
    each: Any = size // whole
    sizes[open_[0]] = each if algebra.same(each * whole, size) is True else UNKNOWN
    return True


def _size(word: str, sizes: dict[str, Any], axes: dict[str, Value]) -> Any:
    return int(word) if word.isdigit() else sizes.get(word, axes.get(word, UNKNOWN))


def _product(group: tuple[str, ...], sizes: dict[str, Any], axes: dict[str, Value]) -> Any:
    found = [_size(word, sizes, axes) for word in group]
    return product(found) if all(is_size(one) for one in found) else UNKNOWN
