"""Keys given to a typed class: names are checked against its fields, and what is read has the type of the field."""

from __future__ import annotations

from mypy.nodes import ARG_NAMED_OPT, ARG_STAR2, ArgKind, DictExpr, Expression, StrExpr, TypeInfo
from mypy.plugin import MethodContext, MethodSigContext
from mypy.subtypes import is_subtype
from mypy.typeops import make_simplified_union
from mypy.types import (
    AnyType,
    CallableType,
    FunctionLike,
    Instance,
    LiteralType,
    NoneType,
    ProperType,
    TupleType,
    Type,
    TypeOfAny,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from tensorclass._rules import errors

from . import _codes, _report
from ._fields import OWN, Field, fields_of
from ._types import is_ours, is_tensor, is_tensorclass, is_tensordict

READS = {"get", "pop", "__getitem__", "get_at"}
WRITES = {"set", "set_", "__setitem__", "setdefault", "set_at_", "set_non_tensor"}
NAMES = {"select", "exclude", "del_", "__delitem__", "rename_key_", "fill_"}
MERGES = {"update", "update_", "replace"}
METHODS = READS | WRITES | NAMES | MERGES

VIEWS = ("tensorclass.envs._typed.Transition", "tensorclass.envs._typed.Next")  # See _views.

Path = tuple[str, ...]


def on_method(ctx: MethodContext, name: str) -> Type:
    """A method that takes keys, called on some value."""
    instance = receiver(ctx.type)
    if instance is not None and name in READS and instance.type.fullname in VIEWS:
        from ._views import read as read_view

        return read_view(ctx, instance)
    if instance is None or not is_tensorclass(instance.type) or not is_own(instance.type, name):
        return ctx.default_return_type
    if name in READS:
        return read(ctx, instance, name)
    if name in WRITES:
        write(ctx, instance, name)
    elif name in NAMES:
        for typ, node in given(ctx):
            if name == "rename_key_" and node in (ctx.args[1] if len(ctx.args) > 1 else []):
                check(ctx, instance, typ, node, True)
            else:
                check(ctx, instance, typ, node, False)
    else:
        merge(ctx, instance, name)
    return ctx.default_return_type


def receiver(typ: Type) -> Instance | None:
    proper = get_proper_type(typ)
    if isinstance(proper, TypeVarType):
        proper = get_proper_type(proper.upper_bound)
    return proper if isinstance(proper, Instance) else None


def is_own(info: TypeInfo, name: str) -> bool:
    """The method is the library's, not one of the user's with the same name."""
    symbol = info.get(name)
    owner = getattr(symbol.node, "info", None) if symbol is not None else None
    return owner is None or is_ours(owner)


def given(ctx: MethodContext) -> list[tuple[Type, Expression]]:
    """The positional arguments, with their nodes."""
    return [pair for types, nodes in zip(ctx.arg_types[:2], ctx.args[:2]) for pair in zip(types, nodes)]


def path_of(typ: Type) -> Path | None:
    """The key that a type holds: a literal string, or a tuple of them."""
    proper = get_proper_type(typ)
    if isinstance(proper, Instance) and proper.last_known_value is not None:
        proper = proper.last_known_value
    if (
        isinstance(proper, LiteralType)
        and isinstance(proper.value, str)
        and proper.fallback.type.fullname == "builtins.str"
    ):
        return (proper.value,)
    if isinstance(proper, TupleType) and proper.items:
        parts: list[str] = []
        for item in proper.items:
            inner = path_of(item)
            if inner is None:
                return None
            parts += inner
        return tuple(parts)
    return None


def lookup(instance: Instance, path: Path) -> tuple[Type | None, str | None, Field | None]:
    """The type at the end of a path, the sentence if there is no such field, and the last field."""
    current: ProperType | None = instance
    optional = False
    field: Field | None = None
    last: Type | None = None
    for name in path:
        if not isinstance(current, Instance) or not is_tensorclass(current.type):
            return None, None, None
        fields = fields_of(current.type, current)
        if fields is None:
            return None, None, None
        field = fields.get(name)
        if field is None or field.init_only:
            return (
                None,
                errors.no_field(current.type.name, name, [n for n, f in fields.items() if not f.init_only]),
                None,
            )
        optional = optional or (field.optional and name is not path[-1])
        last = field.type
        current = field.plain
    if field is None or field.type is None:
        return None, None, None
    result: Type = last if last is not None else AnyType(TypeOfAny.special_form)
    return (UnionType.make_union([result, NoneType()]) if optional else result), None, field


def check(ctx: MethodContext, instance: Instance, typ: Type, node: Expression, write: bool) -> bool:
    """Say that a key is no field; True if it is said."""
    if isinstance(get_proper_type(typ), (UnionType,)):
        return False
    path = path_of(typ)
    if path is None:
        proper = get_proper_type(typ)
        if isinstance(proper, TupleType):  # Several keys in one tuple or list are not told apart from a path.
            return False
        return False
    _, wrong, _ = lookup(instance, path)
    if wrong is None:
        return False
    if write and len(path) == 1:
        wrong = errors.no_field_to_set(instance.type.name, path[0], list(fields_of(instance.type) or {}))
    _report.say(ctx.api, node, _codes.FIELD, wrong)
    return True


def read(ctx: MethodContext, instance: Instance, name: str) -> Type:
    """get, pop and x["key"]: the type of the field."""
    if not ctx.arg_types or not ctx.arg_types[0]:
        return ctx.default_return_type
    path = path_of(ctx.arg_types[0][0])
    if path is None:
        return ctx.default_return_type
    typ, wrong, field = lookup(instance, path)
    if wrong is not None:
        _report.say(ctx.api, ctx.args[0][0], _codes.FIELD, wrong)
        return AnyType(TypeOfAny.from_error)
    if typ is None:
        return ctx.default_return_type
    proper = get_proper_type(typ)
    if name == "get" and len(ctx.arg_types) > 1 and ctx.arg_types[1] and isinstance(proper, UnionType):
        rest = [item for item in proper.items if not isinstance(get_proper_type(item), NoneType)]
        return make_simplified_union([*rest, ctx.arg_types[1][0]])
    return typ


def write(ctx: MethodContext, instance: Instance, name: str) -> None:
    """set and x["key"] = value: the field must exist, and the value must be of its kind."""
    if not ctx.arg_types or not ctx.arg_types[0]:
        return
    if check(ctx, instance, ctx.arg_types[0][0], ctx.args[0][0], True):
        return
    path = path_of(ctx.arg_types[0][0])
    if len(ctx.arg_types) < 2 or not ctx.arg_types[1]:
        return
    if path is None:
        if name == "__setitem__":
            rows(ctx, instance, ctx.arg_types[1][0], ctx.args[1][0])
        return
    typ, _, field = lookup(instance, path)
    if field is not None:
        fits(ctx, errors.name_of(path), field, ctx.arg_types[1][0], ctx.args[1][0])


def rows(ctx: MethodContext, instance: Instance, value: Type, node: Expression) -> None:
    """x[at] = y with a y of another class: it must have the fields of x."""
    found = get_proper_type(value)
    if not isinstance(found, Instance) or not is_tensorclass(found.type) or is_subtype(found, instance):
        return
    mine, theirs = fields_of(instance.type) or {}, fields_of(found.type) or {}
    missing = [field.name for field in mine.values() if field.name not in theirs and not field.optional]
    if missing and theirs and not any(base is found.type for base in instance.type.mro):
        text = f"index: the value is {_word(found)} and has no {missing[0]!r}; both must have the same keys"
        _report.say(ctx.api, node, _codes.FIELD, text)


def fits(ctx: MethodContext, name: str, field: Field, value: Type, node: Expression) -> None:
    """Say that a value is surely of another kind than the field."""
    wanted, found = field.plain, get_proper_type(value)
    if not isinstance(wanted, Instance) or not isinstance(found, Instance) or is_subtype(found, wanted):
        return
    kinds = (is_tensorclass, is_tensor)
    for kind in kinds:
        if (
            kind(wanted.type)
            and not kind(found.type)
            and any(other(found.type) for other in kinds if other is not kind)
        ):
            break
        if is_tensorclass(wanted.type) and is_tensorclass(found.type) and kind is is_tensorclass:
            break
    else:
        if not (is_tensorclass(wanted.type) and found.type.fullname in ("builtins.dict", "builtins.str")):
            if not (is_tensor(wanted.type) and found.type.fullname == "builtins.str"):
                if field.casts or not _is_data(wanted) or not (_is_data(found) or is_tensor(found.type)):
                    return
    text = f"field {name} is {_word(wanted)}, and the value is {_word(found)}"
    _report.say(ctx.api, node, _codes.FIELD, text)


def _is_data(typ: Instance) -> bool:
    return typ.type.fullname in ("builtins.str", "builtins.int", "builtins.float", "builtins.bool")


def _word(typ: Instance) -> str:
    name = typ.type.name
    return f"an {name}" if name[0].lower() in "aeiou" else f"a {name}"


def merge(ctx: MethodContext, instance: Instance, name: str) -> None:
    """update and replace: the keys of a dict, and the fields of another class."""
    if not ctx.args or not ctx.args[0]:
        return
    node = ctx.args[0][0]
    typ = get_proper_type(ctx.arg_types[0][0])
    if isinstance(node, DictExpr):
        for key, value in node.items:
            if isinstance(key, StrExpr):
                _, wrong, field = lookup(instance, (key.value,))
                if wrong is not None:
                    _report.say(ctx.api, key, _codes.FIELD, wrong)
                elif field is not None and not isinstance(value, DictExpr):
                    look = getattr(ctx.api, "lookup_type_or_none", None)
                    found = look(value) if look is not None else None
                    if found is not None:
                        fits(ctx, repr(key.value), field, found, value)
    elif isinstance(typ, Instance) and is_tensorclass(typ.type) and not is_subtype(typ, instance):
        mine, theirs = fields_of(instance.type), fields_of(typ.type)
        if mine is None or theirs is None:
            return
        for name in theirs:
            if name not in mine and not theirs[name].optional:
                _report.say(ctx.api, node, _codes.FIELD, errors.no_field(instance.type.name, name, list(mine)))
                return


def on_replace(ctx: MethodSigContext) -> FunctionLike:
    """replace(**fields): the fields as keyword arguments with their types."""
    signature = ctx.default_signature
    instance = receiver(ctx.type)
    if instance is None or not is_tensorclass(instance.type) or not is_own(instance.type, "replace"):
        return signature
    fields = fields_of(instance.type, instance)
    if fields is None or not isinstance(signature, CallableType):
        return signature
    every = AnyType(TypeOfAny.special_form)
    rows: list[tuple[ArgKind, str | None, Type]] = [
        (kind, name, typ)
        for kind, name, typ in zip(signature.arg_kinds, signature.arg_names, signature.arg_types)
        if kind != ARG_STAR2 and name not in fields
    ]
    there = {name for _, name, _ in rows}
    rows += [(ARG_NAMED_OPT, name, every) for name in OWN if name not in there and name not in fields]
    for field in fields.values():
        if not field.init_only:
            rows.append((ARG_NAMED_OPT, field.name, field.type if field.type is not None else every))
    return signature.copy_modified(
        arg_kinds=[row[0] for row in rows], arg_names=[row[1] for row in rows], arg_types=[row[2] for row in rows]
    )


__all__ = ["is_tensordict"]
