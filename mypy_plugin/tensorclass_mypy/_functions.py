"""Functions of Python, torch and tensorclass, by the names that users write."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mypy.nodes import ARG_NAMED, ARG_NAMED_OPT, CallExpr, NameExpr, TypeInfo

from tensorclass._rules import errors
from tensorclass._rules.sizes import UNKNOWN

from . import _codes
from ._evaluate import elements
from ._fields import names_of
from ._types import is_ours, known_type
from ._values import (
    Box,
    Dtype,
    Items,
    Lambda,
    Many,
    Mapped,
    Net,
    Number,
    Ref,
    Tensor,
    Typed,
    Value,
    is_int,
    is_size,
    show_shape,
)

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

FLOATS = ("sqrt", "log", "log2", "log10", "exp", "sin", "cos", "tan", "pow", "atan2", "radians", "hypot", "fsum")
Handler = Callable[[Any, CallExpr, Any], Value]

# Functions that look at their arguments and keep their hands off them.
HARMLESS = {
    "print", "isinstance", "issubclass", "repr", "str", "id", "type", "hash", "float", "bool", "min", "max", "abs",
    "round", "hasattr", "callable", "format", "len", "int", "sum", "any", "all",
}  # fmt: skip


def library(walk: Walk, expr: CallExpr, name: str, args: Args) -> Value:
    """Call a library function."""
    handler = _FUNCTIONS.get(name)
    if handler is not None:
        return handler(walk, expr, args)
    if name.startswith("builtins."):
        if name[9:] not in HARMLESS:
            _leak(walk, args)
        return UNKNOWN
    if name.startswith("tensorclass."):
        from ._joins import function

        return function(walk, expr, name, args)
    if name.startswith("torch.nn.functional."):
        from ._functionals import functional

        return functional(walk, expr, name.rsplit(".", 1)[1], args)
    if name.startswith("torch."):
        from ._tensor_functions import function as torch_function

        return torch_function(walk, expr, name[6:], args)
    if name.startswith("numpy."):
        from ._arrays import function as numpy_function

        return numpy_function(walk, expr, name[6:], args)
    if name in ("einops.rearrange", "einops.reduce", "einops.repeat"):
        from ._einops import function as einops_function

        return einops_function(walk, expr, name[7:], args)
    if name.startswith("math."):
        return Number("float") if name[5:] in FLOATS else UNKNOWN
    _leak(walk, args)
    typ = known_type(walk, expr)
    return walk.from_type(typ) if typ is not None else UNKNOWN


def _leak(walk: Walk, args: Args) -> None:
    from ._calls import leak

    leak(walk, args.values())


def length(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """len(x)"""
    if len(args.positional) != 1:
        return UNKNOWN
    value = args.positional[0][0]
    thing = walk.here.get(value)
    if isinstance(thing, Box):
        if thing.batch == ():
            return 0
        return _first(thing.batch)
    if isinstance(thing, Tensor):
        return _first(thing.shape)
    if isinstance(value, str):
        return len(value)
    values = elements(walk, value)
    return len(values) if isinstance(values, tuple) else UNKNOWN


def _first(shape: Any) -> Value:
    if shape and is_size(shape[0]):
        return shape[0]
    return UNKNOWN


def range_(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """range(...): its numbers, if they are few."""
    ends = args.values()
    if ends == [0] and isinstance(args.positional[0][1], CallExpr):
        _no_rows(walk, args.positional[0][1])
    if ends and all(is_int(end) for end in ends):
        try:
            numbers = range(*ends)
        except (TypeError, ValueError):
            return UNKNOWN
        # A list, not a tuple: as an index it picks rows.
        return walk.here.new(Items(tuple(numbers))) if len(numbers) <= 32 else Many(UNKNOWN)
    return Many(UNKNOWN)


def _no_rows(walk: Walk, expr: CallExpr) -> None:
    """range(len(x)) of a container without batch size."""
    if (
        isinstance(expr.callee, NameExpr)
        and expr.callee.fullname == "builtins.len"
        and isinstance(expr.args[0], NameExpr)
    ):
        thing = walk.here.get(walk.evaluate(expr.args[0]))
        if isinstance(thing, Box) and thing.no_batch_size and thing.batch == ():
            text = "len: the batch size is [] because no batch_size was given, so this is always 0"
            walk.say(expr, _codes.BATCH, text)


def tuple_(walk: Walk, expr: CallExpr, args: Args) -> Value:
    if not args.positional:
        return ()
    values = elements(walk, args.positional[0][0])
    return values if isinstance(values, (tuple, Many)) else UNKNOWN


def list_(walk: Walk, expr: CallExpr, args: Args) -> Value:
    if not args.positional:
        return walk.here.new(Items(()))
    values = elements(walk, args.positional[0][0])
    if isinstance(values, Many):
        return values
    return walk.here.new(Items(values if isinstance(values, tuple) else None))


def dict_(walk: Walk, expr: CallExpr, args: Args) -> Value:
    if not args.positional and args.whole:
        return walk.here.new(Mapped({key: value for key, (value, _) in args.named.items()}))
    _leak(walk, args)
    return walk.here.new(Mapped(None))


def zip_(walk: Walk, expr: CallExpr, args: Args) -> Value:
    rows = [elements(walk, value) for value, _ in args.positional]
    if rows and all(isinstance(row, tuple) for row in rows) and args.whole:
        return tuple(zip(*rows))
    walk.here.expose(tuple(rows))
    each = [row.each if isinstance(row, Many) else UNKNOWN for row in rows]
    return Many(tuple(each)) if args.whole else UNKNOWN


def enumerate_(walk: Walk, expr: CallExpr, args: Args) -> Value:
    if not args.positional:
        return UNKNOWN
    row = elements(walk, args.positional[0][0], args.positional[0][1])
    if row is UNKNOWN:
        each = walk.from_item_type(args.positional[0][1])
        return Many((UNKNOWN, each))
    start = args.take("iterable start").get("start", 0)
    if isinstance(row, tuple) and is_int(start):
        return tuple(enumerate(row, start))
    walk.here.expose(row)
    return Many((UNKNOWN, row.each)) if isinstance(row, Many) else UNKNOWN


def reversed_(walk: Walk, expr: CallExpr, args: Args) -> Value:
    row = elements(walk, args.positional[0][0]) if args.positional else UNKNOWN
    if isinstance(row, tuple):
        return tuple(reversed(row))
    return row if isinstance(row, Many) else UNKNOWN


def iter_(walk: Walk, expr: CallExpr, args: Args) -> Value:
    for value in args.values():
        if not isinstance(walk.here.get(value), Box):  # The rows of a container are others each time.
            walk.here.expose(value)
    return UNKNOWN


def int_(walk: Walk, expr: CallExpr, args: Args) -> Value:
    value = args.positional[0][0] if args.positional else UNKNOWN
    return value if is_size(value) else UNKNOWN


def number(pick: Callable[..., Any]) -> Handler:
    def of(walk: Walk, expr: CallExpr, args: Args) -> Value:
        values = args.values()
        if len(values) == 1:
            row = elements(walk, values[0])
            values = list(row) if isinstance(row, tuple) else []
        if values and all(is_int(value) for value in values):
            return pick(values)
        walk.here.forget(tuple(values))  # One of them comes back.
        return UNKNOWN

    return of


def product(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """math.prod of sizes"""
    row = elements(walk, args.positional[0][0]) if args.positional else UNKNOWN
    if isinstance(row, tuple) and not args.named and all(is_size(value) for value in row):
        total: Any = 1
        for value in row:
            total = total * value
        return total
    return UNKNOWN


def reveal_batch(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """tensorclass.reveal_batch(x): a note with the batch size that is known."""
    if not args.positional:
        return UNKNOWN
    value = args.positional[0][0]
    thing = walk.here.get(value)
    batch = thing.batch if isinstance(thing, Box) else None
    if batch is None:
        walk.note(expr, "batch unknown")
    else:
        text = show_shape(batch)[1:-1]
        walk.note(expr, f"batch ({text},)" if len(batch) == 1 else f"batch ({text})")
    return value


def vmap(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """torch.vmap(f, in_dims): one entry of in_dims for each argument."""
    given = args.take("func in_dims out_dims")
    function, dims = given.get("func"), given.get("in_dims", 0)
    if isinstance(function, Lambda) and isinstance(dims, tuple):
        count = len(function.node.arguments)
        if len(dims) != count and all(argument.kind.is_positional() for argument in function.node.arguments):
            walk.say(
                expr,
                _codes.MODULE,
                f"vmap: in_dims has {len(dims)} for {count} arguments of the function; give one for each",
            )
    _leak(walk, args)
    return UNKNOWN


def partial(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """functools.partial(f, ...): what f takes besides; after a parameter that is given by name, by name only."""
    from ._modules import callable_type

    _leak(walk, args)
    typ = callable_type(walk, args.positional[0][0]) if args.positional and args.whole else None
    count = len(args.positional) - 1
    if typ is None or any(kind.is_star() for kind in typ.arg_kinds) or count > len(typ.arg_kinds):
        return UNKNOWN
    kinds, named = list(typ.arg_kinds[count:]), False
    for place, name in enumerate(typ.arg_names[count:]):
        named = named or name in args.named
        if named:
            optional = name in args.named or kinds[place].is_optional()
            kinds[place] = ARG_NAMED_OPT if optional else ARG_NAMED
    rest = typ.copy_modified(arg_types=typ.arg_types[count:], arg_names=typ.arg_names[count:], arg_kinds=kinds)
    return Typed(rest)


def getattr_(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """getattr(x, "name") of a typed class: mypy asks nobody whether there is such a name."""
    values = args.values()
    info = _without(walk.here.get(values[0]), values[1]) if len(values) == 2 else None
    if info is not None:
        walk.say(expr, _codes.FIELD, errors.no_field(info.name, values[1], names_of(info) or ()))
    return UNKNOWN


def setattr_(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """setattr(x, "name", value) of a typed class."""
    values = args.values()
    info = _without(walk.here.get(values[0]), values[1]) if len(values) == 3 else None
    if info is not None:
        walk.say(expr, _codes.FIELD, errors.no_field_to_set(info.name, values[1], names_of(info) or ()))
    _leak(walk, args)
    return UNKNOWN


def _without(box: Value, name: Value) -> TypeInfo | None:
    """The class of a container, if its instances have surely no attribute of this name."""
    info = box.info if isinstance(box, Box) else None
    if info is None or not isinstance(name, str) or not names_of(info) or info.get(name) is not None:
        return None
    own = info.get_method("__getattr__")
    return info if own is None or is_ours(own.info) else None


def copy_(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """copy.copy and copy.deepcopy"""
    if len(args.positional) != 1:
        return UNKNOWN
    value = args.positional[0][0]
    thing = walk.here.get(value)
    if isinstance(thing, (Items, Mapped, Net)):
        walk.here.expose(value)
        return walk.here.new(thing) if isinstance(thing, Net) else UNKNOWN
    if isinstance(thing, Box):
        from ._containers import copied

        return copied(walk, thing)
    return value if isinstance(value, Tensor) else UNKNOWN


_FUNCTIONS: dict[str, Handler] = {
    "builtins.len": length,
    "builtins.range": range_,
    "builtins.tuple": tuple_,
    "builtins.list": list_,
    "builtins.dict": dict_,
    "builtins.zip": zip_,
    "builtins.enumerate": enumerate_,
    "builtins.reversed": reversed_,
    "builtins.int": int_,
    "builtins.iter": iter_,
    "builtins.min": number(min),
    "builtins.max": number(max),
    "builtins.sum": number(sum),
    "builtins.getattr": getattr_,
    "builtins.setattr": setattr_,
    "math.prod": product,
    "copy.copy": copy_,
    "copy.deepcopy": copy_,
    "tensorclass.reveal_batch": reveal_batch,
    "torch.vmap": vmap,
    "torch.func.vmap": vmap,
    "functools.partial": partial,
}

__all__ = ["Dtype", "Ref", "library"]
