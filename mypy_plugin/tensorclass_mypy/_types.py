"""From mypy's types to values: what a declared type says of a value that nothing else is known of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import Expression, NameExpr, RefExpr, TypeInfo, Var
from mypy.types import (
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    ProperType,
    TupleType,
    Type,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from tensorclass._rules.sizes import UNKNOWN

from ._values import Box, Class, Net, Number, Tensor, Typed, Value, own_run

if TYPE_CHECKING:
    from ._walk import Walk

PACKAGE = "tensorclass."


def is_ours(info: TypeInfo) -> bool:
    """A class of the tensorclass package itself."""
    return info.fullname.startswith(PACKAGE)


def base_named(info: TypeInfo, name: str, package: str = PACKAGE) -> TypeInfo | None:
    """The class of that name of a package, among the bases."""
    for base in info.mro:
        if base.name == name and base.fullname.startswith(package):
            return base
    return None


def is_tensorclass(info: TypeInfo) -> bool:
    """A class of the user's that declares fields (TensorClass itself declares none)."""
    return "tensorclass" in info.metadata or (base_named(info, "TensorClass") is not None and not is_ours(info))


def is_tensordict(info: TypeInfo) -> bool:
    return info.name in ("TensorDict", "TensorDictParams", "LazyStackedTensorDict") and is_ours(info)


def is_container(info: TypeInfo) -> bool:
    return is_tensorclass(info) or is_tensordict(info) or base_named(info, "Container") is not None


def is_tensor(info: TypeInfo) -> bool:
    has_base = info.has_base
    return has_base("torch._tensor.Tensor") or has_base("torch.Tensor") or has_base("torch._C.TensorBase")


def is_module(info: TypeInfo) -> bool:
    return info.has_base("torch.nn.modules.module.Module")


def is_library(info: TypeInfo) -> bool:
    """A class whose behaviour we know by its name."""
    return info.fullname.startswith(("torch.", "tensorclass."))


def from_type(walk: Walk, typ: Type | None) -> Value:
    """What the type alone says of a value."""
    proper = get_proper_type(typ) if typ is not None else None
    if isinstance(proper, TypeVarType):
        upper = get_proper_type(proper.upper_bound)
        if isinstance(upper, Instance) and is_tensorclass(upper.type):
            return walk.here.new(Box(upper.type, proper, batch=own_run()))
        proper = upper
    if isinstance(proper, Instance):
        return from_instance(walk, proper)
    if isinstance(proper, TupleType) and proper.partial_fallback.type.fullname == "builtins.tuple":
        return tuple(from_type(walk, item) for item in proper.items)
    if isinstance(proper, LiteralType):
        return proper.value if not proper.is_enum_literal() else UNKNOWN
    if isinstance(proper, NoneType):
        return UNKNOWN  # A variable that is None so far.
    if isinstance(proper, UnionType):
        return Typed(proper)
    return UNKNOWN


def from_instance(walk: Walk, proper: Instance) -> Value:
    info = proper.type
    if is_tensor(info):
        return Tensor()
    if is_tensordict(info):
        return walk.here.new(Box(None, proper))
    if is_tensorclass(info):
        return walk.here.new(Box(info, proper, batch=own_run()))
    if is_module(info):
        kind = info.name if is_library(info) else "user"
        return walk.here.new(Net(kind, info, touched=True))
    if info.fullname == "builtins.float":
        return Number("float")
    if info.fullname in ("builtins.int", "builtins.str", "builtins.bool"):
        return UNKNOWN
    return Typed(proper)


def known_type(walk: Walk, expr: Expression) -> ProperType | None:
    """The type that mypy has found for an expression, if it has been there already."""
    if isinstance(expr, NameExpr) and isinstance(expr.node, Var) and expr.node.type is not None:
        declared = get_proper_type(expr.node.type)
        if not expr.node.is_inferred:
            return declared
    try:
        found = walk.api.lookup_type_or_none(expr)
    except Exception:  # Not every minor version of mypy has the method; then nothing is known.
        return None
    return get_proper_type(found) if found is not None else None


def item_of(walk: Walk, expr: Expression) -> Value:
    """An element of an iterable of which mypy knows the type."""
    typ = known_type(walk, expr)
    return item_of_type(walk, typ)


def item_of_type(walk: Walk, typ: ProperType | None) -> Value:
    if not isinstance(typ, Instance):
        return UNKNOWN
    if is_tensorclass(typ.type):
        return walk.here.new(Box(typ.type, typ, batch=own_run()))
    for base in typ.type.mro:
        if base.fullname == "typing.Iterable":
            mapped = map_instance_to_supertype(typ, base)
            if mapped.args:
                return from_type(walk, mapped.args[0])
    return UNKNOWN


def returned(walk: Walk, typ: Any) -> Value:
    """The value of a call of something of this type."""
    proper: ProperType | None = get_proper_type(typ)
    if isinstance(proper, CallableType):
        return from_type(walk, proper.ret_type)
    return UNKNOWN


def class_of(expr: Expression) -> Value:
    """The class that a name refers to."""
    if isinstance(expr, RefExpr) and isinstance(expr.node, TypeInfo):
        return Class(expr.node)
    return UNKNOWN
