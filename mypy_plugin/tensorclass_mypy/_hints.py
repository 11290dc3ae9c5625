"""Shapes that annotations declare: jaxtyping's classes on parameters, results, variables and fields."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mypy.nodes import Expression, FuncDef, Import, ImportFrom, MypyFile, NameExpr, SymbolTable
from mypy.types import CallableType, ProperType, RawExpressionType, TupleType, UnboundType, UnionType, get_proper_type

from tensorclass._rules import algebra
from tensorclass._rules import annotations as strings
from tensorclass._rules.annotations import AnnotationError, Dims, One
from tensorclass._rules.sizes import UNKNOWN

from . import _codes, _dtypes
from ._aliases import Names
from ._types import returned
from ._values import (
    Box,
    Perhaps,
    Ref,
    Shape,
    Star,
    Tensor,
    Value,
    differ,
    has_star,
    is_int,
    show_shape,
    show_size,
    some_run,
)

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk


@dataclass(frozen=True)
class Hint:
    """What one annotation declares."""

    text: str
    dims: Dims
    dtype: str | None
    of: str  # The name of the class inside the brackets.
    kind: str  # The name of jaxtyping's class.
    optional: bool = False


@dataclass(frozen=True)
class Signature:
    """What the annotations of a function declare."""

    parameters: dict[str, Hint]
    result: Hint | tuple[Hint | None, ...] | None


def imported(tree: MypyFile) -> dict[str, str]:
    """Names in a file that come from jaxtyping: Float, or jt.Float through `import jaxtyping as jt`."""
    found: dict[str, str] = {}
    for node in tree.imports:
        if isinstance(node, ImportFrom) and node.id == "jaxtyping" and node.relative == 0:
            for name, alias in node.names:
                if name in _dtypes.TAKES:
                    found[alias or name] = name
        elif isinstance(node, Import):
            for name, alias in node.ids:
                if name == "jaxtyping":
                    found.update({f"{alias or name}.{kind}": kind for kind in _dtypes.TAKES})
    return found


_imports: dict[int, tuple[SymbolTable, dict[str, str]]] = {}


def names_of(tree: MypyFile) -> dict[str, str]:
    kept = _imports.get(id(tree))
    if kept is None or kept[0] is not tree.names:
        _imports.clear() if len(_imports) > 200 else None
        kept = (tree.names, imported(tree))
        _imports[id(tree)] = kept
    return kept[1]


def of_type(tree: MypyFile, api: Any, typ: Any) -> Hint | None:
    """The shape that an annotation declares, if it is one of jaxtyping's."""
    return read(typ, Names(tree, api))


def read(typ: ProperType | None, names: Names, optional: bool = False) -> Hint | None:
    """The shape that an annotation declares, as it is written: mypy has analysed nothing of it yet."""
    if isinstance(typ, UnionType):
        rest: list[Any] = [item for item in typ.items if not _is_none(item)]
        return read(rest[0], names, True) if len(rest) == 1 and len(typ.items) == 2 else None
    if not isinstance(typ, UnboundType):
        return None
    if typ.name.split(".")[-1] == "Optional" and len(typ.args) == 1:
        return read(get_proper_type(typ.args[0]), names, True)
    if not typ.args:
        alias = names.alias(typ.name)
        return replace(alias, optional=optional or alias.optional) if alias is not None else None
    if typ.name not in names.classes or len(typ.args) != 2:
        return None
    kind, text, inner = names.classes[typ.name], _text(typ.args[1]), typ.args[0]
    if text is None or not isinstance(inner, UnboundType):
        return None
    around = read(inner, names)  # Float[Image, "b"] has the dims of Image behind its own.
    if around is not None and (around.optional or around.kind != kind):
        return None
    if around is None and inner.args:
        return None
    text = text if around is None else f"{text} {around.text}".strip()
    try:
        dims = strings.parse(text)
    except AnnotationError:
        return None
    return Hint(text, dims, _dtypes.declared(kind), inner.name if around is None else around.of, kind, optional)


def _is_none(typ: Any) -> bool:
    return type(typ).__name__ == "NoneType" or (isinstance(typ, UnboundType) and typ.name == "None")


def _text(typ: Any) -> str | None:
    if isinstance(typ, RawExpressionType):
        return typ.literal_value if isinstance(typ.literal_value, str) else None
    return typ.original_str_expr if isinstance(typ, UnboundType) else None


def signature(tree: MypyFile, api: Any, node: FuncDef, own: dict[str, Hint] | None = None) -> Signature | None:
    """What the annotations of a function declare; None: nothing."""
    typ = node.unanalyzed_type
    if not isinstance(typ, CallableType):
        return None
    names = Names(tree, api, own)
    parameters: dict[str, Hint] = {}
    for argument, declared in zip(node.arguments, typ.arg_types):
        if argument.kind.is_star():
            continue
        hint = read(get_proper_type(declared), names)
        if hint is not None:
            parameters[argument.variable.name] = hint
    inner: ProperType = get_proper_type(typ.ret_type)
    result: Hint | tuple[Hint | None, ...] | None = read(inner, names)
    if isinstance(inner, UnboundType) and inner.name.split(".")[-1] in ("tuple", "Tuple") and inner.args:
        parts = tuple(read(get_proper_type(item), names) for item in inner.args)
        result = parts if any(parts) else None
    if isinstance(inner, TupleType):
        parts = tuple(read(get_proper_type(item), names) for item in inner.items)
        result = parts if any(parts) else None
    if not parameters and result is None:
        return None
    return Signature(parameters, result)


def stored(walk: Walk, node: FuncDef) -> Signature | None:
    """What the annotations of a function of a module read from the cache declare."""
    from ._stored import signature_of

    found: Signature | None = signature_of(walk, node)
    return found


# -- Shapes out of annotations --------------------------------------------------------------------------------------


def to_shape(dims: Dims, bound: dict[str, Any] | None = None, free: bool = True) -> Shape:
    """The shape that a dim string stands for; `free`: names that are not bound stand for themselves."""
    bound = bound or {}
    row: list[Any] = [_size(one, bound, free) for one in dims.before]
    if dims.many is not None:
        run = bound.get(f"*{dims.many.name}") if dims.many.name is not None and not dims.many.broadcast else None
        if run is not None:
            row += run
        else:
            named = free and dims.many.name is not None and not dims.many.broadcast
            row.append(Star(str(dims.many.name)) if named else some_run())
    row += [_size(one, bound, free) for one in dims.after]
    return tuple(row)


def _size(one: One, bound: dict[str, Any], free: bool) -> Any:
    if one.size is None or one.broadcast:
        return UNKNOWN
    if is_int(one.size):
        return one.size
    names = one.size.names  # type: ignore[union-attr]  # a Dim, as it is no int
    if not free and not all(name in bound for name in names):
        return UNKNOWN
    if any(bound.get(name) is UNKNOWN for name in names):
        return UNKNOWN
    return one.size.given(bound)  # type: ignore[union-attr]  # a Dim, as it is no int


def fits(walk: Walk, dims: Dims, shape: Shape, bound: dict[str, Any], strict: bool = False) -> str | None:
    """Why a shape does not fit a dim string, or None; names that are new are bound."""
    if shape is None:
        return None
    few = len(dims.before) + len(dims.after)
    if has_star(shape):
        return _fits_star(walk, dims, shape, bound, strict)
    if len(shape) < few or (len(shape) > few and dims.many is None):
        least = "" if dims.many is None else "at least "
        return f"it has {_count(len(shape))}, not {least}{few}"
    behind = len(shape) - len(dims.after)
    if dims.many is not None and dims.many.name is not None and not dims.many.broadcast:
        run = tuple(shape[len(dims.before) : behind])
        known = bound.setdefault(f"*{dims.many.name}", run)
        if known is not run and not has_star(known):
            if len(known) != len(run) or any(unlike(walk, a, b) for a, b in zip(known, run)):
                return f"*{dims.many.name} is {show_shape(run)} here and {show_shape(known)} elsewhere"
    places = [*zip(dims.before, range(few)), *zip(dims.after, range(behind, len(shape)))]
    places.sort(key=lambda pair: strings.plain_name(pair[0].size) is None)
    for one, place in places:
        wrong = _fits_one(walk, one, place, shape[place], bound, strict)
        if wrong is not None:
            return wrong
    return None


def _count(number: int) -> str:
    return "1 dim" if number == 1 else f"{number} dims"


def _fits_star(walk: Walk, dims: Dims, shape: tuple[Any, ...], bound: dict[str, Any], strict: bool) -> str | None:
    """A shape with a run of dims against a dim string that may name the same run."""
    place = next(at for at, size in enumerate(shape) if isinstance(size, Star))
    star: Star = shape[place]
    before, after = place, len(shape) - place - 1
    if dims.many is not None and dims.many.name is not None and not dims.many.broadcast:
        key = f"*{dims.many.name}"
        known = bound.get(key, ())
        if not known or _is_some(known[0]):
            if key not in bound and before == len(dims.before) and after == len(dims.after):
                bound[key] = (star,)
        elif len(known) == 1 and isinstance(known[0], Star) and _whole(known[0]) == _whole(star):
            gone = star.gone - known[0].gone
            wanted = len(dims.before) + len(dims.after)
            if before - gone + after != wanted:
                return f"it has {_more_or_fewer(before + after - gone - wanted)}"
            if gone:
                return (
                    f"its {'last' if star.cut else 'first'} dim is gone: it is {show_shape(shape)}" if strict else None
                )
    if dims.many is None and before + after > len(dims.before):
        return f"it has at least {_count(before + after)}, not {len(dims.before)}"
    last = dims.before if dims.many is None else dims.after
    ends = [*zip(dims.before, shape[:place], range(place))]
    ends += zip(reversed(last), reversed(shape[place + 1 :]), range(-1, -after - 1, -1))
    for one, size, at in ends:
        wrong = _fits_one(walk, one, at, size, bound, strict)
        if wrong is not None:
            return wrong
    return None


def _whole(star: Star) -> Star:
    return replace(star, dropped=0, cut=0)


def _is_some(size: Any) -> bool:
    return isinstance(size, Star) and size.name == "?"


def _more_or_fewer(number: int) -> str:
    return f"{_count(abs(number))} too {'many' if number > 0 else 'few'}"


def _fits_one(walk: Walk, one: One, place: int, size: Any, bound: dict[str, Any], strict: bool) -> str | None:
    wanted = one.size
    if wanted is None or size is UNKNOWN or isinstance(size, Star):
        return None
    if one.broadcast and is_int(size) and size == 1:
        return None
    name = strings.plain_name(wanted)
    if name is not None and name not in bound:
        bound[name] = size
        return None
    if isinstance(wanted, algebra.Dim):
        if not all(known in bound and bound[known] is not UNKNOWN for known in wanted.names):
            return None
        value = wanted.given(bound)
    else:
        value = wanted
    if not unlike(walk, value, size, strict):
        return None
    shown = show_size(size)
    if name is not None:
        return f"{name} is {shown} here" + ("" if str(value) == name else f" and {show_size(value)} elsewhere")
    return f"dim {place} is {shown}, not {wanted}"


def unlike(walk: Walk, a: Any, b: Any, strict: bool = False) -> bool:
    """Whether two sizes surely differ; not where the program itself has compared their names."""
    for size in (a, b):
        if isinstance(size, algebra.Dim) and size.names & walk.doubted:
            return False
    return differ(a, b, strict) is True


# -- Checks ---------------------------------------------------------------------------------------------------------


def parameter(walk: Walk, hint: Hint, var_type: Any) -> Value:
    """The value of a parameter with this annotation, seen from inside of the function."""
    return _with_shape(walk, hint, walk.from_type(var_type), to_shape(hint.dims))


def _with_shape(walk: Walk, hint: Hint, value: Value, shape: Shape) -> Value:
    thing = walk.here.get(value)
    if isinstance(thing, Box):
        return walk.here.new(replace(thing, batch=shape))
    if isinstance(thing, Tensor) or hint.of.split(".")[-1] == "Tensor":
        tensor = Tensor(shape, hint.dtype)
        return Perhaps(tensor) if hint.optional else tensor
    return UNKNOWN if hint.optional else value


def wrong(walk: Walk, hint: Hint, value: Value, bound: dict[str, Any], strict: bool = False) -> str | None:
    """Why a value does not fit its annotation, or None."""
    thing = walk.here.get(value)
    if isinstance(thing, Box):
        reason = fits(walk, hint.dims, thing.batch, bound, strict)
        return (
            None
            if reason is None
            else f'has batch size {show_shape(thing.batch)}, which does not fit "{hint.text}": {reason}'
        )
    if not isinstance(thing, Tensor):
        return None
    reason = fits(walk, hint.dims, thing.shape, bound, strict)
    if reason is not None:
        return f'has shape {show_shape(thing.shape)}, which does not fit "{hint.text}": {reason}'
    if _dtypes.refuses(walk, hint.kind, thing.dtype):
        takes = _dtypes.takes_of(hint.kind)
        would = f"; {', '.join(takes)} would do" if len(takes) < 4 else ""
        return f"has dtype {_dtypes.shown(thing.dtype)}, which {hint.kind} does not take{would}"
    return None


def declared(walk: Walk, expr: Expression, value: Value, hint: Hint, name: str) -> Value:
    """A variable with an annotation: the value is checked, and what the annotation adds is known from here."""
    bound = walk.frames[-1].bound if walk.frames else {}
    reason = wrong(walk, hint, value, bound, strict=True)
    if reason is not None:
        walk.say(expr, _codes.BATCH if isinstance(value, Ref) else _codes.SHAPE, f"{name} {reason}")
    thing = walk.here.get(value)
    known = thing.shape if isinstance(thing, Tensor) else None
    if known is not None and not has_star(known) and reason is None:
        return Tensor(known, thing.dtype or hint.dtype)
    if isinstance(thing, Box):
        return value
    return UNKNOWN if hint.optional else Tensor(to_shape(hint.dims, bound), hint.dtype)


def check_return(walk: Walk, expr: Expression, value: Value, hints: Signature) -> None:
    """`return x` against the annotation of the result."""
    bound = walk.frames[-1].bound
    parts = hints.result if isinstance(hints.result, tuple) else (hints.result,)
    values = value if isinstance(hints.result, tuple) else (value,)
    if not isinstance(values, tuple) or len(values) != len(parts):
        return
    for place, (hint, one) in enumerate(zip(parts, values)):
        if hint is None:
            continue
        reason = wrong(walk, hint, one, bound, strict=True)
        if reason is not None:
            which = "the result" if len(parts) == 1 else f"result {place}"
            walk.say(expr, _codes.BATCH if isinstance(one, Ref) else _codes.SHAPE, f"{which} {reason}")


def check_call(
    walk: Walk, expr: Any, node: FuncDef, hints: Signature, args: Args, bound_method: bool, owner: Value = None
) -> Value:
    """A call against the annotations of the parameters: the names bind to sizes, which the result is made of."""
    names = [name or "" for name in node.arg_names]  # A function out of mypy's cache has no more than that.
    if bound_method:
        names = names[1:]
    bound = of_self(walk, owner)
    given = args.take(" ".join(names))
    for name in sorted(hints.parameters, key=lambda one: hints.parameters[one].dims.has_sums):
        hint = hints.parameters[name]
        if name not in given:
            continue
        reason = wrong(walk, hint, given[name], bound)
        if reason is not None:
            at = args.node(" ".join(names), name) or expr
            code = _codes.BATCH if isinstance(given[name], Ref) else _codes.SHAPE
            walk.say(at, code, f"{node.name}: argument {name!r} {reason}")
            bound.clear()
            break
    return result(walk, hints, bound, node)


def of_self(walk: Walk, owner: Value) -> dict[str, Any]:
    """What a container's own batch size and fields bind, in a call of one of its methods."""
    from ._containers import names_bound

    box = walk.here.get(owner)
    if not isinstance(box, Box) or box.info is None:
        return {}
    return {**names_bound(walk, box), **({} if box.batch is None else {"*batch": box.batch})}


def property_of(walk: Walk, owner: Value, node: FuncDef) -> Value:
    """A property that a user's class defines: what its annotation says."""
    tree = walk.tree_of(node.fullname)
    hints = signature(tree, walk.api, node) if tree is not None else stored(walk, node)
    if hints is None or hints.result is None:
        return returned(walk, node.type)
    return result(walk, hints, of_self(walk, owner), node)


def result(walk: Walk, hints: Signature, bound: dict[str, Any], node: FuncDef) -> Value:
    typ = node.type
    declared_type = get_proper_type(typ.ret_type) if isinstance(typ, CallableType) else None
    if isinstance(hints.result, tuple):
        types: list[Any] = list(declared_type.items) if isinstance(declared_type, TupleType) else []
        if len(types) != len(hints.result):
            return UNKNOWN
        return tuple(
            walk.from_type(one) if hint is None else _result(walk, hint, bound, one)
            for hint, one in zip(hints.result, types)
        )
    if hints.result is None:
        return UNKNOWN
    return _result(walk, hints.result, bound, declared_type)


def _result(walk: Walk, hint: Hint, bound: dict[str, Any], typ: Any) -> Value:
    return _with_shape(walk, hint, walk.from_type(typ), to_shape(hint.dims, bound, free=False))


__all__ = ["NameExpr"]
