"""Class bodies: what they declare is kept with the class; reserved names are refused, decorated classes get a base."""

from __future__ import annotations

from typing import Any

from mypy.mro import calculate_mro
from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    ClassDef,
    IndexExpr,
    NameExpr,
    PlaceholderNode,
    RefExpr,
    StrExpr,
    TupleExpr,
    TypeAlias,
    TypeInfo,
    Var,
)
from mypy.plugin import AnalyzeTypeContext, ClassDefContext
from mypy.types import AnyType, Instance, ProperType, RawExpressionType, Type, TypeOfAny, UnboundType, get_proper_type

from tensorclass._rules import annotations as strings
from tensorclass._rules import errors
from tensorclass._rules.reserved import RESERVED

from . import _codes, _hints, _kept, _marks
from ._fields import KEY, OWN
from ._say import meant
from ._types import base_named, is_container, is_ours, is_tensor

CLASS = "tensorclass._tensorclass.TensorClass"
TYPED = "tensorclass._typedtensordict.TypedTensorDict"
DECORATOR = "tensorclass._decorator.tensorclass"
OPTIONS = ("frozen", "autocast", "nocast", "tensor_only", "shadow")
KEYWORDS = (*OPTIONS, "kw_only")


def on_class(ctx: ClassDefContext) -> None:
    """A class with TensorClass among its bases."""
    info = ctx.cls.info
    if is_ours(info) and base_named(info, "TensorClass") in (None, info):
        return
    check_options(ctx)
    for decorator in ctx.cls.decorators:
        callee = decorator.callee if isinstance(decorator, CallExpr) else decorator
        if isinstance(callee, RefExpr) and callee.fullname in ("dataclasses.dataclass", "dataclass"):
            ctx.api.fail(f"{info.name} is a dataclass as it is; leave @dataclass out", decorator, code=_codes.FIELD)
    note(ctx, ctx.cls, _options(ctx.cls))


def check_options(ctx: ClassDefContext) -> None:
    """A keyword in the class header that is no option."""
    info = ctx.cls.info
    taken = info.get("__init_subclass__")
    owner = getattr(taken.node, "info", None) if taken is not None else None
    if owner is not None and owner.fullname != "builtins.object" and not is_ours(owner):
        return
    for name, value in ctx.cls.keywords.items():
        if name not in (*KEYWORDS, "metaclass"):
            rest = meant(name, KEYWORDS, f"the options are {errors.some_names(KEYWORDS)}")
            ctx.api.fail(f"unknown class option {name!r}{rest}", value, code=_codes.FIELD)


def note(ctx: ClassDefContext, cls: ClassDef, options: set[str]) -> None:
    """Keep what the class body declares; mypy writes it to its cache with the class."""
    info = cls.info
    inherited = {option for base in info.mro[1:] for option in base.metadata.get(KEY, {}).get("options", ())}
    shapes: dict[str, list[str]] = {}
    specs: list[str] = []
    tree = ctx.api.modules.get(ctx.api.cur_mod_id)
    for statement in cls.defs.body:
        if not isinstance(statement, AssignmentStmt) or statement.unanalyzed_type is None:
            continue
        target = statement.lvalues[0]
        if not isinstance(target, NameExpr) or _is_class_var(statement.unanalyzed_type):
            continue
        hint = _hints.of_type(tree, ctx.api, statement.unanalyzed_type) if tree is not None else None
        if hint is not None:
            shapes[target.name] = [hint.text, hint.kind]
            wrong = strings.mistake(hint.text)
            if wrong is not None:
                ctx.api.fail(f"field {target.name!r}: {wrong}", target, code=_codes.SHAPE)
        elif _may_be_spec(ctx.api, statement.unanalyzed_type):
            specs.append(target.name)
        _check_name(ctx, info, target, "shadow" in options | inherited)
    if tree is not None:
        _kept.keep(ctx.api, tree)
    for statement in cls.defs.body:
        _marks.mark(statement)
    info.metadata[KEY] = {"shapes": shapes, "options": sorted(options), "specs": specs}


def _may_be_spec(api: Any, typ: Any) -> bool:
    """Whether an annotation may declare a shape that is not read here: a spec in its metadata, an alias, a constant.

    mypy keeps no more of Bounded(-1.0, 1.0) than a place.
    """
    if isinstance(typ, RawExpressionType):
        return typ.literal_value is None
    if not isinstance(typ, UnboundType):
        return any(_may_be_spec(api, item) for item in getattr(typ, "items", ()))  # Of a union.
    if typ.name.split(".")[-1] == "Annotated":
        return _may_be_spec(api, typ.args[0]) or any(
            arg.literal_value is None if isinstance(arg, RawExpressionType) else _is_name(arg) for arg in typ.args[1:]
        )
    symbol = api.lookup_qualified(typ.name, typ, suppress_errors=True)
    node = symbol.node if symbol is not None else None
    if isinstance(node, TypeAlias):
        return _has_tensors(node.target)
    if isinstance(node, (Var, PlaceholderNode)) and not (node.fullname or "").startswith("typing"):
        return True
    return any(_may_be_spec(api, arg) for arg in typ.args)


def _has_tensors(typ: Any) -> bool:
    """Whether a type has tensors or containers in it, or nobody knows."""
    proper: ProperType = get_proper_type(typ)
    if isinstance(proper, Instance):
        return is_tensor(proper.type) or is_container(proper.type) or any(map(_has_tensors, proper.args))
    return isinstance(proper, AnyType) or any(map(_has_tensors, getattr(proper, "items", ())))


def _is_name(typ: Any) -> bool:
    return isinstance(typ, UnboundType) and typ.original_str_expr is None


def _is_class_var(typ: Any) -> bool:
    return isinstance(typ, UnboundType) and typ.name.split(".")[-1] in ("ClassVar", "InitVar", "KW_ONLY")


def _check_name(ctx: ClassDefContext, info: TypeInfo, target: NameExpr, shadow: bool) -> None:
    """A field called like a method of every container."""
    name = target.name
    if name not in RESERVED and name not in OWN:
        return
    symbol = info.names.get(name)
    if symbol is not None and isinstance(symbol.node, Var):
        symbol.node.allow_incompatible_override = True
    if not shadow and name in RESERVED:
        text = f"field {name!r} of {info.name} would hide TensorClass.{name}; rename it, or pass shadow=True"
        ctx.api.fail(text, target, code=_codes.FIELD)


def _options(cls: ClassDef) -> set[str]:
    """Options in the class header: keywords, and strings in brackets."""
    found = {name for name, value in cls.keywords.items() if name in OPTIONS and _is_true(value)}
    for base in [*cls.base_type_exprs, *cls.removed_base_type_exprs]:
        if isinstance(base, IndexExpr):
            items = base.index.items if isinstance(base.index, TupleExpr) else [base.index]
            found |= {item.value for item in items if isinstance(item, StrExpr) and item.value in OPTIONS}
    return found


def _is_true(value: Any) -> bool:
    return isinstance(value, NameExpr) and value.fullname == "builtins.True" or getattr(value, "name", "") == "True"


# -- @tensorclass ---------------------------------------------------------------------------------------------------


def on_decorator(ctx: ClassDefContext) -> None:
    """A decorated class types like a subclass of TensorClass."""
    info = ctx.cls.info
    symbol = ctx.api.lookup_fully_qualified_or_none(CLASS)
    if symbol is None or not isinstance(symbol.node, TypeInfo):
        if not ctx.api.final_iteration:
            ctx.api.defer()
        return
    base = symbol.node
    if not info.has_base(base.fullname):
        kept = [one for one in info.bases if one.type.fullname != "builtins.object"]
        before, order = info.bases, info.mro
        info.bases = [*kept, Instance(base, [])]
        info.mro = []  # Else mypy takes the old order for the answer.
        try:
            calculate_mro(info)
        except Exception:  # Bases that do not line up: mypy says so where they are written.
            info.bases, info.mro = before, order
            return
        info.metaclass_type = info.calculate_metaclass_type()
    options: set[str] = set()
    reason = ctx.reason
    if isinstance(reason, CallExpr):
        for name, value in zip(reason.arg_names, reason.args):
            if name in OPTIONS and _is_true(value):
                options.add(name)
    note(ctx, ctx.cls, options)


# -- TensorClass["nocast"] ------------------------------------------------------------------------------------------


def on_type(ctx: AnalyzeTypeContext) -> Type:
    """`TensorClass["nocast"]`: strings in the brackets are options, not types."""
    typ = ctx.type
    api: Any = ctx.api
    semantic = api.api
    symbol = semantic.lookup_fully_qualified_or_none(CLASS)
    if symbol is None or not isinstance(symbol.node, TypeInfo):
        return AnyType(TypeOfAny.special_form)
    others = [arg for arg in typ.args if not _is_option(arg)]
    if len(others) < len(typ.args):
        _take_back(semantic, typ)
    if others:
        api.fail('"TensorClass" takes options as strings only, such as TensorClass["nocast"]', typ)
    return Instance(symbol.node, [], typ.line, typ.column)


def _take_back(semantic: Any, typ: UnboundType) -> None:
    """mypy has looked for a type called "nocast" before any hook could tell it not to: that error goes."""
    names = {f'Name "{option}" is not defined' for option in OPTIONS}
    shown = semantic.errors.error_info_map
    path = semantic.cur_mod_node.path
    found = shown.get(path)
    if found is None:
        return
    kept = [info for info in found if not (info.message in names and info.line == typ.line)]
    if not kept:
        del shown[path]
    elif len(kept) < len(found):
        shown[path] = kept


def _is_option(arg: Any) -> bool:
    return isinstance(arg, UnboundType) and arg.original_str_expr in OPTIONS
