"""Calls of any nn.Module: `module(x)` takes what its forward takes, and gives what it gives, as the settings say."""

from __future__ import annotations

from typing import Any

from mypy.nodes import (
    ARG_STAR,
    ARG_STAR2,
    CallExpr,
    Expression,
    FuncDef,
    MemberExpr,
    NameExpr,
    RefExpr,
    TypeInfo,
    Var,
)
from mypy.plugin import MethodSigContext
from mypy.typeops import bind_self
from mypy.types import AnyType, CallableType, FunctionLike, Instance, Type, TypeOfAny, UnionType, get_proper_type

from tensorclass._rules import errors

from . import _codes, _report
from ._say import meant
from ._scan import values_of
from ._types import base_named, is_library, is_module, is_ours, is_tensorclass

MODULE = "torch.nn.modules.module.Module"
level = "arguments"  # Of the settings.


def on_call(ctx: MethodSigContext, level: str) -> FunctionLike:
    """The signature of `module(...)`, where the class has a forward of its own and no __call__ of its own."""
    signature = ctx.default_signature
    instance = ctx.type
    if not isinstance(instance, Instance) or not is_module(instance.type):
        return signature
    forward = _forward(instance.type)
    if forward is None:
        return signature
    if level == "arguments":
        return signature if check(ctx, instance.type, forward) else _typed(signature, instance, forward)
    typ = forward.type
    if not isinstance(typ, CallableType) or is_library(forward.info) and level != "full":
        return signature
    bound = bind_self(typ, instance)
    result = get_proper_type(bound.ret_type)
    if isinstance(result, AnyType):
        return signature
    if level == "full":
        return bound
    every = AnyType(TypeOfAny.special_form)
    return (
        signature.copy_modified(ret_type=bound.ret_type)
        if signature.arg_types
        else bound.copy_modified(arg_types=[every] * len(bound.arg_types))
    )


def _typed(signature: CallableType, instance: Instance, forward: FuncDef) -> CallableType:
    """What is a container in the signature of forward, at any level: programs with them are written for checkers."""
    typ = forward.type
    if not isinstance(typ, CallableType) or typ.variables:
        return signature
    bound = bind_self(typ, instance)
    anything = AnyType(TypeOfAny.special_form)
    types = [one if _is_typed(one) else _container(one) or anything for one in bound.arg_types]
    if all(one is anything for one in types) and not _is_typed(bound.ret_type):
        return signature
    return bound.copy_modified(arg_types=types, ret_type=bound.ret_type if _is_typed(bound.ret_type) else anything)


def _is_typed(typ: Type) -> bool:
    proper = get_proper_type(typ)
    return isinstance(proper, Instance) and is_tensorclass(proper.type)


def _container(typ: Type) -> Type | None:
    """Any container, for a TensorDict: which of them a forward is written for, its annotation often leaves open."""
    proper = get_proper_type(typ)
    base = base_named(proper.type, "Container") if isinstance(proper, Instance) else None
    return Instance(base, []) if base is not None else None


def _forward(info: TypeInfo) -> FuncDef | None:
    """The forward that a call of an instance runs, as far as its class says."""
    call = info.get("__call__")
    owner = getattr(call.node, "info", None) if call is not None else None
    if owner is not None and owner.fullname != MODULE:
        return None
    forward = info.get_method("forward")
    if not isinstance(forward, FuncDef) or forward.info.fullname == MODULE or forward.abstract_status:
        return None
    return forward


def check(ctx: MethodSigContext, info: TypeInfo, forward: FuncDef) -> bool:
    """Say that a call has too few or too many arguments, or one by a name that forward does not have; True if said.

    One of several modules (a Union) may be called as only that one can be: which it is, the program knows.
    """
    call: Any = ctx.context
    if not isinstance(call, CallExpr) or is_ours(info) or "site-packages" in ctx.api.path:
        return False
    callee: Type | None = ctx.api.lookup_type_or_none(call.callee)  # type: ignore[attr-defined]  # TypeChecker's
    if isinstance(get_proper_type(callee), UnionType):
        return False
    if info.metaclass_type is not None and info.metaclass_type.type.has_base("abc.ABCMeta"):
        return False  # A base of others, whose forward may take more.
    text = misfit(info, forward, call)
    if text is not None and not _may_be_another(ctx.api, call.callee, forward):
        _report.say(ctx.api, call, _codes.CALL, text)
        return True
    return False


def misfit(info: TypeInfo, forward: FuncDef, call: CallExpr) -> str | None:
    """Why the arguments of a call are not those of forward, by their number and names."""
    kinds, names = list(forward.arg_kinds[1:]), list(forward.arg_names[1:])
    if ARG_STAR in kinds and not forward.is_static and not any(kind == ARG_STAR2 for kind in [*kinds, *call.arg_kinds]):
        return _unnamed(info.name, kinds, [name or "" for name in names], call)
    if any(kind.is_star() for kind in [*kinds, *call.arg_kinds]) or forward.is_static or len(kinds) != len(names):
        return None
    return _wrong(info.name, kinds, [name or "" for name in names], call)


def _may_be_another(api: Any, callee: Expression, forward: FuncDef) -> bool:
    """Whether a name is given modules of several classes: mypy takes it for the first, and complains elsewhere."""
    node = callee.node if isinstance(callee, NameExpr) else None
    block: Any = api.tree
    if isinstance(callee, MemberExpr):
        of: Type | None = api.lookup_type_or_none(callee.expr)
        owner = get_proper_type(of)
        found = owner.type.get(callee.name) if isinstance(owner, Instance) else None
        node = found.node if found is not None else None
        block = node.info.defn if isinstance(node, Var) else None
    if not isinstance(node, Var) or not node.is_inferred:
        return False
    if node.info and node.info.module_name != api.tree.fullname:
        return True  # mypy may not have the text of that class, and what is said must not depend on it.
    given = list(values_of(block, node))
    return len(given) > 1 and not all(_gives(value, forward) for value in given)


def _gives(value: Expression | None, forward: FuncDef) -> bool:
    if isinstance(value, NameExpr) and value.fullname == "builtins.None":
        return True  # Not yet there.
    made = value.callee.node if isinstance(value, CallExpr) and isinstance(value.callee, RefExpr) else None
    return isinstance(made, TypeInfo) and _forward(made) is forward


def _unnamed(owner: str, kinds: list[Any], names: list[str], call: CallExpr) -> str | None:
    """An argument by a name that a forward with *args does not have."""
    known = [name for name, kind in zip(names, kinds) if not kind.is_star()]
    for name in call.arg_names:
        if name is not None and name not in known:
            takes = f"by name it takes {errors.some_names(known)}" if known else "by name it takes none"
            return f"{owner}.forward has no argument {name!r}{meant(name, known, takes)}"
    return None


def _wrong(owner: str, kinds: list[Any], names: list[str], call: CallExpr) -> str | None:
    takes = f"it takes {errors.some_names(names)}" if names else "it takes none"
    given = [name for name in call.arg_names if name is not None]
    count = len(call.args) - len(given)
    places = [name for name, kind in zip(names, kinds) if kind.is_positional()]
    for name in given:
        if name not in names:
            return f"{owner}.forward has no argument {name!r}{meant(name, names, takes)}"
        if name in places[:count]:
            return f"{owner}.forward is given {name!r} twice: by place and by name"
    if count > len(places):
        return f"{owner}.forward: {errors.count(count, 'argument')} by place; {takes}"
    missing = [name for name, kind in zip(names, kinds) if kind.is_required() and name not in given]
    missing = [name for name in missing if name not in places[:count]]
    if missing:
        return f"{owner}.forward needs {errors.some_names(missing)} as well; {takes}"
    return None
