"""Calls: arguments to parameters, and the body of a function of this program followed with what is known of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    ARG_NAMED,
    ARG_NAMED_OPT,
    ARG_OPT,
    ARG_POS,
    ARG_STAR,
    ARG_STAR2,
    CallExpr,
    Expression,
    FuncDef,
    LambdaExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    SuperExpr,
    Var,
)
from mypy.types import CallableType, Instance, TupleType, TypeVarType, get_proper_type

from tensorclass._rules.sizes import UNKNOWN

from . import _hints, _reach, _scan
from ._evaluate import elements, evaluate
from ._state import join
from ._types import is_container, is_library, is_module, is_tensor, is_tensorclass, is_tensordict, known_type, returned
from ._values import (
    Box,
    Class,
    Function,
    Items,
    Lambda,
    Library,
    Mapped,
    Method,
    Net,
    Ref,
    Sizes,
    Star,
    Tensor,
    Typed,
    Value,
)

if TYPE_CHECKING:
    from ._walk import Walk

_RETURNED = Var("<returned>")


@dataclass
class Args:
    """The arguments of a call, evaluated in order."""

    positional: list[tuple[Value, Expression]] = field(default_factory=list)
    named: dict[str, tuple[Value, Expression]] = field(default_factory=dict)
    whole: bool = True  # No *args or **kwargs of unknown length.
    runs: list[tuple[int, Sizes]] = field(default_factory=list)  # *x.shape with a run of dims, and before which value.

    def values(self) -> list[Value]:
        return [value for value, _ in self.positional] + [value for value, _ in self.named.values()]

    def sizes(self) -> tuple[Value, ...] | None:
        """Positional sizes with a run of dims among them, as in f(*x.shape, 3); None: something else is not known."""
        if len(self.runs) != 1 or self.named.keys() - {"dtype", "device", "requires_grad", "generator"}:
            return None
        (place, given), values = self.runs[0], [value for value, _ in self.positional]
        row = (*values[:place], *given.row, *values[place:])
        return row if sum(isinstance(size, Star) for size in row) == 1 else None

    def take(self, names: str) -> dict[str, Value]:
        """Arguments by the names of the parameters (a space between); one that was not given is left out."""
        found: dict[str, Value] = {}
        for parameter, (value, _) in zip(names.split(), self.positional):
            found[parameter] = value
        for key, (value, _) in self.named.items():
            found[key] = value
        return found

    def node(self, names: str, name: str) -> Expression | None:
        """The expression of one argument."""
        if name in self.named:
            return self.named[name][1]
        place = names.split().index(name)
        return self.positional[place][1] if place < len(self.positional) else None


def arguments(walk: Walk, expr: CallExpr) -> Args:
    """Evaluate the arguments of a call."""
    args = Args()
    for value, kind, key in zip(expr.args, expr.arg_kinds, expr.arg_names):
        if kind in (ARG_POS, ARG_OPT):
            args.positional.append((evaluate(walk, value), value))
        elif kind == ARG_STAR:
            given = evaluate(walk, value)
            inner = elements(walk, given)
            if isinstance(given, Sizes):
                args.runs.append((len(args.positional), given))
                args.whole = False
            elif isinstance(inner, tuple):
                args.positional.extend((item, value) for item in inner)
            else:
                args.whole = False
        elif kind == ARG_STAR2:
            given = evaluate(walk, value)
            inner = walk.here.get(given)
            if isinstance(inner, Mapped) and inner.items is not None and all(isinstance(k, str) for k in inner.items):
                args.named.update({k: (item, value) for k, item in inner.items.items()})
            else:
                args.whole = False
                walk.here.forget(given)
        elif key is not None:
            args.named[key] = (evaluate(walk, value), value)
    return args


def call(walk: Walk, expr: CallExpr) -> Value:
    """What a call gives."""
    if isinstance(expr.callee, SuperExpr):
        arguments(walk, expr)
        return UNKNOWN
    callee = evaluate(walk, expr.callee)
    args = arguments(walk, expr)
    if walk.state is None:
        return UNKNOWN
    return apply(walk, expr, callee, args)


def apply(walk: Walk, expr: CallExpr, callee: Value, args: Args) -> Value:
    """Call a value with arguments."""
    if isinstance(callee, Library):
        from ._functions import library

        return library(walk, expr, callee.name, args)
    if isinstance(callee, Method):
        from ._attributes import method

        return method(walk, expr, callee, args)
    if isinstance(callee, Class):
        return construct(walk, expr, callee, args)
    if isinstance(callee, Function):
        return follow(walk, expr, callee, args)
    if isinstance(callee, Lambda):
        return follow_lambda(walk, expr, callee.node, args)
    thing = walk.here.get(callee)
    if isinstance(thing, Net):
        from ._modules import run

        return run(walk, expr, callee, thing, args)
    if isinstance(thing, Typed):
        leak(walk, args.values())
        return returned(walk, thing.type)
    return unknown(walk, expr, args)


def unknown(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """A call that cannot be followed: whatever it was given may be changed."""
    leak(walk, args.values())
    if isinstance(expr.callee, (NameExpr, MemberExpr)):
        typ = known_type(walk, expr.callee)
        if typ is not None:
            return returned(walk, typ)
    return UNKNOWN


def is_inner(value: Value) -> bool:
    """A function inside of another, which holds the names around it."""
    return isinstance(value, Function) and "." not in value.node.fullname


def leak(walk: Walk, values: Any) -> None:
    """Values go where we cannot follow."""
    for value in values:
        walk.here.forget(value)
        node = value.node if isinstance(value, Lambda) or is_inner(value) else None
        if node is not None:
            walk.share(node.body)


# -- Functions of this program --------------------------------------------------------------------------------------


def follow(walk: Walk, expr: CallExpr, function: Function, args: Args) -> Value:
    """Call a function of this program: what its annotations say, else what its body does."""
    node = function.node
    tree = walk.tree_of(node.fullname)
    hints = _hints.signature(tree, walk.api, node) if tree is not None else None
    if hints is None:
        hints = _hints.stored(walk, node)
    result: Value = UNKNOWN
    told = walk.told
    if hints is not None:
        owner = function.self if function.bound else None
        result = _hints.check_call(walk, expr, node, hints, args, function.bound, owner)
        if hints.result is not None:
            effects(walk, expr, function, args, tree)
            return result
    if tree is not None and can_follow(walk, node) and worth(walk, node, args):
        frame = bind(walk, node, args, function.self if function.bound else None, function.bound)
        if frame is not None:
            hush = walk.told > told  # An argument is wrong: that is the mistake, and not what comes of it.
            walk.quiet += hush
            value = run_body(walk, expr, node, frame, tree)
            walk.quiet -= hush
            return value
    leak(walk, [function, *args.values()] if "." not in node.fullname else args.values())  # A closure holds names.
    if tree is not None:
        _reach.disturb(walk, node)
    if function.bound:
        walk.here.forget(function.self)
    return returned_of(walk, expr, node)


def effects(walk: Walk, expr: CallExpr, function: Function, args: Args, tree: MypyFile | None) -> None:
    """What a call does to its arguments, where its result is known from its annotation."""
    node = function.node
    things = [value for value in args.values() if not isinstance(value, Tensor)]
    if function.bound:
        things.append(function.self)
    if not any(isinstance(value, (Ref, tuple, Lambda, Function)) for value in things):
        if tree is not None:
            _reach.disturb(walk, node)
        return
    frame = None
    if tree is not None and can_follow(walk, node):
        frame = bind(walk, node, args, function.self if function.bound else None, function.bound)
    if frame is None or tree is None:
        leak(walk, things)
        if tree is not None:
            _reach.disturb(walk, node)
        return
    walk.quiet += 1
    run_body(walk, expr, node, frame, tree)
    walk.quiet -= 1


def returned_of(walk: Walk, expr: CallExpr, node: FuncDef) -> Value:
    typ = known_type(walk, expr)
    if typ is not None:
        return walk.from_type(typ)
    return returned(walk, node.type) if node.type is not None else UNKNOWN


def can_follow(walk: Walk, node: FuncDef) -> bool:
    from ._walk import DEPTH

    if node.is_generator or node.is_coroutine or node.is_async_generator or node.is_overload or node.is_property:
        return False
    if len(walk.calls) >= DEPTH or any(frame.node is node for frame in walk.frames):
        return False
    return bool(node.body.body) and node.abstract_status == 0


def worth(walk: Walk, node: FuncDef, args: Args) -> bool:
    """Whether anything can come of following a call: something is known of an argument, or a tensor may come back."""
    if "." not in node.fullname:
        return True  # A function inside of this one, which can change what it holds.
    vague = False
    for value in args.values():
        thing = walk.here.get(value)
        if isinstance(thing, Box) or (isinstance(thing, Tensor) and thing.shape is not None):
            return True
        vague = vague or isinstance(thing, Tensor)
    if vague:
        return False
    typ = node.type
    result = get_proper_type(typ.ret_type) if isinstance(typ, CallableType) else None
    if isinstance(result, TypeVarType):  # Self, that is.
        result = get_proper_type(result.upper_bound)
    if isinstance(result, Instance):
        return is_tensor(result.type) or is_container(result.type) or is_module(result.type)
    return isinstance(result, TupleType)


def bind(
    walk: Walk, node: FuncDef | LambdaExpr, args: Args, self_value: Value = None, bound: bool = False
) -> dict[Var, Value] | None:
    """The parameters of a function and what they get; None when the call does not fit or cannot be known."""
    if not args.whole:
        return None
    values = [value for value, _ in args.positional]
    if bound:
        values.insert(0, self_value)
    named = {key: value for key, (value, _) in args.named.items()}
    got: dict[Var, Value] = {}
    place = 0
    for argument in node.arguments:
        var, kind = argument.variable, argument.kind
        if kind in (ARG_POS, ARG_OPT):
            if place < len(values):
                got[var] = values[place]
                place += 1
            elif var.name in named:
                got[var] = named.pop(var.name)
            elif argument.initializer is not None:
                got[var] = default(walk, argument.initializer)
            else:
                return None
        elif kind == ARG_STAR:
            got[var] = tuple(values[place:])
            place = len(values)
        elif kind in (ARG_NAMED, ARG_NAMED_OPT):
            if var.name in named:
                got[var] = named.pop(var.name)
            elif argument.initializer is not None:
                got[var] = default(walk, argument.initializer)
            else:
                return None
        else:
            got[var] = walk.here.new(Mapped(dict(named)))
            named = {}
    if named or place < len(values):
        return None
    return got


def default(walk: Walk, expr: Expression) -> Value:
    """The default of a parameter, when it is a constant."""
    if type(expr).__name__ in ("IntExpr", "StrExpr", "FloatExpr", "NameExpr", "UnaryExpr", "EllipsisExpr"):
        return evaluate(walk, expr)
    return UNKNOWN


def run_body(walk: Walk, expr: CallExpr, node: FuncDef, parameters: dict[Var, Value], tree: MypyFile) -> Value:
    """Walk the body of a function with these arguments; the state is what it leaves behind."""
    from ._walk import Frame

    frame = Frame(node)
    names = walk.here.names
    for var in _scan.bound_in(node.body):
        names.pop(var, None)
    for var, value in parameters.items():
        names[var] = value
        if value is UNKNOWN and var.type is not None:
            names[var] = walk.from_type(var.type)
    loops, walk.loops = walk.loops, []
    volatile, walk.volatile = walk.volatile, walk.volatile | _scan.volatile_in(tree)
    hush = bool(walk.calls) is False and walk.known_broken(node)
    walk.frames.append(frame)
    walk.calls.append(expr)
    walk.quiet += hush
    try:
        walk.block(node.body)
    finally:
        walk.quiet -= hush
        walk.calls.pop()
        walk.frames.pop()
        walk.loops = loops
        walk.volatile = volatile
    if walk.state is not None:
        frame.returns.append((walk.state, None))
    walk.state = None
    for state, value in frame.returns:
        state.names[_RETURNED] = value
        walk.state = join(walk.state, state)
    if walk.state is None:
        return UNKNOWN
    result = walk.here.names.pop(_RETURNED, UNKNOWN)
    if isinstance(result, (Lambda, Function)) and not isinstance(result, Function):
        return UNKNOWN  # A closure over names that are gone.
    return result


def follow_lambda(walk: Walk, expr: CallExpr, node: LambdaExpr, args: Args) -> Value:
    from ._walk import DEPTH

    parameters = bind(walk, node, args)
    if parameters is None or len(walk.calls) >= DEPTH:
        leak(walk, args.values())
        return UNKNOWN
    walk.here.names.update(parameters)
    walk.calls.append(expr)
    from ._walk import Frame

    walk.frames.append(Frame(None))
    try:
        return evaluate(walk, node.expr())
    finally:
        walk.calls.pop()
        walk.frames.pop()


def call_value(walk: Walk, expr: CallExpr, callee: Value, values: list[Value]) -> Value:
    """Call something with values that have no place in the program."""
    return apply(walk, expr, callee, Args([(value, expr) for value in values]))


# -- Classes --------------------------------------------------------------------------------------------------------


def construct(walk: Walk, expr: CallExpr, cls: Class, args: Args) -> Value:
    """Make an instance."""
    info = cls.info
    if is_tensorclass(info):
        from ._construct import construct as construct_container

        return construct_container(walk, expr, info, args, not cls.perhaps)
    if is_tensordict(info):
        from ._construct import construct_tensordict

        return construct_tensordict(walk, expr, info, args)
    if info.fullname in ("torch.Size", "torch._C.Size"):
        inner = elements(walk, args.positional[0][0]) if args.positional else ()
        return inner if isinstance(inner, tuple) else UNKNOWN
    if info.fullname.startswith(("builtins.", "functools.")):
        from ._functions import library

        return library(walk, expr, info.fullname, args)
    if is_library(info):
        from ._modules import made

        return made(walk, expr, info, args)
    if is_module(info):
        return construct_module(walk, expr, info, args)
    if is_tensor(info):
        return Tensor()
    leak(walk, args.values())
    typ = known_type(walk, expr)
    return Typed(typ) if typ is not None else UNKNOWN


def construct_module(walk: Walk, expr: CallExpr, info: Any, args: Args) -> Value:
    """An instance of a user's nn.Module: its __init__ is followed for the attributes it sets."""
    ref = walk.here.new(Net("user", info, exact=True))
    init = info.get_method("__init__")
    if isinstance(init, FuncDef) and not is_library(init.info):
        tree = walk.tree_of(init.fullname)
        if can_follow(walk, init) and tree is not None and init.info is info:
            parameters = bind(walk, init, args, ref, True)
            if parameters is not None:
                run_body(walk, expr, init, parameters, tree)
                return ref
        leak(walk, args.values())
        # Of a class of another module, what its __init__ sets to values of that module is known all the same.
        walk.here.put(ref, Net("user", info, exact=True, touched=True) if tree is not None else Net("user", info))
    return ref


__all__ = ["Args", "Box", "Items", "Ref", "apply", "arguments", "call", "call_value", "construct", "follow", "leak"]
