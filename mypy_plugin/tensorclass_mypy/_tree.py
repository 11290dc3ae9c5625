"""The nodes below a node, for questions about a program's text. (mypy's own visitors cannot be subclassed here.)"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mypy.nodes import Argument, Block, CallExpr, Node

# Where the nodes of each class keep their parts.
_PARTS: dict[str, tuple[str, ...]] = {
    "MypyFile": ("defs",),
    "Block": ("body",),
    "AssignmentStmt": ("rvalue", "lvalues"),
    "OperatorAssignmentStmt": ("rvalue", "lvalue"),
    "ExpressionStmt": ("expr",),
    "IfStmt": ("expr", "body", "else_body"),
    "ForStmt": ("expr", "index", "body", "else_body"),
    "WhileStmt": ("expr", "body", "else_body"),
    "ReturnStmt": ("expr",),
    "RaiseStmt": ("expr", "from_expr"),
    "AssertStmt": ("expr", "msg"),
    "DelStmt": ("expr",),
    "TryStmt": ("body", "types", "vars", "handlers", "else_body", "finally_body"),
    "WithStmt": ("expr", "target", "body"),
    "MatchStmt": ("subject", "patterns", "guards", "bodies"),
    "FuncDef": ("arguments", "body"),
    "Decorator": ("decorators", "func"),
    "OverloadedFuncDef": ("items",),
    "ClassDef": ("defs", "decorators"),
    "Argument": ("initializer",),
    "CallExpr": ("callee", "args"),
    "MemberExpr": ("expr",),
    "IndexExpr": ("base", "index"),
    "SliceExpr": ("begin_index", "end_index", "stride"),
    "OpExpr": ("left", "right"),
    "ComparisonExpr": ("operands",),
    "UnaryExpr": ("expr",),
    "TupleExpr": ("items",),
    "ListExpr": ("items",),
    "SetExpr": ("items",),
    "DictExpr": ("items",),
    "StarExpr": ("expr",),
    "ConditionalExpr": ("cond", "if_expr", "else_expr"),
    "LambdaExpr": ("arguments", "body"),
    "GeneratorExpr": ("left_expr", "sequences", "indices", "condlists"),
    "ListComprehension": ("generator",),
    "SetComprehension": ("generator",),
    "DictionaryComprehension": ("key", "value", "sequences", "indices", "condlists"),
    "AssignmentExpr": ("target", "value"),
    "AwaitExpr": ("expr",),
    "YieldExpr": ("expr",),
    "YieldFromExpr": ("expr",),
    "CastExpr": ("expr",),
    "AssertTypeExpr": ("expr",),
    "RevealExpr": ("expr",),
    "SuperExpr": ("call",),
    "AsPattern": ("pattern", "name"),
    "OrPattern": ("patterns",),
    "ValuePattern": ("expr",),
    "SequencePattern": ("patterns",),
    "StarredPattern": ("capture",),
    "MappingPattern": ("keys", "values", "rest"),
    "ClassPattern": ("class_ref", "positionals", "keyword_values"),
}


def children(node: Node) -> list[Node]:
    """The nodes directly below."""
    found: list[Node] = []
    for part in _PARTS.get(type(node).__name__, ()):
        _add(getattr(node, part, None), found)
    return found


def _add(part: Any, found: list[Node]) -> None:
    if type(part) is list or type(part) is tuple:
        for item in part:
            _add(item, found)
    elif part is not None:
        found.append(part)


def below(node: Node, inside_functions: bool = True) -> Iterator[Node]:
    """The node and all nodes below it."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        if not inside_functions and one is not node and type(one).__name__ in ("FuncDef", "LambdaExpr", "ClassDef"):
            continue
        for part in _PARTS.get(type(one).__name__, ()):
            _add(getattr(one, part, None), stack)


__all__ = ["Argument", "Block", "CallExpr", "below", "children"]
