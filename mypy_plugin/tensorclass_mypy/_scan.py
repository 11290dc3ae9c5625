"""Questions about the text of a program: which names a piece of it binds, which tests ask about shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mypy.nodes import (
    AssertStmt,
    AssignmentExpr,
    Block,
    CallExpr,
    ComparisonExpr,
    Expression,
    GlobalDecl,
    Import,
    ImportFrom,
    IndexExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    NonlocalDecl,
    OpExpr,
    RefExpr,
    SymbolTable,
    UnaryExpr,
    Var,
)

from ._tree import below

# What a test can ask of a tensor, a container or a module that a fact of ours also says.
ASKING = {
    "shape", "ndim", "size", "dim", "numel", "batch_size", "batch_dims", "keys", "in_keys", "out_keys", "is_empty",
    "len", "is_locked", "dtype", "nelement", "items", "names", "hasattr", "getattr", "device", "is_floating_point",
    "issubset",
}  # fmt: skip
RAISING = {"raises", "assertRaises", "assertRaisesRegex", "suppress", "warns", "deprecated_call", "assertWarns"}


def asks(test: Expression) -> bool:
    """Whether a test asks about shapes, keys or other things that our facts are about."""
    for node in below(test):
        if isinstance(node, MemberExpr) and node.name in ASKING:
            return True
        if isinstance(node, NameExpr) and node.name in ASKING:
            return True
        if isinstance(node, ComparisonExpr) and any(op in ("in", "not in") for op in node.operators):
            return True
        if isinstance(node, ComparisonExpr) and any(op not in ("is", "is not") for op in node.operators):
            if all(isinstance(operand, (NameExpr, MemberExpr)) for operand in node.operands):
                return True  # Two names compared: perhaps two sizes.
    return False


def tested_kinds(test: Expression) -> Iterator[Var]:
    """Names whose kind a test asks about."""
    for node in below(test):
        if isinstance(node, CallExpr) and isinstance(node.callee, NameExpr) and node.callee.name == "isinstance":
            if node.args and isinstance(node.args[0], NameExpr) and isinstance(node.args[0].node, Var):
                yield node.args[0].node


def tested_none(test: Expression, outcome: bool) -> Iterator[tuple[Var, bool]]:
    """Names that a test with this outcome says are None, or are not."""
    if isinstance(test, UnaryExpr) and test.op == "not":
        yield from tested_none(test.expr, not outcome)
    elif isinstance(test, OpExpr) and test.op == ("and" if outcome else "or"):
        yield from tested_none(test.left, outcome)
        yield from tested_none(test.right, outcome)
    elif isinstance(test, ComparisonExpr) and test.operators in (["is"], ["is not"]):
        one, other = test.operands
        if isinstance(one, NameExpr) and isinstance(one.node, Var) and getattr(other, "name", "") == "None":
            yield one.node, (test.operators == ["is"]) == outcome


def names_in(node: Node) -> set[str]:
    """The names that are read or written somewhere below."""
    return {one.name for one in below(node) if isinstance(one, NameExpr) and isinstance(one.node, Var)} - {
        "True",
        "False",
        "None",
    }


_DECLARES = re.compile(r"^[ \t]*(?:global|nonlocal)[ \t]+([\w, \t]+)", re.MULTILINE)
_bound: dict[int, tuple[Block, set[Var]]] = {}
_volatile: dict[int, tuple[SymbolTable, set[str]]] = {}


def bound_in(block: Block) -> set[Var]:
    """The variables that a block binds, at any depth."""
    kept = _bound.get(id(block))
    if kept is None or kept[0] is not block:
        if len(_bound) > 2000:
            _bound.clear()
        kept = (block, _bound_in(block))
        _bound[id(block)] = kept
    return kept[1]


def _bound_in(block: Block) -> set[Var]:
    found: set[Var] = set()
    for target, _ in _targets(block):
        for one in below(target):
            if isinstance(one, NameExpr) and isinstance(one.node, Var):
                found.add(one.node)
    return found


def _targets(block: Node) -> Iterator[tuple[Expression, Expression | None]]:
    """What is bound at any depth, and the value where it is written beside it."""
    node: Any
    for node in below(block):
        kind = type(node).__name__
        if kind == "AssignmentStmt":
            yield from ((target, node.rvalue) for target in node.lvalues)
        elif kind == "OperatorAssignmentStmt":
            yield node.lvalue, None
        elif kind == "ForStmt":
            yield node.index, None
        elif kind == "WithStmt":
            yield from ((target, None) for target in node.target if target is not None)
        elif isinstance(node, AssignmentExpr):
            yield node.target, node.value
        elif kind == "DelStmt":
            yield node.expr, None


def values_of(block: Node, variable: Var) -> Iterator[Expression | None]:
    """What a variable, or an attribute by its name, is given at any depth; None where that is not written out."""
    for target, value in _targets(block):
        for one in below(target):
            if isinstance(one, MemberExpr) and variable.info and one.name == variable.name:
                yield value if one is target else None
            elif isinstance(one, NameExpr) and one.node is variable:
                yield value if one is target else None


def captured(pattern: Node) -> set[Var]:
    """The variables that a pattern binds."""
    return {one.node for one in below(pattern) if isinstance(one, NameExpr) and isinstance(one.node, Var)}


def volatile_in(tree: MypyFile) -> set[str]:
    """Names that some function of a file binds from inside of another (nonlocal, global)."""
    kept = _volatile.get(id(tree))
    if kept is None or kept[0] is not tree.names:  # After an edit the daemon has the same tree, with other names.
        if len(_volatile) > 200:
            _volatile.clear()
        kept = (tree.names, _volatile_in(tree))
        _volatile[id(tree)] = kept
    return kept[1]


def _volatile_in(tree: MypyFile) -> set[str]:
    text = text_of(tree)
    if text is None:
        found: set[str] = set()
        for one in below(tree):
            if isinstance(one, (NonlocalDecl, GlobalDecl)):
                found.update(one.names)
        return found
    return {name.strip() for row in _DECLARES.findall(text) for name in row.split(",")}


CHANGING = {
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault", "popitem",
}  # fmt: skip
_changed: dict[int, tuple[SymbolTable, set[str]]] = {}


def changed_in(tree: MypyFile) -> set[str]:
    """Names of lists and dicts that a file may change: by a method or an index, under another name, in a function."""
    kept = _changed.get(id(tree))
    if kept is None or kept[0] is not tree.names:
        if len(_changed) > 200:
            _changed.clear()
        kept = (tree.names, set(_changed_in(tree)))
        _changed[id(tree)] = kept
    return kept[1]


def _changed_in(tree: MypyFile) -> Iterator[str]:
    harmless = _LOOKING | _imported(tree)
    node: Any
    for node in below(tree):
        kind = type(node).__name__
        parts: list[Any] = []
        if isinstance(node, CallExpr):
            callee: Any = node.callee
            if isinstance(callee, MemberExpr) and callee.name in CHANGING:
                parts.append(callee.expr)
            root = callee
            while isinstance(root, (MemberExpr, CallExpr, IndexExpr)):
                root = (
                    root.expr if isinstance(root, MemberExpr) else getattr(root, "callee", getattr(root, "base", None))
                )
            if not isinstance(root, NameExpr) or root.name not in harmless:
                parts += node.args
        elif kind == "AssignmentStmt":
            parts += [one.base for one in node.lvalues if isinstance(one, IndexExpr)]
            parts += [node.rvalue]
        elif kind == "OperatorAssignmentStmt":
            parts += [node.lvalue, *([node.lvalue.base] if isinstance(node.lvalue, IndexExpr) else [])]
        elif kind == "DelStmt":
            parts += [one.base for one in below(node.expr) if isinstance(one, IndexExpr)]
        elif kind == "ReturnStmt":
            parts.append(node.expr)
        yield from (part.name for part in parts if isinstance(part, NameExpr))


def _root(node: Any) -> Any:
    """What a chain of attributes, calls and items begins with."""
    while True:
        if isinstance(node, MemberExpr):
            node = node.expr
        elif isinstance(node, CallExpr):
            node = node.callee
        elif isinstance(node, IndexExpr):
            node = node.base
        else:
            return node


_LOOKING = {
    "len", "list", "tuple", "dict", "set", "sorted", "zip", "enumerate", "range", "print", "isinstance", "str", "repr",
    "sum", "any", "all", "min", "max", "map", "iter", "reversed", "frozenset", "super",
}  # fmt: skip


def _imported(tree: MypyFile) -> set[str]:
    """Names that come from torch and tensorclass. (Asked while mypy has not found out yet what names stand for.)"""
    found: set[str] = set()
    for node in tree.imports:
        if isinstance(node, Import):
            found |= {alias or name for name, alias in node.ids if name.split(".")[0] in ("torch", "tensorclass")}
        elif isinstance(node, ImportFrom) and node.id.split(".")[0] in ("torch", "tensorclass"):
            found |= {alias or name for name, alias in node.names}
    return found


_text: list[tuple[SymbolTable, str | None, list[str]]] = []  # Of the file that was asked for last.


def text_of(tree: MypyFile) -> str | None:
    """The text of a file; None for a piece of text that is no file."""
    return _read(tree)[1]


def lines_of(tree: MypyFile) -> list[str]:
    return _read(tree)[2]


def _read(tree: MypyFile) -> tuple[SymbolTable, str | None, list[str]]:
    if not _text or _text[0][0] is not tree.names:
        try:
            with open(tree.path, encoding="utf-8") as file:
                text: str | None = file.read()
        except (OSError, UnicodeDecodeError):
            text = None
        _text[:] = [(tree.names, text, text.split("\n") if text is not None else [])]
    return _text[0]


def expects_errors(expr: Expression) -> bool:
    """A context manager in which an error is what the program wants: pytest.raises and its kind."""
    if not isinstance(expr, CallExpr):
        return False
    callee = expr.callee
    return isinstance(callee, (MemberExpr, NameExpr)) and callee.name in RAISING


def full_name(expr: Expression) -> str:
    """The full name that an expression refers to, or nothing."""
    return (expr.fullname or "") if isinstance(expr, RefExpr) else ""


def report_assert(walk: Any, s: AssertStmt) -> None:
    """An assertion on a size that cannot hold."""
    from . import _codes

    if isinstance(s.expr, ComparisonExpr) and not {"is", "is not", "in", "not in"} & set(s.expr.operators):
        values = [walk.here.get(walk.evaluate(operand)) for operand in s.expr.operands]
        if all(isinstance(value, (int, tuple)) and not isinstance(value, bool) for value in values):
            shown = " and ".join(str(list(value) if isinstance(value, tuple) else value) for value in values)
            walk.say(s.expr, _codes.SHAPE, f"this assertion is always false: it compares {shown}")


def names_in_vars(node: Node) -> set[Var]:
    """The variables that are read or written somewhere below."""
    return {one.node for one in below(node) if isinstance(one, NameExpr) and isinstance(one.node, Var)}
