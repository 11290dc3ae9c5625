"""Values of the top level of a module that other modules need: kept as text in its symbol table, and so in the cache.

`policy = TensorDictModule(...)` in one module, called in another: mypy keeps the type and frees the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mypy.nodes import GDEF, AssignmentStmt, ClassDef, FuncDef, MemberExpr, MypyFile, NameExpr, SymbolTableNode, Var
from mypy.types import LiteralType, UnboundType, get_proper_type

from . import _constants, _scan
from ._tree import below

if TYPE_CHECKING:
    from ._walk import Walk

SYMBOL = "__tensorclass_values__"
MOST = 20_000  # Characters kept for one module.

# What the text of a value may be made of.
_PARTS = {
    "StrExpr", "IntExpr", "FloatExpr", "NameExpr", "MemberExpr", "CallExpr", "ListExpr", "TupleExpr", "DictExpr",
    "UnaryExpr", "OpExpr", "IndexExpr", "SliceExpr",
}  # fmt: skip
_done: dict[int, MypyFile] = {}


def keep(api: Any, tree: MypyFile) -> None:
    """Keep the values of a module whose analysis is under way; once."""
    if _done.get(id(tree)) is tree:
        return
    if len(_done) > 50:
        _done.clear()
    _done[id(tree)] = tree
    if tree.is_stub or "site-packages" in tree.path or tree.fullname.startswith("tensorclass."):
        return
    text = _scan.text_of(tree)
    if text is None:
        return
    lines = text.split("\n")
    found: dict[str, str] = {}
    for name, value in _values(tree):
        if value.end_line is None or value.end_column is None:
            continue
        rows = lines[value.line - 1 : value.end_line]
        rows[-1] = rows[-1].encode()[: value.end_column].decode(errors="replace")
        rows[0] = rows[0].encode()[value.column :].decode(errors="replace")
        found[name] = "\n".join(rows)
    if not found or sum(map(len, found.values())) > MOST:
        return
    var = Var(SYMBOL, LiteralType(json.dumps(found, sort_keys=True), api.named_type("builtins.str")))
    var._fullname = f"{tree.fullname}.{SYMBOL}"
    var.is_ready = True
    tree.names[SYMBOL] = SymbolTableNode(GDEF, var, module_public=False, plugin_generated=True)


def _values(tree: MypyFile) -> Iterator[tuple[str, Any]]:
    """Names of the top level and attributes of classes that are set once, with what they are set to."""
    from ._analysis import bindings, set_once

    once = bindings(tree)
    touched = _scan.changed_in(tree) | _in_other_statements(tree)
    for node in tree.defs:
        if isinstance(node, AssignmentStmt) and len(node.lvalues) == 1:
            target = node.lvalues[0]
            if isinstance(target, NameExpr) and once.get(target.name) == 1 and target.name not in touched:
                if _is_plain(node.rvalue):
                    yield target.name, node.rvalue
        elif isinstance(node, ClassDef):
            for init in node.defs.body:
                if isinstance(init, FuncDef) and init.name == "__init__" and init.arguments:
                    yield from _attributes(node, init, set_once(node, init))
            yield from _of_body(node, tree)


def _attributes(cls: ClassDef, init: FuncDef, once: set[str]) -> Iterator[tuple[str, Any]]:
    """`self.name = value` in __init__, where the value hangs on nothing but the module and other attributes."""
    own = init.arguments[0].variable.name
    local = {argument.variable.name for argument in init.arguments[1:]}
    for node in below(init.body):
        if type(node).__name__ in ("AssignmentStmt", "ForStmt", "WithStmt"):
            local |= {one.name for one in below(node) if isinstance(one, NameExpr) and _is_target(node, one)}
    for statement in init.body.body:
        if not isinstance(statement, AssignmentStmt) or len(statement.lvalues) != 1:
            continue
        target = statement.lvalues[0]
        if isinstance(target, MemberExpr) and isinstance(target.expr, NameExpr) and target.expr.name == own:
            names = {one.name for one in below(statement.rvalue) if isinstance(one, NameExpr)}
            if target.name in once and not names & local and own not in names and _is_plain(statement.rvalue):
                yield f"{cls.name}.{target.name}", statement.rvalue


def _of_body(cls: ClassDef, tree: MypyFile) -> Iterator[tuple[str, Any]]:
    """`NAME = "key"` in a class body."""
    rows = [node for node in cls.defs.body if isinstance(node, AssignmentStmt) and len(node.lvalues) == 1]
    found = [(node.lvalues[0].name, node.rvalue) for node in rows if isinstance(node.lvalues[0], NameExpr)]
    names = [name for name, _ in found]
    for name, value in found:
        if names.count(name) == 1 and _constants.is_constant(value) and _is_plain(value):
            if not _constants.is_set(_scan.text_of(tree) or "", name):
                yield f"{cls.name}.{name}", value


def _is_target(node: Any, name: NameExpr) -> bool:
    targets = getattr(node, "lvalues", None) or getattr(node, "target", None) or [getattr(node, "index", None)]
    return any(name in list(below(target)) for target in targets if target is not None)


def _is_plain(value: Any) -> bool:
    """A value that its text tells: calls, names and constants, and something in it that is worth keeping."""
    kinds = {type(part).__name__ for part in below(value)}
    return kinds <= _PARTS and bool(kinds & {"StrExpr", "CallExpr"})


def _in_other_statements(tree: MypyFile) -> set[str]:
    """Names in statements of the top level that could change what they stand for."""
    found: set[str] = set()
    for node in tree.defs:
        if type(node).__name__ not in ("AssignmentStmt", "FuncDef", "ClassDef", "Decorator", "OverloadedFuncDef"):
            found |= {one.name for one in below(node) if isinstance(one, NameExpr)}
    return found


def text_of(walk: Walk, module: str, name: str) -> str | None:
    """The text of a value of another module; the module at hand is checked again when it changes."""
    tree = walk.api.modules.get(module)
    symbol = tree.names.get(SYMBOL) if tree is not None else None
    typ = get_proper_type(symbol.node.type) if symbol is not None and isinstance(symbol.node, Var) else None
    text = typ.name if isinstance(typ, UnboundType) else typ.value if isinstance(typ, LiteralType) else None
    if not isinstance(text, str):
        return None
    depend(walk.api, walk.tree, f"{module}.{SYMBOL}")
    found: str | None = json.loads(text).get(name)
    return found


def depend(api: Any, tree: MypyFile, fullname: str) -> None:
    """Tell mypy's daemon that what is walked hangs on a symbol that the program does not name."""
    target = api.scope.current_full_target() if hasattr(api.scope, "current_full_target") else None
    tree.plugin_deps.setdefault(f"<{fullname}>", set()).add(target or tree.fullname)
