"""The plugin: hooks look a name up and hand over; what they do is in the other files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from mypy.nodes import FuncDef, MypyFile, TypeInfo
from mypy.options import Options
from mypy.plugin import (
    AnalyzeTypeContext,
    AttributeContext,
    ClassDefContext,
    DynamicClassDefContext,
    FunctionContext,
    FunctionSigContext,
    MethodContext,
    MethodSigContext,
    Plugin,
    ReportConfigContext,
)
from mypy.types import FunctionLike, Type

from . import (
    _calls_of,
    _chains,
    _classes,
    _config,
    _joints,
    _kept,
    _marks,
    _named_keys,
    _report,
    _signatures,
    _spread,
    _stored,
    _typed_keys,
    _typed_modules,
    _views,
)
from ._analysis import Program
from ._fields import KEY
from ._types import base_named, is_container, is_module, is_ours, is_tensor, is_tensorclass

T = TypeVar("T")


class Answers(dict[str, Any]):
    """What a hook answers, by full name; `[name]` of one that was asked for before is no call of Python code."""

    def __init__(self, ask: Callable[[str], Any], changes: Callable[[str], bool]) -> None:
        self.ask, self.changes = ask, changes

    def __missing__(self, fullname: str) -> Any:
        answer = self.ask(fullname)
        if not self.changes(fullname):
            self[fullname] = answer
        return answer


class TensorClassPlugin(Plugin):
    """Wrong fields, keys, wiring, batch sizes and shapes as errors."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.config = _config.read(options)
        self.program = Program()
        self._known: dict[str, bool] = {_marks.FUNCTION: True}
        self._has_fields: dict[str, bool] = {}
        self._types: dict[str, Callable[[AnalyzeTypeContext], Type]] = {
            _classes.CLASS: self._bracketed,
            "typing.Annotated": _stored.on_annotated,
            "typing_extensions.Annotated": _stored.on_annotated,
            _TENSOR: _stored.on_tensor,
        }
        _report.switch_off(self.config.disable)
        _calls_of.level = self.config.calls
        self._answer_at_once()

    def _answer_at_once(self) -> None:
        """Put tables in the places of the hooks that mypy asks half a million times, nearly always to no end."""

        def never(fullname: str) -> bool:
            return False

        changing: dict[str, Callable[[str], bool]] = {
            "get_function_hook": self._is_ours,
            "get_method_hook": lambda fullname: self._is_ours(fullname.rpartition(".")[0]),
            "get_function_signature_hook": never,
            "get_method_signature_hook": never,
            "get_attribute_hook": never,
            "get_dynamic_class_hook": never,
            "get_class_decorator_hook": never,
            "get_type_analyze_hook": lambda fullname: fullname == _TENSOR,  # Until jaxtyping is read.
        }
        for name, changes in changing.items():
            setattr(self, name, Answers(getattr(self, name), changes).__getitem__)

    # -- Calls --------------------------------------------------------------------------------------------------

    # mypy asks its plugins in turn, and the first that answers is the only one: so we answer for torch, for tensorclass
    # and for the functions of the program that is checked, and leave all else to others.

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        if self._is_ours(fullname):
            return None if self.program.is_here() else self._function
        return None

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        owner, _, name = fullname.rpartition(".")
        if not self._is_ours(owner):
            return None
        if name == "as_td_module":
            return self._as_td_module
        if name in _typed_keys.METHODS:
            return partial(self._key_method, name=name)
        return None if self.program.is_here() else self._method

    def get_function_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        if fullname == _chains.ENV:
            return self._chain
        if fullname == _joints.CHAIN:
            return self._joint
        if fullname == _views.NEXT:
            return self._next
        if fullname == "torch.utils.data.dataloader.DataLoader":
            return self._loader
        if not fullname.startswith("torch."):
            return self._spread if self._is_typed(fullname) else None
        name = _signatures.name_of(fullname)
        return None if name is None else partial(self._torch, name=name)

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        if not fullname.endswith((".replace", ".__call__", ".append_transform")):
            return None
        owner, _, name = fullname.rpartition(".")
        if name == "append_transform" and self._is_ours(owner):
            return self._longer_chain
        if name == "replace" and self._is_ours(owner):
            return self._replace
        if name == "__call__" and self.config.calls != "off" and self._is_ours(owner):
            return self._call
        return None

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        owner = fullname.rpartition(".")[0]
        if owner == _calls_of.MODULE or owner.startswith("tensorclass.envs."):
            return self._hidden
        return self._attribute if self._is_typed(owner) else None

    def _is_typed(self, fullname: str) -> bool:
        """Whether a name is that of a class with fields."""
        known = self._has_fields.get(fullname)
        if known is None:
            symbol = None if fullname.startswith((*_BORING, "torch.")) else self.lookup_fully_qualified(fullname)
            node = symbol.node if symbol is not None else None
            known = self._has_fields[fullname] = isinstance(node, TypeInfo) and bool(node.mro) and is_tensorclass(node)
        return known

    def _is_ours(self, fullname: str) -> bool:
        """Whether a function or class is one that facts pass through."""
        known = self._known.get(fullname)
        if known is None and fullname.startswith(("torch.", "tensorclass.")):
            known = self._known[fullname] = not fullname.startswith("torch.utils.data.")
        if known is None:
            symbol = None if fullname.startswith(_BORING) else self.lookup_fully_qualified(fullname)
            node = symbol.node if symbol is not None else None
            if isinstance(node, TypeInfo):
                known = bool(node.mro) and (is_container(node) or is_module(node) or is_tensor(node))
            else:
                known = isinstance(node, FuncDef) and self._in_program(fullname)
            self._known[fullname] = known
        return known

    def _in_program(self, fullname: str) -> bool:
        """Whether a function is defined in the program, not in an installed package."""
        module = self._modules.get(fullname.rpartition(".")[0]) if self._modules is not None else None
        return module is not None and not module.is_stub and "site-packages" not in module.path

    def get_additional_deps(self, file: MypyFile) -> list[tuple[int, str, int]]:
        safely(None, None, _named_keys.keep, file)  # mypy has nothing better to offer for a module without calls.
        return []

    # -- Classes ------------------------------------------------------------------------------------------------

    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        if fullname.startswith(_BORING):
            return None
        if fullname in (_classes.CLASS, _classes.TYPED):
            return self._class
        symbol = self.lookup_fully_qualified(fullname)
        info = symbol.node if symbol is not None else None
        if isinstance(info, TypeInfo) and info.mro:
            if KEY in info.metadata or (base_named(info, "TensorClass") is not None and not is_ours(info)):
                return self._class
        return None

    def get_dynamic_class_hook(self, fullname: str) -> Callable[[DynamicClassDefContext], None] | None:
        return self._made if fullname.startswith("tensorclass.") else None

    def get_class_decorator_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        return self._decorated if fullname == _classes.DECORATOR else None

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        if fullname == _TENSOR and (self._modules is None or "jaxtyping" not in self._modules):
            return None
        return self._types.get(fullname)

    def report_config_data(self, ctx: ReportConfigContext) -> Any:
        return [
            _report.VERSION,
            self.config.calls,
            sorted(self.config.disable),
            self.config.facts,
            _config.table_hash(),
        ]

    # -- What the hooks do; a defect in any of them is told once, and mypy goes on ---------------------------------

    def _function(self, ctx: FunctionContext) -> Type:
        self._visit(ctx.api)
        return ctx.default_return_type

    def _attribute(self, ctx: AttributeContext) -> Type:
        self._visit(ctx.api)
        return ctx.default_attr_type

    def _hidden(self, ctx: AttributeContext) -> Type:
        return safely(ctx.api, ctx.default_attr_type, _views.on_attribute, ctx)

    def _method(self, ctx: MethodContext) -> Type:
        self._visit(ctx.api)
        return ctx.default_return_type

    def _key_method(self, ctx: MethodContext, name: str) -> Type:
        self._visit(ctx.api)
        return safely(ctx.api, ctx.default_return_type, _typed_keys.on_method, ctx, name)

    def _as_td_module(self, ctx: MethodContext) -> Type:
        self._visit(ctx.api)
        safely(ctx.api, None, _typed_modules.on_as_td_module, ctx)
        return ctx.default_return_type

    def _torch(self, ctx: FunctionSigContext, name: str) -> FunctionLike:
        same: FunctionLike = ctx.default_signature
        if "site-packages" in ctx.api.path:
            return same
        return safely(ctx.api, same, _signatures.on_call, ctx, name)

    def _spread(self, ctx: FunctionSigContext) -> FunctionLike:
        same: FunctionLike = ctx.default_signature
        return safely(ctx.api, same, _spread.on_call, ctx)

    def _next(self, ctx: FunctionSigContext) -> FunctionLike:
        same: FunctionLike = ctx.default_signature
        return safely(ctx.api, same, _views.on_next, ctx)

    def _loader(self, ctx: FunctionSigContext) -> FunctionLike:
        same: FunctionLike = ctx.default_signature
        return safely(ctx.api, same, _views.on_loader, ctx)

    def _chain(self, ctx: FunctionSigContext) -> FunctionLike:
        same: FunctionLike = ctx.default_signature
        return safely(ctx.api, same, _chains.on_build, ctx)

    def _joint(self, ctx: FunctionSigContext) -> FunctionLike:
        same: FunctionLike = ctx.default_signature
        return safely(ctx.api, same, _joints.on_chain, ctx)

    def _longer_chain(self, ctx: MethodSigContext) -> FunctionLike:
        same: FunctionLike = ctx.default_signature
        return safely(ctx.api, same, _chains.on_append, ctx)

    def _replace(self, ctx: MethodSigContext) -> FunctionLike:
        same: FunctionLike = ctx.default_signature
        return safely(ctx.api, same, _typed_keys.on_replace, ctx)

    def _call(self, ctx: MethodSigContext) -> FunctionLike:
        same: FunctionLike = ctx.default_signature
        return safely(ctx.api, same, _calls_of.on_call, ctx, self.config.calls)

    def _class(self, ctx: ClassDefContext) -> None:
        safely(ctx.api, None, _classes.on_class, ctx)

    def _made(self, ctx: DynamicClassDefContext) -> None:
        api: Any = ctx.api
        safely(api, None, _kept.keep, api, api.cur_mod_node)

    def _decorated(self, ctx: ClassDefContext) -> None:
        safely(ctx.api, None, _classes.on_decorator, ctx)

    def _bracketed(self, ctx: AnalyzeTypeContext) -> Type:
        return _classes.on_type(ctx)

    def _visit(self, api: Any) -> None:
        if self.config.facts:
            safely(api, None, self.program.visit, api)


def safely(api: Any, otherwise: T, call: Callable[..., T], *args: Any) -> T:
    """Call something; when it fails, that is told once and mypy's own answer stands."""
    try:
        return call(*args)
    except Exception as problem:
        _report.defect(api, problem)
        return otherwise


_TENSOR = "torch._tensor.Tensor"
_BORING = (
    "builtins.",
    "typing.",
    "typing_extensions.",
    "_typeshed.",
    "dataclasses.",
    "abc.",
    "enum.",
    "collections.",
    "os.",
    "re.",
)
