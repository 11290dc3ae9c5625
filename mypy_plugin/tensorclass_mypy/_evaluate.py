"""Expressions: what is known of the value of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    AssignmentExpr,
    CastExpr,
    ComparisonExpr,
    ConditionalExpr,
    Decorator,
    DictExpr,
    DictionaryComprehension,
    Expression,
    FuncDef,
    GeneratorExpr,
    IndexExpr,
    IntExpr,
    LambdaExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    OpExpr,
    RefExpr,
    SetExpr,
    SliceExpr,
    StarExpr,
    StrExpr,
    TupleExpr,
    TypeInfo,
    UnaryExpr,
    Var,
)
from mypy.types import Instance

from tensorclass._rules import sizes
from tensorclass._rules.sizes import UNKNOWN

from . import _constants, _dtypes, _late, _scan
from ._binary import binary
from ._names import canonical
from ._state import join, join_values
from ._types import is_library, item_of_type, known_type
from ._values import (
    Box,
    Class,
    Cut,
    Dtype,
    Function,
    Items,
    Lambda,
    Library,
    Many,
    Mapped,
    Number,
    Pieces,
    Ref,
    Sizes,
    Star,
    Tensor,
    Typed,
    Value,
    is_size,
)

if TYPE_CHECKING:
    from ._walk import Walk

MISSING = object()


def evaluate(walk: Walk, expr: Expression) -> Value:
    """What is known of the value of an expression; its effects on the state happen."""
    if walk.state is None:
        return UNKNOWN
    walk.spend()
    handler = _EXPRESSIONS.get(type(expr).__name__)
    if handler is None:
        _visit_parts(walk, expr)
        return UNKNOWN
    try:
        return handler(walk, expr)
    except sizes.NotKnown:
        walk.forget_all()
        return UNKNOWN


def _visit_parts(walk: Walk, expr: Node) -> None:
    """An expression of a kind that is not followed: what it holds may go anywhere."""
    from ._tree import children

    for part in children(expr):
        if isinstance(part, Expression):
            walk.here.forget(evaluate(walk, part))


# -- Constants and names --------------------------------------------------------------------------------------------


def constant(walk: Walk, expr: Any) -> Value:
    return expr.value


def name(walk: Walk, expr: NameExpr) -> Value:
    node = expr.node
    if isinstance(node, Var):
        if expr.fullname in _BUILTINS:
            return _BUILTINS[expr.fullname]
        if expr.name in walk.volatile:
            return UNKNOWN
        value = walk.here.names.get(node, MISSING)
        if value is MISSING:
            value = outer(walk, expr, node)
        if (value is UNKNOWN or isinstance(value, Typed)) and node.type is not None:
            found = walk.from_type(node.type)
            return value if found is UNKNOWN else found
        return value
    return reference(walk, expr)


_BUILTINS = {"builtins.True": True, "builtins.False": False, "builtins.None": None}


def narrowed(walk: Walk, expr: Expression, value: Value) -> Value:
    """An unknown value may have a type that says something."""
    if value is UNKNOWN or (isinstance(value, Typed)):
        typ = known_type(walk, expr)
        found = walk.from_type(typ) if typ is not None else UNKNOWN
        return value if found is UNKNOWN else found
    return value


def outer(walk: Walk, expr: NameExpr, var: Var) -> Value:
    """A name that is bound outside of the function at hand."""
    if var.is_final and var.final_value is not None:
        return var.final_value
    if expr.kind == 1 and var.fullname:  # GDEF: a name of a module.
        value = walk.globals_of(var.fullname)
        if value is not UNKNOWN:
            return adopt(walk, var, value)
    value = walk.from_type(var.type) if var.type is not None else UNKNOWN
    if isinstance(value, Ref):
        walk.here.names[var] = value
    return value


def adopt(walk: Walk, var: Var, found: tuple[Any, Value]) -> Value:
    """A value of the module's top level, with the things it hangs on."""
    state, value = found
    ids: set[int] = set()
    state.reachable(value, ids)
    changed = _scan.changed_in(walk.tree)
    for ident in ids:
        if ident not in walk.here.heap and ident in state.heap:
            walk.here.heap[ident] = state.heap[ident]
            thing = state.heap[ident]
            if isinstance(thing, Box) or (isinstance(thing, (Items, Mapped)) and var.name in changed):
                walk.here.forget(Ref(ident))  # A function may have changed it since.
    walk.here.names[var] = value
    return value


def reference(walk: Walk, expr: RefExpr) -> Value:
    """A name of a function, class or module."""
    node: Any = expr.node
    if isinstance(node, Decorator):
        node = node.func if plain_decorators(node) else None
    if isinstance(node, FuncDef):
        if canonical(node.fullname) != node.fullname or _library_module(node.fullname):
            return Library(canonical(node.fullname))
        return Function(node)
    if isinstance(node, TypeInfo):
        return Class(node)
    if isinstance(node, MypyFile):
        return Library(canonical(node.fullname))
    fullname = expr.fullname
    if fullname and _library_module(fullname):
        return library_value(canonical(fullname))
    if fullname.startswith("builtins."):
        return Library(fullname)
    return UNKNOWN


def library_value(name: str) -> Value:
    """A name of a package: torch.float32 is a dtype, anything else stands for itself."""
    if name.startswith("torch.") and name[6:] in _dtypes.TORCH:
        return Dtype(_dtypes.TORCH[name[6:]])
    return Library(name)


_LIBRARIES = ("torch.", "tensorclass.", "builtins.", "math.", "functools.", "itertools.", "copy.", "numpy.", "einops.")


def _library_module(fullname: str) -> bool:
    return fullname.startswith(_LIBRARIES)


def plain_decorators(node: Decorator) -> bool:
    """Decorators that leave the function's behaviour as it is."""
    fine = ("jaxtyping", "typing.", "torch.no_grad", "torch.inference_mode", "torch.autograd", "functools.cache")
    return all(_scan.full_name(one).startswith(fine) for one in node.decorators)


def member(walk: Walk, expr: MemberExpr) -> Value:
    owner = evaluate(walk, expr.expr)
    if isinstance(owner, Library):
        node = expr.node
        if expr.name == "value" and isinstance(expr.expr, MemberExpr) and isinstance(expr.expr.expr, RefExpr):
            enum = expr.expr.expr.node
            if isinstance(enum, TypeInfo) and enum.is_enum:
                return _constants.member_value(enum, expr.expr.name)
        if isinstance(node, TypeInfo):
            return Class(node)
        if isinstance(node, (FuncDef, Decorator)) and not _library_module(expr.fullname or ""):
            return reference(walk, expr)
        if isinstance(node, Var) and node.is_final and node.final_value is not None:
            return node.final_value
        if isinstance(node, Var) and not _library_module(expr.fullname or ""):
            found = walk.globals_of(node.fullname)
            return adopt(walk, node, found) if found is not UNKNOWN else narrowed(walk, expr, UNKNOWN)
        return library_value(canonical(f"{owner.name}.{expr.name}"))
    value = _late.attributes.read(walk, expr, owner)
    return narrowed(walk, expr, value)


# -- Collections ----------------------------------------------------------------------------------------------------


def items(walk: Walk, exprs: list[Expression]) -> tuple[Value, ...] | None:
    """The values of a row of expressions; None when a star hides their number."""
    values: list[Value] = []
    known = True
    for expr in exprs:
        if isinstance(expr, StarExpr):
            value = evaluate(walk, expr.expr)
            inner = value.row if isinstance(value, Sizes) else elements(walk, value)
            if isinstance(inner, tuple):
                values.extend(inner)
            else:
                known = False
        else:
            values.append(evaluate(walk, expr))
    if not known:
        walk.here.forget(tuple(values))
        return None
    return tuple(values)


def tuple_(walk: Walk, expr: TupleExpr) -> Value:
    found = items(walk, expr.items)
    if found is not None and any(isinstance(item, Star) for item in found):
        return Sizes(found) if all(is_size(item) or isinstance(item, Star) for item in found) else UNKNOWN
    return UNKNOWN if found is None else found


def list_(walk: Walk, expr: ListExpr) -> Value:
    found = items(walk, expr.items)
    if found is not None and any(isinstance(item, Star) for item in found):
        found = None
    return walk.here.new(Items(found))


def set_(walk: Walk, expr: SetExpr) -> Value:
    walk.here.forget(items(walk, expr.items) or ())
    return UNKNOWN


def dict_(walk: Walk, expr: DictExpr) -> Value:
    found: dict[Any, Value] | None = {}
    for key, value in expr.items:
        inner = evaluate(walk, value)
        if key is None:
            inner = walk.here.get(inner)
            if found is not None and isinstance(inner, Mapped) and inner.items is not None:
                found.update(inner.items)
            else:
                walk.here.expose(inner)
                walk.here.forget(tuple((found or {}).values()))
                found = None
            continue
        k = evaluate(walk, key)
        if found is not None and is_key(k):
            found[k] = inner
        else:
            walk.here.forget((inner, *(found or {}).values()))
            found = None
    return walk.here.new(Mapped(found))


def is_key(value: Value) -> bool:
    """A constant that can be a key of a dict: a string, a number, or a tuple of them."""
    if isinstance(value, tuple):
        return all(is_key(item) for item in value)
    return isinstance(value, (str, int, float, bytes)) or value is None


def comprehension(walk: Walk, expr: Any) -> Value:
    """A list comprehension, followed when it runs once over known values."""
    generator: GeneratorExpr = expr.generator if hasattr(expr, "generator") else expr
    if len(generator.sequences) != 1:
        return _lost(walk, generator)
    values = elements(walk, evaluate(walk, generator.sequences[0]), generator.sequences[0])
    conditions = generator.condlists[0]
    if isinstance(values, tuple) and len(values) <= 16:
        kept: list[Value] = []
        for value in values:
            walk.assign(generator.indices[0], value)
            decided = [truth(walk, test) for test in conditions]
            if False in decided:
                continue
            if None in decided:
                return _lost(walk, generator)
            kept.append(evaluate(walk, generator.left_expr))
        return walk.here.new(Items(tuple(kept)))
    each = values.each if isinstance(values, Many) else walk.from_item_type(generator.sequences[0])
    before = walk.here.copy()
    walk.assign(generator.indices[0], each)
    hush = any(_scan.asks(test) for test in conditions)
    walk.quiet += hush
    for test in conditions:
        truth(walk, test)
    result = evaluate(walk, generator.left_expr)
    walk.quiet -= hush
    walk.state = join(before, walk.state)
    return Many(result) if result is not UNKNOWN else walk.here.new(Items(None))


def _lost(walk: Walk, generator: Any) -> Value:
    for sequence in generator.sequences:
        walk.here.forget(evaluate(walk, sequence))
    for one in _scan.names_in_vars(generator.left_expr):
        walk.here.forget(walk.here.names.get(one, UNKNOWN))
    return walk.here.new(Items(None))


def dict_comprehension(walk: Walk, expr: DictionaryComprehension) -> Value:
    if len(expr.sequences) == 1 and not expr.condlists[0]:
        values = elements(walk, evaluate(walk, expr.sequences[0]), expr.sequences[0])
        if isinstance(values, tuple) and len(values) <= 16:
            found: dict[Any, Value] = {}
            for value in values:
                walk.assign(expr.indices[0], value)
                key = evaluate(walk, expr.key) if expr.key is not None else UNKNOWN
                if not is_key(key):
                    break
                found[key] = evaluate(walk, expr.value)
            else:
                return walk.here.new(Mapped(found))
            walk.here.forget((values, *found.values()))
    else:
        for sequence in expr.sequences:
            walk.here.forget(evaluate(walk, sequence))
    for one in _scan.names_in_vars(expr.value):
        walk.here.forget(walk.here.names.get(one, UNKNOWN))
    return walk.here.new(Mapped(None))


def elements(walk: Walk, value: Value, expr: Expression | None = None) -> Any:
    """What iterating over a value gives: a tuple of values, Many of one kind, or UNKNOWN."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, Many):
        return value
    thing = walk.here.get(value)
    if isinstance(thing, Items):
        return UNKNOWN if thing.items is None else thing.items
    if isinstance(thing, Mapped):
        return UNKNOWN if thing.items is None else tuple(thing.items)
    if isinstance(thing, Box):
        return walk.here.linked(value, _late.containers.rows(walk, expr, value, thing))
    if isinstance(thing, Tensor):
        return _late.tensors.rows_of(thing)
    if isinstance(value, Typed):
        each = item_of_type(walk, value.type)
        return UNKNOWN if each is UNKNOWN else Many(each)
    return UNKNOWN


def slice_(walk: Walk, expr: SliceExpr) -> Value:
    parts = [None if part is None else evaluate(walk, part) for part in (expr.begin_index, expr.end_index, expr.stride)]
    return Cut(parts[0], parts[1], parts[2])


def index(walk: Walk, expr: IndexExpr) -> Value:
    owner = evaluate(walk, expr.base)
    if isinstance(owner, Class):
        return owner  # Particles[int]: the class, with type arguments.
    value = _late.attributes.read_item(walk, expr, owner, evaluate(walk, expr.index))
    return narrowed(walk, expr, value)


def truth(walk: Walk, expr: Expression) -> bool | None:
    """Whether a test holds; see _truth."""
    known: bool | None = _late.truth.truth(walk, expr)
    return known


def compared(walk: Walk, expr: ComparisonExpr) -> Value:
    """A comparison as a value; see _truth."""
    return _late.truth.compared(walk, expr)


# -- Operators ------------------------------------------------------------------------------------------------------


def operator(walk: Walk, expr: OpExpr) -> Value:
    if expr.op in ("and", "or"):
        return either(walk, expr)
    return binary(walk, expr, expr.op, evaluate(walk, expr.left), evaluate(walk, expr.right))


def either(walk: Walk, expr: OpExpr) -> Value:
    """`a and b`, `a or b`: the right side may not run."""
    known = truth(walk, expr.left)
    left = UNKNOWN
    stop = expr.op == "or"
    if known is stop:
        return known if isinstance(known, bool) else UNKNOWN
    hush = known is None and walk.guarded(expr.left)
    before = walk.here.copy()
    walk.quiet += hush
    right = evaluate(walk, expr.right)
    walk.quiet -= hush
    if known is (not stop):
        return right
    walk.state = join(before, walk.state)
    typ = known_type(walk, expr.left)
    if not (isinstance(typ, Instance) and typ.type.fullname in ("builtins.bool", "builtins.int", "builtins.str")):
        for var in _scan.names_in_vars(expr.left):
            walk.here.forget(walk.here.names.get(var, UNKNOWN))  # The left side may be what comes out.
    return join_values(walk.here, left, right) if walk.state is not None else UNKNOWN


def unary(walk: Walk, expr: UnaryExpr) -> Value:
    if expr.op == "not":
        known = truth(walk, expr.expr)
        return UNKNOWN if known is None else not known
    value = evaluate(walk, expr.expr)
    if isinstance(value, Number):
        return value
    if is_size(value) or isinstance(value, float):
        return -value if expr.op == "-" else value if expr.op == "+" else UNKNOWN
    thing = walk.here.get(value)
    if isinstance(thing, Tensor):
        return Tensor(thing.shape, thing.dtype)
    if isinstance(thing, Box):
        return _late.containers.like(walk, thing)
    return UNKNOWN


def conditional(walk: Walk, expr: ConditionalExpr) -> Value:
    known = truth(walk, expr.cond)
    if known is not None:
        return evaluate(walk, expr.if_expr if known else expr.else_expr)
    hush = walk.guarded(expr.cond)
    before = walk.here.copy()
    walk.quiet += hush
    walk.narrow(expr.cond, True)
    one = evaluate(walk, expr.if_expr)
    first = walk.state
    walk.state = before
    walk.narrow(expr.cond, False)
    other = evaluate(walk, expr.else_expr)
    walk.quiet -= hush
    second = walk.state
    key = Var("")
    if first is not None:
        first.names[key] = one
    if second is not None:
        second.names[key] = other
    walk.state = join(first, second)
    return UNKNOWN if walk.state is None else walk.state.names.pop(key, UNKNOWN)


def walrus(walk: Walk, expr: AssignmentExpr) -> Value:
    value = evaluate(walk, expr.value)
    walk.assign(expr.target, value)
    return value


def lambda_(walk: Walk, expr: LambdaExpr) -> Value:
    return Lambda(expr)


def cast(walk: Walk, expr: CastExpr) -> Value:
    value = evaluate(walk, expr.expr)
    if value is UNKNOWN or isinstance(value, Typed):
        return walk.from_type(expr.type)
    return value


def same_inside(walk: Walk, expr: Any) -> Value:
    """reveal_type, assert_type: the value itself."""
    inner: Expression | None = getattr(expr, "expr", None)
    return UNKNOWN if inner is None else evaluate(walk, inner)


def yielded(walk: Walk, expr: Any) -> Value:
    """The caller runs in between, and can change whatever it was given."""
    if expr.expr is not None:
        evaluate(walk, expr.expr)
    for value in list(walk.here.names.values()):
        walk.here.forget(value)
    return UNKNOWN


def call(walk: Walk, expr: Any) -> Value:
    return narrowed(walk, expr, _late.calls.call(walk, expr))


_EXPRESSIONS: dict[str, Callable[[Any, Any], Value]] = {
    "IntExpr": constant,
    "StrExpr": constant,
    "FloatExpr": constant,
    "EllipsisExpr": lambda walk, expr: ...,
    "NameExpr": name,
    "MemberExpr": member,
    "CallExpr": call,
    "IndexExpr": index,
    "SliceExpr": slice_,
    "TupleExpr": tuple_,
    "ListExpr": list_,
    "SetExpr": set_,
    "DictExpr": dict_,
    "ListComprehension": comprehension,
    "GeneratorExpr": comprehension,
    "DictionaryComprehension": dict_comprehension,
    "OpExpr": operator,
    "UnaryExpr": unary,
    "ComparisonExpr": compared,
    "ConditionalExpr": conditional,
    "AssignmentExpr": walrus,
    "LambdaExpr": lambda_,
    "CastExpr": cast,
    "AssertTypeExpr": same_inside,
    "RevealExpr": same_inside,
    "YieldExpr": yielded,
    "AwaitExpr": yielded,
    "YieldFromExpr": yielded,
}

__all__ = ["IntExpr", "Pieces", "StrExpr", "evaluate", "is_library", "truth"]
