"""Plain data, optional fields, inheritance, parameters as containers, and annotated functions. A line with a mistake stands beside its good twin."""

from __future__ import annotations

from typing import Generic, TypeVar

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict, lazy_stack, stack
from tensorclass.nn import EnsembleModule, TensorDictModule

T = TypeVar("T")


class Item(TensorClass):
    x: Tensor
    name: str
    meta: dict[str, int]
    tag: str | None = None
    part: Tensor | None = None
    n: int = 3


def item() -> Item:
    return Item(x=torch.zeros(4, 3), name="a", meta={"k": 1}, batch_size=[4])


def nt() -> None:
    i = item()
    i.name.upper()
    i.name.uper()  # E: "str" has no attribute "uper"; maybe "upper"? [attr-defined]
    i.name.sum()  # E: "str" has no attribute "sum" [attr-defined]
    i.x.upper()  # E: "Tensor" has no attribute "upper" [attr-defined]
    i.name + 1  # E: Unsupported operand types for + ("str" and "int") [operator]
    i.name + "x"
    i.meta["k"] + 1
    i.meta.kk  # E: "dict[str, int]" has no attribute "kk" [attr-defined]
    i.meta.get("k")
    i.n + 1
    i.n.bit_length()
    i.n.sum()  # E: "int" has no attribute "sum" [attr-defined]
    Item(x=torch.zeros(4), name=3, meta={}, batch_size=[4])  # E: Argument "name" to "Item" has incompatible type "int"; expected "str" [arg-type]
    Item(x="x", name="a", meta={}, batch_size=[4])  # E: Argument "x" to "Item" has incompatible type "str"; expected "Tensor" [arg-type]
    i["name"].upper()
    i["name"].uper()  # E: "str" has no attribute "uper"; maybe "upper"? [attr-defined]
    i.get("name").uper()  # E: "str" has no attribute "uper"; maybe "upper"? [attr-defined]
    torch.sin(i.name)  # E: Argument 1 to "sin" has incompatible type "str"; expected "Tensor" [arg-type]
    TensorDictModule(torch.sin, in_keys=["name"], out_keys=["x"])(i)  # E: in_key 'name' is a str, and the module needs a tensor [tensorclass-module]
    TensorDictModule(nn.Linear(3, 3), in_keys=["name"], out_keys=["x"])(i)  # E: in_key 'name' is a str, and the module needs a tensor [tensorclass-module]
    TensorDictModule(nn.Linear(3, 3), in_keys=["x"], out_keys=["x"])(i)
    td = TensorDict({"a": torch.zeros(3), "s": "txt"}, batch_size=[3])
    td["s"].upper()
    TensorDictModule(torch.sin, in_keys=["s"], out_keys=["x"])(td)  # E: in_key 's' is a str, and the module needs a tensor [tensorclass-module]
    i.name = None  # E: Incompatible types in assignment (expression has type "None", variable has type "str") [assignment]
    i.tag = None
    i.tag.upper()  # E: "None" has no attribute "upper" [attr-defined]


def op(i: Item) -> None:
    i.part.sum()  # E: Item "None" of "Tensor | None" has no attribute "sum" [union-attr]
    i.tag.upper()  # E: Item "None" of "str | None" has no attribute "upper" [union-attr]
    if i.part is not None:
        i.part.sum()
    i.part[0]  # E: Value of type "Tensor | None" is not indexable [index]
    i.part + 1  # E: Unsupported operand types for + ("None" and "int") [operator]  # N: Left operand is of type "Tensor | None"
    i["part"].sum()  # E: Item "None" of "Tensor | None" has no attribute "sum" [union-attr]
    i.get("part").sum()  # E: Item "None" of "Tensor | None" has no attribute "sum" [union-attr]
    i.get("part", torch.zeros(3)).sum()
    s = i.part
    s.sum()  # E: Item "None" of "Tensor | None" has no attribute "sum" [union-attr]
    assert s is not None
    s.sum()
    Item(x=torch.zeros(4, 3), name="a", meta={}, part=None, batch_size=[4])
    j = item()
    TensorDictModule(nn.Linear(3, 3), in_keys=["part"], out_keys=["x"])(j)  # E: in_key 'part': the field is not set, and the module needs a tensor [tensorclass-module]
    j.part = torch.zeros(4, 3)
    TensorDictModule(nn.Linear(3, 3), in_keys=["part"], out_keys=["x"])(j)
    k = Item(x=torch.zeros(4, 3), name="a", meta={"k": 1}, part=torch.zeros(4), batch_size=[4])
    stack([item(), k])  # E: stack: 'part' is None in item 0 and a tensor of shape [4] in item 1; they must be alike (lazy_stack keeps items that differ) [tensorclass-field]
    stack([k, k])
    torch.stack([k, item()])  # E: stack: 'part' is a tensor of shape [4] in item 0 and None in item 1; they must be alike (lazy_stack keeps items that differ) [tensorclass-field]
    lazy_stack([item(), k])


class Base(TensorClass):
    x: Tensor

    def go(self, a: int, *, b: str = "") -> Tensor:
        return self.x


class Child(Base):
    y: Tensor


class Other(TensorClass):
    z: Tensor


class Box(TensorClass, Generic[T]):
    item: T
    w: Tensor


def takes_child(c: Child) -> None: ...


def ig(b: Base, c: Child, u: Child | Other, bs: list[Base], box: Box[Child], td: TensorDict) -> None:
    b.y  # E: "Base" has no attribute "y" [attr-defined]
    c.y
    takes_child(b)  # E: Argument 1 to "takes_child" has incompatible type "Base"; expected "Child" [arg-type]
    takes_child(c)
    u.y  # E: Item "Other" of "Child | Other" has no attribute "y" [union-attr]
    if isinstance(u, Child):
        u.y
        u.z  # E: "Child" has no attribute "z" [attr-defined]
    bs[0].y  # E: "Base" has no attribute "y" [attr-defined]
    for one in bs:
        one.x
        one.y  # E: "Base" has no attribute "y" [attr-defined]
    box.item.y
    box.item.z  # E: "Child" has no attribute "z" [attr-defined]
    box[0].item.z  # E: "Child" has no attribute "z" [attr-defined]
    td.x  # E: "TensorDict" has no attribute "x" [attr-defined]
    td["x"]
    c.go(1, b="x")
    c.go("x")  # E: Argument 1 to "go" of "Base" has incompatible type "str"; expected "int" [arg-type]
    c.go(1, c="x")  # E: Unexpected keyword argument "c" for "go" of "Base" [call-arg]
    c.go(1)[0].yy  # E: "Tensor" has no attribute "yy" [attr-defined]
    Child(x=torch.zeros(3))  # E: Missing positional argument "y" in call to "Child" [call-arg]
    Child(x=torch.zeros(3), y=torch.zeros(3))
    Base(x=torch.zeros(3), y=torch.zeros(3))  # E: Unexpected keyword argument "y" for "Base" [call-arg]
    c2: Base = c
    c3: Child = b  # E: Incompatible types in assignment (expression has type "Base", variable has type "Child") [assignment]
    stack(bs).y  # E: "Base" has no attribute "y" [attr-defined]
    stack([c, c]).y
    {"a": b}["a"].y  # E: "Base" has no attribute "y" [attr-defined]
    (c if b else c).z  # E: "Child" has no attribute "z" [attr-defined]  # E: a container has no truth value; (a == b).all() or .any() reduces a comparison, is_empty() asks for entries, len() for rows [tensorclass-field]
    match u:
        case Child(x=x):
            print(x)
    Box(item=c, w=torch.zeros(3)).item.z  # E: "Child" has no attribute "z" [attr-defined]


def fs() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    params = TensorDict.from_module(net)
    params["0", "weight"]
    params["0", "wieght"]  # E: no key 'wieght'; did you mean 'weight'? The keys here are 'weight', 'bias' (under '0') [tensorclass-key]
    params["1", "weight"]  # E: no key '1'; the keys here are '0', '2' [tensorclass-key]
    params["2"]["bias"]
    params["3"]  # E: no key '3'; the keys here are '0', '2' [tensorclass-key]
    params["0", "weight"].view(12)
    params["0", "weight"].view(13)  # E: view: a tensor of shape [4, 3] has 12 elements, which [13] cannot hold [tensorclass-shape]
    i = item()
    m = i.memmap()
    m.x = torch.zeros(4, 3)  # E: cannot set 'x': the container is locked; call .unlock_() on it first, or work on a .clone() [tensorclass-field]
    m.x.sum()
    i.lock_()
    i.x = torch.zeros(4, 3)  # E: cannot set 'x': the container is locked; call .unlock_() on it first, or work on a .clone() [tensorclass-field]
    i.unlock_()
    i.x = torch.zeros(4, 3)
    td = TensorDict({"a": torch.zeros(3)}, batch_size=[3]).lock_()
    td["b"] = torch.zeros(3)  # E: cannot set 'b': the container is locked; call .unlock_() on it first, or work on a .clone() [tensorclass-key]
    td.unlock_()["b"] = torch.zeros(3)
    ens = EnsembleModule(TensorDictModule(nn.Linear(3, 2), in_keys=["x"], out_keys=["y"]), 4)
    out = ens(TensorDict({"x": torch.zeros(5, 3)}, batch_size=[5]))
    out["y"].view(4, 5, 2)
    out["y"].view(5, 2)  # E: view: a tensor of shape [4, 5, 2] has 40 elements, which [5, 2] cannot hold [tensorclass-shape]
    out[3, 4]
    out[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    ens(TensorDict({"xx": torch.zeros(5, 3)}, batch_size=[5]))  # E: in_key 'x': no key 'x'; did you mean 'xx'? The keys here are 'xx' [tensorclass-module]
    torch.func.functional_call(nn.Linear(3, 2), {"weight": torch.zeros(2, 3)}, torch.zeros(3))
    lazy_stack([TensorDict({"a": torch.zeros(3), "b": torch.zeros(3)}, [3]), TensorDict({"a": torch.zeros(3)}, [3])])["b"]  # E: no key 'b'; the keys here are 'a' [tensorclass-key]
    td3 = TensorDict({"a": torch.zeros(3)}, batch_size=[3])
    td3.apply(lambda x, y: x + y, TensorDict({"b": torch.zeros(3)}, batch_size=[3]))  # E: no key 'a'; the keys here are 'b' [tensorclass-key]
    td3.apply(lambda x, y: x + y, TensorDict({"a": torch.zeros(3)}, batch_size=[3]))
    torch.vmap(lambda a, b: a + b, in_dims=(0,))(torch.zeros(3), torch.zeros(3))  # E: vmap: in_dims has 1 for 2 arguments of the function; give one for each [tensorclass-module]
    torch.vmap(lambda a, b: a + b, in_dims=(0, None))(torch.zeros(3), torch.zeros(3))


def norm(x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
    return x / x.square().sum(-1, keepdim=True).sqrt()


def shapes(a: Float[Tensor, "b d"], m: Bool[Tensor, "b"], k: Int[Tensor, "b"]) -> Float[Tensor, "b"]:
    norm(a)
    norm(a.sum(-1))  # E: norm: argument 'x' has shape [b], which does not fit "b d": it has 1 dim, not 2 [tensorclass-shape]
    norm(m)  # E: norm: argument 'x' has shape [b], which does not fit "b d": it has 1 dim, not 2 [tensorclass-shape]
    norm(a[:, None])  # E: norm: argument 'x' has shape [b, 1, d], which does not fit "b d": it has 3 dims, not 2 [tensorclass-shape]
    a[m]
    a[k]
    a.T @ a
    a @ a  # E: matmul: shapes [b, d] and [b, d] do not fit: the last dim of the first is d, the rows of the second are b [tensorclass-shape]
    w: Float[Tensor, "d b"] = a  # E: w has shape [b, d], which does not fit "d b": d is b here [tensorclass-shape]
    v: Float[Tensor, "d b"] = a.T
    torch.cat([a, v])  # E: cat: tensor 0 has shape [b, d], tensor 1 has [d, b]; they may differ in dim 0 alone [tensorclass-shape]
    torch.cat([a, v.T])
    a + k  # E: add: shapes [b, d] and [b] do not broadcast; dim -1 is d and b [tensorclass-shape]
    a + k[:, None]
    a * m.unsqueeze(-1)
    a * m  # E: mul: shapes [b, d] and [b] do not broadcast; dim -1 is d and b [tensorclass-shape]
    torch.einsum("bd,b->d", a, k.float())
    torch.einsum("bd,d->b", a, k.float())  # E: einsum: d is b in operand 1 and d before [tensorclass-shape]
    F.one_hot(k, 10) @ torch.zeros(10, 4)
    F.one_hot(k, 10) @ torch.zeros(11, 4)  # E: matmul: shapes [b, 10] and [11, 4] do not fit: the last dim of the first is 10, the rows of the second are 11 [tensorclass-shape]
    b, d = a.shape
    a.view(b * d)
    a.view(d, b)
    a.view(b, d, d)  # E: view: a tensor of shape [b, d] has b*d elements, which [b, d, d] cannot hold [tensorclass-shape]
    a.reshape(b, -1)
    F.cross_entropy(a, k)
    F.cross_entropy(a, m.float())  # E: cross_entropy: the input has shape [b, d], so the target has [b] (class numbers) or [b, d] (probabilities); it has [b] [tensorclass-shape]
    for row in a:
        row @ a  # E: matmul: shapes [d] and [b, d] do not fit: the last dim of the first is d, the rows of the second are b [tensorclass-shape]
        a @ row
    if b == d:
        a @ a
    return a  # E: the result has shape [b, d], which does not fit "b": it has 2 dims, not 1 [tensorclass-shape]
