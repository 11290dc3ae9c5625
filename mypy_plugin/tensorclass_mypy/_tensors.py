"""Tensors: indexing, operators and methods, by the same rules as the batch dims of containers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr, IndexExpr, Node

from tensorclass._rules import indexing, table
from tensorclass._rules.errors import RuleError
from tensorclass._rules.sizes import UNKNOWN, NotKnown, product

from . import _codes
from ._dtypes import DEFAULT, kind_of, real, shown
from ._hints import unlike
from ._operators import broadcast, matmul, mixed, no_ones, operate, wrong_ranks
from ._reach import RESHAPING
from ._tensor_rules import RULES
from ._values import (
    Dtype,
    Many,
    Pieces,
    Shape,
    Sizes,
    Star,
    Tensor,
    Value,
    has_star,
    is_int,
    is_size,
    known,
    show_shape,
    sizes_value,
)

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

_WORDING = (
    ("a batch of size", "a tensor of shape"),
    ("the batch size is", "the shape is"),
    ("batch size", "shape"),
    ("batch dims", "dims"),
    ("batch dim", "dim"),
    ("the batch has", "the tensor has"),
    ("; index a field to reach its feature dims", ""),
)


def words(text: str) -> str:
    """The sentence of a rule, about a tensor."""
    text = re.sub(r"\?(?=[A-Za-z_])", "", text)
    for batch, shape in _WORDING:
        text = text.replace(batch, shape)
    return text


def rows_of(tensor: Tensor) -> Any:
    """Iterating over a tensor goes over its rows."""
    shape = known(tensor)
    row = Tensor(shape[1:] if shape else None, tensor.dtype)
    if shape and is_int(shape[0]) and shape[0] <= 8:
        return Pieces([row] * shape[0])
    return Many(row)


def indexed(walk: Walk, expr: IndexExpr, tensor: Tensor, index: Value) -> Value:
    """x[index]"""
    from ._attributes import index_items

    shape = tensor.shape
    items = index_items(walk, index)
    if shape is None or items is UNKNOWN:
        return Tensor(None, tensor.dtype)
    try:
        if has_star(shape):
            return Tensor(star_index(shape, items), tensor.dtype)
        return Tensor(tuple(indexing.after(shape, items)), tensor.dtype)
    except RuleError as error:
        behind = f" (behind {shape[0]!r} in {show_shape(shape)})" if has_star(shape) else ""
        walk.say(expr, _codes.SHAPE, words(str(error)) + behind)
    except (NotKnown, TypeError, ValueError, AttributeError):
        pass
    return Tensor(None, tensor.dtype)


def star_index(shape: tuple[Any, ...], items: Any) -> Shape:
    """x[..., i] of a shape that begins with a run of dims."""
    row = items if isinstance(items, tuple) else (items,)
    if not isinstance(shape[0], Star):
        return None
    if not row or row[0] is not ... or any(item is ... for item in row[1:]):
        if len(row) == 1 and is_int(row[0]) and len(shape) == 1:
            return (replace(shape[0], dropped=shape[0].dropped + 1),)
        return None
    rest = shape[1:]
    taken = sum(1 for item in row[1:] if item is not None)
    if taken > len(rest):
        return None
    return (shape[0], *indexing.after(rest, (..., *row[1:])))


# -- Methods --------------------------------------------------------------------------------------------------------

CASTS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "int": "int32", "long": "int64",
    "short": "int16", "bool": "bool", "byte": "uint8", "char": "int8", "cfloat": "complex64",
}  # fmt: skip
SAME = {
    "clone", "contiguous", "detach", "cpu", "cuda", "neg", "square", "relu", "clamp", "clip", "clamp_min",
    "clamp_max", "floor", "ceil", "round", "trunc", "sign", "requires_grad_", "pin_memory", "flip", "roll",
    "cumsum", "cumprod", "tril", "triu", "zero_", "fill_", "normal_", "uniform_", "copy_", "masked_fill",
    "masked_fill_", "nan_to_num", "detach_", "softmax", "log_softmax", "to_dense", "retain_grad", "exponential_",
    "random_", "bernoulli", "sort_", "conj", "positive", "fliplr", "flipud", "scatter", "scatter_", "scatter_add",
    "scatter_add_", "index_fill", "index_copy", "logcumsumexp", "abs_", "neg_", "clamp_", "clip_", "relu_",
    "fill_diagonal_", "index_fill_", "nan_to_num_",
}  # fmt: skip
LIMITS = {"clamp", "clip", "clamp_min", "clamp_max"}  # A limit may be a tensor, and broadcasts.
FLOATS = {
    "exp", "log", "log2", "log10", "log1p", "expm1", "sqrt", "rsqrt", "sigmoid", "tanh", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "erf", "erfc", "reciprocal", "lgamma", "digamma", "logit",
}  # fmt: skip
BOOLS = {"isnan", "isinf", "isfinite", "logical_not", "isposinf", "isneginf", "signbit"}
PAIRS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "true_divide": "/", "pow": "**", "remainder": "%",
    "floor_divide": "//", "maximum": "max", "minimum": "min", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt":
    ">", "ge": ">=", "atan2": "atan2", "fmod": "%", "logical_and": "==", "logical_or": "==", "logical_xor": "==",
    "bitwise_and": "&", "bitwise_or": "|", "subtract": "-", "multiply": "*", "divide": "/", "hypot": "hypot",
}  # fmt: skip
FOLDS = {
    "sum", "mean", "prod", "std", "var", "amax", "amin", "any", "all", "logsumexp", "nansum", "nanmean", "norm",
    "argmax", "argmin", "median", "mode",
}  # fmt: skip
AVERAGES = {"mean", "std", "var", "nanmean"}  # Of floats only.
PAIR_FOLDS = {"max", "min", "median", "mode", "kthvalue", "topk"}
NEW = {"new_zeros", "new_ones", "new_empty", "new_full"}


def method(walk: Walk, expr: CallExpr, tensor: Tensor, name: str, args: Args) -> Value:
    """x.name(...)"""
    if name in RESHAPING:
        walk.here.forget_shapes()
        return Tensor(None, tensor.dtype)
    if not args.whole and name not in SAME:
        row = args.sizes() if name in ("new_zeros", "new_ones", "new_empty", "expand") else None
        if row is not None:
            return Tensor(as_shape(walk, [Sizes(row)]), dtype_like(args, tensor))
        return UNKNOWN if name in ("size", "unbind", "split", "chunk", "item") else Tensor()
    if name.endswith("_") and not name.startswith("_") and (name[:-1] in FLOATS or name[:-1] in PAIRS):
        if name[:-1] in PAIRS and args.positional:
            operate(walk, expr, PAIRS[name[:-1]], tensor, walk.here.get(args.positional[0][0]))
        return tensor
    if name in ("abs", "absolute"):
        return Tensor(tensor.shape, real(tensor.dtype))
    if name in ("size",):
        return size(tensor, args)
    if name in ("dim", "ndimension"):
        shape = known(tensor)
        return UNKNOWN if shape is None else len(shape)
    if name in ("numel", "nelement"):
        shape = known(tensor)
        return UNKNOWN if shape is None else product(shape)
    if name in (
        "item",
        "tolist",
        "numpy",
        "backward",
        "is_floating_point",
        "data_ptr",
        "register_hook",
        "element_size",
    ):
        return UNKNOWN
    if name in CASTS:
        return Tensor(tensor.shape, CASTS[name])
    if name == "copy_" and args.positional:
        other = walk.here.get(args.positional[0][0])
        if isinstance(other, Tensor) and known(tensor) is not None and known(other) is not None:
            into(walk, expr, "copy_", tensor.shape, other.shape)
        return tensor
    if name == "to" or name == "type":
        kind = tensor.dtype
        for value in args.values():
            if isinstance(value, Dtype):
                return Tensor(tensor.shape, value.kind)
            if isinstance(value, Tensor):
                return Tensor(tensor.shape, value.dtype)
            if value is UNKNOWN or not isinstance(value, (str, bool)):
                kind = None
        return Tensor(tensor.shape, kind)
    if name in ("type_as",):
        return Tensor(tensor.shape, None)
    if name in NEW:
        given = args.take("size") if name != "new_full" else args.take("size fill_value")
        sizes = [value for value, _ in args.positional] if name != "new_full" else [given.get("size", UNKNOWN)]
        return Tensor(as_shape(walk, sizes) if sizes else None, dtype_like(args, tensor))
    return op(walk, expr, tensor, name, args)


def dtype_like(args: Args, tensor: Tensor) -> str | None:
    """The kind of dtype that the call asks for, else that of a tensor."""
    value = args.named["dtype"][0] if "dtype" in args.named else None
    return value.kind if isinstance(value, Dtype) else tensor.dtype if value is None else None


def as_shape(walk: Walk, sizes: list[Value]) -> Shape:
    """Sizes given as f(2, 3), f((2, 3)) or f([2, 3])."""
    from ._evaluate import elements

    if len(sizes) == 1 and isinstance(sizes[0], Sizes):
        row = sizes[0].row
        return None if any(is_int(size) and size < 0 for size in row) else row
    if len(sizes) == 1 and not is_size(sizes[0]):
        row = elements(walk, sizes[0])
        if not isinstance(row, tuple):
            return (UNKNOWN,) if _is_int_type(sizes[0]) else None
        sizes = list(row)
    if any(not is_size(size) and size is not UNKNOWN for size in sizes):
        return None
    if any(is_int(size) and size < 0 for size in sizes):
        return None
    return tuple(sizes)


def _is_int_type(value: Value) -> bool:
    return False


def size(tensor: Tensor, args: Args) -> Value:
    shape = tensor.shape
    values = args.values()
    if shape is None:
        return UNKNOWN
    if values:
        dim = values[0]
        if has_star(shape):
            return size_at(shape, dim)
        return shape[dim] if is_int(dim) and -len(shape) <= dim < len(shape) else UNKNOWN
    return sizes_value(shape)


def write_rows(walk: Walk, node: Node, target: IndexExpr, tensor: Tensor, index: Value, value: Any) -> None:
    """x[index] = y: y is broadcast to the rows."""
    if not isinstance(value, Tensor) or value.shape is None or has_star(value.shape):
        return
    rows = indexed(walk, target, tensor, index).shape
    if rows is not None and not has_star(rows):
        into(walk, node, "index", rows, value.shape)


def into(walk: Walk, node: Node, word: str, shape: Any, other: Any) -> None:
    """Say that a shape cannot be broadcast into another, which stays as it is."""
    lead = other[: max(len(other) - len(shape), 0)]
    tail = other[len(lead) :]
    fits = all(is_int(size) and size == 1 for size in lead) or any(not is_int(size) for size in lead)
    for a, b in zip(shape[len(shape) - len(tail) :], tail):
        fits = fits and not (unlike(walk, a, b) and not (is_int(b) and b == 1) and no_ones(b, b))
    if not fits:
        text = f"{word}: a value of shape {show_shape(other)} does not fit into {show_shape(shape)}"
        walk.say(node, _codes.SHAPE, text)


def size_at(row: tuple[Any, ...], place: Value) -> Value:
    """One size of a shape with a run of dims, where the run does not hide it."""
    if not is_int(place) or not -len(row) <= place < len(row):
        return UNKNOWN
    between = row[place:] if place < 0 else row[: place + 1]
    return UNKNOWN if has_star(between) else row[place]


def op(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """A function of a tensor, as a method or as torch.name(x, ...)."""
    dtype = tensor.dtype
    rule = RULES.get(name)
    if rule is not None:
        return rule(walk, expr, tensor, name, args)
    values = [value for value, _ in args.positional]
    given = {key: value for key, (value, _) in args.named.items()}
    if name in FLOATS:
        return Tensor(tensor.shape, DEFAULT if kind_of(dtype) in ("int", "bool") else dtype)
    if name in BOOLS:
        return Tensor(tensor.shape, "bool")
    if name in ("matmul", "mm", "bmm", "mv", "dot"):
        other = walk.here.get(values[0]) if values else UNKNOWN
        wrong = wrong_ranks(name, tensor, other)
        if wrong is not None:
            walk.say(expr, _codes.SHAPE, wrong)
            return Tensor()
        return matmul(walk, expr, tensor, other)
    if name in PAIRS:
        other = walk.here.get(values[0]) if values else UNKNOWN
        return operate(walk, expr, PAIRS[name], tensor, other)
    if name in FOLDS or name in PAIR_FOLDS:
        return fold(walk, expr, tensor, name, values, given)
    if name in ("t", "T"):
        shape = known(tensor)
        return Tensor(None if shape is None or len(shape) > 2 else shape[::-1], dtype)
    if name in ("expand_as", "view_as", "reshape_as"):
        other = walk.here.get(values[0]) if values else UNKNOWN
        return Tensor(other.shape if isinstance(other, Tensor) else None, dtype)
    if name == "ravel":
        name = "flatten"
    if name in ("repeat", "tile"):
        return repeated(walk, expr, tensor, name, args)
    if name in (
        "select",
        "index_select",
    ):
        return special(walk, expr, tensor, name, values, given)
    from ._table_ops import by_table

    found = by_table(walk, expr, tensor, name, args)
    if found is not None:
        return found
    if name in LIMITS:
        return limited(walk, expr, tensor, name, [*values, *given.values()])
    if name in SAME:
        checked_dim(walk, expr, tensor, name, values, given)
        return Tensor(tensor.shape, dtype)
    return UNKNOWN


def limited(walk: Walk, expr: Node, tensor: Tensor, name: str, limits: list[Value]) -> Value:
    """x.clamp(low, high)"""
    shape, kind = tensor.shape, tensor.dtype
    for limit in limits:
        thing = walk.here.get(limit)
        if isinstance(thing, Tensor):
            shape = broadcast(walk, expr, name, shape, thing.shape)
        elif thing is not None and not isinstance(thing, (int, float)):
            shape = None  # It may be a tensor.
        if thing is not None and not is_int(thing) and kind_of(kind) != "float":
            kind = None  # A limit of floats makes floats of ints.
    return Tensor(shape, kind)


def repeated(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """x.repeat(2, 3): dims are added in front where there are more numbers than dims."""
    shape = known(tensor)
    times = as_shape(walk, [value for value, _ in args.positional]) if args.whole and not args.named else None
    if shape is None or times is None or has_star(times):
        return Tensor(None, tensor.dtype)
    if len(times) < len(shape):
        if name == "repeat":
            text = f"repeat: {len(times)} numbers for a tensor of shape {show_shape(shape)}; give one a dim at least"
            walk.say(expr, _codes.SHAPE, text)
            return Tensor(None, tensor.dtype)
        times = (1,) * (len(shape) - len(times)) + times
    added = len(times) - len(shape)
    sizes = [a * b if is_size(a) and is_size(b) else UNKNOWN for a, b in zip(shape, times[added:])]
    return Tensor((*times[:added], *sizes), tensor.dtype)


def checked_dim(
    walk: Walk, expr: Node, tensor: Tensor, name: str, values: list[Value], given: dict[str, Value]
) -> None:
    """Functions that keep the shape and name a dim."""
    if name in ("softmax", "log_softmax") and "dtype" not in given and kind_of(tensor.dtype) in ("int", "bool"):
        if not any(is_int(size) and size == 0 for size in tensor.shape or ()):  # Of no elements torch does it.
            walk.say(expr, _codes.SHAPE, not_floating(name, tensor.dtype))
    if name in ("softmax", "log_softmax", "cumsum", "cumprod", "logcumsumexp"):
        dim = given.get("dim", values[0] if values else UNKNOWN)
        shape = known(tensor)
        if shape and is_int(dim) and not -len(shape) <= dim < len(shape):
            out_of_range(walk, expr, name, dim, shape)


def out_of_range(walk: Walk, expr: Node, name: str, dim: int, shape: tuple[Any, ...]) -> None:
    from tensorclass._rules import errors

    walk.say(expr, _codes.SHAPE, words(errors.dim_range(name, dim, -len(shape), len(shape) - 1, len(shape))))


def fold(walk: Walk, expr: Node, tensor: Tensor, name: str, values: list[Value], given: dict[str, Value]) -> Value:
    """A reduction."""
    values = list(values)
    if name in ("norm",) and values and not given.get("dim"):
        values = values[1:]
    if name in ("topk", "kthvalue"):
        count = values.pop(0) if values else given.get("k", UNKNOWN)
        along = given.get("dim", values[0] if values else -1)
        shape = known(tensor)
        if shape is None or not is_int(along) or not -len(shape) <= along < len(shape):
            return UNKNOWN
        if name == "kthvalue":
            kept = folded(
                walk, expr, tensor, name, along, given.get("keepdim", values[1] if len(values) > 1 else False)
            )
            return (Tensor(kept, tensor.dtype), Tensor(kept, "int64"))
        place = along % len(shape)
        if is_int(count) and is_int(shape[place]) and count > shape[place]:
            text = f"topk: {count} of dim {place} of {show_shape(shape)}, which has {shape[place]}"
            walk.say(expr, _codes.SHAPE, text)
        cut = (*shape[:place], count if is_size(count) else UNKNOWN, *shape[place + 1 :])
        return (Tensor(cut, tensor.dtype), Tensor(cut, "int64"))
    if name in ("max", "min") and values and isinstance(walk.here.get(values[0]), Tensor):
        return operate(walk, expr, name, tensor, walk.here.get(values[0]))
    kind = {"any": "bool", "all": "bool", "argmax": "int64", "argmin": "int64"}.get(name, tensor.dtype)
    if name in ("norm", "std", "var"):
        kind = real(kind)
    if name == "logsumexp" and kind_of(kind) in ("bool", "int"):
        kind = DEFAULT
    if name in ("sum", "prod") and kind_of(kind) in ("bool", "int"):
        kind = "int64"
    if isinstance(given.get("dtype"), Dtype):
        kind = given["dtype"].kind
    elif name in AVERAGES and "dtype" not in given and kind_of(tensor.dtype) in ("int", "bool"):
        walk.say(expr, _codes.SHAPE, not_floating(name, tensor.dtype))
    missing = object()
    dim: Any = given.get("dim", given.get("axis", values[0] if values else -1 if name == "mode" else missing))
    keep = given.get("keepdim", given.get("keepdims", values[1] if len(values) > 1 else False))
    if name in ("std", "var") and isinstance(dim, bool):
        return Tensor(None, kind)
    if name in ("std", "var") and len(values) > 1:
        keep = given.get("keepdim", UNKNOWN)
    if dim is missing or dim is None:
        return Tensor((), kind) if keep is False else Tensor(None, kind)
    shape = folded(walk, expr, tensor, name, dim, keep)
    result = Tensor(shape, kind)
    if name in ("max", "min", "median", "mode"):
        return (result, Tensor(shape, "int64"))
    return result


def not_floating(name: str, dtype: str | None) -> str:
    """The sentence for a function that torch has for floats alone."""
    return f"{name}: the tensor has dtype {shown(dtype)}, and {name} takes float or complex; call .float() first"


def folded(walk: Walk, expr: Node, tensor: Tensor, name: str, dim: Value, keep: Value) -> Shape:
    """The shape after a reduction over a dim or several."""
    from ._evaluate import elements

    shape = tensor.shape
    dims = (dim,) if is_int(dim) else elements(walk, dim)
    if (
        shape is None
        or not isinstance(dims, tuple)
        or not all(is_int(one) for one in dims)
        or not isinstance(keep, bool)
    ):
        return None
    if has_star(shape):
        return _star_fold(shape, dims, keep)
    places = set()
    for one in dims:
        if not -len(shape) <= one < len(shape):
            if len(shape) == 0 and one in (0, -1):
                return ()
            out_of_range(walk, expr, name, one, shape)
            return None
        if one % len(shape) in places:
            walk.say(expr, _codes.SHAPE, f"{name}: dim {one} appears twice in {dims}")
            return None
        places.add(one % len(shape))
    if not dims:
        return None
    return tuple(1 if at in places else size for at, size in enumerate(shape) if keep or at not in places)


def _star_fold(shape: tuple[Any, ...], dims: tuple[int, ...], keep: bool) -> Shape:
    place = next(at for at, size in enumerate(shape) if isinstance(size, Star))
    row = list(shape)
    for dim in sorted(dims, reverse=True):
        if dim < 0 and len(shape) + dim > place:
            row[len(shape) + dim] = 1 if keep else None
        elif dim >= 0 and dim < place:
            row[dim] = 1 if keep else None
        elif dim == 0 and place == 0 and not keep and len(dims) == 1:
            row[0] = replace(shape[0], dropped=shape[0].dropped + 1)
        elif dim < 0 and len(shape) + dim == place == 0 and not keep and len(dims) == 1:
            row[0] = replace(shape[0], cut=shape[0].cut + 1)
        else:
            return None
    return tuple(size for size in row if size is not None)


def special(walk: Walk, expr: Node, tensor: Tensor, name: str, values: list[Value], given: dict[str, Value]) -> Value:
    """Functions whose result has a shape of its own."""
    shape = known(tensor)
    dim = given.get("dim", values[0] if values else UNKNOWN)
    if shape is None or not is_int(dim) or not -len(shape) <= dim < len(shape):
        if shape and is_int(dim) and name in ("select", "index_select"):
            out_of_range(walk, expr, name, dim, shape)
        return Tensor(None, tensor.dtype)
    place = dim % len(shape)
    if name == "select":
        at = given.get("index", values[1] if len(values) > 1 else UNKNOWN)
        if is_int(at) and is_int(shape[place]) and not -shape[place] <= at < shape[place]:
            text = f"select: {at} is out of range for dim {place} of size {shape[place]}"
            walk.say(expr, _codes.SHAPE, text)
        return Tensor((*shape[:place], *shape[place + 1 :]), tensor.dtype)
    if name == "index_select":
        index = walk.here.get(given.get("index", values[1] if len(values) > 1 else UNKNOWN))
        count = index.shape[0] if isinstance(index, Tensor) and index.shape and len(index.shape) == 1 else UNKNOWN
        return Tensor((*shape[:place], count if is_size(count) else UNKNOWN, *shape[place + 1 :]), tensor.dtype)
    return Tensor(None, tensor.dtype)


__all__ = ["broadcast", "matmul", "mixed", "operate", "table"]
