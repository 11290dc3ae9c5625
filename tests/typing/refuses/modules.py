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
    TensorDictModule(split, in_keys=["x"], out_keys=["a"])  # E: There are more tensors (2) than out_keys (['a']). [tensorclass-module]
    TensorDictModule(split, ["x"], ["a", "b", "c"])  # E: There are more out_keys than tensors: 2 tensors for ['a', 'b', 'c']. [tensorclass-module]
    TensorDictModule(scale, in_keys=["x", "y"], out_keys=["a"])
    TensorDictModule(scale, in_keys=["x", "y"], out_keys=["a", "b"])  # E: There are more out_keys than tensors: 1 tensor for ['a', 'b']. [tensorclass-module]
    TensorDictModule(scale, in_keys=["x"], out_keys=["a"])  # E: in_keys: 1 key for a module that needs 2 arguments [tensorclass-module]
    TensorDictModule(scale, in_keys=["x", "y", "z"], out_keys=["a"])  # E: in_keys: 3 keys for a module that takes 2 arguments [tensorclass-module]
    TensorDictModule(scale, in_keys={"value": "x", "factor": "y"}, out_keys=["a"])
    TensorDictModule(scale, in_keys={"value": "x", "scale": "y"}, out_keys=["a"])  # E: in_keys: the module has no parameter 'scale'; did you mean 'value'? It takes 'value', 'factor' [tensorclass-module]
    TensorDictModule(Two(), in_keys=["x"], out_keys=["a", "_"])
    TensorDictModule(Two(), in_keys=["x"], out_keys=["a"])  # E: There are more tensors (2) than out_keys (['a']). [tensorclass-module]
    TensorDictModule(Pair(), in_keys=["x"], out_keys=["a"])
    TensorDictModule(Pair(), in_keys=["x", "y"], out_keys=["a"])
    TensorDictModule(Pair(), in_keys=["x", "y", "z"], out_keys=["a"])  # E: in_keys: 3 keys for a module that takes 2 arguments [tensorclass-module]
    TensorDictModule(nn.Linear(3, 4), in_keys=["x"], out_keys=["a"])
    TensorDictModule(nn.Linear(3, 4), in_keys=["x", "y"], out_keys=["a"])  # E: in_keys: 2 keys for a module that takes 1 argument [tensorclass-module]
    TensorDictModule(nn.Linear(3, 4), in_keys=["x"], out_keys=["a", "b"])  # E: There are more out_keys than tensors: 1 tensor for ['a', 'b']. [tensorclass-module]
    TensorDictModule(nn.LSTM(3, 4), in_keys=["x"], out_keys=["a"])  # E: There are more tensors (2) than out_keys (['a']). [tensorclass-module]
    TensorDictModule(lambda x: (x, x), in_keys=["x"], out_keys=["a"])  # E: There are more tensors (2) than out_keys (['a']). [tensorclass-module]
    TensorDictModule(lambda x, y: x + y, in_keys=["x"], out_keys=["a"])  # E: in_keys: 1 key for a module that needs 2 arguments [tensorclass-module]
    TensorDictModule(nn.Tanh, in_keys=["x"], out_keys=["a"])  # E: the module is the class Tanh; give an instance: Tanh(...) [tensorclass-module]
    TensorDictModule(split, in_keys=["x"], out_keys=["a", "a"])  # E: out_keys: 'a' is there twice; the second result would replace the first [tensorclass-module]


def on_classes() -> None:
    obs = Obs(state=torch.zeros(4, 3), batch_size=[4])
    batch = Batch(obs=obs, batch_size=[4])
    print(TensorDictModule(nn.Linear(3, 1), in_keys=["state"], out_keys=["value"])(obs))
    print(TensorDictModule(nn.Linear(3, 1), in_keys=["stat"], out_keys=["value"])(obs))  # E: in_key 'stat': Obs has no field 'stat'; did you mean 'state'? Its fields are 'state', 'name', 'value', 'mask' [tensorclass-module]
    print(TensorDictModule(nn.Linear(3, 1), in_keys=["state"], out_keys=["val"])(obs))  # E: out_key 'val': Obs has no field 'val'; did you mean 'value'? Its fields are 'state', 'name', 'value', 'mask' [tensorclass-module]
    print(TensorDictModule(nn.Linear(3, 1), in_keys=["name"], out_keys=["value"])(obs))  # E: in_key 'name' is a str, and the module needs a tensor [tensorclass-module]
    print(TensorDictModule(torch.mul, in_keys=["state", "mask"], out_keys=["value"])(obs))  # E: in_key 'mask': the field is not set, and the module needs a tensor [tensorclass-module]
    print(TensorDictModule(Pair(), in_keys=["state", "mask"], out_keys=["value"])(obs))
    print(TensorDictModule(nn.Tanh(), in_keys=[("obs", "state")], out_keys=["value"])(batch))
    print(TensorDictModule(nn.Tanh(), in_keys=[("obs", "stat")], out_keys=["value"])(batch))  # E: in_key ('obs', 'stat'): Obs has no field 'stat'; did you mean 'state'? Its fields are 'state', 'name', 'value', 'mask' [tensorclass-module]
    print(TensorDictModule(nn.Tanh(), in_keys=[("obs", "state")], out_keys=["obs"])(batch))  # E: out_key 'obs': the field is a Obs, and the module gives a tensor [tensorclass-module]
    print(TensorDictModule(nn.Tanh(), in_keys=[("obs", "state")], out_keys=[("obs", "valu")])(batch))  # E: out_key ('obs', 'valu'): Obs has no field 'valu'; did you mean 'value'? Its fields are 'state', 'name', 'value', 'mask' [tensorclass-module]
    print(TensorDictModule(nn.Linear(5, 1), in_keys=["state"], out_keys=["value"])(obs))  # E: Linear: the last dim of the input [4, 3] is 3, the layer takes 5 [tensorclass-shape]


def on_dicts() -> None:
    td = TensorDict({"state": torch.zeros(4, 3)}, batch_size=[4])
    net = TensorDictModule(nn.Linear(3, 1), in_keys=[IN], out_keys=["value"])
    out: TensorDict = net(td)
    print(out["value"], out["state"], td["value"])
    print(out["values"])  # E: no key 'values'; did you mean 'value'? The keys here are 'state', 'value' [tensorclass-key]
    net(TensorDict({"stat": torch.zeros(4, 3)}, batch_size=[4]))  # E: in_key 'state': no key 'state'; did you mean 'stat'? The keys here are 'stat' [tensorclass-module]
    print(TensorDictModule(nn.Linear(3, 1), KEYS, ["value"])(td)["valu"])  # E: no key 'valu'; did you mean 'value'? The keys here are 'state', 'value' [tensorclass-key]
    fresh = TensorDictModule(nn.Tanh(), ["state"], ["h"], inplace=False)(td)
    print(fresh["h"])
    print(fresh["state"])  # E: no key 'state'; the keys here are 'h' [tensorclass-key]
    TensorDictModule(lambda x: x.mean(0), ["state"], ["m"])(td)  # E: out_key 'm': field 'm' has shape [3]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDictModule(lambda x: x.mean(-1), ["state"], ["m"])(td)
    TensorDictModule(nn.MSELoss(), ["state", "state"], ["loss"])(td)  # E: out_key 'loss': field 'loss' has shape []; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDictModule(nn.Flatten(0, 1), ["state"], ["flat"])(td)  # E: out_key 'flat': field 'flat' has shape [12]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]


def with_tensors() -> None:
    net = TensorDictModule(scale, in_keys=["a", "b"], out_keys=["c"])
    print(net(torch.zeros(4), torch.ones(4)))
    print(net(torch.zeros(4)))  # E: the module takes 2 tensors; 'b' is missing [tensorclass-module]
    print(net(torch.zeros(4), torch.ones(4), torch.ones(4)))  # E: the module takes 2 tensors (in_keys 'a', 'b'); 3 are given [tensorclass-module]
    print(net(a=torch.zeros(4), b=torch.ones(4)))
    print(net(a=torch.zeros(4), c=torch.ones(4)))  # E: the module has no in_key 'c'; its in_keys are 'a', 'b' [tensorclass-module]
    two = TensorDictModule(split, in_keys=["x"], out_keys=["up", "down"])
    up, down = two(torch.zeros(4))
    one, other, more = two(torch.zeros(4))  # E: unpack: there are 2 values for 3 names [tensorclass-module]
    print(up, down, one, other, more)


def sequences() -> None:
    td = TensorDict({"x": torch.zeros(4, 3)}, batch_size=[4])
    model = TensorDictSequential(
        TensorDictModule(nn.Linear(3, 8), in_keys=["x"], out_keys=["hidden"]),
        TensorDictModule(nn.Linear(8, 1), in_keys=["hidden"], out_keys=["y"]),
    )
    print(model(td)["y"], model(td)["hidden"])
    print(model(td)["z"])  # E: no key 'z'; the keys here are 'x', 'hidden', 'y' [tensorclass-key]
    TensorDictSequential(
        TensorDictModule(nn.Linear(3, 8), in_keys=["x"], out_keys=["hidden"]),
        TensorDictModule(nn.Linear(8, 1), in_keys=["hiden"], out_keys=["y"]),  # E: module 1 reads 'hiden', which no module before it writes; did you mean 'hidden'? [tensorclass-module]
    )
    TensorDictSequential(  # E: Linear: the last dim of the input [4, 8] is 8, the layer takes 16 [tensorclass-shape]
        TensorDictModule(nn.Linear(3, 8), in_keys=["x"], out_keys=["hidden"]),
        TensorDictModule(nn.Linear(16, 1), in_keys=["hidden"], out_keys=["y"]),
    )(td)
    TensorDictSequential(
        TensorDictModule(nn.Linear(3, 8), in_keys=["x"], out_keys=["hidden"]),
        selected_out_keys=["x"],  # E: 'x' cannot be selected; the out_keys are 'hidden' [tensorclass-module]
    )
    first = TensorDictModule(split, in_keys=["x"], out_keys=["up", "down"])
    first.select_out_keys("up")
    print(first(td)["up"])
    print(first(td.exclude("down"))["down"])  # E: no key 'down'; the keys here are 'x', 'hidden', 'y', 'up' [tensorclass-key]
    TensorDictSequential(first, TensorDictModule(nn.Tanh(), in_keys=["down"], out_keys=["y"]))  # E: module 1 reads 'down', which an earlier module no longer writes: it was not selected [tensorclass-module]
    first.select_out_keys("left")  # E: 'left' cannot be selected; the out_keys are 'up', 'down' [tensorclass-module]
    first.reset_out_keys()
    TensorDictSequential(first, TensorDictModule(nn.Tanh(), in_keys=["down"], out_keys=["y"]))
    TensorDictSequential(  # E: in_key 'mask': no key 'mask'; the keys here are 'x' [tensorclass-module]
        lambda td: td.select("x"),
        TensorDictModule(torch.mul, in_keys=["x", "mask"], out_keys=["y"]),
    )(TensorDict({"x": torch.zeros(4), "mask": torch.ones(4)}, batch_size=[4]))
    kept = TensorDictSequential(
        TensorDictModule(nn.Linear(3, 8), in_keys=["x"], out_keys=["h"]),
        TensorDictModule(nn.Linear(8, 1), in_keys=["h"], out_keys=["y"]),
        selected_out_keys=["y"],
    )
    print(kept(td.select("x"))["y"])
    print(kept(td.select("x"))["h"])  # E: no key 'h'; the keys here are 'x', 'y' [tensorclass-key]
    layers = [TensorDictModule(nn.Linear(3, 3), in_keys=[f"h{n}"], out_keys=[f"h{n + 1}"]) for n in range(3)]
    print(TensorDictSequential(*layers))
