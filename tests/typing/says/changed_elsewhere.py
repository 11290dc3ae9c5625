"""Changes that come by loops, inner functions, operators and hooks: mypy is silent, and all runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from tensorclass import TensorDict
from tensorclass.nn import TensorDictModule, TensorDictSequential


def by_a_loop() -> None:
    td = TensorDict({"a": {"x": torch.zeros(2, 3)}}, batch_size=[2])
    for value in td.values():
        value["w"] = torch.zeros(2)
    td["a", "w"]
    for _, value in td.items():
        value["q"] = torch.zeros(2)
    td["a", "q"]


def by_an_inner_function() -> None:
    td = TensorDict({"x": torch.zeros(2, 3)}, batch_size=[2])

    @contextlib.contextmanager
    def filled() -> Iterator[None]:
        td["z"] = torch.zeros(2)
        yield

    with filled():
        td["z"]


def registered(held: list[Callable[[], Any]]) -> None:
    td = TensorDict({"x": torch.zeros(2, 3)}, batch_size=[2])

    def fill() -> None:
        td["z"] = torch.zeros(2)

    held.append(fill)
    td = TensorDict({"y": torch.zeros(2, 3)}, batch_size=[2])
    held[0]()
    td["z"]


def by_an_operator() -> None:
    layers = nn.Sequential(nn.Linear(3, 4))
    layers += nn.Sequential(nn.Linear(4, 7))
    layers(torch.zeros(2, 3)) + torch.zeros(2, 7)
    shorter = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5))
    shorter.pop(1)
    shorter(torch.zeros(2, 3)) + torch.zeros(2, 4)
    other = nn.Linear(3, 4)
    other.in_features, other.weight = 5, nn.Parameter(torch.zeros(4, 5))
    other(torch.zeros(2, 5))


def by_a_hook() -> None:
    layer = nn.Linear(3, 4)
    layer.register_forward_pre_hook(lambda module, args: (args[0][..., :3],))
    layer(torch.zeros(2, 9))
    first = nn.Linear(3, 4)
    first.register_forward_hook(lambda module, args, out: out[0, :1])
    first(torch.zeros(2, 3)).reshape(1)
    seq = TensorDictSequential(TensorDictModule(nn.Linear(3, 3), ["x"], ["h"]))
    seq.register_forward_hook(lambda module, args, out: out.set("z", torch.zeros(2)))
    seq(TensorDict({"x": torch.zeros(2, 3)}, batch_size=[2]))["z"]


class Growing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 4))
        self.first = nn.Linear(3, 4)

    def grow(self) -> None:
        self.layers.append(nn.Linear(4, 7))
        self.first.register_forward_pre_hook(lambda module, args: (args[0][..., :3],))

    def forward(self, x: Tensor) -> Tensor:
        self.first(torch.zeros(2, 9))
        out: Tensor = self.layers(torch.zeros(2, 3)) + torch.zeros(2, 7)
        return out


by_a_loop()
by_an_inner_function()
registered([])
by_an_operator()
by_a_hook()
growing = Growing()
growing.grow()
growing(torch.zeros(2, 3))
