"""What is not there: absent keys, entries and names, and what is made from containers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, distributions, nn

from tensorclass import TensorClass, TensorDict, TensorDictParams, tensorclass
from tensorclass.nn import ProbabilisticTensorDictModule, TensorDictModule


class Cell(TensorClass):
    volume: Tensor
    charge: Tensor | None = None


class Tissue(TensorClass):
    cell: Cell
    near: Cell | None = None


class Own(TensorClass):
    flag: Tensor

    def __bool__(self) -> bool:
        return bool(self.flag)


@tensorclass(frozen=True)
class Ice:
    a: Tensor


class Loose(TensorClass):
    a: Tensor


class Many(nn.Module):
    def forward(self, *parts: Tensor, scale: float = 1.0) -> Tensor:
        return torch.cat(parts, -1) * scale


class Any_(nn.Module):
    def forward(self, *parts: Tensor, **more: float) -> Tensor:
        return torch.cat(parts, -1)


def state() -> TensorDict:
    return TensorDict({"obs": torch.zeros(4, 3), "goal": torch.zeros(4)}, batch_size=[4])


def truth(td: TensorDict | None, tissue: Tissue, own: Own | None, number: Tensor | None, either: Cell | str) -> None:
    if td:  # E: a container has no truth value; (a == b).all() or .any() reduces a comparison, is_empty() asks for entries, len() for rows [tensorclass-field]
        td.clone()
    if td is not None:
        td.clone()
    td or TensorDict()  # E: a container has no truth value; (a == b).all() or .any() reduces a comparison, is_empty() asks for entries, len() for rows [tensorclass-field]
    td is None or td.clone()
    tissue.near and tissue.near.clone()  # E: a container has no truth value; (a == b).all() or .any() reduces a comparison, is_empty() asks for entries, len() for rows [tensorclass-field]
    tissue.near is not None and tissue.near.clone()
    own or None
    number is None or number
    either or None


def absent(td: TensorDict, change: Any) -> None:
    known = state()
    known.get("gaol").sum()  # E: no key 'gaol'; did you mean 'goal'? The keys here are 'obs', 'goal'; get() gives None [tensorclass-key]
    known.get("goal").sum()
    known.get("gaol", torch.zeros(4)).sum()
    td.get("gaol").sum()
    change(known)
    known.get("gaol").sum()


def as_dicts(td: TensorDict, cell: Cell, change: Any) -> None:
    state().to_dict()["gaol"]  # E: no key 'gaol'; did you mean 'goal'? The keys here are 'obs', 'goal' [tensorclass-key]
    state().to_dict()["goal"]
    td.to_dict()["gaol"]
    cell.to_dict()["mass"]  # E: no key 'mass'; the keys here are 'volume', 'charge' [tensorclass-key]
    cell.to_dict()["charge"]
    rows = state().to_dict()
    rows["more"] = 3
    rows["other"]
    rows = state().to_dict()
    change(rows)
    rows["other"]


def frozen(ice: Ice, loose: Loose) -> None:
    ice.set("a", torch.ones(3))  # E: cannot set(): Ice is frozen; .replace(...) makes a changed copy [tensorclass-field]
    loose.set("a", torch.ones(3))
    ice["a"] = torch.ones(3)  # E: cannot set 'a': Ice is frozen; .replace(...) makes a changed copy [tensorclass-field]
    loose["a"] = torch.ones(3)
    ice[0] = ice[1]  # E: cannot write rows in place: Ice is frozen; .replace(...) makes a changed copy [tensorclass-field]
    loose[0] = loose[1]
    ice.zero_()  # E: cannot zero_(): Ice is frozen; .replace(...) makes a changed copy [tensorclass-field]
    loose.zero_()
    ice.update({"a": torch.ones(3)})  # E: cannot update(): Ice is frozen; .replace(...) makes a changed copy [tensorclass-field]
    ice.replace(a=torch.ones(3))


def extremes(td: TensorDict) -> None:
    state().max(dim=1)  # E: max: dim 1 is out of range for 1 batch dim; -1 to 0 would do [tensorclass-batch]
    state().max(dim=0)
    state().min(-2)  # E: min: dim -2 is out of range for 1 batch dim; -1 to 0 would do [tensorclass-batch]
    state().min(-1)
    td.max(dim=1)
    values, places = state().max(dim=0)
    values["gaol"]  # E: no key 'gaol'; did you mean 'goal'? The keys here are 'obs', 'goal' [tensorclass-key]
    places["goal"]
    state().min(0).values["gaol"]  # E: no key 'gaol'; did you mean 'goal'? The keys here are 'obs', 'goal' [tensorclass-key]
    state().min(0).indices["goal"]


def sized(td: TensorDict, n: int) -> None:
    state().new_zeros(3)["obs"].view(10)  # E: view: a tensor of shape [3, 3] has 9 elements, which [10] cannot hold [tensorclass-shape]
    state().new_zeros(3)["obs"].view(9)
    state().new_ones((2, 2))["obs"].view(10)  # E: view: a tensor of shape [2, 2, 3] has 12 elements, which [10] cannot hold [tensorclass-shape]
    state().new_ones((2, 2))["obs"].view(12)
    state().new_zeros(n)["obs"].view(9)
    td.new_zeros(3)["obs"].view(10)


def keys_of_both(td: TensorDict, change: Any) -> None:
    state() + TensorDict({"obs": torch.zeros(4, 3)}, batch_size=[4])  # E: add: the second container has no 'goal'; both must have the same keys [tensorclass-key]
    state() + TensorDict({"obs": torch.zeros(4, 3), "goal": torch.zeros(4)}, batch_size=[4])
    TensorDict({"obs": torch.zeros(4, 3)}, batch_size=[4]).mul(state())  # E: mul: the first container has no 'goal'; both must have the same keys [tensorclass-key]
    TensorDict({"obs": torch.zeros(4, 3)}, batch_size=[4]).mul(2.0)
    state() + td
    known = state()
    change(known)
    known + TensorDict({"obs": torch.zeros(4, 3)}, batch_size=[4])


def from_dicts(rows: dict[str, Any]) -> None:
    TensorDict.from_dict({"a": torch.zeros(4, 3)}).reshape(6)  # E: reshape: a batch of size [] has 1 elements, which [6] cannot hold [tensorclass-batch]
    TensorDict.from_dict({"a": torch.zeros(4, 3)}, auto_batch_size=True).reshape(6, 2)
    TensorDict.from_dict(rows).reshape(1)
    Cell.from_dict({"volume": torch.zeros(4, 3)}, batch_size=[3])  # E: field 'volume' has shape [4, 3]; the batch size is [3], and the leading dims of a value must equal it [tensorclass-batch]
    Cell.from_dict({"volume": torch.zeros(4, 3)}, batch_size=[4])


def params(given: TensorDict) -> None:
    TensorDictParams(state())["gaol"]  # E: no key 'gaol'; did you mean 'goal'? The keys here are 'obs', 'goal' [tensorclass-key]
    TensorDictParams(state())["goal"]
    TensorDictParams(given)["gaol"]


def named_arguments(word: str) -> None:
    TensorDictModule(Many(), {"scael": "x"}, ["y"])  # E: in_keys: the module has no parameter 'scael'; did you mean 'scale'? It takes 'scale' [tensorclass-module]
    TensorDictModule(Many(), {"scale": "x"}, ["y"])
    TensorDictModule(Any_(), {"scael": "x"}, ["y"])
    Many()(torch.zeros(3), scael=2.0)  # E: Many.forward has no argument 'scael'; did you mean 'scale'? By name it takes 'scale' [tensorclass-call]
    Many()(torch.zeros(3), torch.zeros(3), scale=2.0)
    Any_()(torch.zeros(3), scael=2.0)
    Many()(torch.zeros(3), **{word: 2.0})


def made_too_early(kind: Any) -> None:
    keys = ["loc", "scale"]
    ProbabilisticTensorDictModule(keys, ["a"], distribution_class=distributions.Normal(0.0, 1.0))  # E: distribution_class is an instance of Normal; give the class: Normal [tensorclass-module]
    ProbabilisticTensorDictModule(keys, ["a"], distribution_class=distributions.Normal)
    ProbabilisticTensorDictModule(keys, ["a"], distribution_class=kind)


class Counter(TensorClass):
    a: Tensor
    steps: int = 0

    @property
    def twice(self) -> int:
        return self.steps * 2

    @twice.setter
    def twice(self, value: int) -> None:
        self.steps = value // 2

    def reset(self) -> None:
        self.step = 0  # E: Cannot set the attribute 'step': Counter has no such field; did you mean 'steps'? Its fields are 'a', 'steps'. [tensorclass-field]
        self.steps = 0
        self.twice = 0
        self._cache = 0


class Careless(TensorClass):
    a: Tensor

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def reset(self) -> None:
        self.step = 0
