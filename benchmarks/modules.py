"""What modules and their parameters as containers cost next to the bare torch calls, on tiny layers."""

from __future__ import annotations

import importlib
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.func import functional_call, stack_module_state

from tensorclass import TensorClass

from .by_hand import Leaves, write_key
from .rows import Case, Row, as_way

ROWS = [
    Row("TensorDictModule", 1.3, "module(td)", "linear(x)"),
    Row("three in sequence", 1.35, "sequence(td)", "third(second(linear(x)))"),
    Row("keyword call", 1.6, "module(x=x)", "linear(x)"),
    Row("typed module", 4, "typed(instance)", "x + 1"),
    Row("as_td_module", 6, "by_key(td)", "x + 1"),
    Row("Normal, log-prob", 1.15, "head(params)", "normal(d, SIZES)"),
    Row("from_module", 0.8, "TensorDict.from_module(net)", "dict(net.named_parameters())"),
    Row("from_module, a layer", 0.8, "TensorDict.from_module(linear)", "dict(linear.named_parameters())"),
    Row("to_module", 1, "call(own, net, x)", "functional_call(net, flat, (x,))"),
    Row("functional_vmap", 1, "functional_vmap(net, params=stacked, args=(x,))", "vmapped(net, many, x)"),
]
OURS_ALONE = ("functional_vmap",)  # The released peer has none.


class In(TensorClass):
    x: Tensor


class Out(TensorClass):
    y: Tensor


def cases(with_peer: bool) -> Iterator[Case]:
    """Every row; without the peer, two ways each."""
    shared = _shared()
    libraries = {"ours": shared | _made("tensorclass", In, Out, shared)}
    if with_peer:
        peer = importlib.import_module("benchmarks.peer")
        libraries["peer"] = shared | _made("tensordict", peer.In, peer.Out, shared)
    for row in ROWS:
        ways = {
            name: as_way(row.container, names)
            for name, names in libraries.items()
            if name == "ours" or row.name not in OURS_ALONE
        }
        ways["by hand"] = as_way(row.hand, dict(shared))
        yield Case("Modules", row.name, row.limit, ways)


def _shared() -> dict[str, Any]:
    linear, second, third = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 2)
    nets = [nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)) for _ in range(4)]
    return {
        "linear": linear,
        "second": second,
        "third": third,
        "x": torch.zeros(5, 3),
        "SIZES": (5,),
        "d": {"loc": torch.zeros(5, 2), "scale": torch.ones(5, 2)},
        "normal": _normal,
        "nets": nets,
        "net": nets[0],
        "flat": dict(nets[0].named_parameters()),
        "many": stack_module_state(nets)[0],
        "functional_call": functional_call,
        "vmapped": _vmapped,
        "call": _call,
    }


def _normal(d: Leaves, batch: tuple[int, ...]) -> None:
    dist = Normal(d["loc"], d["scale"])
    action = dist.rsample()
    write_key(d, batch, "action", action)
    write_key(d, batch, "action_log_prob", dist.log_prob(action))


def _vmapped(net: nn.Module, many: Leaves, x: Tensor) -> Any:
    return torch.vmap(lambda one: functional_call(net, one, (x,)))(many)


def _call(params: Any, net: nn.Module, x: Tensor) -> Any:
    with params.to_module(net):
        return net(x)


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
    options: dict[str, Any] = {"default_interaction_type": "random", "return_log_prob": True}
    head = modules.ProbabilisticTensorDictModule(["loc", "scale"], ["action"], distribution_class=Normal, **options)
    return {
        "TensorDict": library.TensorDict,
        "functional_vmap": getattr(modules, "functional_vmap", None),
        "head": head,
        "params": library.TensorDict(shared["d"], batch_size=[5]),
        "own": library.TensorDict.from_module(shared["net"]),
        "stacked": library.TensorDict.from_modules(*shared["nets"]),
        "module": module,
        "sequence": sequence,
        "typed": typed,
        "by_key": typed.as_td_module(),
        "td": td,
        "instance": takes(x=shared["x"], batch_size=[5]),
    }
