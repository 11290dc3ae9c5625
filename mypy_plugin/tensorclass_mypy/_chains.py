"""Chains of transforms: the classes that come out, and the keys that are read, from the environment's class on.

A checker without the plugin folds short chains by overloads. Here the chain is folded from its members, as many as
there are, and what `__maps__` of a member refuses is told in the words of the run time. What cannot be read (a member
without a class, keys that are no literals) ends it: the rest is as mypy has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import (
    ARG_NAMED,
    ARG_POS,
    ARG_STAR,
    CallExpr,
    Expression,
    FuncDef,
    ListExpr,
    MemberExpr,
    NameExpr,
    OverloadedFuncDef,
    RefExpr,
    StrExpr,
    TempNode,
    TupleExpr,
    TypeInfo,
)
from mypy.plugin import FunctionSigContext, MethodSigContext
from mypy.subtypes import is_subtype
from mypy.types import (
    AnyType,
    CallableType,
    FunctionLike,
    Instance,
    LiteralType,
    ProperType,
    TupleType,
    TypeOfAny,
    get_proper_type,
)

from tensorclass._rules import chain as sentences
from tensorclass._rules.nearest import nearest

from . import _codes, _report
from ._fields import fields_of
from ._types import is_tensorclass

ENV = "tensorclass.envs._transformed.TransformedEnv"
BASE = "tensorclass.envs._env.EnvBase"
MANY = "tensorclass.envs._many.Many"
COMPOSE = "tensorclass.envs._compose.Compose"
TRANSFORMS = "tensorclass.envs.transforms."
FLAGS = ("reward", "done", "terminated", "truncated")
COUNTED = {"StepCounter": {"step_count"}, "RewardSum": {"episode_reward"}, "InitTracker": {"is_init"}}
WRITES = ("_keys", "_key", "_keys_inv")  # How parameters that name entries end.
UNLISTED = ("TensorDictPrimer",)  # What they write is not written out.


@dataclass
class Chain:
    """How far a chain has been folded."""

    api: Any
    obs: ProperType
    action: ProperType
    known: set[Any] | None = None  # The keys there are; None: they cannot be listed.
    added: set[Any] = field(default_factory=set)  # Of those, the ones that transforms wrote.
    told: bool = False


def on_build(ctx: FunctionSigContext) -> FunctionLike:
    """TransformedEnv(base_env, transform): the classes of the result, in place of what the overloads would find."""
    signature = ctx.default_signature
    base = _given(signature, ctx.args, "base_env")
    if base is None:
        return signature
    folded = fold(ctx.api, base, _given(signature, ctx.args, "transform"))
    return signature if folded is None else _loosened(signature, folded)


def on_append(ctx: MethodSigContext) -> FunctionLike:
    """env.append_transform(transform): the same for one more."""
    signature = ctx.default_signature
    given = _given(signature, ctx.args, "transform")
    call = ctx.context
    if given is None or not isinstance(call, CallExpr) or not isinstance(call.callee, MemberExpr):
        return signature
    folded = fold(ctx.api, call.callee.expr, given)
    return signature if folded is None else _loosened(signature, folded)


def fold(api: Any, inside: Expression, given: Expression | None) -> Chain | None:
    """The chain at its outside; None where that is left to mypy."""
    base = _type_of(api, inside)
    if not isinstance(base, Instance) or not base.type.has_base(BASE) or given is None:
        return None
    env = next(info for info in base.type.mro if info.fullname == BASE)
    obs, action = (get_proper_type(one) for one in map_instance_to_supertype(base, env).args)
    chain = _before(api, inside) or Chain(api, obs, action, _keys(obs) if _shows_its_class(base.type) else None)
    members = list(_members(api, given))
    if None in members:
        return None
    for node, typ in members:  # type: ignore[misc]  # None is not among them.
        if not _add(chain, node, typ):
            return None
    return chain


def _before(api: Any, inside: Expression) -> Chain | None:
    """The chain of the environment inside, where it is written in the same expression."""
    if not isinstance(inside, CallExpr) or any(kind != ARG_POS for kind in inside.arg_kinds):
        return None
    callee = inside.callee
    if isinstance(callee, RefExpr) and callee.fullname == ENV and len(inside.args) == 2:
        return fold(api, *inside.args)
    if isinstance(callee, MemberExpr) and callee.name == "append_transform" and len(inside.args) == 1:
        return fold(api, callee.expr, inside.args[0])
    return None


def _shows_its_class(info: TypeInfo) -> bool:
    """Not an environment that may have others inside: transforms there write entries that no class tells of."""
    return info.fullname != BASE and not info.has_base(ENV) and not info.has_base(MANY)


def _members(api: Any, given: Expression) -> Iterator[tuple[Expression | None, Instance] | None]:
    """The transforms of a chain as they are written; None for one that cannot be told."""
    if isinstance(given, CallExpr) and isinstance(given.callee, RefExpr) and given.callee.fullname == COMPOSE:
        parts = given.args
        if len(parts) == 1 and isinstance(parts[0], (ListExpr, TupleExpr)):
            parts = parts[0].items
        elif any(kind != ARG_POS for kind in given.arg_kinds):
            parts = []
            yield None
        for part in parts:
            yield from _members(api, part)
        return
    typ = _type_of(api, given)
    if isinstance(typ, Instance) and typ.type.fullname == COMPOSE:
        inner = get_proper_type(typ.args[0]) if typ.args else None
        items = inner.items if isinstance(inner, TupleType) else None
        for item in map(get_proper_type, items or ()):
            yield (None, item) if isinstance(item, Instance) else None
        if items is None:
            yield None
    elif isinstance(typ, Instance) and typ.type.get_method("__maps__") is not None:
        yield given, typ
    else:
        yield None


def _add(chain: Chain, node: Expression | None, typ: Instance) -> bool:
    """One more transform; False where mypy shall tell what is wrong."""
    _check_keys(chain, node, typ)
    found = _mapped(chain, typ)
    if found is None:
        if not _tell_class(chain, node, typ):
            return False
        chain.obs = chain.action = AnyType(TypeOfAny.from_error)
        chain.known = None
        return True
    obs, chain.action = found
    if obs != chain.obs and chain.known is not None:
        keys = _keys(obs)
        chain.known = None if keys is None else keys | chain.added
    chain.obs = obs
    return True


def _mapped(chain: Chain, typ: Instance) -> tuple[ProperType, ProperType] | None:
    """The classes after a transform, by its __maps__; None where it refuses those before it."""
    checker = chain.api.expr_checker
    with chain.api.msg.filter_errors() as watcher:
        found, _ = checker.check_method_call_by_name(
            "__maps__", typ, [TempNode(chain.obs), TempNode(chain.action)], [ARG_POS, ARG_POS], TempNode(typ)
        )
    result: ProperType = get_proper_type(found)
    if watcher.has_new_errors():
        return None
    if not isinstance(result, TupleType) or len(result.items) != 2:
        anything = AnyType(TypeOfAny.special_form)
        return anything, anything
    obs, action = map(get_proper_type, result.items)
    return obs, action


def _tell_class(chain: Chain, node: Expression | None, typ: Instance) -> bool:
    """Say that a transform takes observations of another class; False where that is not what is wrong."""
    method = typ.type.get_method("__maps__")
    owner = method.info if isinstance(method, (FuncDef, OverloadedFuncDef)) else None
    if owner is None or not isinstance(node, CallExpr) or typ.type.name != "MapObs" or not typ.args:
        return False
    wanted = get_proper_type(map_instance_to_supertype(typ, owner).args[0])
    if not isinstance(wanted, Instance) or not isinstance(chain.obs, Instance) or is_subtype(chain.obs, wanted):
        return False
    function = node.args[0].name if node.args and isinstance(node.args[0], NameExpr) else "the function"
    text = sentences.takes_class(typ.type.name, function, wanted.type.name, chain.obs.type.name)
    if not chain.told:
        _report.say(chain.api, node, _codes.MODULE, text)
    chain.told = True
    return True


def _check_keys(chain: Chain, node: Expression | None, typ: Instance) -> None:
    """The in_keys of a transform against the keys that there are; then its out_keys are there too.

    An environment may show more than its class says, so only what is a slip of a key that is there is told.
    """
    given = _arguments(node, typ.type) if isinstance(node, CallExpr) else None
    if given is None or not typ.type.fullname.startswith(TRANSFORMS) or typ.type.name in UNLISTED:
        chain.known = None
    if given is None or chain.known is None:
        return
    there = {*chain.known, *(listed(chain.action) or ())}
    for place, key in _literals(chain.api, given.get("in_keys")) or ():
        if key not in there and isinstance(chain.obs, Instance) and not chain.told:
            if _is_slip(key, chain.known - set(FLAGS)):
                text = sentences.in_key_missing(typ.type.name, key, _fields(chain), chain.obs.type.name)
                _report.say(chain.api, place, _codes.KEY, text)
                chain.told = True
    written = [_literals(chain.api, one) for name, one in given.items() if name != "in_keys" and name.endswith(WRITES)]
    if None in written:
        chain.known = None
        return
    new = {key for some in written for _, key in some or ()} | COUNTED.get(typ.type.name, set())
    chain.known |= new
    chain.added |= new


def _is_slip(key: Any, names: set[Any]) -> bool:
    """A key that is near one of the names, and a nested one in each of its parts."""
    near = nearest(key, names)
    if near is None or isinstance(key, str):
        return near is not None
    return len(near) == len(key) and all(nearest(part, [other]) is not None for part, other in zip(key, near))


def _fields(chain: Chain) -> list[Any]:
    return list(listed(chain.obs) or ())


def _keys(obs: ProperType) -> set[Any] | None:
    """The keys of an environment with observations of a class."""
    found = listed(obs)
    return None if found is None else {*found, *FLAGS}


def listed(obs: ProperType) -> list[Any] | None:
    """The fields of a class in order, those of nested classes as tuples, and the nested classes themselves."""
    if not isinstance(obs, Instance) or not is_tensorclass(obs.type):
        return None
    fields = fields_of(obs.type, obs)
    if fields is None:
        return None
    found: list[Any] = []
    for one in fields.values():
        found.append(one.name)
        plain = one.plain
        if isinstance(plain, Instance) and is_tensorclass(plain.type):
            inner = listed(plain)
            if inner is None:
                return None
            found += [(one.name, *(key if isinstance(key, tuple) else (key,))) for key in inner]
    return found


def _arguments(call: CallExpr, info: TypeInfo) -> dict[str, Expression] | None:
    """The arguments of a constructor by the names of its parameters."""
    init = info.get_method("__init__")
    if isinstance(init, OverloadedFuncDef):
        init = init.impl.func if init.impl is not None and not isinstance(init.impl, FuncDef) else init.impl
    if not isinstance(init, FuncDef):
        return None
    names = [
        name for name, kind in zip(init.arg_names[1:], init.arg_kinds[1:]) if kind.is_positional() or kind == ARG_STAR
    ]
    found: dict[str, Expression] = {}
    for place, (argument, kind, name) in enumerate(zip(call.args, call.arg_kinds, call.arg_names)):
        if kind == ARG_NAMED and name is not None:
            found[name] = argument
        elif kind == ARG_POS and place < len(names):
            found[names[place] or ""] = argument
        else:
            return None
    return found


def _literals(api: Any, node: Expression | None) -> list[tuple[Expression, Any]] | None:
    """Keys that are written out (strings, tuples of them, constants), each with its place; None: not all are."""
    if node is None or (isinstance(node, NameExpr) and node.name == "None"):
        return []
    single = _key(api, node)
    if single is not None and not isinstance(single, tuple):
        return [(node, single)]
    if not isinstance(node, (ListExpr, TupleExpr)):
        return None
    found = [(item, _key(api, item)) for item in node.items]
    return None if any(key is None for _, key in found) else found


def _key(api: Any, node: Expression) -> Any:
    if isinstance(node, StrExpr):
        return node.value
    if isinstance(node, TupleExpr):
        parts = [_key(api, item) for item in node.items]
        if not parts or not all(isinstance(part, str) for part in parts):
            return None
        return tuple(parts) if len(parts) > 1 else parts[0]
    if not isinstance(node, RefExpr):
        return None
    typ = _type_of(api, node)
    literal = typ if isinstance(typ, LiteralType) else typ.last_known_value if isinstance(typ, Instance) else None
    return literal.value if literal is not None and isinstance(literal.value, str) else None


def _given(signature: CallableType, arguments: list[list[Expression]], name: str) -> Expression | None:
    """The argument for a parameter."""
    for parameter, found in zip(signature.arg_names, arguments):
        if parameter == name:
            return found[0] if len(found) == 1 else None
    return None


def _type_of(api: Any, node: Expression) -> ProperType | None:
    """The type of an argument; what mypy has to say of it comes when it checks the call."""
    with api.msg.filter_errors():
        return get_proper_type(api.get_expression_type(node))  # type: ignore[no-any-return]  # mypy's own answer.


def _loosened(signature: CallableType, chain: Chain) -> CallableType:
    """A signature that takes the chain as it is, and gives the environment with the classes found."""
    result = get_proper_type(signature.ret_type)
    if not isinstance(result, Instance) or result.type.fullname != ENV:
        return signature
    anything = AnyType(TypeOfAny.special_form)
    loose = [
        anything if name in ("base_env", "transform") else typ
        for name, typ in zip(signature.arg_names, signature.arg_types)
    ]
    made = result.copy_modified(args=[chain.obs, chain.action])
    return signature.copy_modified(arg_types=loose, ret_type=made, variables=[])
