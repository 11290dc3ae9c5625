"""Typed modules: the classes they take and give, and the keys that these are once the module is one by key."""

from __future__ import annotations

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import TypeInfo
from mypy.plugin import MethodContext
from mypy.types import AnyType, Instance, ProperType, TypeVarType, get_proper_type
from mypy.typevars import fill_typevars_with_any

from . import _codes, _report
from ._fields import fields_of
from ._types import base_named, is_container, is_tensorclass


def ends(instance: Instance) -> tuple[ProperType, ProperType] | None:
    """The input and output types of a typed module."""
    base = base_named(instance.type, "TensorClassModuleBase")
    if base is None or not instance.type.has_base(base.fullname):
        return None
    mapped = map_instance_to_supertype(instance, base)
    if len(mapped.args) != 2:
        return None
    return get_proper_type(mapped.args[0]), get_proper_type(mapped.args[1])


def on_as_td_module(ctx: MethodContext) -> None:
    """module.as_td_module(): both ends must be classes with fields."""
    instance = ctx.type
    found = ends(instance) if isinstance(instance, Instance) else None
    if found is None or not isinstance(instance, Instance):
        return
    for word, end in zip(("input", "output"), found):
        if isinstance(end, (AnyType, TypeVarType)) or not isinstance(end, Instance):
            continue
        if not is_container(end.type):
            text = f"{instance.type.name}: the {word} type is {end.type.name}, no TensorClass; "
            text += "only a module between two TensorClass classes can be one by key"
            _report.say(ctx.api, ctx.context, _codes.MODULE, text)


def keys(info: TypeInfo) -> tuple[tuple[object, ...], tuple[object, ...]] | None:
    """What a typed module reads and writes as one by key."""
    instance = fill_typevars_with_any(info)
    found = ends(instance) if isinstance(instance, Instance) else None
    if found is None:
        return None
    sides = [_keys(end) if isinstance(end, Instance) else None for end in found]
    return (sides[0], sides[1]) if sides[0] is not None and sides[1] is not None else None


def _keys(typ: Instance) -> tuple[object, ...] | None:
    """The fields of a class, nested ones as tuples."""
    fields = fields_of(typ.type, typ) if is_tensorclass(typ.type) else None
    if fields is None:
        return None
    found: list[object] = []
    for field in fields.values():
        plain = field.plain
        if field.optional:
            return None  # May be unset: then it is no key.
        if isinstance(plain, Instance) and is_tensorclass(plain.type):
            inner = _keys(plain)
            if inner is None:
                return None
            found += [(field.name, *(key if isinstance(key, tuple) else (key,))) for key in inner]
        else:
            found.append(field.name)
    return tuple(found)
