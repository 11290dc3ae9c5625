"""Names that stand for an annotation of jaxtyping's: `Vec = Float[Tensor, "*batch 3"]`, here or in another module.

mypy replaces such a name by the class inside the brackets, so the dims of each are kept with the module that binds it.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from mypy.nodes import (
    GDEF,
    AssignmentStmt,
    IndexExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OpExpr,
    StrExpr,
    SymbolTableNode,
    TupleExpr,
    Var,
    get_member_expr_fullname,
)
from mypy.nodes import TypeAlias as Alias
from mypy.types import LiteralType, RawExpressionType, UnboundType, UnionType, get_proper_type

from tensorclass._rules import annotations as strings
from tensorclass._rules.annotations import AnnotationError

from . import _kept

if TYPE_CHECKING:
    from ._hints import Hint

SYMBOL = "__tensorclass_shapes__"  # Where a module keeps its aliases and the signatures of its functions.

Kept: TypeAlias = "dict[str, dict[str, Any]]"


def defined(api: Any, tree: MypyFile) -> dict[str, Hint]:
    """The aliases of a module whose analysis is under way."""
    from ._hints import read

    found: dict[str, Hint] = {}
    for name, value in _candidates(tree):
        hint = read(_as_type(value), Names(tree, api, found))
        if hint is not None:
            found[name] = hint
    return found


def _candidates(tree: MypyFile) -> Any:
    for node in tree.defs:
        if isinstance(node, AssignmentStmt) and len(node.lvalues) == 1 and isinstance(node.lvalues[0], NameExpr):
            declared = node.unanalyzed_type
            if declared is None or (isinstance(declared, UnboundType) and declared.name.endswith("TypeAlias")):
                yield node.lvalues[0].name, node.rvalue
        elif type(node).__name__ == "TypeAliasStmt" and not node.type_args:  # type: ignore[attr-defined]  # type X = ...
            yield node.name.name, node.value.expr()  # type: ignore[attr-defined]  # a TypeAliasStmt


def _as_type(expr: Any) -> Any:
    """An expression as mypy reads an annotation. (mypy's own function drops the dims of a name that it knows.)"""
    if isinstance(expr, (NameExpr, MemberExpr)):
        name = expr.name if isinstance(expr, NameExpr) else get_member_expr_fullname(expr)
        return UnboundType(name) if name is not None else None
    if isinstance(expr, IndexExpr):
        base = _as_type(expr.base)
        items = expr.index.items if isinstance(expr.index, TupleExpr) else [expr.index]
        args = [_as_type(item) for item in items]
        return UnboundType(base.name, args) if isinstance(base, UnboundType) and None not in args else None
    if isinstance(expr, OpExpr) and expr.op == "|":
        both = [_as_type(expr.left), _as_type(expr.right)]
        return UnionType(both) if None not in both else None
    return RawExpressionType(expr.value, "builtins.str") if isinstance(expr, StrExpr) else None


class Names:
    """What the names in the annotations of a file stand for."""

    def __init__(self, tree: MypyFile, api: Any, own: dict[str, Hint] | None = None) -> None:
        from ._hints import names_of

        self.tree = tree
        self.api = api
        self.own = own  # Aliases of this file, where mypy has none of its own yet.
        self.classes = names_of(tree)  # Of jaxtyping.

    def alias(self, name: str) -> Hint | None:
        """What an alias stands for."""
        if self.own is not None and name in self.own:
            return self.own[name]
        first, *rest = name.split(".")
        symbol = self.tree.names.get(first)
        for part in rest:
            inner = symbol.node if symbol is not None else None
            symbol = inner.names.get(part) if isinstance(inner, MypyFile) else None
        node = symbol.node if symbol is not None else None
        if not isinstance(node, Alias):
            return None
        module, _, last = node.fullname.rpartition(".")
        row = of(self.api, module).get(last)
        if row is not None:
            _kept.depend(self.api, self.tree, f"{module}.{SYMBOL}")
        return hint(row)


def of(api: Any, module: str) -> dict[str, Any]:
    """The aliases that a module binds, as they are kept."""
    return kept(api.modules.get(module)).get("aliases", {})


def keep(api: Any, tree: MypyFile, found: Kept) -> None:
    """Keep what a module declares, in its symbol table and so in mypy's cache."""
    var = Var(SYMBOL, LiteralType(json.dumps(found, sort_keys=True), api.named_type("builtins.str")))
    var._fullname = f"{tree.fullname}.{SYMBOL}"
    var.is_ready = True
    tree.names[SYMBOL] = SymbolTableNode(GDEF, var, module_public=False, plugin_generated=True)


def kept(tree: MypyFile | None) -> Kept:
    """What a module has kept."""
    symbol = tree.names.get(SYMBOL) if tree is not None else None
    typ = get_proper_type(symbol.node.type) if symbol is not None and isinstance(symbol.node, Var) else None
    return _parsed(typ.value) if isinstance(typ, LiteralType) and isinstance(typ.value, str) else {}


@lru_cache(maxsize=64)
def _parsed(text: str) -> Kept:
    found: Kept = json.loads(text)
    return found


def row(hint: Hint) -> list[Any]:
    """A hint as it is kept."""
    return [hint.text, hint.dtype, hint.of, hint.kind, hint.optional]


def hint(row: Any) -> Hint | None:
    """A hint that was kept."""
    from ._hints import Hint

    if row is None:
        return None
    try:
        return Hint(row[0], strings.parse(row[0]), *row[1:])
    except AnnotationError:
        return None
