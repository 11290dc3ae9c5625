"""Shape ops of tensors that are rows of the op table: permute, reshape, split, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import Node

from tensorclass._rules import algebra, table
from tensorclass._rules.errors import RuleError
from tensorclass._rules.sizes import UNKNOWN, NotKnown, product

from . import _codes
from ._containers import has_unknown, plain
from ._hints import unlike
from ._operators import no_ones
from ._tensors import words
from ._values import Many, Pieces, Star, Tensor, Value, has_star, is_int, is_size, known, show_shape

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

ROWS = {
    "permute", "transpose", "movedim", "moveaxis", "swapaxes", "swapdims", "unsqueeze", "squeeze", "flatten",
    "unflatten", "reshape", "view", "expand", "broadcast_to", "narrow", "flip", "roll", "unbind", "split", "chunk",
    "split_with_sizes",
}  # fmt: skip

OF_SCALARS = {"squeeze", "flip", "transpose", "swapaxes", "swapdims", "movedim", "moveaxis"}  # Dims 0 and -1.


def by_table(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value | None:
    """The shape after a row of the table, with every dim in the place of a batch dim; None: it is no such op."""
    row = table.OPS.get(name) or table.OPS_BY_TORCH.get(name)
    if name not in ROWS or row is None:
        return None
    dtype = tensor.dtype
    given = bound(walk, row, args)
    if name == "view" and any(isinstance(value, (str,)) or value is UNKNOWN for value in given.get("shape", ())[:1]):
        if len(given.get("shape", ())) == 1:
            return Tensor(None, None)  # view(dtype)
    shape = known(tensor)
    if shape is None:
        return _starred(tensor, name, given)
    if not args.whole:
        return Tensor(None, dtype)
    if name in ("reshape", "view"):
        return reshape(walk, expr, tensor, name, shape, given)
    if name == "flatten" and not shape:
        return Tensor((1,), dtype)
    if name in OF_SCALARS and not shape and all(is_int(one) and one in (0, -1) for one in _flat(given)):
        return Tensor((), dtype)
    try:
        found = table.after(row, shape, given)
    except RuleError as error:
        if not any(has_unknown(value) for value in given.values()):
            walk.say(expr, _codes.SHAPE, words(str(error)))
        return UNKNOWN if row.family == "split" else Tensor(None, dtype)
    except (NotKnown, TypeError, ValueError, AttributeError, KeyError, IndexError):
        if name == "squeeze":
            return Tensor(_squeezed(shape, given.get("dim")), dtype)
        if row.family == "split":
            return split(shape, row.name, given, dtype)
        return Tensor(_rank(shape, name, given), dtype)
    if row.family == "split":
        return Pieces(Tensor(tuple(one), dtype) for one in found) if len(found) <= 64 else UNKNOWN
    return Tensor(tuple(found), dtype)


def _flat(given: dict[str, Any]) -> list[Any]:
    """The numbers among the arguments, in a row."""
    return [one for value in given.values() for one in (value if isinstance(value, tuple) else (value,))]


def _squeezed(shape: tuple[Any, ...], dim: Any) -> Any:
    """A dim that is called by a name is not meant to be 1."""
    named = is_int(dim) and isinstance(shape[dim], algebra.Dim) and no_ones(shape[dim], shape[dim])
    return shape if named else None


def bound(walk: Walk, row: Any, args: Args) -> dict[str, Any]:
    """The arguments by the names of the row's parameters."""
    values = [plain(walk, value) for value, _ in args.positional]
    named = {key: plain(walk, value) for key, (value, _) in args.named.items()}
    given: dict[str, Any] = {}
    for param in row.params:
        if param.name in named:
            given[param.name] = named[param.name]
        elif param.kind == "star":
            if values:
                given[param.name] = tuple(values)
                values = []
            elif named:
                key = next(iter(named))
                given[param.name] = (named[key],)
        elif values:
            given[param.name] = values.pop(0)
    return given


def _rank(shape: tuple[Any, ...], name: str, given: dict[str, Any]) -> Any:
    """At least the rank, where a size could not be worked out."""
    if name in ("expand", "broadcast_to", "repeat", "tile"):
        sizes = given.get("shape", given.get("repeats", ()))
        row = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple) else sizes
        if isinstance(row, tuple) and all(is_size(size) or size is UNKNOWN for size in row):
            if name in ("expand", "broadcast_to"):
                lead = len(row) - len(shape)
                kept = [
                    shape[at - lead] if is_int(size) and size == -1 and at >= lead else size
                    for at, size in enumerate(row)
                ]
                return tuple(size if is_size(size) else UNKNOWN for size in kept)
            return tuple([UNKNOWN] * max(len(row), len(shape)))
    return None


def split(shape: tuple[Any, ...], name: str, given: dict[str, Any], dtype: str | None) -> Value:
    """The pieces of a dim whose size is not a number."""
    dim = given.get("dim", 0)
    if not is_int(dim) or not shape or not -len(shape) <= dim < len(shape):
        return Many(Tensor(None, dtype))
    place = dim % len(shape)
    rest = (*shape[:place], *shape[place + 1 :])
    if name == "unbind":
        return Many(Tensor(rest, dtype))
    size = shape[place]
    count = given.get("chunks")
    if name == "chunk" and is_int(count) and isinstance(size, algebra.Dim):
        each = size // count
        whole = algebra.same(each * count, size) is True if not isinstance(each, int) else False
        if whole:
            return Pieces([Tensor((*shape[:place], each, *shape[place + 1 :]), dtype)] * count)
    if name == "split" and isinstance(given.get("split_size"), tuple):
        sizes = given["split_size"]
        return Pieces(
            Tensor((*shape[:place], one if is_size(one) else UNKNOWN, *shape[place + 1 :]), dtype) for one in sizes
        )
    return Many(Tensor((*shape[:place], UNKNOWN, *shape[place + 1 :]), dtype))


def reshape(walk: Walk, expr: Node, tensor: Tensor, name: str, shape: tuple[Any, ...], given: dict[str, Any]) -> Value:
    """The number of elements stays; names are multiplied out."""
    from tensorclass._rules.dims import spread

    asked = given.get("shape", ())
    if has_unknown(asked) and (len(asked) == 1 and not isinstance(asked[0], tuple)):
        return Tensor(None, tensor.dtype)
    try:
        wanted = spread(asked)
    except Exception:  # Not a row of sizes.
        return Tensor(None, tensor.dtype)
    if not all(is_size(size) or size is UNKNOWN for size in wanted):
        return Tensor(None, tensor.dtype)
    total = product(shape)
    holes = [at for at, size in enumerate(wanted) if is_int(size) and size == -1]
    if len(holes) > 1:
        walk.say(
            expr, _codes.SHAPE, f"{name}: {show_shape(wanted)} has -1 more than once; only one size can be worked out"
        )
        return Tensor(None, tensor.dtype)
    rest = product([size for at, size in enumerate(wanted) if at not in holes])
    if not holes:
        if is_size(total) and is_size(rest) and unlike(walk, total, rest):
            _wrong_count(walk, expr, name, shape, total, wanted)
            return Tensor(None, tensor.dtype)
        return Tensor(tuple(wanted), tensor.dtype)
    size: Any = UNKNOWN
    if is_int(total) and is_int(rest):
        if rest == 0 or total % rest:
            if rest:
                _wrong_count(walk, expr, name, shape, total, wanted)
            return Tensor(None, tensor.dtype)
        size = total // rest
    elif is_size(total) and is_size(rest) and rest != 0:
        quotient = total // rest
        size = quotient if is_size(quotient) and algebra.same(quotient * rest, total) is True else UNKNOWN
        size = (
            UNKNOWN
            if isinstance(size, algebra.Dim) and any(not isinstance(a, str) for t in size.terms for a in t)
            else size
        )
    return Tensor((*wanted[: holes[0]], size, *wanted[holes[0] + 1 :]), tensor.dtype)


def _wrong_count(walk: Walk, expr: Node, name: str, shape: Any, total: Any, wanted: Any) -> None:
    text = f"{name}: a batch of size {show_shape(shape)} has {total} elements, which {show_shape(wanted)} cannot hold"
    walk.say(expr, _codes.SHAPE, words(text))


def _starred(tensor: Tensor, name: str, given: dict[str, Any]) -> Value:
    """Ops at the end of a shape that begins with a run of dims."""
    shape = tensor.shape
    if shape is None:
        return Tensor(None, tensor.dtype) if name not in ("unbind", "split", "chunk") else UNKNOWN
    dim = given.get("dim")
    place = next(at for at, size in enumerate(shape) if isinstance(size, Star))
    if name == "unsqueeze" and is_int(dim) and dim < 0 and len(shape) + dim + 1 > place:
        at = len(shape) + dim + 1
        return Tensor((*shape[:at], 1, *shape[at:]), tensor.dtype)
    if name == "squeeze" and is_int(dim) and dim < 0 and len(shape) + dim > place:
        at = len(shape) + dim
        if is_int(shape[at]):
            return Tensor((*shape[:at], *shape[at + 1 :]) if shape[at] == 1 else shape, tensor.dtype)
    if name in ("transpose", "swapaxes", "swapdims"):
        dims = [given.get("dim0"), given.get("dim1")]
        if all(is_int(one) and one < 0 and len(shape) + one > place for one in dims):
            row = list(shape)
            first, second = int(dims[0] or 0), int(dims[1] or 0)
            row[first], row[second] = row[second], row[first]
            return Tensor(tuple(row), tensor.dtype)
    if name == "flatten" and given.get("end_dim", -1) == -1:
        start = given.get("start_dim", 0)
        if is_int(start) and start < 0 and len(shape) + start > place:
            sizes = shape[start:]
            return Tensor((*shape[:start], product(sizes) if all(map(is_size, sizes)) else UNKNOWN), tensor.dtype)
    if name in ("flip", "roll"):
        return tensor
    return Tensor(None, tensor.dtype) if name not in ("unbind", "split", "chunk") else UNKNOWN


__all__ = ["by_table", "has_star"]
