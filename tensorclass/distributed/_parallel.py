"""Modules that give containers, trained by several ranks: torch looks for their tensors in lists and dicts alone."""

from __future__ import annotations

from typing import Any, TypeVar

from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from .._tree import walk
from .._tree.node import Node, is_tree

M = TypeVar("M", bound=nn.Module)


def fully_shard(module: M, **options: Any) -> M:
    """torch's fully_shard (FSDP2), for a module that gives containers.

    torch's own finds no tensors in a TensorDict: the parameters would not be gathered for the backward pass, and
    gradients not be averaged. Options go to torch.
    """
    from torch.distributed.fsdp import fully_shard as shard  # Slow to import.

    # Hooks run in this order: torch's sees the container opened, and who calls the module sees it closed.
    module.register_forward_hook(_open)
    shard(module, **options)
    module.register_forward_hook(_close)
    return module


def data_parallel(module: nn.Module, **options: Any) -> DistributedDataParallel:
    """torch's DistributedDataParallel, for a module that gives containers. Options go to torch.

    Its own finds no tensors in a TensorDict, and with find_unused_parameters=True takes all parameters as unused.
    """
    out = DistributedDataParallel(module, **options)
    inside = _Inside()
    out.register_forward_pre_hook(inside.enter)
    module.register_forward_hook(inside.open)
    out.register_forward_hook(inside.close, always_call=True)
    return out


class _Inside:
    """Opens what a module gives while it is called by the one around it."""

    def __init__(self) -> None:
        self.is_called = False

    def enter(self, module: nn.Module, args: Any) -> None:
        self.is_called = True

    def open(self, module: nn.Module, args: Any, output: Any) -> Any:
        return opened(output) if self.is_called else output

    def close(self, module: nn.Module, args: Any, output: Any) -> Any:
        self.is_called = False
        return closed(output)


def _open(module: nn.Module, args: Any, output: Any) -> Any:
    return opened(output)


def _close(module: nn.Module, args: Any, output: Any) -> Any:
    return closed(output)


class _Shell:
    """What is left of a container when its tensors lie beside it."""

    def __init__(self, node: Node, tensors: list[Tensor]) -> None:
        self.node, self.tensors = node, tensors


def opened(value: Any) -> Any:
    """The same value with each container as a list of its tensors, and what they belong to."""
    if is_tree(value):
        tensors = walk.gather(value, [])
        return [_Shell(value, tensors), *tensors]
    if type(value) in (list, tuple):
        return type(value)([opened(one) for one in value])
    return {key: opened(one) for key, one in value.items()} if type(value) is dict else value


def closed(value: Any) -> Any:
    """What was opened as it was; a container has the tensors that came back, and is the same one if those are."""
    if type(value) is list and value and isinstance(value[0], _Shell):
        shell, *tensors = value
        if all(new is old for new, old in zip(tensors, shell.tensors)):
            return shell.node
        return walk.refill(shell.node, iter(tensors))
    if type(value) in (list, tuple):
        return type(value)([closed(one) for one in value])
    return {key: closed(one) for key, one in value.items()} if type(value) is dict else value
