"""Calls of any nn.Module: `module(x)` has the signature, or the result, of its forward."""

from __future__ import annotations

from mypy.nodes import FuncDef
from mypy.plugin import MethodSigContext
from mypy.typeops import bind_self
from mypy.types import AnyType, CallableType, FunctionLike, Instance, TypeOfAny, get_proper_type

from ._types import is_library, is_module


def on_call(ctx: MethodSigContext, level: str) -> FunctionLike:
    """The signature of `module(...)`, where the class has a forward of its own and no __call__ of its own."""
    signature = ctx.default_signature
    instance = ctx.type
    if not isinstance(instance, Instance) or not is_module(instance.type):
        return signature
    info = instance.type
    call = info.get("__call__")
    owner = getattr(call.node, "info", None) if call is not None else None
    if owner is not None and owner.fullname != "torch.nn.modules.module.Module":
        return signature
    forward = info.get_method("forward")
    if (
        not isinstance(forward, FuncDef)
        or forward.info.fullname == "torch.nn.modules.module.Module"
        or forward.abstract_status
    ):
        return signature
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
