"""Fields by name, by key, by mapping and by getattr. A line with a mistake stands beside its good twin."""

from __future__ import annotations

import dataclasses
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from tensorclass import TensorClass, TypedTensorDict, lazy_stack, stack, tensorclass
from tensorclass.nn import TensorDictModule

T = TypeVar("T", bound=TensorClass)


class Wing(TensorClass):
    lift: Tensor
    drag: Tensor
    label: str = "left"
    count: int = 0
    flap: Tensor | None = None


class Plane(TensorClass):
    wing: Wing
    speed: Tensor
    tail: Wing | None = None


class Glider(Plane):
    rope: Tensor | None = None


class Pair(TensorClass, Generic[T]):
    left: T
    right: T


class Casts(TensorClass, autocast=True):
    lift: Tensor
    count: int = 0


@tensorclass
class Sample:
    value: Tensor


class Rows(TypedTensorDict):
    a: Tensor
    b: Tensor


class Nest(TypedTensorDict):
    rows: Rows
    t: Tensor


class Open(TensorClass):
    lift: Tensor

    def __getattr__(self, name: str) -> Any:
        return len(name)


def wing() -> Wing:
    return Wing(lift=torch.zeros(4, 3), drag=torch.zeros(4, 3), batch_size=[4])


def plane() -> Plane:
    return Plane(wing=wing(), speed=torch.zeros(4, 2), batch_size=[4])


def rows() -> Rows:
    return Rows(a=torch.zeros(3), b=torch.zeros(3), batch_size=[3])


def by_name() -> None:
    w = wing()
    getattr(w, "lift")
    getattr(w, "left")  # E: Wing has no field 'left'; did you mean 'lift'? Its fields are 'lift', 'drag', 'label', 'count', 'flap' [tensorclass-field]
    getattr(w, "left", None)
    setattr(w, "lift", torch.zeros(4, 3))
    setattr(w, "lft", torch.zeros(4, 3))  # E: Cannot set the attribute 'lft': Wing has no such field; did you mean 'lift'? Its fields are 'lift', 'drag', 'label', 'count', 'flap'. [tensorclass-field]
    if hasattr(w, "left"):
        getattr(w, "left")
    for name in ("lift", "drag"):
        getattr(w, name)
    for name in ("lift", "drg"):
        getattr(w, name)  # E: Wing has no field 'drg'; did you mean 'drag'? Its fields are 'lift', 'drag', 'label', 'count', 'flap' [tensorclass-field]
    Open(lift=torch.zeros(4), batch_size=[4]).left
    dataclasses.replace(w, lift=torch.ones(4, 3))
    dataclasses.replace(w, lfit=torch.ones(4, 3))  # E: Unexpected keyword argument "lfit" for "replace" of "Wing" [call-arg]
    sum(one.lift.sum() for one in w)
    sum(one.lft.sum() for one in w)  # E: "Wing" has no attribute "lft"; maybe "lift"? [attr-defined]
    lazy_stack([w, w]).drag
    lazy_stack([w, w]).drg  # E: "Wing" has no attribute "drg"; maybe "drag"? [attr-defined]
    torch.zeros_like(w).drag
    torch.zeros_like(w).drg  # E: "Wing" has no attribute "drg"; maybe "drag"? [attr-defined]


def by_key() -> None:
    w = wing()
    w.fill_("lift", 1.0)
    w.fill_("lifft", 1.0)  # E: Wing has no field 'lifft'; did you mean 'lift'? Its fields are 'lift', 'drag', 'label', 'count', 'flap' [tensorclass-field]
    w.setdefault("lift", torch.zeros(4, 3))
    w.setdefault("lif", torch.zeros(4, 3))  # E: Cannot set the attribute 'lif': Wing has no such field; did you mean 'lift'? Its fields are 'lift', 'drag', 'label', 'count', 'flap'. [tensorclass-field]
    w.select(*("lift", "drag"))
    w.select(*("lift", "darg"))  # E: Wing has no field 'darg'; did you mean 'drag'? Its fields are 'lift', 'drag', 'label', 'count', 'flap' [tensorclass-field]
    w.update(dict(lift=torch.zeros(4, 3)))
    w.update(dict(left=torch.zeros(4, 3)))  # E: Wing has no field 'left'; did you mean 'lift'? Its fields are 'lift', 'drag', 'label', 'count', 'flap' [tensorclass-field]
    w["label"] = "right"
    w["label"] = 3  # E: field 'label' is a str, and the value is an int [tensorclass-field]
    w.set("count", 3)
    w.set("count", "three")  # E: field 'count' is an int, and the value is a str [tensorclass-field]
    w.update({"label": "right"})
    w.update({"label": 1.5})  # E: field 'label' is a str, and the value is a float [tensorclass-field]
    Casts(lift=torch.zeros(3), batch_size=[3])["count"] = "3"
    p = plane()
    p["wing", "lift"]
    p["wing", "lyft"]  # E: Wing has no field 'lyft'; did you mean 'lift'? Its fields are 'lift', 'drag', 'label', 'count', 'flap' [tensorclass-field]
    p.get("wing").drag
    p.get("wing").drug  # E: "Wing" has no attribute "drug" [attr-defined]
    p.update({("wing", "lift"): torch.zeros(4, 3)})
    p.update({("wing", "lft"): torch.zeros(4, 3)})  # E: Wing has no field 'lft'; did you mean 'lift'? Its fields are 'lift', 'drag', 'label', 'count', 'flap' [tensorclass-field]
    pair = Pair(left=w, right=w, batch_size=[4])
    pair["left", "lift"]
    pair["left", "lit"]  # E: Wing has no field 'lit'; did you mean 'lift'? Its fields are 'lift', 'drag', 'label', 'count', 'flap' [tensorclass-field]
    pair[0].left.drag
    pair[0].left.brag  # E: "Wing" has no attribute "brag" [attr-defined]
    TensorDictModule(nn.ReLU(), ["lift"], ["flap"])(w)
    TensorDictModule(nn.ReLU(), ["lift"], ["label"])(w)  # E: out_key 'label': the field is a str, and the module gives a tensor [tensorclass-module]


def by_mapping() -> None:
    given = {"lift": torch.zeros(4), "drag": torch.zeros(4)}
    Wing(**given, batch_size=[4])
    Wing(**{"lift": torch.zeros(4), "drag": torch.zeros(4)}, batch_size=[4])
    Wing(**{"lift": torch.zeros(4), "drug": torch.zeros(4)}, batch_size=[4])  # E: Wing has no field 'drug'; did you mean 'drag'? Its fields are 'lift', 'drag', 'label', 'count', 'flap' [tensorclass-field]
    Wing(**dict(lift=torch.zeros(4), drag=torch.zeros(4)), batch_size=[4])
    Wing(**dict(lift=torch.zeros(4), darg=torch.zeros(4)), batch_size=[4])  # E: Wing has no field 'darg'; did you mean 'drag'? Its fields are 'lift', 'drag', 'label', 'count', 'flap' [tensorclass-field]
    Sample(**{"value": torch.zeros(3)})
    Sample(**{"vale": torch.zeros(3)})  # E: Sample has no field 'vale'; did you mean 'value'? Its fields are 'value' [tensorclass-field]
    short = {"lift": torch.zeros(4)}
    Wing(**short, drag=torch.zeros(4), batch_size=[4])
    Wing(**short, batch_size=[4])  # E: Wing: no value for 'drag', and it has no default [tensorclass-field]


def any_mapping(tensors: dict[str, Tensor], numbers: dict[str, int], anything: dict[str, Any]) -> None:
    Sample(**tensors)
    Sample(**tensors, batch_size=[3])
    Sample(**anything)
    Sample(**numbers)  # E: Argument 1 to "Sample" has incompatible type "**dict[str, int]"; expected "Tensor" [arg-type]
    Glider(**anything, batch_size=[3])


def typed_dicts() -> None:
    r = rows()
    r["a"]
    r["c"]  # E: Rows has no field 'c'; its fields are 'a', 'b' [tensorclass-field]
    r["b"] = torch.zeros(3)
    r["bb"] = torch.zeros(3)  # E: Cannot set the attribute 'bb': Rows has no such field; did you mean 'b'? Its fields are 'a', 'b'. [tensorclass-field]
    r.update({"a": torch.zeros(3)})
    r.update({"aa": torch.zeros(3)})  # E: Rows has no field 'aa'; did you mean 'a'? Its fields are 'a', 'b' [tensorclass-field]
    r.select("a")["a"]
    r.select("aaa")  # E: Rows has no field 'aaa'; its fields are 'a', 'b' [tensorclass-field]
    r[0]["b"]
    r[0]["x"]  # E: Rows has no field 'x'; its fields are 'a', 'b' [tensorclass-field]
    stack([r, r])["a"]
    stack([r, r])["y"]  # E: Rows has no field 'y'; its fields are 'a', 'b' [tensorclass-field]
    n = Nest(rows=r, t=torch.zeros(3), batch_size=[3])
    n["rows", "a"]
    n["rows", "z"]  # E: Rows has no field 'z'; its fields are 'a', 'b' [tensorclass-field]
    TensorDictModule(nn.ReLU(), in_keys=["a"], out_keys=["b"])(r)
    TensorDictModule(nn.ReLU(), in_keys=["a"], out_keys=["q"])(r)  # E: out_key 'q': Rows has no field 'q'; its fields are 'a', 'b' [tensorclass-module]


class Store:
    """Rows that are written one by one."""

    def __init__(self) -> None:
        self.rows = wing()

    def put(self, at: int, one: Wing, other: Plane) -> None:
        self.rows[at] = one
        self.rows[at] = other  # E: index: the value is a Plane and has no 'lift'; both must have the same keys [tensorclass-field]


def loaded() -> None:
    for one in DataLoader(wing(), batch_size=2):
        one.lift
