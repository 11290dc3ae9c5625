"""The plugin: hooks look a name up and hand over; what they do is in the other files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mypy.options import Options
from mypy.plugin import (
    AttributeContext,
    ClassDefContext,
    FunctionContext,
    FunctionSigContext,
    MethodContext,
    MethodSigContext,
    Plugin,
    ReportConfigContext,
)
from mypy.types import Type

from . import _report
from ._analysis import Program

T = TypeVar("T")


class TensorClassPlugin(Plugin):
    """Wrong fields, keys, wiring, batch sizes and shapes as errors."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.program = Program()

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        if fullname.startswith(_BORING):
            return None
        return self._function

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        if fullname.startswith(_BORING):
            return None
        return self._method

    def _function(self, ctx: FunctionContext) -> Type:
        self._visit(ctx.api)
        return ctx.default_return_type

    def _method(self, ctx: MethodContext) -> Type:
        self._visit(ctx.api)
        return ctx.default_return_type

    def _visit(self, api: Any) -> None:
        try:
            self.program.visit(api)
        except Exception as problem:
            _report.defect(api, problem)


_BORING = ("builtins.", "typing.", "_typeshed.", "dataclasses.", "abc.", "enum.")

__all__ = ["AttributeContext", "ClassDefContext", "FunctionSigContext", "MethodSigContext", "ReportConfigContext"]
