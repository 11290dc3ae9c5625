"""Calls of modules: containers in the signature of forward, tuples that come back, modules out of lists."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict


class Data(TensorClass):
    x: Tensor
    y: Tensor | None = None


class Out(TensorClass):
    h: Tensor


D = TypeVar("D", bound=Data)


class Net(nn.Module):
    def forward(self, d: Data, n: int = 1) -> Out:
        return Out(h=d.x, batch_size=d.batch_size)


class Maker(nn.Module):
    def forward(self, x: Tensor) -> Out:
        return Out(h=x, batch_size=x.shape[:1])


class Same(nn.Module):
    def forward(self, d: D) -> D:
        return d


class Keyed(nn.Module):
    def forward(self, td: TensorDict) -> TensorDict:
        return td


class Two(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        return a, b


class Whole(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.two = Two()
        self.lstm = nn.LSTM(3, 3)
        self.fc = nn.Linear(3, 3)
        self.heads = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
        self.named = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Bilinear(3, 3, 3)})

    def forward(self, x: Tensor) -> None:
        a, b = self.two(x, x)
        a, b, c = self.two(x, x)  # E: unpack: there are 2 values for 3 names [tensorclass-call]
        self.two(x, x)[0].sum()
        self.two(x, x).sum()  # E: the module gives a tuple of 2, which has no 'sum' [tensorclass-call]
        out = self.lstm(x)
        self.fc(out[0])
        self.fc(out)  # E: Linear takes a tensor, and is given a tuple of 2 [tensorclass-call]
        out[0].sum()
        out.sum()  # E: the module gives a tuple of 2, which has no 'sum' [tensorclass-call]
        self.heads[0](x)
        self.heads[0](x, x)  # E: Linear.forward: 2 arguments by place; it takes 'input' [tensorclass-call]
        self.named["b"](x, x)
        self.named["b"](x)  # E: Bilinear.forward needs 'input2' as well; it takes 'input1', 'input2' [tensorclass-call]


def data() -> Data:
    return Data(x=torch.zeros(3), batch_size=[3])


def typed() -> None:
    d, td = data(), TensorDict({"x": torch.zeros(3)}, batch_size=[3])
    Net()(d).h
    Net()(d).hh  # E: "Out" has no attribute "hh" [attr-defined]
    Net()(d, n=2)
    Net()(td, n=2)  # E: Argument 1 to "forward" of "Net" has incompatible type "TensorDict"; expected "Data" [arg-type]
    Maker()(d.x).h
    Maker()(d.x).x  # E: "Out" has no attribute "x" [attr-defined]
    Same()(d).y
    Keyed()(td)
    Keyed()(d.x)  # E: Argument 1 to "forward" of "Keyed" has incompatible type "Tensor"; expected "Container" [arg-type]
    Keyed()(d)
    nn.Sequential(nn.Linear(3, 3), nn.LSTM(3, 3))(torch.zeros(5, 2, 3))
    nn.Sequential(nn.LSTM(3, 3), nn.Linear(3, 3))(torch.zeros(5, 2, 3))  # E: Linear takes a tensor, and is given a tuple of 2 [tensorclass-call]
    o, h = nn.GRU(3, 3)(torch.zeros(3, 3, 3))
    o, h, c = nn.GRU(3, 3)(torch.zeros(3, 3, 3))  # E: unpack: there are 2 values for 3 names [tensorclass-call]
    Whole()(torch.zeros(2, 2, 3))


def unknown(anything: Any, module: nn.Module) -> None:
    Net()(anything).h
    module(anything).sum()
    anything(data()).hh
