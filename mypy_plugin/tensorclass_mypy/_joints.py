"""Chain(a, b, ...): what each typed module gives is what the next one takes, told in the words of the run time."""

from __future__ import annotations

from itertools import pairwise

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import ARG_POS, CallExpr
from mypy.plugin import FunctionSigContext
from mypy.subtypes import is_subtype
from mypy.types import AnyType, FunctionLike, Instance, ProperType, TypeOfAny, get_proper_type

from tensorclass._rules import errors

from . import _codes, _report

CHAIN = "tensorclass.nn._chain.Chain"
BASE = "tensorclass.nn._typed.TensorClassModuleBase"


def on_chain(ctx: FunctionSigContext) -> FunctionLike:
    """The first pair that does not fit is told, and the overloads, which would tell it at length, take anything."""
    signature, call = ctx.default_signature, ctx.context
    if not isinstance(call, CallExpr) or any(kind != ARG_POS for kind in call.arg_kinds) or len(call.args) < 2:
        return signature
    with ctx.api.msg.filter_errors():
        modules = [get_proper_type(ctx.api.get_expression_type(node)) for node in call.args]
    ends = [_ends(module) for module in modules]
    for place, (before, after) in enumerate(pairwise(ends)):
        if before is None or after is None or not _misfit(before[1], after[0]):
            continue
        gives, wants = (str(end.type.name) for end in (before[1], after[0]) if isinstance(end, Instance))
        names = [module.type.name for module in modules[place : place + 2] if isinstance(module, Instance)]
        _report.say(ctx.api, call.args[place + 1], _codes.MODULE, errors.joint(names[0], gives, names[1], wants))
        return _anything(signature, ends[0], ends[-1])
    return signature


def _ends(module: ProperType) -> tuple[ProperType, ProperType] | None:
    """The classes that a typed module takes and gives."""
    if not isinstance(module, Instance):
        return None
    base = next((info for info in module.type.mro if info.fullname == BASE), None)
    if base is None:
        return None
    takes, gives = (get_proper_type(end) for end in map_instance_to_supertype(module, base).args)
    return takes, gives


def _misfit(gives: ProperType, wants: ProperType) -> bool:
    return isinstance(gives, Instance) and isinstance(wants, Instance) and not is_subtype(gives, wants)


def _anything(
    signature: FunctionLike, first: tuple[ProperType, ProperType] | None, last: tuple[ProperType, ProperType] | None
) -> FunctionLike:
    """A signature that takes what it is given."""
    result = get_proper_type(signature.items[0].ret_type)
    anything = AnyType(TypeOfAny.from_error)
    if not isinstance(result, Instance):
        return signature
    made = result.copy_modified(args=[first[0] if first else anything, last[1] if last else anything])
    one = signature.items[0]
    return one.copy_modified(arg_types=[anything] * len(one.arg_types), ret_type=made, variables=[])
