"""Calls of any module. A line with a mistake stands beside its good twin."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class Net(nn.Module):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return x


class Two(nn.Module):
    def forward(self, x, y, *, scale=1.0):  # type: ignore[no-untyped-def]
        return x


class Own(nn.Module):
    def __call__(self, *args: int) -> int:
        return 1

    def forward(self, x: Tensor) -> Tensor:
        return x


class Star(nn.Module):
    def forward(self, *xs: Tensor, **kw: Tensor) -> Tensor:
        return xs[0]


class Inherits(Own):
    pass


class Declares(nn.Module):
    """Its calls are typed by hand, as many packages do."""

    __call__: Callable[..., Tensor]

    def forward(self, x: Tensor) -> Tensor:
        return x


class Static(nn.Module):
    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x


class Base(nn.Module):
    """The classes below have a forward."""


class Abstract(nn.Module, ABC):
    def forward(self, x: Tensor) -> Tensor:
        return x


class Conditional(Abstract):
    def forward(self, x: Tensor, condition: Tensor) -> Tensor:  # type: ignore[override]
        return x * condition


class Attribute(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.forward = torch.relu


class Holder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = Net()
        self.lin = nn.Linear(3, 3)
        self.mods = nn.ModuleList([Net(), Net()])

    def forward(self, x: Tensor) -> Tensor:
        y = self.a(x, x)
        y = self.a(x, x, x)  # E: Net.forward: 3 arguments by place; it takes 'x', 'mask' [tensorclass-call]
        y = self.a(mask=x)  # E: Net.forward needs 'x' as well; it takes 'x', 'mask' [tensorclass-call]
        y = self.a(x, maks=x)  # E: Net.forward has no argument 'maks'; did you mean 'mask'? It takes 'x', 'mask' [tensorclass-call]
        y = self.lin(x, x)  # E: Linear.forward: 2 arguments by place; it takes 'input' [tensorclass-call]
        y = self.lin(x)
        for m in self.mods:
            y = m(x, x)
        return y  # type: ignore[no-any-return]


def f(x: Tensor, args: list[Tensor]) -> None:
    Two()(x, x)
    Two()(x)  # E: Two.forward needs 'y' as well; it takes 'x', 'y', 'scale' [tensorclass-call]
    Two()(x, x, 2.0)  # E: Two.forward: 3 arguments by place; it takes 'x', 'y', 'scale' [tensorclass-call]
    Two()(x, x, scale=2.0)
    Two()(*args)
    Two()(x, y=x)
    Two()(x, x=x)  # E: Two.forward is given 'x' twice: by place and by name [tensorclass-call]
    Own()(1, 2, 3)
    Star()(x, x, a=x)
    nn.LSTM(3, 3)(x, (x, x))
    nn.Sequential(Net())(x)
    nn.Sequential(Net())(x, x)  # E: Sequential.forward: 2 arguments by place; it takes 'input' [tensorclass-call]
    nn.CrossEntropyLoss()(x, x)
    nn.CrossEntropyLoss()(x)  # E: CrossEntropyLoss.forward needs 'target' as well; it takes 'input', 'target' [tensorclass-call]
    nn.MultiheadAttention(4, 2)(x, x, x, need_weights=False)
    torch.compile(Net())(x, x)


def silent(
    x: Tensor, anything: Any, cls: type[Net], some: Net | Two, maybe: Net | None, base: Base, options: dict[str, Any]
) -> None:
    """Nobody can say what these take."""
    Own()(1, 2, 3)
    Inherits()(1, 2, 3)
    Declares()(x, x, x)
    Static()(x)
    Base()(x, x)
    base(x, x)
    conditional: Abstract = Conditional()
    conditional(x, x)
    Attribute()(x, x)
    anything(x, x, x)
    cls()(x, x)
    Net()(*[x, x, x])
    Net()(**options)
    Net()(x, **options)
    some(x, x)
    nn.Module()(x, x)
    nn.ModuleList([Net(), Two()])[0](x, x, x)
    getattr(base, "net")(x, x, x)
    (lambda: anything)()(x, x, x)
    some(x, x, x, x)
    some(x, wrong=x)
    if isinstance(some, Net):
        some(x, x, x)  # E: Net.forward: 3 arguments by place; it takes 'x', 'mask' [tensorclass-call]
    if maybe is not None:
        maybe(x, x, x)  # E: Net.forward: 3 arguments by place; it takes 'x', 'mask' [tensorclass-call]
    cls()(x, x, x)  # E: Net.forward: 3 arguments by place; it takes 'x', 'mask' [tensorclass-call]


class OneOfTwo(nn.Module):
    """mypy takes a name for the class that it is given first; the second is its own error."""

    def __init__(self, one: bool) -> None:
        super().__init__()
        self.late = None
        if one:
            self.net = Two()
            self.same = Net()
            self.late = Net()
        else:
            self.net = Net()  # type: ignore[assignment]
            self.same = Net()

    def forward(self, x: Tensor) -> Tensor:
        y = self.net(x)
        y = self.same(x, x, x)  # E: Net.forward: 3 arguments by place; it takes 'x', 'mask' [tensorclass-call]
        if self.late is not None:
            y = self.late(x, x, x)  # E: Net.forward: 3 arguments by place; it takes 'x', 'mask' [tensorclass-call]
        net = Two()
        y = net(x, x) + net(x)  # E: Two.forward needs 'y' as well; it takes 'x', 'y', 'scale' [tensorclass-call]
        for other in [Two()]:
            y = other(x)  # E: Two.forward needs 'y' as well; it takes 'x', 'y', 'scale' [tensorclass-call]
        again = Two()
        again, _ = Net(), 1  # type: ignore[assignment]
        return y + again(x)  # type: ignore[no-any-return]
