"""Body(**mapping): what a mapping is spread over are the fields; mypy would try its values on batch_size as well."""

from __future__ import annotations

from mypy.nodes import ARG_STAR2, CallExpr, DictExpr, Expression, StrExpr
from mypy.plugin import FunctionSigContext
from mypy.types import AnyType, FunctionLike, TypeOfAny


def on_call(ctx: FunctionSigContext) -> FunctionLike:
    """A constructor with ** among its arguments: what nothing else than a mapping might give takes anything."""
    signature, call = ctx.default_signature, ctx.context
    if not isinstance(call, CallExpr) or ARG_STAR2 not in call.arg_kinds:
        return signature
    spread = [node for node, kind in zip(call.args, call.arg_kinds) if kind == ARG_STAR2]
    names = _written(spread)
    anything = AnyType(TypeOfAny.special_form)
    # What a mapping has is not known, if it is not written out: it may leave out all that has a default.
    out = [
        kind.is_optional() if names is None else name not in names
        for name, kind in zip(signature.arg_names, signature.arg_kinds)
    ]
    types = [
        anything if left_out and given and all(node in spread for node in given) else typ
        for typ, left_out, given in zip(signature.arg_types, out, ctx.args)
    ]
    return signature.copy_modified(arg_types=types)


def _written(spread: list[Expression]) -> set[str] | None:
    """The names in mappings that are written out in the call; None: not all are."""
    found: set[str] = set()
    for node in spread:
        if not isinstance(node, DictExpr):
            return None
        for key, _ in node.items:
            if not isinstance(key, StrExpr):
                return None
            found.add(key.value)
    return found
