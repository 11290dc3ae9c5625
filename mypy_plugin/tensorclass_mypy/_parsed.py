"""Text of an expression as mypy's nodes, with the names of the module that it stands in."""

from __future__ import annotations

import ast
from typing import Any

from mypy.nodes import (
    ARG_NAMED,
    ARG_POS,
    ARG_STAR,
    ARG_STAR2,
    GDEF,
    ArgKind,
    CallExpr,
    DictExpr,
    Expression,
    FloatExpr,
    IndexExpr,
    IntExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OpExpr,
    RefExpr,
    SliceExpr,
    StarExpr,
    StrExpr,
    SymbolNode,
    TupleExpr,
    UnaryExpr,
)

_OPERATORS = {"Add": "+", "Sub": "-", "Mult": "*", "FloorDiv": "//", "Mod": "%", "Div": "/", "Pow": "**"}


class Unreadable(Exception):
    """Something that is not read here."""


def parse(text: str, tree: MypyFile, modules: dict[str, MypyFile]) -> Expression | None:
    """The expression; None when it holds what is not read here."""
    try:
        return _Reader(tree, modules).read(ast.parse(f"({text}\n)", mode="eval").body)
    except (SyntaxError, ValueError, Unreadable):
        return None


class _Reader:
    def __init__(self, tree: MypyFile, modules: dict[str, MypyFile]) -> None:
        self.tree = tree
        self.modules = modules

    def read(self, node: Any) -> Expression:
        method = getattr(self, f"read_{type(node).__name__.lower()}", None)
        if method is None:
            raise Unreadable
        found: Expression = method(node)
        return found

    def read_constant(self, node: ast.Constant) -> Expression:
        value = node.value
        if isinstance(value, bool) or value is None:
            return self.name(str(value))
        if isinstance(value, str):
            return StrExpr(value)
        if isinstance(value, int):
            return IntExpr(value)
        if isinstance(value, float):
            return FloatExpr(value)
        raise Unreadable

    def read_name(self, node: ast.Name) -> Expression:
        return self.name(node.id)

    def name(self, name: str) -> NameExpr:
        symbol = self.tree.names.get(name) or self.modules["builtins"].names.get(name)
        if symbol is None or symbol.node is None:
            raise Unreadable
        found = NameExpr(name)
        _bind(found, symbol.node, name)
        return found

    def read_attribute(self, node: ast.Attribute) -> Expression:
        inner = self.read(node.value)
        found = MemberExpr(inner, node.attr)
        if isinstance(inner, RefExpr) and isinstance(inner.node, MypyFile):
            symbol = inner.node.names.get(node.attr)
            if symbol is None or symbol.node is None:
                raise Unreadable
            _bind(found, symbol.node, node.attr)
        return found

    def read_call(self, node: ast.Call) -> Expression:
        args: list[Expression] = []
        kinds: list[ArgKind] = []
        keywords: list[str | None] = []
        for one in node.args:
            star = isinstance(one, ast.Starred)
            args.append(self.read(one.value if isinstance(one, ast.Starred) else one))
            kinds.append(ARG_STAR if star else ARG_POS)
            keywords.append(None)
        for keyword in node.keywords:
            args.append(self.read(keyword.value))
            kinds.append(ARG_NAMED if keyword.arg is not None else ARG_STAR2)
            keywords.append(keyword.arg)
        return CallExpr(self.read(node.func), args, kinds, keywords)

    def read_list(self, node: ast.List) -> Expression:
        return ListExpr([self.read(one) for one in node.elts])

    def read_tuple(self, node: ast.Tuple) -> Expression:
        return TupleExpr([self.read(one) for one in node.elts])

    def read_starred(self, node: ast.Starred) -> Expression:
        return StarExpr(self.read(node.value))

    def read_dict(self, node: ast.Dict) -> Expression:
        return DictExpr(
            [(None if key is None else self.read(key), self.read(value)) for key, value in zip(node.keys, node.values)]
        )

    def read_binop(self, node: ast.BinOp) -> Expression:
        word = _OPERATORS.get(type(node.op).__name__)
        if word is None:
            raise Unreadable
        return OpExpr(word, self.read(node.left), self.read(node.right))

    def read_unaryop(self, node: ast.UnaryOp) -> Expression:
        if not isinstance(node.op, ast.USub):
            raise Unreadable
        return UnaryExpr("-", self.read(node.operand))

    def read_subscript(self, node: ast.Subscript) -> Expression:
        return IndexExpr(self.read(node.value), self.read(node.slice))

    def read_slice(self, node: ast.Slice) -> Expression:
        ends = [None if one is None else self.read(one) for one in (node.lower, node.upper, node.step)]
        return SliceExpr(ends[0], ends[1], ends[2])


def _bind(expr: RefExpr, node: SymbolNode, name: str) -> None:
    expr.node = node
    expr.kind = GDEF
    expr.fullname = node.fullname or name
