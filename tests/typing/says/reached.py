"""Functions that change what the file holds, called at its top level: mypy is silent, and all runs."""

from __future__ import annotations

import torch
from torch import nn

from tensorclass import TensorDict
from tensorclass.nn import TensorDictModule, TensorDictSequential

td = TensorDict({"x": torch.zeros(2, 3)}, batch_size=[2])
seq = TensorDictSequential(TensorDictModule(nn.Linear(3, 3), ["x"], ["h"]))
net = nn.Sequential(nn.Linear(3, 4))
x = torch.zeros(2, 3)
held = [TensorDict({"x": torch.zeros(2, 3)}, batch_size=[2])]


def fill() -> None:
    td["z"] = torch.zeros(2)


def through() -> int:
    more()
    return 1


def more() -> None:
    td["w"] = torch.zeros(2)
    held[0]["w"] = torch.zeros(2)


def extend() -> None:
    seq.append(TensorDictModule(nn.Linear(3, 3), ["h"], ["y"]))
    net.append(nn.Linear(4, 7))


def grow() -> None:
    x.resize_(4, 4)


class Filler:
    def fill(self) -> None:
        td["v"] = torch.zeros(2)


fill()
td["z"]
through()
td["w"]
held[0]["w"]
Filler().fill()
td["v"]
extend()
seq(td)["y"]
net(torch.zeros(2, 3)) + torch.zeros(2, 7)
grow()
x[3, 3]
