"""torch.stack(containers) and other functions of torch on containers: arguments and results have the class."""

from __future__ import annotations

from mypy.nodes import (
    ARG_NAMED_OPT,
    ARG_OPT,
    ARG_POS,
    ARG_STAR,
    ARG_STAR2,
    Expression,
    ListExpr,
    NameExpr,
    TupleExpr,
    Var,
)
from mypy.plugin import FunctionSigContext
from mypy.types import (
    AnyType,
    CallableType,
    FunctionLike,
    Instance,
    ProperType,
    TupleType,
    Type,
    TypeOfAny,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from tensorclass._rules import table

from ._containers import ROWS
from ._names import canonical
from ._types import base_named, is_container, item_of_type

JOINS = ("stack", "cat", "concat", "concatenate", "hstack", "vstack")
CREATE = {f"{name}_like" for name in ("zeros", "ones", "empty", "rand", "randn", "full", "randint")}
OTHERS = CREATE | {"where", "clone", "detach", "masked_select", "clamp", "lerp", "take_along_dim"}


def name_of(fullname: str) -> str | None:
    """The name of a function of torch that takes containers."""
    short = canonical(fullname)
    if not short.startswith("torch.") or short.count(".") != 1:
        return None
    name = short[6:]
    return name if name in JOINS or name in OTHERS or name in table.OPS_BY_TORCH else None


def on_call(ctx: FunctionSigContext, name: str) -> FunctionLike:
    """A function of torch, called with something that may be a container."""
    signature = ctx.default_signature
    nodes = [node for row in ctx.args for node in row]
    if not nodes:
        return signature
    if name in JOINS:
        item = _item(ctx, nodes[0])
        return signature if item is None else _join(ctx, signature, nodes[0], item)
    place = 1 if name == "where" and len(nodes) > 1 else 0
    typ = _simple(nodes[place]) or (
        _checked(ctx, nodes[place]) if type(nodes[place]).__name__ == "CallExpr" and name in OTHERS else None
    )
    if typ is None or not _holds(typ):
        return signature
    row = table.OPS_BY_TORCH.get(name)
    result: Type = typ
    if row is not None and row.family == "split":
        result = ctx.api.named_generic_type("builtins.tuple", [typ])
    return _any(ctx, signature, result)


def _any(ctx: FunctionSigContext, signature: CallableType, result: Type) -> FunctionLike:
    every = AnyType(TypeOfAny.special_form)
    return CallableType(
        [every, every, every],
        [ARG_POS, ARG_STAR, ARG_STAR2],
        [None, None, None],
        result,
        signature.fallback,
        name=signature.name,
    )


def _join(ctx: FunctionSigContext, signature: CallableType, node: Expression, item: ProperType) -> FunctionLike:
    every = AnyType(TypeOfAny.special_form)
    items: Type = ctx.api.named_generic_type("typing.Sequence", [item])
    if not isinstance(node, (ListExpr, TupleExpr)):
        items = every
    # Specs that differ stand in a stack of another class.
    return CallableType(
        [items, ctx.api.named_generic_type("builtins.int", []), every],
        [ARG_POS, ARG_OPT, ARG_NAMED_OPT],
        ["tensors", "dim", "out"],
        every if is_spec(item) else item,
        signature.fallback,
        name=signature.name,
    )


def _simple(node: Expression) -> ProperType | None:
    """The type of a name, without asking mypy to check anything."""
    if isinstance(node, NameExpr) and isinstance(node.node, Var) and node.node.type is not None:
        proper = get_proper_type(node.node.type)
        if isinstance(proper, UnionType):
            return None
        return proper
    return None


def _checked(ctx: FunctionSigContext, node: Expression) -> ProperType | None:
    return get_proper_type(ctx.api.get_expression_type(node))


def _item(ctx: FunctionSigContext, node: Expression) -> ProperType | None:
    """The class of the items of a join, if they are containers."""
    if isinstance(node, (ListExpr, TupleExpr)):
        if not node.items:
            return None
        first = node.items[0]
        typ = (
            _simple(first)
            if isinstance(first, NameExpr)
            else _checked(ctx, first)
            if type(first).__name__ != "StarExpr"
            else None
        )
        if _holds(typ):
            whole = _checked(ctx, node)
            if isinstance(whole, Instance) and whole.args:
                typ = get_proper_type(whole.args[0])
            elif isinstance(whole, TupleType):
                typ = get_proper_type(whole.items[0])
            return typ if _holds(typ) else None
        return None
    typ = _simple(node) if isinstance(node, NameExpr) else _checked(ctx, node)
    if isinstance(typ, Instance) and typ.args and not is_container(typ.type):
        item = get_proper_type(typ.args[-1])
        return item if _holds(item) else None
    if isinstance(typ, TupleType) and typ.items:
        item = get_proper_type(typ.items[0])
        return item if _holds(item) else None
    return None


def _holds(typ: ProperType | None) -> bool:
    """A container, or a type variable (Self among them) that stands for one."""
    if isinstance(typ, TypeVarType):
        typ = get_proper_type(typ.upper_bound)
    return isinstance(typ, Instance) and (is_container(typ.type) or is_spec(typ))


def is_spec(typ: ProperType) -> bool:
    """A spec of an environment: functions of torch move it as they move a container."""
    return isinstance(typ, Instance) and base_named(typ.type, "TensorSpec") is not None


__all__ = ["ROWS", "item_of_type"]
