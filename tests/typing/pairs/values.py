"""What is known of a value: left out, from elsewhere, of a dtype, ragged, without a truth value. A line with a mistake stands beside its good twin."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict, lazy_stack, stack, where
from tensorclass.nn import EnsembleModule, TensorDictModule, TensorDictModuleBase, TensorDictSequential


class Obs(TensorClass):
    pos: Float[Tensor, "*batch 3"]
    vel: Float[Tensor, "*batch 3"]
    mass: Float[Tensor, "*batch"]


class Prec(TensorClass):
    x: Float64[Tensor, "*batch 3"]
    k: Int[Tensor, "*batch"]


class Plain(TensorClass):
    a: Tensor
    b: Tensor


def make() -> Obs:
    return Obs(pos=torch.zeros(4, 3), vel=torch.zeros(4, 3), mass=torch.zeros(4))


def dropped1() -> Tensor:
    o = make().exclude("mass")
    return o.mass + 1  # E: field 'mass' of Obs is not set yet [tensorclass-field]


def dropped2() -> None:
    o = make().select("pos")
    print(o.vel.sum())  # E: field 'vel' of Obs is not set yet [tensorclass-field]
    print(o.pos.sum())


def dropped3(o: Obs) -> None:
    s = o.select("pos", "vel")
    print(s.mass * 2)  # E: field 'mass' of Obs is not set yet [tensorclass-field]
    t = o.exclude("pos")
    t.pos = torch.zeros(*o.batch_size, 3)
    print(t.pos + 1)


def dropped4() -> None:
    td = TensorDict({"a": torch.zeros(3), "b": torch.zeros(3)}, batch_size=[3])
    td.exclude("a")
    print(td["a"])
    td = td.exclude("a")
    print(td["a"])  # E: no key 'a'; the keys here are 'b' [tensorclass-key]
    td2 = td.select("b")
    print(td2["c"])  # E: no key 'c'; the keys here are 'b' [tensorclass-key]


def ens() -> None:
    net = TensorDictModule(nn.Linear(3, 2), in_keys=["x"], out_keys=["y"])
    e = EnsembleModule(net, 4)
    td = TensorDict({"x": torch.zeros(5, 3)}, batch_size=[5])
    out = e(td)
    print(out["y"])
    print(out["z"])  # E: no key 'z'; the keys here are 'x', 'y' [tensorclass-key]


def from_td() -> None:
    td = TensorDict({"pos": torch.zeros(4, 3), "vel": torch.zeros(4, 3)}, batch_size=[4])
    o = Obs.from_tensordict(td)  # E: Obs: no key 'mass'; the keys here are 'pos', 'vel' [tensorclass-field]
    td2 = TensorDict({"pos": torch.zeros(4, 3), "vel": torch.zeros(4, 3), "mass": torch.zeros(4)}, batch_size=[4])
    o2 = Obs.from_tensordict(td2)
    td3 = TensorDict({"pos": torch.zeros(4, 3), "vel": torch.zeros(4, 3), "mss": torch.zeros(4)}, batch_size=[4])
    o3 = Obs.from_tensordict(td3)  # E: Obs has no field 'mss'; did you mean 'mass'? Its fields are 'pos', 'vel', 'mass' [tensorclass-field]
    Obs.from_dict({"pos": torch.zeros(4, 3), "vel": torch.zeros(4, 3)})  # E: Obs: no key 'mass'; the keys here are 'pos', 'vel' [tensorclass-field]


def nump() -> None:
    a = torch.from_numpy(np.zeros((4, 2)))
    Obs(pos=a, vel=torch.zeros(4, 3), mass=torch.zeros(4))  # E: field 'pos' has shape [4, 2], which does not fit "*batch 3": dim 1 is 2, not 3 [tensorclass-shape]
    b = torch.as_tensor(np.zeros((4, 3)))
    Obs(pos=b, vel=torch.zeros(4, 3), mass=torch.zeros(4))
    Obs(pos=torch.tensor(np.ones((5, 3))), vel=torch.zeros(4, 3), mass=torch.zeros(4))  # E: fields 'pos' and 'vel' disagree on *batch: [5] and [4] [tensorclass-batch]
    td = TensorDict({"a": np.zeros((3, 2))}, batch_size=[4])  # E: field 'a' has shape [3, 2]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    td = TensorDict({"a": np.zeros((4, 2))}, batch_size=[4])


def dtypes() -> None:
    Prec(x=torch.zeros(4, 3, dtype=torch.float32), k=torch.zeros(4, dtype=torch.int64))  # E: field 'x' has dtype float32, which Float64 does not take; float64 would do [tensorclass-shape]
    Prec(x=torch.zeros(4, 3, dtype=torch.float64), k=torch.zeros(4, dtype=torch.int64))
    Prec(x=torch.zeros(4, 3).double(), k=torch.zeros(4, dtype=torch.int32))
    Prec(x=torch.zeros(4, 3).double().float(), k=torch.arange(4))  # E: field 'x' has dtype float32, which Float64 does not take; float64 would do [tensorclass-shape]
    Prec(x=torch.zeros(4, 3), k=torch.arange(4))  # E: field 'x' has dtype float32, which Float64 does not take; float64 would do [tensorclass-shape]
    Prec(x=torch.zeros(4, 3, dtype=torch.float64), k=torch.zeros(4))  # E: field 'k' has dtype float32, which Int does not take [tensorclass-shape]
    p = Prec(x=torch.zeros(4, 3, dtype=torch.float64), k=torch.arange(4))
    p.x = torch.randn(4, 3)  # E: field 'x' has dtype float32, which Float64 does not take; float64 would do [tensorclass-shape]
    p.x = torch.randn(4, 3, dtype=torch.double)


def resize() -> None:
    o = make()
    o.batch_size = []  # E: field 'pos' has shape [4, 3], which does not fit "*batch 3": it has 2 dims; with batch size [] it must have 1 [tensorclass-shape]
    o2 = make()
    o2.batch_size = [4]
    o3 = make()
    o3.batch_size = [4, 3]  # E: field 'pos' has shape [4, 3], which does not fit "*batch 3": it has 2 dims; with batch size [4, 3] it must have 3 [tensorclass-shape]


class NoStar(TensorClass):
    y: Tensor
    x: Float[Tensor, "batch 3"]  # E: field 'x': "batch 3" has one dim called batch; did you mean "*batch 3"? [tensorclass-shape]


class Opt(TensorClass, froze=True):  # E: unknown class option 'froze'; did you mean 'frozen'? The options are 'frozen', 'autocast', 'nocast', 'tensor_only', 'shadow', 'kw_only' [tensorclass-field]
    x: Tensor


def wh() -> None:
    a, b = make(), make()
    where(torch.zeros(4, dtype=torch.bool), a, b)
    torch.where(torch.zeros(4, 3, dtype=torch.bool), a, b)  # E: where: the condition has shape [4, 3], the batch size is [4]; they must be equal [tensorclass-batch]
    where(torch.zeros(5, dtype=torch.bool), a, b)  # E: where: the condition has shape [5], the batch size is [4]; they must be equal [tensorclass-batch]
    torch.where(a.mass > 0, a, b)
    torch.where(a.pos > 0, a, b)  # E: where: the condition has shape [4, 3], the batch size is [4]; they must be equal [tensorclass-batch]


def means() -> None:
    p = Prec(x=torch.zeros(4, 3, dtype=torch.float64), k=torch.arange(4))
    p.k.mean()  # E: mean: the tensor has dtype int64, and mean takes float or complex; call .float() first [tensorclass-shape]
    torch.arange(4).mean()  # E: mean: the tensor has dtype int64, and mean takes float or complex; call .float() first [tensorclass-shape]
    p.k.float().mean()
    torch.mean(torch.arange(3))  # E: mean: the tensor has dtype int64, and mean takes float or complex; call .float() first [tensorclass-shape]
    p.k.mean(dtype=torch.float32)


def truthy() -> None:
    td = TensorDict({"a": torch.zeros(3)}, batch_size=[3])
    o = make()
    if td == td:  # E: a container has no truth value; (a == b).all() or .any() reduces a comparison, is_empty() asks for entries, len() for rows [tensorclass-field]
        pass
    if o == o:  # E: a container has no truth value; (a == b).all() or .any() reduces a comparison, is_empty() asks for entries, len() for rows [tensorclass-field]
        pass
    if (o == o).all():
        pass
    assert td == td  # E: a container has no truth value; (a == b).all() or .any() reduces a comparison, is_empty() asks for entries, len() for rows [tensorclass-field]
    while o != o:  # E: a container has no truth value; (a == b).all() or .any() reduces a comparison, is_empty() asks for entries, len() for rows [tensorclass-field]
        break
    if not (td == td):  # E: a container has no truth value; (a == b).all() or .any() reduces a comparison, is_empty() asks for entries, len() for rows [tensorclass-field]
        pass
    if td.is_empty() or td is None:
        pass
    if o:  # E: a container has no truth value; (a == b).all() or .any() reduces a comparison, is_empty() asks for entries, len() for rows [tensorclass-field]
        pass


def ragged() -> None:
    a = TensorDict({"x": torch.zeros(3, 2)}, batch_size=[3])
    b = TensorDict({"x": torch.zeros(5, 2)}, batch_size=[5])
    l = lazy_stack([a, b])
    stack([a, b])  # E: stack: item 0 has batch size [3], item 1 has [5]; they must be equal (lazy_stack keeps items of different sizes) [tensorclass-batch]
    l.reshape(-1)  # E: reshape: batch dim 1 is ragged; densify first with .densify(pad=0) [tensorclass-batch]
    l["x"]  # E: 'x' has shapes that differ from item to item ([3, 2], [5, 2]); .get('x', as_list=True), as_padded_tensor=True or as_nested_tensor=True read it, .densify(pad=0) pads them all [tensorclass-batch]
    l[0]["x"]
    l.flatten()  # E: flatten: batch dim 1 is ragged; densify first with .densify(pad=0) [tensorclass-batch]
    l.permute(1, 0)


def seqs() -> None:
    s = TensorDictSequential({"enc": TensorDictModule(nn.Linear(3, 2), in_keys=["x"], out_keys=["h"]), "dec": TensorDictModule(nn.Linear(2, 1), in_keys=["h"], out_keys=["y"])})
    s["enc"]
    s["encoder"]  # E: no module 'encoder'; did you mean 'enc'? The modules here are 'enc', 'dec' [tensorclass-module]
    s.select_subsequence(out_keys=["h"])
    s.select_subsequence(out_keys=["hh"])  # E: No modules left after selection: none computes 'hh' from 'x'; the sequence reads 'x' and writes 'h', 'y'. [tensorclass-module]
    s.select_subsequence(in_keys=["z"])  # E: No modules left after selection: none computes 'h', 'y' from 'z'; the sequence reads 'x' and writes 'h', 'y'. [tensorclass-module]
    s[2]  # E: index 2 is out of range for a sequence of 2 modules [tensorclass-module]
    s[0]


class Custom(TensorDictModuleBase):
    def __init__(self) -> None:
        super().__init__()
        self.in_keys = ["x"]
        self.out_keys = ["y"]

    def forward(self, td: TensorDict) -> TensorDict:
        td["y"] = td["x"] * 2
        return td


def custom() -> None:
    c = Custom()
    td = TensorDict({"z": torch.zeros(3)}, batch_size=[3])
    c(td)  # E: no key 'x'; the keys here are 'z' (in forward, line 190) [tensorclass-key]
    td = TensorDict({"x": torch.zeros(3)}, batch_size=[3])
    out = c(td)
    print(out["y"])
    print(out["w"])  # E: no key 'w'; the keys here are 'x', 'y' [tensorclass-key]
    seq = TensorDictSequential(c, TensorDictModule(nn.Linear(3, 2), in_keys=["yy"], out_keys=["q"]))
