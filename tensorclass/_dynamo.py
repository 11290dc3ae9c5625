"""What torch.compile makes of torch.cond and of torch's while_loop, once operands may be containers.

Dynamo asks neither pytree nor __torch_function__ about operands: torch.compiler.substitute_in_graph tells it what to
trace. That imports Dynamo, which takes seconds, so it waits until something else does.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import Tensor

from . import _control
from ._tree.node import Node

NAME = "torch._dynamo"


def cond(
    pred: Tensor | bool, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()
) -> Any:
    """What a trace makes of torch.cond: without containers, what torch makes of it."""
    if any(isinstance(one, Node) for one in operands):
        return _control.cond(pred, true_fn, false_fn, operands)
    return torch.ops.higher_order.cond(pred, true_fn, false_fn, operands)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]) -> Any:
    """What a trace makes of torch's while_loop: without containers, what torch makes of it."""
    if any(isinstance(one, Node) for one in carried_inputs):
        return _control.while_loop(cond_fn, body_fn, carried_inputs)
    leaves, spec = pytree.tree_flatten(carried_inputs)

    def goes_on(*leaves: Any) -> Any:
        return cond_fn(*pytree.tree_unflatten(leaves, spec))

    def body(*leaves: Any) -> Any:
        return body_fn(*pytree.tree_unflatten(leaves, spec))

    return torch.ops.higher_order.while_loop(goes_on, body, tuple(leaves), ())


def teach() -> None:
    """Tell Dynamo, now or as soon as it is imported."""
    if NAME in sys.modules:
        _substitute()
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _substitute() -> None:
    with contextlib.suppress(ImportError, AttributeError):  # A torch that has it elsewhere goes without.
        from torch._higher_order_ops.while_loop import while_loop as of_torch

        substitute: Any = torch.compiler.substitute_in_graph
        for function, traced in ((torch.cond, cond), (of_torch, while_loop)):
            with contextlib.suppress(ValueError, TypeError):  # There is one already, or its parameters are others.
                substitute(function)(traced)


class _Finder(MetaPathFinder):
    """Finds Dynamo as others do, and is gone once it is there."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != NAME:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if find is None else find(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(self, spec.loader)
                return spec
        return None


class _Loader(Loader):
    """Loads Dynamo as its own loader does, and then teaches it."""

    def __init__(self, finder: _Finder, loader: Any) -> None:
        self.finder, self.loader = finder, loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self.loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        _substitute()
