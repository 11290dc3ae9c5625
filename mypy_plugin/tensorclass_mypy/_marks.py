"""A call that does nothing, put into functions in which no hook of mypy's might fire: its hook starts the walk.

mypy asks a plugin about calls, but about neither `return x` nor `self.select("mass")` where self is of type Self.
"""

from __future__ import annotations

from typing import Any

from mypy.nodes import (
    CallExpr,
    Decorator,
    EllipsisExpr,
    ExpressionStmt,
    FuncDef,
    MemberExpr,
    NameExpr,
    PassStmt,
    StrExpr,
)

FUNCTION = "builtins.breakpoint"  # Any function of builtins that takes nothing, and that programs do not call.


def mark(node: Any) -> None:
    """Put the call at the start of a function, once."""
    if isinstance(node, Decorator):
        node = node.func
    if not isinstance(node, FuncDef):
        return
    body = node.body.body
    first = 1 if body and isinstance(body[0], ExpressionStmt) and isinstance(body[0].expr, StrExpr) else 0
    if len(body) <= first or _is_mark(body[first]) or _says_nothing(body[first]):
        return
    call = CallExpr(MemberExpr(NameExpr("__builtins__"), FUNCTION.rpartition(".")[2]), [], [], [])
    statement = ExpressionStmt(call)
    for part in (statement, call, call.callee, call.callee.expr):  # type: ignore[attr-defined]  # the MemberExpr above
        part.set_line(node.body.line, node.body.column, node.body.end_line, node.body.end_column)
    body.insert(first, statement)


def _is_mark(statement: Any) -> bool:
    call = statement.expr if isinstance(statement, ExpressionStmt) else None
    callee = call.callee if isinstance(call, CallExpr) else None
    return isinstance(callee, MemberExpr) and isinstance(callee.expr, NameExpr) and callee.expr.name == "__builtins__"


def _says_nothing(statement: Any) -> bool:
    """`...` and `pass`: mypy itself asks whether a body is empty."""
    empty = isinstance(statement, ExpressionStmt) and isinstance(statement.expr, EllipsisExpr)
    return empty or isinstance(statement, PassStmt) or type(statement).__name__ == "RaiseStmt"
