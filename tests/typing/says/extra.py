"""What a call takes besides the in_keys, and fields without the batch size in a stack: nothing is told."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from tensorclass import TensorClass, TensorDict, stack
from tensorclass.nn import TensorDictModule, TensorDictModuleBase, TensorDictSequential, dispatch

ONES = torch.ones(3)


def scaled(x: Tensor, scale: float = 1.0) -> Tensor:
    return x * scale


def all_of(x: Tensor, *others: Tensor, **options: Any) -> Tensor:
    return x


class Scaled(TensorDictModuleBase):
    in_keys = ["a"]
    out_keys = ["b"]

    @dispatch
    def forward(self, tensordict: TensorDict, scale: float = 1.0) -> TensorDict:
        return tensordict.set("b", tensordict["a"] * scale)


module = TensorDictModule(scaled, ["a"], ["b"])
module(a=ONES, scale=3.0)
module(ONES, scale=3.0)
TensorDictSequential(module)(a=ONES, scale=3.0)
TensorDictModule(all_of, ["a"], ["b"])(a=ONES, other=3.0)
Scaled()(a=ONES, scale=3.0)
Scaled()(ONES, 3.0)


class Rows(TensorClass):
    x: Float[Tensor, "rows 3"]


def stacked(rows: Rows) -> None:
    many = stack([rows, rows])
    assert many.x.shape == (2, 5, 3)
    assert stack([Rows(x=torch.zeros(5, 3))] * 2).x.shape == (2, 5, 3)


stacked(Rows(x=torch.zeros(5, 3)))
