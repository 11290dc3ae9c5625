"""Modules with keys, typed modules and modules that sample. A line with a mistake stands beside its good twin."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor, nn
from torch import distributions as d

from tensorclass import TensorClass, TensorDict
from tensorclass.nn import (
    CompositeDistribution,
    InteractionType,
    NormalParamExtractor,
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorClassModuleBase,
    TensorDictModule,
    TensorDictSequential,
    set_interaction_type,
)

T = TypeVar("T")


class Obs(TensorClass):
    x: Tensor
    mask: Tensor | None = None


class Out(TensorClass):
    y: Tensor


def obs() -> Obs:
    return Obs(x=torch.zeros(4, 3), batch_size=[4])


def two(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return a, b


def one(a: Tensor) -> Tensor:
    return a


class Net(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        return a, b


class Kw(nn.Module):
    def forward(self, a: Tensor, *, scale: Tensor) -> Tensor:
        return a * scale


def mk() -> None:
    o = obs()
    TensorDictModule(one, in_keys=["x"], out_keys=["x"])(o)
    TensorDictModule(one, in_keys=["z"], out_keys=["x"])(o)  # E: in_key 'z': Obs has no field 'z'; its fields are 'x', 'mask' [tensorclass-module]
    TensorDictModule(one, in_keys=["x"], out_keys=["z"])(o)  # E: out_key 'z': Obs has no field 'z'; its fields are 'x', 'mask' [tensorclass-module]
    TensorDictModule(two, in_keys=["x", "m"], out_keys=["a", "b"])
    TensorDictModule(two, in_keys=["x"], out_keys=["a", "b"])  # E: in_keys: 1 key for a module that needs 2 arguments [tensorclass-module]
    TensorDictModule(two, in_keys=["x", "m", "n"], out_keys=["a", "b"])  # E: in_keys: 3 keys for a module that takes 2 arguments [tensorclass-module]
    TensorDictModule(two, in_keys=["x", "m"], out_keys=["a"])  # E: There are more tensors (2) than out_keys (['a']). [tensorclass-module]
    TensorDictModule(two, in_keys=["x", "m"], out_keys=["a", "b", "c"])  # E: There are more out_keys than tensors: 2 tensors for ['a', 'b', 'c']. [tensorclass-module]
    TensorDictModule(two, in_keys=["x", "m"], out_keys=["a", "a"])  # E: out_keys: 'a' is there twice; the second result would replace the first [tensorclass-module]
    TensorDictModule(two, in_keys=["x", "m"], out_keys=["a", "_"])
    TensorDictModule(Net(), in_keys=["x"], out_keys=["a", "b"])  # E: in_keys: 1 key for a module that needs 2 arguments [tensorclass-module]
    TensorDictModule(Net(), in_keys=["x", "m"], out_keys=["a"])  # E: There are more tensors (2) than out_keys (['a']). [tensorclass-module]
    TensorDictModule(Net(), in_keys={"a": "x", "b": "m"}, out_keys=["a", "b"])
    TensorDictModule(Net(), in_keys={"a": "x", "c": "m"}, out_keys=["a", "b"])  # E: in_keys: the module has no parameter 'c'; it takes 'a', 'b' [tensorclass-module]
    TensorDictModule(Kw(), in_keys={"a": "x", "scale": "s"}, out_keys=["y"])
    TensorDictModule(Kw(), in_keys={"a": "x", "scal": "s"}, out_keys=["y"])  # E: in_keys: the module has no parameter 'scal'; did you mean 'scale'? It takes 'a', 'scale' [tensorclass-module]
    TensorDictModule(Net, in_keys=["x", "m"], out_keys=["a", "b"])  # E: the module is the class Net; give an instance: Net(...) [tensorclass-module]
    TensorDictModule(lambda a: a, in_keys=["x", "m"], out_keys=["a"])  # E: in_keys: 2 keys for a module that takes 1 argument [tensorclass-module]
    TensorDictModule(lambda a: (a, a), in_keys=["x"], out_keys=["a"])  # E: There are more tensors (2) than out_keys (['a']). [tensorclass-module]
    TensorDictModule(lambda a: (a, a), in_keys=["x"], out_keys=["a", "b"])
    TensorDictModule(nn.Linear(3, 3), in_keys=["x", "m"], out_keys=["a"])  # E: in_keys: 2 keys for a module that takes 1 argument [tensorclass-module]
    TensorDictModule(nn.Linear(3, 3), in_keys=["x"], out_keys=["a", "b"])  # E: There are more out_keys than tensors: 1 tensor for ['a', 'b']. [tensorclass-module]
    TensorDictModule(nn.GRU(3, 3), in_keys=["x"], out_keys=["a"])  # E: There are more tensors (2) than out_keys (['a']). [tensorclass-module]
    TensorDictModule(nn.Sequential(nn.Linear(3, 3), nn.ReLU()), in_keys=["x"], out_keys=["a", "b"])  # E: There are more out_keys than tensors: 1 tensor for ['a', 'b']. [tensorclass-module]
    TensorDictModule(torch.add, in_keys=["x", "m"], out_keys=["a"])
    m = TensorDictModule(one, in_keys=["x"], out_keys=["y"])
    td = TensorDict({"x": torch.zeros(4, 3)}, batch_size=[4])
    m(td)["y"]
    m(td)["z"]  # E: no key 'z'; the keys here are 'x', 'y' [tensorclass-key]
    m(TensorDict({"xx": torch.zeros(4)}, batch_size=[4]))  # E: in_key 'x': no key 'x'; did you mean 'xx'? The keys here are 'xx' [tensorclass-module]
    m(torch.zeros(3)).shape
    m(torch.zeros(3), torch.zeros(3))  # E: the module takes 1 tensor (in_keys 'x'); 2 are given [tensorclass-module]
    m()  # E: the module takes 1 tensor; 'x' is missing [tensorclass-module]
    m(y=torch.zeros(3))  # E: the module has no in_key 'y'; its in_keys are 'x' [tensorclass-module]
    m(x=torch.zeros(3))
    a, b = TensorDictModule(two, in_keys=["x", "m"], out_keys=["a", "b"])(torch.zeros(3), torch.zeros(3))
    a, b, c = TensorDictModule(two, in_keys=["x", "m"], out_keys=["a", "b"])(torch.zeros(3), torch.zeros(3))  # E: unpack: there are 2 values for 3 names [tensorclass-module]
    m.select_out_keys("z")  # E: 'z' cannot be selected; the out_keys are 'y' [tensorclass-module]
    n = TensorDictModule(one, in_keys=["x"], out_keys=["y"], inplace=False)
    n(td)["y"]
    n(td)["x"]  # E: no key 'x'; the keys here are 'y' [tensorclass-key]
    nested = TensorDictModule(one, in_keys=[("o", "x")], out_keys=[("o", "y")])
    nested(TensorDict({"o": {"x": torch.zeros(3)}}, batch_size=[3]))["o", "y"]
    nested(TensorDict({"o": {"z": torch.zeros(3)}}, batch_size=[3]))  # E: in_key ('o', 'x'): no key 'x'; the keys here are 'z' (under 'o') [tensorclass-module]
    nested(TensorDict({"o": {"x": torch.zeros(3)}}, batch_size=[3]))["o", "z"]  # E: no key 'z'; the keys here are 'x', 'y' (under 'o') [tensorclass-key]
    m.in_keys.index("x")


def sq() -> None:
    enc = TensorDictModule(nn.Linear(3, 8), in_keys=["obs"], out_keys=["hidden"])
    dec = TensorDictModule(nn.Linear(8, 2), in_keys=["hidden"], out_keys=["action"])
    bad = TensorDictModule(nn.Linear(8, 2), in_keys=["hiden"], out_keys=["action"])
    wid = TensorDictModule(nn.Linear(9, 2), in_keys=["hidden"], out_keys=["action"])
    seq = TensorDictSequential(enc, dec)
    TensorDictSequential(enc, bad)  # E: module 1 reads 'hiden', which no module before it writes; did you mean 'hidden'? [tensorclass-module]
    TensorDictSequential([enc, bad])  # E: module 1 reads 'hiden', which no module before it writes; did you mean 'hidden'? [tensorclass-module]  # E: Argument 1 to "TensorDictSequential" has incompatible type "list[TensorDictModule]"; expected "Callable[[Any], Any] | Mapping[str, Callable[[Any], Any]]" [arg-type]
    TensorDictSequential(enc, TensorDictSequential(bad))  # E: module 1 reads 'hiden', which no module before it writes; did you mean 'hidden'? [tensorclass-module]
    td = TensorDict({"obs": torch.zeros(5, 3)}, batch_size=[5])
    seq(td)["action"]
    TensorDictSequential(enc, wid)(td)  # E: Linear: the last dim of the input [5, 8] is 8, the layer takes 9 [tensorclass-shape]
    seq(TensorDict({"ob": torch.zeros(5, 3)}, batch_size=[5]))  # E: in_key 'obs': no key 'obs'; did you mean 'ob'? The keys here are 'ob' [tensorclass-module]
    seq(TensorDict({"obs": torch.zeros(5, 4)}, batch_size=[5]))  # E: Linear: the last dim of the input [5, 4] is 4, the layer takes 3 [tensorclass-shape]
    seq(td)["acton"]  # E: no key 'acton'; did you mean 'action'? The keys here are 'obs', 'hidden', 'action' [tensorclass-key]
    seq.select_out_keys("acton")  # E: 'acton' cannot be selected; did you mean 'action'? The out_keys are 'hidden', 'action' [tensorclass-module]
    TensorDictSequential(enc, dec, selected_out_keys=["acton"])  # E: 'acton' cannot be selected; did you mean 'action'? The out_keys are 'hidden', 'action' [tensorclass-module]
    s2 = TensorDictSequential(
        TensorDictModule(nn.Linear(3, 8), in_keys=["obs"], out_keys=["hidden"]), TensorDictModule(nn.Linear(8, 2), in_keys=["hidden"], out_keys=["action"]), selected_out_keys=["action"]
    )
    td2 = TensorDict({"obs": torch.zeros(5, 3)}, batch_size=[5])
    s2(td2)["action"]
    s2(TensorDict({"obs": torch.zeros(5, 3)}, batch_size=[5]))["hidden"]  # E: no key 'hidden'; the keys here are 'obs', 'action' [tensorclass-key]
    TensorDictSequential(TensorDictModule(two, in_keys=["a", "b"], out_keys=["c", "d"]).select_out_keys("c"), TensorDictModule(one, in_keys=["d"], out_keys=["e"]))  # E: module 1 reads 'd', which an earlier module no longer writes: it was not selected [tensorclass-module]
    TensorDictSequential(enc, TensorDictModule(nn.Linear(8, 2), in_keys=["hidden"], out_keys=["hidden"]), TensorDictModule(nn.Linear(8, 2), in_keys=["hidden"], out_keys=["action"]))(td)  # E: Linear: the last dim of the input [5, 2] is 2, the layer takes 8 [tensorclass-shape]
    seq(torch.zeros(5, 3))
    seq(torch.zeros(5, 3), torch.zeros(5, 3))  # E: the module takes 1 tensor (in_keys 'obs'); 2 are given [tensorclass-module]
    h, a = seq(torch.zeros(5, 3))
    seq[0](TensorDict({"hidden": torch.zeros(5, 3)}, batch_size=[5]))  # E: in_key 'obs': no key 'obs'; the keys here are 'hidden' [tensorclass-module]


class Actor(TensorClassModuleBase[Obs, Out]):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(3, 2)

    def forward(self, o: Obs) -> Out:
        return Out(y=self.net(o.x), batch_size=o.batch_size)


class Critic(TensorClassModuleBase[Out, Obs]):
    def forward(self, o: Out) -> Obs:
        return Obs(x=o.y, batch_size=o.batch_size)


class BadField(TensorClassModuleBase[Obs, Out]):
    def forward(self, o: Obs) -> Out:
        return Out(y=o.xx, batch_size=o.batch_size)  # E: "Obs" has no attribute "xx" [attr-defined]


class BadCtor(TensorClassModuleBase[Obs, Out]):
    def forward(self, o: Obs) -> Out:
        return Out(z=o.x, batch_size=o.batch_size)  # E: Unexpected keyword argument "z" for "Out" [call-arg]


class NoBatch(TensorClassModuleBase[Obs, Out]):
    def forward(self, o: Obs) -> Out:
        return Out(y=o.x.mean(0))


def tm() -> None:
    o = obs()
    a = Actor()
    a(o).y
    a(o).x  # E: "Out" has no attribute "x" [attr-defined]
    a(o.x)  # E: Argument 1 to "__call__" of "TensorClassModuleBase" has incompatible type "Tensor"; expected "Obs" [arg-type]
    a(Out(y=o.x, batch_size=[4]))  # E: Argument 1 to "__call__" of "TensorClassModuleBase" has incompatible type "Out"; expected "Obs" [arg-type]
    Critic()(a(o)).x
    a(a(o))  # E: Argument 1 to "__call__" of "TensorClassModuleBase" has incompatible type "Out"; expected "Obs" [arg-type]
    a()  # E: Too few arguments for "__call__" of "TensorClassModuleBase" [call-arg]
    k = a.as_td_module()
    k(TensorDict({"x": torch.zeros(4, 3)}, batch_size=[4]))["y"]
    td_mod = Critic().as_td_module()
    s = TensorDictSequential(td_mod, TensorDictModule(one, in_keys=["x"], out_keys=["q"]))
    TensorDictModule(one, in_keys=["x"], out_keys=["y"]).typed(Obs, Out)(o).y
    TensorDictModule(one, in_keys=["x"], out_keys=["y"]).typed(Obs, Out)(o).x  # E: "Out" has no attribute "x" [attr-defined]
    TensorDictModule(one, in_keys=["z"], out_keys=["y"]).typed(Obs, Out)  # E: Obs has no field 'z'; its fields are 'x', 'mask' [tensorclass-module]
    TensorDictModule(one, in_keys=["x"], out_keys=["z"]).typed(Obs, Out)  # E: Out.y is neither written by the module nor a field of Obs; the out_keys are 'z' [tensorclass-module]


def pr() -> None:
    ProbabilisticTensorDictModule(in_keys=["loc", "scale"], out_keys=["a"], distribution_class=d.Normal)
    ProbabilisticTensorDictModule(in_keys=["loc", "sigma"], out_keys=["a"], distribution_class=d.Normal)  # E: in_keys: Normal has no parameter 'sigma'; it takes 'loc', 'scale', 'validate_args' [tensorclass-module]
    ProbabilisticTensorDictModule(in_keys=["loc"], out_keys=["a"], distribution_class=d.Normal)  # E: in_keys: Normal needs 'scale' as well [tensorclass-module]
    ProbabilisticTensorDictModule(in_keys={"loc": "mu", "scale": "s"}, out_keys=["a"], distribution_class=d.Normal)
    ProbabilisticTensorDictModule(in_keys={"mu": "mu", "scale": "s"}, out_keys=["a"], distribution_class=d.Normal)  # E: in_keys: Normal has no parameter 'mu'; it takes 'loc', 'scale', 'validate_args' [tensorclass-module]
    ProbabilisticTensorDictModule(in_keys=["logits"], out_keys=["a"], distribution_class=d.Categorical, distribution_kwargs={"validate_args": False})
    ProbabilisticTensorDictModule(in_keys=["logits"], out_keys=["a"], distribution_class=d.Categorical, distribution_kwargs={"validate": False})  # E: distribution_kwargs: Categorical has no parameter 'validate'; did you mean 'validate_args'? It takes 'probs', 'logits', 'validate_args' [tensorclass-module]
    ProbabilisticTensorDictModule(in_keys=["logit"], out_keys=["a"], distribution_class=d.Categorical)  # E: in_keys: Categorical has no parameter 'logit'; did you mean 'logits'? It takes 'probs', 'logits', 'validate_args' [tensorclass-module]
    ProbabilisticTensorDictModule(in_keys=["loc", "scale"], out_keys=["a"], distribution_class=d.Normal, return_log_prob=True, log_prob_key="a")  # E: log_prob_key: 'a' is the key of a sample; the log-probability would replace it [tensorclass-module]
    ProbabilisticTensorDictModule(in_keys=["loc", "scale"], out_keys=["a", "b"], distribution_class=d.Normal)  # E: out_keys: 2 keys for one sample; Normal gives one; the log-probability has a key of its own (log_prob_key) [tensorclass-module]
    ProbabilisticTensorDictModule(in_keys=["loc", "scale"], out_keys=["a"], distribution_class=d.Normal, default_interaction_type="moed")  # E: no interaction type 'moed'; did you mean 'mode'? There are 'mode', 'median', 'mean', 'random', 'deterministic' [tensorclass-module]
    ProbabilisticTensorDictModule(in_keys=["loc", "scale"], out_keys=["a"], distribution_class=d.Normal, default_interaction_type=InteractionType.MODE)
    ProbabilisticTensorDictModule(in_keys=["loc", "scale"], out_keys=["a"], distribution_class=d.Normal, default_interaction_type=InteractionType.MODAL)  # E: "type[InteractionType]" has no attribute "MODAL" [attr-defined]
    p = ProbabilisticTensorDictSequential(
        TensorDictModule(nn.Sequential(nn.Linear(3, 4), NormalParamExtractor()), in_keys=["obs"], out_keys=["loc", "scale"]),
        ProbabilisticTensorDictModule(in_keys=["loc", "scale"], out_keys=["action"], distribution_class=d.Normal, return_log_prob=True),
    )
    td = TensorDict({"obs": torch.zeros(5, 3)}, batch_size=[5])
    p(td)["action"]
    p(td)["acton"]  # E: no key 'acton'; did you mean 'action'? The keys here are 'obs', 'loc', 'scale', 'action', 'action_log_prob' [tensorclass-key]
    p(td)["action_log_prob"]
    p(td)["log_prob"]  # E: no key 'log_prob'; did you mean 'action_log_prob'? The keys here are 'obs', 'loc', 'scale', 'action', 'action_log_prob' [tensorclass-key]
    p(TensorDict({"ob": torch.zeros(5, 3)}, batch_size=[5]))  # E: in_key 'obs': no key 'obs'; did you mean 'ob'? The keys here are 'ob' [tensorclass-module]
    with set_interaction_type("mode"):
        pass
    with set_interaction_type("moed"):  # E: no interaction type 'moed'; did you mean 'mode'? There are 'mode', 'median', 'mean', 'random', 'deterministic' [tensorclass-module]
        pass
    with set_interaction_type(InteractionType.RANDOM):
        pass
    CompositeDistribution(TensorDict({"c": {"loc": torch.zeros(3), "scale": torch.ones(3)}}, batch_size=[]), distribution_map={"c": d.Normal}).sample()["c"]
    CompositeDistribution(TensorDict({"c": {"loc": torch.zeros(3), "scale": torch.ones(3)}}, batch_size=[]), distribution_map={"c": d.Normal}).sample()["d"]  # E: no key 'd'; the keys here are 'c' [tensorclass-key]
    CompositeDistribution(TensorDict({"c": {"loc": torch.zeros(3), "scale": torch.ones(3)}}, batch_size=[]), distribution_map={"d": d.Normal})  # E: distribution_map: no key 'd'; the keys here are 'c' [tensorclass-module]
    CompositeDistribution(TensorDict({"c": {"loc": torch.zeros(3), "sigma": torch.ones(3)}}, batch_size=[]), distribution_map={"c": d.Normal})  # E: params: Normal (of 'c') has no parameter 'sigma'; it takes 'loc', 'scale', 'validate_args' [tensorclass-module]
