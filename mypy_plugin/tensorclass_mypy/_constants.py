"""Constants that are not names of the module at hand: attributes that a class body sets, members of enums."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mypy.nodes import AssignmentStmt, ClassDef, Expression, NameExpr, TypeInfo, Var
from mypy.types import Instance, LiteralType, get_proper_type

from tensorclass._rules.sizes import UNKNOWN

from . import _scan
from ._tree import below
from ._types import is_library
from ._values import Value

if TYPE_CHECKING:
    from ._walk import Walk

WRITTEN = {"StrExpr", "IntExpr", "FloatExpr", "TupleExpr", "ListExpr", "DictExpr", "NameExpr", "MemberExpr", "OpExpr"}


def of_class(walk: Walk, info: TypeInfo, name: str) -> Value:
    """An attribute of a class, where its body sets it to a constant and nothing sets it elsewhere."""
    owner = next((base for base in info.mro if name in base.names), None)
    node = owner.names[name].node if owner is not None else None
    if owner is None or not isinstance(node, Var) or is_library(owner):
        return UNKNOWN
    if node.is_final and node.final_value is not None:
        return node.final_value
    if owner.is_enum:
        return UNKNOWN  # A member is no string; its value is.
    if owner.module_name != walk.tree.fullname:
        found = walk.globals_of(f"{owner.fullname}.{name}")
        return UNKNOWN if found is UNKNOWN else walk.taken(*found)
    expr = _in_body(owner.defn, name)
    text = _scan.text_of(walk.tree) or ""
    own = "\n".join(text.split("\n")[owner.defn.line - 1 : owner.defn.end_line])
    if expr is None or is_set(text.replace(f"self.{name}", ""), name) or is_set(own, name):
        return UNKNOWN  # What other classes set on themselves is theirs.
    walk.quiet += 1
    value = walk.evaluate(expr)
    walk.quiet -= 1
    return value


def _in_body(cls: ClassDef, name: str) -> Expression | None:
    """What a class body sets a name to, once."""
    found = [
        node.rvalue
        for node in below(cls.defs, inside_functions=False)
        if isinstance(node, AssignmentStmt)
        and any(isinstance(one, NameExpr) and one.name == name for one in node.lvalues)
    ]
    return found[0] if len(found) == 1 and is_constant(found[0]) else None


def is_constant(expr: Expression) -> bool:
    """Strings and numbers, rows of them, and names."""
    return {type(node).__name__ for node in below(expr)} <= WRITTEN


def is_set(text: str, name: str) -> bool:
    """Whether a file sets an attribute of this name, or changes what the name stands for."""
    into = rf"\[[^\]]*\]\s*=(?!=)|\.(?:{'|'.join(sorted(_scan.CHANGING))})\("
    change = rf"\.{name}\s*[-+*/|&]?=(?!=)|\b{name}\s*(?:{into})"
    return re.search(change, text) is not None


def member_value(info: TypeInfo, name: str) -> Value:
    """`Member.value` of an enum, as mypy has it."""
    symbol = info.names.get(name)
    typ = get_proper_type(symbol.node.type) if symbol is not None and isinstance(symbol.node, Var) else None
    literal = typ.last_known_value if isinstance(typ, Instance) else typ
    return literal.value if isinstance(literal, LiteralType) else UNKNOWN
