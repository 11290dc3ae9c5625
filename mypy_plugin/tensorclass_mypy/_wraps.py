"""What a module with keys wraps: how many arguments it takes, how many results it gives, whether None will do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import ARG_NAMED, ARG_POS, ARG_STAR, CallExpr, Expression, NameExpr, TupleExpr
from mypy.types import AnyType, CallableType, Instance, NoneType, TupleType, Type, UnionType, get_proper_type

from tensorclass._rules import errors, table
from tensorclass._rules.sizes import UNKNOWN

from . import _codes, _layers
from ._modules import callable_type
from ._say import meant
from ._tree import below
from ._types import is_module, is_tensor
from ._values import Class, Lambda, Library, Net, Value

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk


def check(walk: Walk, expr: CallExpr, settings: dict[str, Value], args: Args) -> None:
    """The keys of a module against the callable that it wraps."""
    module = settings.get("module", UNKNOWN)
    node = args.node("module in_keys out_keys", "module") or expr
    if isinstance(module, Class):
        if is_module(module.info):
            text = f"the module is the class {module.info.name}; give an instance: {module.info.name}(...)"
            walk.say(node, _codes.MODULE, text)
        return
    kind = getattr(walk.here.get(module), "kind", "")
    if kind in ("ModuleList", "ModuleDict"):
        walk.say(node, _codes.MODULE, f"the module is a {kind}, which has no forward; nn.Sequential has one")
        return
    _check_inputs(walk, expr, settings, module, args)
    _check_outputs(walk, expr, settings, module, args)


def _check_inputs(walk: Walk, expr: CallExpr, settings: dict[str, Value], module: Value, args: Args) -> None:
    most, needed, names, any_names = parameters(walk, module)
    least = None if needed is None else len(needed)
    where = args.node("module in_keys out_keys", "in_keys") or expr
    keys, mapped = settings.get("in_keys", UNKNOWN), settings.get("in_map")
    if isinstance(mapped, dict):
        if any_names:
            names = _named(walk, module)
        if names is None:
            return
        for name in mapped:
            if isinstance(name, str) and name not in names:
                rest = meant(name, names, f"it takes {errors.some_names(names)}")
                walk.say(where, _codes.MODULE, f"in_keys: the module has no parameter {name!r}{rest}")
                return
        missing = [name for name in needed or () if name and name not in mapped]
        if missing:
            walk.say(where, _codes.MODULE, f"in_keys: the module needs {errors.some_names(missing)} as well")
        return
    if not isinstance(keys, tuple) or mapped is UNKNOWN:
        return
    if most is not None and len(keys) > most:
        text = f"in_keys: {errors.count(len(keys), 'key')} for a module that takes {errors.count(most, 'argument')}"
        walk.say(where, _codes.MODULE, text)
    elif least is not None and len(keys) < least:
        text = f"in_keys: {errors.count(len(keys), 'key')} for a module that needs {errors.count(least, 'argument')}"
        walk.say(where, _codes.MODULE, text)


def _check_outputs(walk: Walk, expr: CallExpr, settings: dict[str, Value], module: Value, args: Args) -> None:
    keys = settings.get("out_keys", UNKNOWN)
    where = args.node("module in_keys out_keys", "out_keys") or expr
    if not isinstance(keys, tuple):
        return
    for place, key in enumerate(keys):
        if key != "_" and key in keys[:place]:
            walk.say(
                where,
                _codes.MODULE,
                f"out_keys: {errors.name_of(key)} is there twice; the second result would replace the first",
            )
            return
    count = results(walk, module)
    inputs = settings.get("in_keys", UNKNOWN)
    if count is None and isinstance(inputs, tuple) and _is_extractor(walk.here.get(module)):
        count = len(inputs) + 1  # Of the first input both halves, the others as they are.
    if count is not None and count != len(keys):
        text = errors.more_tensors(count, keys) if count > len(keys) else errors.more_out_keys(count, keys)
        walk.say(where, _codes.MODULE, text)


def parameters(walk: Walk, module: Value) -> tuple[int | None, list[str] | None, list[str] | None, bool]:
    """The most positional arguments, the names of those that must be given, all names, whether any name will do."""
    if isinstance(module, Lambda):
        kinds = [argument.kind for argument in module.node.arguments]
        names = [argument.variable.name for argument in module.node.arguments]
        needed = [name for name, kind in zip(names, kinds) if kind == ARG_POS]
        star = any(kind.is_star() for kind in kinds)
        return (None if star else len(kinds)), needed, names, star
    typ = callable_type(walk, module)
    if typ is None or typ.is_ellipsis_args:
        return None, None, None, True
    kinds = list(typ.arg_kinds)
    star = any(kind.is_star() for kind in kinds)
    names = [name for name in typ.arg_names if name is not None]
    most = None if star else sum(1 for kind in kinds if kind.is_positional())
    needed = [name or "" for name, kind in zip(typ.arg_names, kinds) if kind == ARG_POS]
    if any(kind == ARG_NAMED for kind in kinds):
        return most, None, names, star
    return most, needed, names, star


def _named(walk: Walk, module: Value) -> list[str] | None:
    """The names that a callable with *args takes besides; None where it has none, or **kwargs."""
    typ = callable_type(walk, module)
    if typ is None or typ.is_ellipsis_args or not typ.is_var_arg or typ.is_kw_arg:
        return None
    return [name for name, kind in zip(typ.arg_names, typ.arg_kinds) if name is not None and kind != ARG_STAR]


def results(walk: Walk, module: Value) -> int | None:
    """How many results a callable gives, if its annotation or its body says."""
    if isinstance(module, Lambda):
        body = module.node.expr()
        if isinstance(body, TupleExpr) and not any(type(item).__name__ == "StarExpr" for item in body.items):
            return len(body.items)
        return None
    thing = walk.here.get(module)
    if isinstance(thing, Net):
        if thing.kind in _layers.RESULTS:
            return _layers.RESULTS[thing.kind]
        if thing.kind in ("Linear", *_layers.POINTWISE, "Conv1d", "Conv2d", "LayerNorm", "Embedding"):
            return 1
        if thing.kind == "Sequential" and thing.settings and not thing.touched:
            *before, last = thing.settings.values()
            one = bool(before) and results(walk, before[-1]) == 1
            return 2 if one and _is_extractor(walk.here.get(last)) else results(walk, last)
        if thing.kind != "user":
            return None
    if isinstance(module, Library) and module.name.startswith("torch.") and module.name.count(".") == 1:
        row = table.OPS_BY_TORCH.get(module.name[6:])
        return 1 if row is not None and row.family == "pointwise" else None
    typ = callable_type(walk, module)
    if typ is None:
        return None
    ret = get_proper_type(typ.ret_type)
    if isinstance(ret, TupleType):
        return len(ret.items)
    if isinstance(ret, Instance) and is_tensor(ret.type):
        return 1
    return None


def _is_extractor(thing: Value) -> bool:
    return isinstance(thing, Net) and thing.kind == "NormalParamExtractor"


def optional_keys(walk: Walk, net: Net) -> set[Any]:
    """The in_keys of which the wrapped callable may get None."""
    if net.kind != "TensorDictModule":
        return set()
    keys, mapped = net.settings.get("in_keys", UNKNOWN), net.settings.get("in_map")
    if not isinstance(keys, tuple):
        return set()
    module = net.settings.get("module", UNKNOWN)
    if isinstance(module, Lambda):
        return set(keys) if _mentions_none(module.node.expr()) else set()
    thing = walk.here.get(module)
    if isinstance(module, Library) or (
        isinstance(thing, Net) and thing.kind != "user" and thing.kind not in ("GRU", "LSTM", "RNN")
    ):
        return set() if _strict(thing, module) else set(keys)
    typ = callable_type(walk, module)
    if typ is None:
        return set(keys)
    found = set()
    for place, key in enumerate(keys):
        at: int | None = place
        if isinstance(mapped, dict):
            name = list(mapped)[place]
            at = typ.arg_names.index(name) if name in typ.arg_names else None
        if at is None or at >= len(typ.arg_types) or takes_none(typ.arg_types[at]):
            found.add(key)
    return found


def _strict(thing: Any, module: Value) -> bool:
    """A layer or a function of torch that fails on None."""
    if isinstance(module, Library):
        return module.name.startswith("torch.")
    return isinstance(thing, Net) and (
        thing.kind in _layers.PARAMETERS
        or thing.kind in _layers.POINTWISE
        or thing.kind in _layers.LOSSES
        or thing.kind == "Sequential"
    )


def takes_none(typ: Type) -> bool:
    proper = get_proper_type(typ)
    if isinstance(proper, (AnyType, NoneType)):
        return True
    if isinstance(proper, UnionType):
        return any(takes_none(item) for item in proper.items)
    return isinstance(proper, Instance) and proper.type.fullname == "builtins.object"


def _mentions_none(expr: Expression) -> bool:
    return any(isinstance(node, NameExpr) and node.fullname == "builtins.None" for node in below(expr))


def needs_tensor(walk: Walk, net: Net, key: Any) -> bool:
    """Whether the wrapped callable surely cannot do with a str or None for this key."""
    module = net.settings.get("module", UNKNOWN)
    thing = walk.here.get(module)
    if isinstance(module, Library) or isinstance(thing, Net) and thing.kind != "user":
        return _strict(thing, module)
    typ = callable_type(walk, module)
    keys = net.settings.get("in_keys", ())
    if typ is None or not isinstance(keys, tuple) or isinstance(net.settings.get("in_map"), dict):
        return False
    place = keys.index(key) if key in keys else len(keys)
    if place >= len(typ.arg_types):
        return False
    proper = get_proper_type(typ.arg_types[place])
    return isinstance(proper, Instance) and is_tensor(proper.type)


__all__ = ["CallableType"]
