"""Modules, methods and tensors in hands that mypy does not see: what they were is known no longer, and all runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from tensorclass import TensorDict
from tensorclass.nn import TensorDictModule, TensorDictSequential

T = TypeVar("T")


def same(value: T) -> T:
    return value


def anything(value: Any) -> Any:
    return value


def keyed(read: str, write: str) -> TensorDictModule:
    return TensorDictModule(nn.Linear(3, 3), [read], [write])


def sequence() -> tuple[TensorDictSequential, TensorDict]:
    return TensorDictSequential(keyed("x", "h")), TensorDict({"x": torch.zeros(2, 3)}, batch_size=[2])


def call(change: Callable[[Any], Any], value: Any) -> None:
    anything(change)(value)


def append(modules: Any) -> None:
    modules.append(nn.Linear(5, 7) if isinstance(modules, nn.Sequential) else keyed("h", "y"))


def widen(layer: Any) -> None:
    layer.in_features, layer.weight = 5, nn.Parameter(torch.zeros(4, 5))


def select(module: Any) -> None:
    module.in_keys = ["z"]


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5))


class Agent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = net()


def by_a_callee() -> None:
    seq, td = sequence()
    call(append, seq)
    seq(td)["y"]
    layers = net()
    call(append, layers)
    layers(torch.zeros(2, 3)) + torch.zeros(2, 7)
    agent = Agent()
    call(append, agent.net)
    agent.net(torch.zeros(2, 3)) + torch.zeros(2, 7)
    layer = nn.Linear(3, 4)
    call(widen, layer)
    layer(torch.zeros(2, 5))
    module = keyed("x", "h")
    call(select, module)
    module(TensorDict({"z": torch.zeros(2, 3)}, batch_size=[2]))


def by_another_name() -> None:
    seq = TensorDictSequential(keyed("x", "h"))
    td = TensorDict({"x": torch.zeros(2, 3)}, batch_size=[2])
    same(seq).append(keyed("h", "y"))
    seq(td)["y"]
    layers = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5))
    same(layers).append(nn.Linear(5, 7))
    layers(torch.zeros(2, 3)) + torch.zeros(2, 7)


def by_a_method() -> None:
    seq = TensorDictSequential(keyed("x", "h"))
    td = TensorDict({"x": torch.zeros(2, 3)}, batch_size=[2])
    call(seq.append, keyed("h", "y"))
    seq(td)["y"]
    layers = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5))
    same(layers.append)(nn.Linear(5, 7))
    layers(torch.zeros(2, 3)) + torch.zeros(2, 7)
    more = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5))
    nn.Sequential.append(more, nn.Linear(5, 7))
    more(torch.zeros(2, 3)) + torch.zeros(2, 7)


def by_a_method_of_the_class() -> None:
    x = torch.zeros(2, 3)
    Tensor.t_(x)
    x + torch.zeros(3, 2)
    y = torch.zeros(2, 3)
    Tensor.unsqueeze_(y, 0)
    y[0, 0, 0]
    td = TensorDict({"x": torch.zeros(2, 3)}, batch_size=[2])
    TensorDict.set(td, "z", torch.zeros(2))
    td["z"]


for program in (by_a_callee, by_another_name, by_a_method, by_a_method_of_the_class):
    program()
