"""Keys in class bodies and enums, modules with keys of the user's own, functions with arguments filled in."""

from __future__ import annotations

import functools
from enum import Enum
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tensorclass import TensorDict
from tensorclass.nn import (
    NormalParamExtractor,
    TensorDictModule,
    TensorDictModuleBase,
    TensorDictSequential,
    dispatch,
)


class Key(Enum):
    OBS = "state"
    ACT = "action"


class Names:
    OBS = "state"
    VALUE: ClassVar[str] = "value"
    IN = ["state"]
    MOVED = "state"


class Others(Names):
    VALUE = "other"


Names.MOVED = "action"


def two(a: Tensor, b: Tensor) -> Tensor:
    return a + b


def state() -> TensorDict:
    return TensorDict({"state": torch.zeros(4, 3), "goal": torch.zeros(4, 3)}, batch_size=[4])


def wrong() -> TensorDict:
    return TensorDict({"stat": torch.zeros(4, 3)}, batch_size=[4])


def named() -> None:
    td = state()
    td[Key.OBS.value]
    td[Key.ACT.value]  # E: no key 'action'; the keys here are 'state', 'goal' [tensorclass-key]
    td[Names.OBS]
    td[Names.VALUE]  # E: no key 'value'; the keys here are 'state', 'goal' [tensorclass-key]
    td[Others.OBS]
    td[Others.VALUE]  # E: no key 'other'; the keys here are 'state', 'goal' [tensorclass-key]
    td[Names.IN[0]]
    for one in Key:
        td.get(one.value)
    TensorDictModule(nn.Linear(3, 3), in_keys=[Names.OBS], out_keys=["v"])(td)
    TensorDictModule(nn.Linear(3, 3), in_keys=[Key.ACT.value], out_keys=["v"])(td)  # E: in_key 'action': no key 'action'; the keys here are 'state', 'goal', 'v' [tensorclass-module]


class ByBody(TensorDictModuleBase):
    in_keys = ["state"]
    out_keys = ["action"]

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(3, 3)

    def forward(self, tensordict: TensorDict) -> TensorDict:
        tensordict["action"] = self.net(tensordict["state"])
        return tensordict


class ByInit(TensorDictModuleBase):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(3, 3)
        self.in_keys = ["state"]
        self.out_keys = ["action"]

    @dispatch
    def forward(self, tensordict: TensorDict) -> TensorDict:
        tensordict["action"] = self.net(tensordict["state"])
        return tensordict


class Given(TensorDictModuleBase):
    """Its keys are arguments: another instance may have others."""

    def __init__(self, keys: list[str]) -> None:
        super().__init__()
        self.in_keys = keys
        self.out_keys = ["action"]

    def forward(self, tensordict: TensorDict) -> TensorDict:
        return tensordict


def own() -> None:
    head = TensorDictModule(nn.Linear(3, 3), in_keys=["action"], out_keys=["v"])
    slip = TensorDictModule(nn.Linear(3, 3), in_keys=["acton"], out_keys=["v"])
    TensorDictSequential(ByBody(), head)
    TensorDictSequential(ByBody(), slip)  # E: module 1 reads 'acton', which no module before it writes; did you mean 'action'? [tensorclass-module]
    TensorDictSequential(ByInit(), head)
    TensorDictSequential(ByInit(), slip)  # E: module 1 reads 'acton', which no module before it writes; did you mean 'action'? [tensorclass-module]
    ByBody()(state())["action"]
    ByBody()(state())["acton"]  # E: no key 'acton'; did you mean 'action'? The keys here are 'state', 'goal', 'action' [tensorclass-key]
    ByInit()(state())["action"]
    ByInit()(state())["actin"]  # E: no key 'actin'; did you mean 'action'? The keys here are 'state', 'goal', 'action' [tensorclass-key]
    ByInit()(state())
    ByInit()(wrong())  # E: no key 'state'; did you mean 'stat'? The keys here are 'stat' (in forward, line 91) [tensorclass-key]
    ByInit()(state=torch.zeros(4, 3))
    ByInit()(stat=torch.zeros(4, 3))  # E: the module has no in_key 'stat'; did you mean 'state'? Its in_keys are 'state' [tensorclass-module]
    ByInit()(torch.zeros(4, 3))
    ByInit()(torch.zeros(4, 3), torch.zeros(4, 3))  # E: the module takes 1 tensor (in_keys 'state'); 2 are given [tensorclass-module]
    ByBody().select_out_keys("action")
    ByBody().select_out_keys("acton")  # E: 'acton' cannot be selected; did you mean 'action'? The out_keys are 'action' [tensorclass-module]
    Given(["state"])(state())


def filled_in() -> None:
    TensorDictModule(functools.partial(two, b=torch.zeros(1)), in_keys=["state"], out_keys=["v"])
    TensorDictModule(functools.partial(two, b=torch.zeros(1)), in_keys=["state", "a", "b"], out_keys=["v"])  # E: in_keys: 3 keys for a module that takes 1 argument [tensorclass-module]
    TensorDictModule(functools.partial(two, torch.zeros(1)), in_keys=["state"], out_keys=["v"])
    TensorDictModule(functools.partial(two, torch.zeros(1)), in_keys=["state"], out_keys=["v", "w"])  # E: There are more out_keys than tensors: 1 tensor for ['v', 'w']. [tensorclass-module]
    TensorDictModule(two, in_keys={"a": "state", "b": "goal"}, out_keys=["v"])
    TensorDictModule(two, in_keys={"a": "state"}, out_keys=["v"])  # E: in_keys: the module needs 'b' as well [tensorclass-module]
    TensorDictModule(two, in_keys={"state": "a", "goal": "b"}, out_keys=["v"], out_to_in_map=False)
    TensorDictModule(two, in_keys={"state": "a", "goal": "c"}, out_keys=["v"], out_to_in_map=False)  # E: in_keys: the module has no parameter 'c'; it takes 'a', 'b' [tensorclass-module]
    TensorDictModule(F.relu, in_keys=["state"], out_keys=["v"])
    TensorDictModule(F.relu, in_keys=["state"], out_keys=["v", "w"])  # E: There are more out_keys than tensors: 1 tensor for ['v', 'w']. [tensorclass-module]
    TensorDictModule(torch.tanh, in_keys=["state"], out_keys=["v"])
    TensorDictModule(torch.tanh, in_keys=["state"], out_keys=["v", "w"])  # E: There are more out_keys than tensors: 1 tensor for ['v', 'w']. [tensorclass-module]
    linear = nn.Linear(3, 4)
    TensorDictModule(linear.forward, in_keys=["state"], out_keys=["v"])
    TensorDictModule(linear.forward, in_keys=["state", "goal"], out_keys=["v"])  # E: in_keys: 2 keys for a module that takes 1 argument [tensorclass-module]
    TensorDictModule(nn.Sequential(linear), in_keys=["state"], out_keys=["v"])
    TensorDictModule(nn.ModuleList([linear]), in_keys=["state"], out_keys=["v"])  # E: the module is a ModuleList, which has no forward; nn.Sequential has one [tensorclass-module]
    net = nn.Sequential(linear, NormalParamExtractor())
    TensorDictModule(net, in_keys=["state"], out_keys=["loc", "scale"])
    TensorDictModule(net, in_keys=["state"], out_keys=["loc"])  # E: There are more tensors (2) than out_keys (['loc']). [tensorclass-module]
    TensorDictModule(NormalParamExtractor(), in_keys=["state"], out_keys=["loc", "scale"])
    TensorDictModule(NormalParamExtractor(), in_keys=["state"], out_keys=["loc", "scale", "x"])  # E: There are more out_keys than tensors: 2 tensors for ['loc', 'scale', 'x']. [tensorclass-module]


def unknown(keys: Any, function: Any) -> None:
    TensorDictModule(functools.partial(function, b=1), in_keys=["state", "a"], out_keys=["v"])
    TensorDictSequential(Given(keys), TensorDictModule(nn.ReLU(), in_keys=["acton"], out_keys=["v"]))
