"""Keys from constants and loops. A line with a mistake stands beside its good twin."""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn

from tensorclass import TensorDict
from tensorclass.nn import TensorDictModule, TensorDictSequential

IN_KEYS = ["obs", "goal"]
OUT_KEYS = ["action"]
BOTH = {"in": ["obs"], "out": ["action", "value"]}
NAMES = ("a", "b")
GROW = ["obs"]
GROW.append("goal")
LATE = ["obs"]
KEY = "obs"
FKEY: Final = "obs"
LAYERS = [("h0", "h1"), ("h1", "h2")]


def late() -> None:
    LATE.append("goal")


def net2(a: Tensor, b: Tensor) -> Tensor:
    return a + b


def net1(a: Tensor) -> tuple[Tensor, Tensor]:
    return a, a


def build() -> None:
    TensorDictModule(net2, in_keys=IN_KEYS, out_keys=OUT_KEYS)
    TensorDictModule(net1, in_keys=IN_KEYS, out_keys=["x", "y"])  # E: in_keys: 2 keys for a module that takes 1 argument [tensorclass-module]
    TensorDictModule(net2, in_keys=IN_KEYS, out_keys=["x", "y"])  # E: There are more out_keys than tensors: 1 tensor for ['x', 'y']. [tensorclass-module]
    TensorDictModule(net1, in_keys=BOTH["in"], out_keys=BOTH["out"])
    TensorDictModule(net1, in_keys=BOTH["in"], out_keys=OUT_KEYS)  # E: There are more tensors (2) than out_keys (['action']). [tensorclass-module]
    TensorDictModule(net2, in_keys=GROW, out_keys=OUT_KEYS)
    TensorDictModule(net2, in_keys=LATE, out_keys=OUT_KEYS)
    TensorDictModule(net1, in_keys=[KEY], out_keys=list(NAMES))
    TensorDictModule(net1, in_keys=[FKEY, KEY], out_keys=list(NAMES))  # E: in_keys: 2 keys for a module that takes 1 argument [tensorclass-module]


def chain() -> None:
    mods = []
    for a, b in LAYERS:
        mods.append(TensorDictModule(nn.Linear(3, 3), in_keys=[a], out_keys=[b]))
    seq = TensorDictSequential(*mods)
    td = TensorDict({"h0": torch.zeros(2, 3)}, batch_size=[2])
    out = seq(td)
    print(out["h2"])
    print(out["h3"])  # E: no key 'h3'; the keys here are 'h0', 'h1', 'h2' [tensorclass-key]


def chain2() -> None:
    seq = TensorDictSequential(*[TensorDictModule(nn.Linear(3, 3), in_keys=[f"h{i}"], out_keys=[f"h{i + 1}"]) for i in range(3)])
    td = TensorDict({"h0": torch.zeros(2, 3)}, batch_size=[2])
    out = seq(td)
    print(out["h3"])
    print(out["h4"])  # E: no key 'h4'; the keys here are 'h0', 'h1', 'h2', 'h3' [tensorclass-key]


def chain3() -> None:
    keys = ["x"] + [f"h{i}" for i in range(2)] + ["y"]
    mods = [TensorDictModule(nn.Linear(3, 3), in_keys=[k], out_keys=[l]) for k, l in zip(keys[:-1], keys[1:])]
    seq = TensorDictSequential(*mods)
    td = TensorDict({"x": torch.zeros(2, 3)}, batch_size=[2])
    print(seq(td)["y"])
    print(seq(td)["z"])  # E: no key 'z'; the keys here are 'x', 'h0', 'h1', 'y' [tensorclass-key]


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = TensorDictModule(nn.Linear(3, 2), in_keys=IN_KEYS[:1], out_keys=OUT_KEYS)
        self.seq = TensorDictSequential(self.net, TensorDictModule(nn.Linear(2, 1), in_keys=["action"], out_keys=["value"]))

    def forward(self, td: TensorDict) -> TensorDict:
        return self.seq(td)

    def run(self) -> None:
        td = TensorDict({"obs": torch.zeros(2, 3)}, batch_size=[2])
        out = self.seq(td)
        print(out["value"], out["action"])
        print(out["vale"])  # E: no key 'vale'; did you mean 'value'? The keys here are 'obs', 'action', 'value' [tensorclass-key]
        td2 = TensorDict({"obz": torch.zeros(2, 3)}, batch_size=[2])
        self.net(td2)  # E: in_key 'obs': no key 'obs'; did you mean 'obz'? The keys here are 'obz' [tensorclass-module]
