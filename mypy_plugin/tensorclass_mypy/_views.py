"""What environments give, by key: an environment may show more than its classes say, so only slips are told."""

from __future__ import annotations

import re

from mypy.expandtype import expand_type_by_instance
from mypy.nodes import CallExpr, Decorator, MemberExpr
from mypy.plugin import AttributeContext, FunctionSigContext, MethodContext
from mypy.types import AnyType, CallableType, FunctionLike, Instance, ProperType, Type, TypeOfAny, get_proper_type

from tensorclass._rules import errors
from tensorclass._rules.nearest import nearest

from . import _codes, _report
from ._chains import FLAGS, listed
from ._say import one_edit
from ._typed_keys import VIEWS, Path, path_of
from ._types import is_container, is_ours

TRANSITION, NEXT = VIEWS
COUNTS = ("step_count", "episode_reward", "is_init")


def read(ctx: MethodContext, instance: Instance) -> Type:
    """x["key"], x.get("key") and x.pop("key") of a Transition or a Next."""
    same = ctx.default_return_type
    path = path_of(ctx.arg_types[0][0]) if ctx.arg_types and ctx.arg_types[0] else None
    if path is None:
        return same
    sides = [get_proper_type(arg) for arg in instance.args]
    if instance.type.fullname == TRANSITION and path[0] == "next":
        if len(path) == 1:
            after = instance.type.get_method("next")
            typ = after.func.type if isinstance(after, Decorator) else None
            return expand_type_by_instance(typ.ret_type, instance) if isinstance(typ, CallableType) else same
        _check(ctx, sides[:1], path[1:], path[:1])
    else:
        _check(ctx, sides, path, ())
    return same


def _check(ctx: MethodContext, sides: list[ProperType], path: Path, under: Path) -> None:
    """Say that a key is a slip of one that is there."""
    own = [*FLAGS, *COUNTS] if under or len(sides) == 1 else ["action", "next", *FLAGS[1:], *COUNTS]
    keys = [key for side in sides for key in listed(side) or ()] + own
    key = path if len(path) != 1 else path[0]
    near = nearest(key, keys)
    node = ctx.args[0][0]
    if key in keys or near is None or not one_edit(key, near) or _is_written(ctx.api.path, path[-1]):
        return
    text = errors.key_missing(key, keys)
    _report.say(ctx.api, node, _codes.KEY, f"{text} (under {errors.name_of(under)})" if under else text)


def _is_written(path: str, name: str) -> bool:
    """Whether a file says a key otherwise than to read it."""
    try:
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"#.*", "", file.read())
    except (OSError, UnicodeDecodeError):
        return True
    quoted = rf"""["']{re.escape(name)}["']"""
    said = rf"{quoted}|\b{re.escape(name)}\s*=(?!=)"
    asked = rf"""(?:[\w\])]\[|get\(|pop\()\(?(?:["']\w+["'], *)*{quoted}[\]),](?!\s*=[^=])"""
    return len(re.findall(said, text)) != len(re.findall(asked, text))


def on_next(ctx: FunctionSigContext) -> FunctionLike:
    """Next(rewrd=...): an entry of its own is fine, a slip of one of the parameters is not."""
    call = ctx.context
    known = ("obs", *FLAGS, *COUNTS)
    for name, node in zip(call.arg_names, call.args) if isinstance(call, CallExpr) else ():
        near = nearest(name, known) if name is not None and name not in known else None
        if near is not None and one_edit(name, near):
            _report.say(ctx.api, node, _codes.FIELD, f"Next has no argument {name!r}; did you mean {near!r}?")
    return ctx.default_signature


def on_attribute(ctx: AttributeContext) -> Type:
    """An attribute that a module of ours has not: `__getattr__` of nn.Module hides that from mypy."""
    same, instance, node = ctx.default_attr_type, ctx.type, ctx.context
    if not isinstance(instance, Instance) or not isinstance(node, MemberExpr) or ctx.is_lvalue:
        return same
    if instance.type.get(node.name) is not None or not any(map(is_ours, instance.type.mro)):
        return same
    near = nearest(node.name, {name for base in instance.type.mro for name in base.names if name[0] != "_"})
    if near is None or not one_edit(node.name, near) or _is_written(ctx.api.path, node.name):
        return same
    text = f"{instance.type.name} has no attribute {node.name!r}; did you mean {near!r}?"
    _report.say(ctx.api, node, _codes.FIELD, text)
    return AnyType(TypeOfAny.from_error)


def on_loader(ctx: FunctionSigContext) -> FunctionLike:
    """DataLoader(rows): torch asks for a Dataset, and a container is one of its rows, a batch at a time."""
    signature = ctx.default_signature
    if not ctx.args or len(ctx.args[0]) != 1:
        return signature
    typ = get_proper_type(ctx.api.get_expression_type(ctx.args[0][0]))
    if not isinstance(typ, Instance) or not is_container(typ.type):
        return signature
    anything, result = AnyType(TypeOfAny.special_form), get_proper_type(signature.ret_type)
    made = result.copy_modified(args=[typ]) if isinstance(result, Instance) else result
    types = [anything, *signature.arg_types[1:]]
    return signature.copy_modified(arg_types=types, ret_type=made, variables=[])
