"""Modules with keys: what they wrap, what they are given, and what they write."""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict
from tensorclass.nn import TensorDictModule, TensorDictSequential


class Obs(TensorClass):
    state: Tensor
    name: str = ""
    value: Tensor | None = None
    mask: Tensor | None = None


class Batch(TensorClass):
    obs: Obs
    value: Tensor | None = None


class Two(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x, x


class Pair(nn.Module):
    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        return x if y is None else x + y


def split(x: Tensor) -> tuple[Tensor, Tensor]:
    return x[..., :1], x[..., 1:]


def scale(value: Tensor, factor: Tensor) -> Tensor:
    return value * factor


IN: Final = "state"
KEYS = ["state"]


def counts() -> None:
    TensorDictModule(split, in_keys=["x"], out_keys=["a", "b"])
    TensorDictModule(split, in_keys=["x"], out_keys=["a"])
    TensorDictModule(split, ["x"], ["a", "b", "c"])
    TensorDictModule(scale, in_keys=["x", "y"], out_keys=["a"])
    TensorDictModule(scale, in_keys=["x", "y"], out_keys=["a", "b"])
    TensorDictModule(scale, in_keys=["x"], out_keys=["a"])
    TensorDictModule(scale, in_keys=["x", "y", "z"], out_keys=["a"])
    TensorDictModule(scale, in_keys={"value": "x", "factor": "y"}, out_keys=["a"])
    TensorDictModule(scale, in_keys={"value": "x", "scale": "y"}, out_keys=["a"])
    TensorDictModule(Two(), in_keys=["x"], out_keys=["a", "_"])
    TensorDictModule(Two(), in_keys=["x"], out_keys=["a"])
    TensorDictModule(Pair(), in_keys=["x"], out_keys=["a"])
    TensorDictModule(Pair(), in_keys=["x", "y"], out_keys=["a"])
    TensorDictModule(Pair(), in_keys=["x", "y", "z"], out_keys=["a"])
    TensorDictModule(nn.Linear(3, 4), in_keys=["x"], out_keys=["a"])
    TensorDictModule(nn.Linear(3, 4), in_keys=["x", "y"], out_keys=["a"])
    TensorDictModule(nn.Linear(3, 4), in_keys=["x"], out_keys=["a", "b"])
    TensorDictModule(nn.LSTM(3, 4), in_keys=["x"], out_keys=["a"])
    TensorDictModule(lambda x: (x, x), in_keys=["x"], out_keys=["a"])
    TensorDictModule(lambda x, y: x + y, in_keys=["x"], out_keys=["a"])
    TensorDictModule(nn.Tanh, in_keys=["x"], out_keys=["a"])
    TensorDictModule(split, in_keys=["x"], out_keys=["a", "a"])


def on_classes() -> None:
    obs = Obs(state=torch.zeros(4, 3), batch_size=[4])
    batch = Batch(obs=obs, batch_size=[4])
    print(TensorDictModule(nn.Linear(3, 1), in_keys=["state"], out_keys=["value"])(obs))
    print(TensorDictModule(nn.Linear(3, 1), in_keys=["stat"], out_keys=["value"])(obs))
    print(TensorDictModule(nn.Linear(3, 1), in_keys=["state"], out_keys=["val"])(obs))
    print(TensorDictModule(nn.Linear(3, 1), in_keys=["name"], out_keys=["value"])(obs))
    print(TensorDictModule(torch.mul, in_keys=["state", "mask"], out_keys=["value"])(obs))
    print(TensorDictModule(Pair(), in_keys=["state", "mask"], out_keys=["value"])(obs))
    print(TensorDictModule(nn.Tanh(), in_keys=[("obs", "state")], out_keys=["value"])(batch))
    print(TensorDictModule(nn.Tanh(), in_keys=[("obs", "stat")], out_keys=["value"])(batch))
    print(TensorDictModule(nn.Tanh(), in_keys=[("obs", "state")], out_keys=["obs"])(batch))
    print(TensorDictModule(nn.Tanh(), in_keys=[("obs", "state")], out_keys=[("obs", "valu")])(batch))
    print(TensorDictModule(nn.Linear(5, 1), in_keys=["state"], out_keys=["value"])(obs))


def on_dicts() -> None:
    td = TensorDict({"state": torch.zeros(4, 3)}, batch_size=[4])
    net = TensorDictModule(nn.Linear(3, 1), in_keys=[IN], out_keys=["value"])
    out: TensorDict = net(td)
    print(out["value"], out["state"], td["value"])
    print(out["values"])
    net(TensorDict({"stat": torch.zeros(4, 3)}, batch_size=[4]))
    print(TensorDictModule(nn.Linear(3, 1), KEYS, ["value"])(td)["valu"])
    fresh = TensorDictModule(nn.Tanh(), ["state"], ["h"], inplace=False)(td)
    print(fresh["h"])
    print(fresh["state"])
    TensorDictModule(lambda x: x.mean(0), ["state"], ["m"])(td)
    TensorDictModule(lambda x: x.mean(-1), ["state"], ["m"])(td)
    TensorDictModule(nn.MSELoss(), ["state", "state"], ["loss"])(td)
    TensorDictModule(nn.Flatten(0, 1), ["state"], ["flat"])(td)


def with_tensors() -> None:
    net = TensorDictModule(scale, in_keys=["a", "b"], out_keys=["c"])
    print(net(torch.zeros(4), torch.ones(4)))
    print(net(torch.zeros(4)))
    print(net(torch.zeros(4), torch.ones(4), torch.ones(4)))
    print(net(a=torch.zeros(4), b=torch.ones(4)))
    print(net(a=torch.zeros(4), c=torch.ones(4)))
    two = TensorDictModule(split, in_keys=["x"], out_keys=["up", "down"])
    up, down = two(torch.zeros(4))
    one, other, more = two(torch.zeros(4))
    print(up, down, one, other, more)


def sequences() -> None:
    td = TensorDict({"x": torch.zeros(4, 3)}, batch_size=[4])
    model = TensorDictSequential(
        TensorDictModule(nn.Linear(3, 8), in_keys=["x"], out_keys=["hidden"]),
        TensorDictModule(nn.Linear(8, 1), in_keys=["hidden"], out_keys=["y"]),
    )
    print(model(td)["y"], model(td)["hidden"])
    print(model(td)["z"])
    TensorDictSequential(
        TensorDictModule(nn.Linear(3, 8), in_keys=["x"], out_keys=["hidden"]),
        TensorDictModule(nn.Linear(8, 1), in_keys=["hiden"], out_keys=["y"]),
    )
    TensorDictSequential(
        TensorDictModule(nn.Linear(3, 8), in_keys=["x"], out_keys=["hidden"]),
        TensorDictModule(nn.Linear(16, 1), in_keys=["hidden"], out_keys=["y"]),
    )(td)
    TensorDictSequential(
        TensorDictModule(nn.Linear(3, 8), in_keys=["x"], out_keys=["hidden"]),
        selected_out_keys=["x"],
    )
    first = TensorDictModule(split, in_keys=["x"], out_keys=["up", "down"])
    first.select_out_keys("up")
    print(first(td)["up"])
    print(first(td.exclude("down"))["down"])
    TensorDictSequential(first, TensorDictModule(nn.Tanh(), in_keys=["down"], out_keys=["y"]))
    first.select_out_keys("left")
    first.reset_out_keys()
    TensorDictSequential(first, TensorDictModule(nn.Tanh(), in_keys=["down"], out_keys=["y"]))
    TensorDictSequential(
        lambda td: td.select("x"),
        TensorDictModule(torch.mul, in_keys=["x", "mask"], out_keys=["y"]),
    )(TensorDict({"x": torch.zeros(4), "mask": torch.ones(4)}, batch_size=[4]))
    kept = TensorDictSequential(
        TensorDictModule(nn.Linear(3, 8), in_keys=["x"], out_keys=["h"]),
        TensorDictModule(nn.Linear(8, 1), in_keys=["h"], out_keys=["y"]),
        selected_out_keys=["y"],
    )
    print(kept(td.select("x"))["y"])
    print(kept(td.select("x"))["h"])
    layers = [TensorDictModule(nn.Linear(3, 3), in_keys=[f"h{n}"], out_keys=[f"h{n + 1}"]) for n in range(3)]
    print(TensorDictSequential(*layers))
