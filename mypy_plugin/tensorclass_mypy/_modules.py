"""Modules: how they are made, called and asked; layers of torch, users' own, and modules with keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    CallExpr,
    Decorator,
    Expression,
    FuncDef,
    IndexExpr,
    MemberExpr,
    OverloadedFuncDef,
    RefExpr,
    TypeInfo,
    Var,
)
from mypy.types import CallableType

from tensorclass._rules import errors
from tensorclass._rules.sizes import UNKNOWN

from . import _calls_of, _codes, _layers
from ._config import LEVELS
from ._types import is_library, is_module, known_type, returned
from ._values import (
    Box,
    Function,
    Items,
    Library,
    Mapped,
    Method,
    Net,
    Pieces,
    Ref,
    Results,
    Tensor,
    Typed,
    Value,
    is_int,
)

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

KEYED = {
    "TensorDictModule": "module in_keys out_keys",
    "TensorDictSequential": "",
    "ProbabilisticTensorDictModule": "in_keys out_keys",
    "ProbabilisticTensorDictSequential": "",
    "EnsembleModule": "module num_copies parameter_init_function expand_input",
    "CudaGraphModule": "module",
    "TensorClassModuleWrapper": "",
}


# Questions, and what leaves a layer the layer that it is.
ASKS = {
    "parameters", "named_parameters", "state_dict", "buffers", "named_buffers", "modules", "named_modules", "children",
    "named_children", "zero_grad", "extra_repr", "register_buffer", "register_parameter", "load_state_dict",
    "get_parameter", "get_buffer", "reset_parameters",
}  # fmt: skip


def made(walk: Walk, expr: CallExpr, info: TypeInfo, args: Args) -> Value:
    """An instance of a class of a package."""
    if info.name in KEYED and info.fullname.startswith("tensorclass."):
        from ._keyed import construct

        return construct(walk, expr, info, args)
    if info.name == "TypedByKey" and args.whole:
        from ._keyed import check_typed

        given = args.take("module input_type output_type")
        inner = walk.here.get(given.get("module", UNKNOWN))
        if isinstance(inner, Net):
            check_typed(walk, expr, inner, given)
    if info.name == "CompositeDistribution":
        from ._probabilistic import composite

        return composite(walk, expr, info, args)
    if info.name in ("Parameter", "Buffer") and args.positional:
        tensor = walk.here.get(args.positional[0][0])
        return tensor if isinstance(tensor, Tensor) else Tensor()
    if info.name == "set_interaction_type":
        from ._probabilistic import interaction

        interaction(walk, expr, args)
        return UNKNOWN
    if not is_module(info):
        from ._calls import leak

        leak(walk, args.values())
        typ = known_type(walk, expr)
        return walk.from_type(typ) if typ is not None else UNKNOWN
    settings: dict[str, Value] = {}
    if info.name in ("Sequential", "ModuleList"):
        return sequence(walk, info, args)
    if info.name == "ModuleDict":
        inner = walk.here.get(args.positional[0][0]) if args.positional else UNKNOWN
        if isinstance(inner, Mapped) and inner.items is not None:
            settings = {str(key): value for key, value in inner.items.items()}
        return walk.here.new(Net("ModuleDict", info, True, settings))
    if args.whole:
        names = _layers.PARAMETERS.get(info.name, "output_size" if info.name.startswith("Adaptive") else "")
        settings = args.take(names)
    for value in args.values():
        if not isinstance(walk.here.get(value), Items):
            walk.here.forget(value)
    net = Net(info.name, info, args.whole, settings, touched=not args.whole)
    _layers.check_made(walk, expr, net)
    return walk.here.new(net)


def sequence(walk: Walk, info: TypeInfo, args: Args) -> Value:
    """nn.Sequential(...) and nn.ModuleList([...]): their items by number."""
    values = [value for value, _ in args.positional]
    known = args.whole
    if len(values) == 1:
        inner = walk.here.get(values[0])
        if isinstance(inner, Items):
            known = known and inner.items is not None
            values = list(inner.items or ())
        elif isinstance(inner, Mapped):
            known = known and inner.items is not None
            settings = {str(key): value for key, value in (inner.items or {}).items()}
            return walk.here.new(Net(info.name, info, known, settings, touched=not known))
        elif inner is UNKNOWN or not isinstance(inner, Net):
            known = False
    settings = {str(place): value for place, value in enumerate(values)} if known else {}
    return walk.here.new(Net(info.name, info, known, settings, touched=not known))


# -- Attributes -----------------------------------------------------------------------------------------------------


def attribute(walk: Walk, expr: MemberExpr, ref: Value, net: Net) -> Value:
    """net.name"""
    name = expr.name
    if net.kind in KEYED or net.kind == "CompositeDistribution":
        from ._keyed import attribute as keyed

        return keyed(walk, expr, ref, net, name)
    if net.kind == "user":
        if name in net.settings:
            return net.settings[name]
        if net.info is None:
            return UNKNOWN
        symbol = net.info.get(name)
        node: Any = symbol.node if symbol is not None else None
        if isinstance(node, FuncDef) and not is_library(node.info):
            if net.exact and not node.is_static and not node.is_class:
                return Function(node, ref, True)
            return Method(ref, name)
        if isinstance(node, Decorator) and node.func.is_property:
            return returned(walk, node.func.type)
        if isinstance(node, Var):
            found = walk.class_attribute(net.info, name) if not net.touched or not net.exact else UNKNOWN
            if found is not UNKNOWN:
                return found
            return walk.from_type(node.type) if node.type is not None else UNKNOWN
        return Method(ref, name)
    if name in ("in_features", "out_features", "in_channels", "out_channels", "embedding_dim", "num_embeddings"):
        return net.settings.get(name, UNKNOWN)
    if name in ("weight", "bias"):
        shapes = _layers.parameter_shapes(net)
        return Tensor(shapes[name], None) if shapes and name in shapes else UNKNOWN
    return Method(ref, name)


def item(walk: Walk, expr: Any, ref: Value, net: Net, index: Value) -> Value:
    """sequential[0]"""
    if net.kind in ("TensorDictSequential", "ProbabilisticTensorDictSequential") or net.kind == "ModuleDict":
        modules = net.settings.get("modules", ())
        things = [walk.here.get(module) for module in modules] if isinstance(modules, tuple) else []
        if any(thing is UNKNOWN or isinstance(thing, (Typed, Mapped)) for thing in things):
            return UNKNOWN  # One argument may be a dict of many modules.
        if is_int(index) and isinstance(modules, tuple) and net.kind != "ModuleDict" and not net.touched:
            if -len(modules) <= index < len(modules):
                return modules[index]
            text = f"index {index} is out of range for a sequence of {errors.count(len(modules), 'module')}"
            walk.say(expr, _codes.MODULE, text)
        names = net.settings.get("names")
        if isinstance(index, str) and isinstance(names, tuple) and index not in names and not net.touched:
            walk.say(expr, _codes.MODULE, errors.key_missing(index, names).replace("key", "module"))
        elif isinstance(index, str):
            return net.settings.get(index, UNKNOWN)
    if net.kind in ("Sequential", "ModuleList") and is_int(index) and not net.touched:
        row = list(net.settings.values())
        return row[index] if -len(row) <= index < len(row) else UNKNOWN
    return UNKNOWN


def method(walk: Walk, expr: CallExpr, ref: Value, net: Net, name: str, args: Args) -> Value:
    """net.name(...)"""
    from ._calls import leak

    if name in (
        "to",
        "train",
        "eval",
        "cuda",
        "cpu",
        "float",
        "double",
        "half",
        "requires_grad_",
        "apply",
        "compile",
        "share_memory",
    ):
        if name == "apply":
            leak(walk, args.values())
        return ref if name != "compile" else UNKNOWN
    if name in ASKS:
        return UNKNOWN
    if name.startswith("register_") and name.endswith("_hook"):
        leak(walk, args.values())
        walk.here.put(ref, UNKNOWN)  # A hook may change what goes in and what comes out.
        return UNKNOWN
    if name == "__call__" or (name == "forward" and net.kind != "user"):
        return run(walk, expr, ref, net, args)
    if net.kind in KEYED or net.kind == "CompositeDistribution" or name == "select_out_keys":
        from ._keyed import method as keyed

        return keyed(walk, expr, ref, net, name, args)
    if name == "as_td_module" and net.info is not None:
        from ._typed_modules import keys

        found = keys(net.info)
        if found is not None:
            settings = {"in_keys": found[0], "out_keys": found[1]}
            return walk.here.new(Net("TensorClassModuleWrapper", None, True, settings))
    leak(walk, args.values() if net.kind == "user" else [ref, *args.values()])
    return UNKNOWN


# -- Calls ----------------------------------------------------------------------------------------------------------


def run(walk: Walk, expr: CallExpr, ref: Value, net: Net, args: Args) -> Value:
    """net(...)"""
    from ._calls import leak

    if net.kind in KEYED:
        from ._keyed_calls import run as keyed

        return keyed(walk, expr, ref, net, args)
    if net.kind == "Sequential" and not net.touched and net.exact:
        from ._calls import Args, apply

        given = args
        value: Value = UNKNOWN
        for layer in net.settings.values():
            value = apply(walk, expr, layer, given)
            if walk.state is None:
                return UNKNOWN
            value = _sure(walk, value)
            given = Args([(value, expr)])
        return value
    _check_call(walk, expr, net, args)
    if net.kind == "user" and net.info is not None:
        return _untyped(run_user(walk, expr, ref, net, args), "arguments")
    if net.exact or net.kind in _layers.POINTWISE:
        value = _layers.forward(walk, expr, net, args)
        if value is not UNKNOWN:
            return _untyped(value, "result")
    leak(walk, [one for one in args.values() if not isinstance(one, Tensor)])
    typ = known_type(walk, expr)
    return walk.from_type(typ) if typ is not None else UNKNOWN


def _untyped(value: Value, level: str) -> Value:
    """What a module gives; for a tuple mypy has no type where the settings go no further than some level."""
    if not isinstance(value, tuple) or isinstance(value, Pieces):
        return value
    return Results(value) if LEVELS.index(_calls_of.level) <= LEVELS.index(level) else value


def _check_call(walk: Walk, expr: CallExpr, net: Net, args: Args) -> None:
    """The arguments of a module that mypy takes for just a Module; and a tuple where a layer takes a tensor."""
    if not net.exact or net.touched or net.info is None or walk.calls or _calls_of.level == "off":
        return
    first = args.positional[0][0] if args.positional else UNKNOWN
    if isinstance(first, Results) and net.kind in {*_layers.PARAMETERS, *_layers.POINTWISE} - {"Identity"}:
        walk.say(expr, _codes.CALL, f"{net.kind} takes a tensor, and is given a tuple of {len(first)}")
    forward = forward_of(net.info)
    if isinstance(expr.callee, IndexExpr) and forward is not None:
        text = _calls_of.misfit(net.info, forward, expr)
        if text is not None:
            walk.say(expr, _codes.CALL, text)


def _sure(walk: Walk, value: Value) -> Value:
    return Tensor() if value is UNKNOWN else value


def forward_of(info: TypeInfo | None) -> FuncDef | None:
    """The forward method of a class, unless its __call__ is its own."""
    if info is None:
        return None
    call = info.get("__call__")
    owner = getattr(call.node, "info", None) if call is not None else None
    if owner is not None and not is_library(owner):
        return None
    method = info.get_method("forward")
    return method if isinstance(method, FuncDef) else None


def run_user(walk: Walk, expr: CallExpr, ref: Value, net: Net, args: Args) -> Value:
    """A module of the user's: its forward."""
    from ._calls import follow, leak

    node = forward_of(net.info)
    if node is None:
        return run_dispatched(walk, expr, ref, net, args)
    if is_library(node.info):
        leak(walk, args.values())
        return UNKNOWN
    if net.exact and not net.touched:
        return follow(walk, expr, Function(node, ref, True), args)
    from . import _hints

    tree = walk.tree_of(node.fullname)
    hints = _hints.signature(tree, walk.api, node) if tree is not None else None
    value: Value = UNKNOWN
    if hints is not None:
        value = _hints.check_call(walk, expr, node, hints, args, True)
    leak(walk, [one for one in args.values() if not isinstance(one, Tensor)])
    return value if value is not UNKNOWN else returned(walk, node.type)


def run_dispatched(walk: Walk, expr: CallExpr, ref: Value, net: Net, args: Args) -> Value:
    """A module whose forward is decorated with dispatch: it takes a container, or a tensor for each in_key."""
    from ._calls import follow, leak
    from ._keyed_calls import dispatch

    forward = net.info.get_method("forward") if net.info is not None else None
    if isinstance(forward, Decorator) and not net.touched and all(map(_is_dispatch, forward.decorators)):
        first = walk.here.get(args.positional[0][0]) if args.positional else None
        if isinstance(first, Box) and net.exact:
            return follow(walk, expr, Function(forward.func, ref, True), args)
        if (isinstance(first, Tensor) or not args.positional) and args.whole:
            if any(kind.is_star() for kind in forward.func.arg_kinds):
                return UNKNOWN
            return dispatch(walk, expr, net, args, more=[name for name in forward.func.arg_names[2:] if name])
    leak(walk, args.values())
    return UNKNOWN


def _is_dispatch(decorator: Expression) -> bool:
    callee = decorator.callee if isinstance(decorator, CallExpr) else decorator
    return isinstance(callee, RefExpr) and callee.fullname == "tensorclass.nn._dispatch.dispatch"


# -- Signatures of callables ----------------------------------------------------------------------------------------


def callable_type(walk: Walk, value: Value) -> CallableType | None:
    """The signature of something that a module wraps, without self."""
    thing = walk.here.get(value)
    if isinstance(thing, Method) and thing.name == "forward":
        thing = walk.here.get(thing.owner)
    if isinstance(thing, Library):
        return library_type(walk, thing.name)
    if isinstance(thing, Function):
        typ = thing.node.type
        return (
            _unbound(typ)
            if thing.bound and isinstance(typ, CallableType)
            else typ
            if isinstance(typ, CallableType)
            else None
        )
    if isinstance(thing, Net) and thing.info is not None:
        call = thing.info.get("__call__")
        owner = getattr(call.node, "info", None) if call is not None else None
        if owner is not None and not is_library(owner):
            return None
        node: Any = thing.info.get_method("forward")
        if isinstance(node, Decorator):
            return None
        if isinstance(node, (FuncDef, OverloadedFuncDef)):
            typ = node.type
            if isinstance(typ, CallableType):
                return _unbound(typ)
    if isinstance(thing, Typed) and isinstance(thing.type, CallableType):
        return thing.type
    return None


def library_type(walk: Walk, name: str) -> CallableType | None:
    """The signature of a function of torch that is written in Python."""
    module, _, name = name.rpartition(".")
    tree = walk.api.modules.get(module)
    symbol = tree.names.get(name) if tree is not None else None
    node = symbol.node if symbol is not None else None
    return node.type if isinstance(node, FuncDef) and isinstance(node.type, CallableType) else None


def _unbound(typ: CallableType) -> CallableType | None:
    if not typ.arg_kinds or typ.arg_kinds[0].is_star():
        return None
    return typ.copy_modified(arg_types=typ.arg_types[1:], arg_kinds=typ.arg_kinds[1:], arg_names=typ.arg_names[1:])


# -- Parameters as containers ---------------------------------------------------------------------------------------


def parameters_as_box(walk: Walk, net: Any) -> Value:
    """TensorDict.from_module(net): the parameters by name."""
    fields = parameter_fields(walk, net) if isinstance(net, Net) else None
    if fields is None:
        return walk.here.new(Box(None))
    return walk.here.new(Box(None, None, True, (), fields, open=False))


def parameter_fields(walk: Walk, net: Net) -> dict[str, Value] | None:
    if not net.exact or net.touched:
        return None
    shapes = _layers.parameter_shapes(net)
    if shapes is not None:
        return {name: Tensor(shape, "float") for name, shape in shapes.items()}
    if net.kind in ("Sequential", "ModuleList", "user"):
        fields: dict[str, Value] = {}
        for name, value in net.settings.items():
            inner = walk.here.get(value)
            if isinstance(inner, Net):
                under = parameter_fields(walk, inner)
                if under is None:
                    return None
                if under:
                    fields[name] = walk.here.new(Box(None, None, True, (), under, open=False))
            elif net.kind == "user" and not isinstance(inner, (int, str, float, bool, tuple)):
                return None
        return fields
    return None


def check_parameters(walk: Walk, expr: CallExpr, box: Box, net: Any) -> None:
    """params.to_module(net): every key is the name of a parameter."""
    fields = parameter_fields(walk, net) if isinstance(net, Net) else None
    if fields is None or box.open:
        return
    for name in box.fields:
        if name not in fields:
            walk.say(expr, _codes.KEY, f"to_module: {errors.key_missing(name, list(fields))}")


__all__ = ["Library", "Method", "Ref", "UNKNOWN", "made", "method", "run"]
