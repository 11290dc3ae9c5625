"""What a module by key, a sequence and a typed module cost next to the bare torch calls, on tiny layers."""

from __future__ import annotations

import importlib
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from tensorclass import TensorClass

from .rows import Case, Row, as_way

ROWS = [
    Row("TensorDictModule", 1.3, "module(td)", "linear(x)"),
    Row("three in sequence", 1.35, "sequence(td)", "third(second(linear(x)))"),
    Row("keyword call", 1.6, "module(x=x)", "linear(x)"),
    Row("typed module", 4, "typed(instance)", "x + 1"),
    Row("as_td_module", 6, "by_key(td)", "x + 1"),
]


class In(TensorClass):
    x: Tensor


class Out(TensorClass):
    y: Tensor


def cases(with_peer: bool) -> Iterator[Case]:
    """Every row; without the peer, two ways each."""
    linear, second, third, x = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 2), torch.zeros(5, 3)
    shared: dict[str, Any] = {"linear": linear, "second": second, "third": third, "x": x}
    libraries = {"ours": shared | _made("tensorclass", In, Out, shared)}
    if with_peer:
        peer = importlib.import_module("benchmarks.peer")
        libraries["peer"] = shared | _made("tensordict", peer.In, peer.Out, shared)
    for row in ROWS:
        ways = {name: as_way(row.container, names) for name, names in libraries.items()}
        ways["by hand"] = as_way(row.hand, dict(shared))
        yield Case("Modules", row.name, row.limit, ways)


def _made(package: str, takes: Any, gives: Any, shared: dict[str, Any]) -> dict[str, Any]:
    library, modules = importlib.import_module(package), importlib.import_module(f"{package}.nn")
    module = modules.TensorDictModule(shared["linear"], ["x"], ["h"])
    sequence = modules.TensorDictSequential(
        module,
        modules.TensorDictModule(shared["second"], ["h"], ["h2"]),
        modules.TensorDictModule(shared["third"], ["h2"], ["y"]),
    )

    def forward(self: Any, x: Any) -> Any:
        return gives(y=x.x + 1, batch_size=x.batch_size)

    forward.__annotations__ = {"x": takes, "return": gives}
    base = modules.TensorClassModuleBase[takes, gives]
    typed = types.new_class("AddOne", (base,), exec_body=lambda space: space.update(forward=forward))()
    td = library.TensorDict({"x": shared["x"]}, batch_size=[5])
    return {
        "module": module,
        "sequence": sequence,
        "typed": typed,
        "by_key": typed.as_td_module(),
        "td": td,
        "instance": takes(x=shared["x"], batch_size=[5]),
    }
