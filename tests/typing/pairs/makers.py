"""Class methods and static methods that make an instance, methods called on their class; a module in a function."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from typing_extensions import Self

from tensorclass import TensorClass, TensorDict


class Points(TensorClass):
    xyz: Float[Tensor, "*batch 3"]

    @classmethod
    def origin(cls, n: int) -> Self:
        return cls(xyz=torch.zeros(n, 3), batch_size=[n])

    @classmethod
    def of(cls, xyz: Float[Tensor, "n 3"]) -> Points:
        return cls(xyz=xyz, batch_size=[xyz.shape[0]])

    @staticmethod
    def pair() -> Points:
        return Points(xyz=torch.zeros(2, 3), batch_size=[2])


class Named(Points):
    name: str = "a"


def makers() -> None:
    Points.origin(3)[0, 0]  # E: index: 2 indices for 1 batch dim (batch size [3]); index a field to reach its feature dims [tensorclass-batch]
    Points.origin(3)[0]
    Points.origin(3).xyz[0, 0, 0]  # E: index: 3 indices for 2 dims (shape [3, 3]) [tensorclass-shape]
    Points.origin(3).xyz[0, 0]
    named = Named.origin(4)
    named.reshape(3)  # E: reshape: a batch of size [4] has 4 elements, which [3] cannot hold [tensorclass-batch]
    named.reshape(2, 2)
    named.nam  # E: "Named" has no attribute "nam"; maybe "name"? [attr-defined]
    named.name
    named.origin(5).reshape(2)  # E: reshape: a batch of size [5] has 5 elements, which [2] cannot hold [tensorclass-batch]
    named.origin(5).reshape(5, 1)
    Points.of(torch.zeros(4, 2))  # E: of: argument 'xyz' has shape [4, 2], which does not fit "n 3": dim 1 is 2, not 3 [tensorclass-shape]
    Points.of(torch.zeros(4, 3))
    Points.of(torch.zeros(4, 3)).view(3)  # E: view: a batch of size [4] has 4 elements, which [3] cannot hold [tensorclass-batch]
    Points.of(torch.zeros(4, 3)).view(2, 2)
    Points.pair()[1, 1]  # E: index: 2 indices for 1 batch dim (batch size [2]); index a field to reach its feature dims [tensorclass-batch]
    Points.pair()[1]


def of_the_class() -> None:
    x = torch.zeros(2, 3)
    Tensor.view(x, 7)  # E: view: a tensor of shape [2, 3] has 6 elements, which [7] cannot hold [tensorclass-shape]
    Tensor.view(x, 6)
    Tensor.sum(x, 0)[0, 0]  # E: index: 2 indices for 1 dim (shape [3]) [tensorclass-shape]
    Tensor.sum(x, 0)[0]
    points = Points(xyz=x, batch_size=[2])
    Points.view(points, 7)  # E: view: a batch of size [2] has 2 elements, which [7] cannot hold [tensorclass-batch]
    Points.view(points, 1, 2)
    Points.to_tensordict(points)["xy"]  # E: no key 'xy'; did you mean 'xyz'? The keys here are 'xyz' [tensorclass-key]
    Points.to_tensordict(points)["xyz"]
    td = TensorDict({"x": x, "y": x}, batch_size=[2])
    TensorDict.reshape(td, 5)  # E: reshape: a batch of size [2] has 2 elements, which [5] cannot hold [tensorclass-batch]
    TensorDict.reshape(td, 2, 1)
    TensorDict.pop(td, "x")
    td["x"]  # E: no key 'x'; the keys here are 'y' [tensorclass-key]
    td["y"]


model = nn.Sequential(nn.Linear(3, 4))
optimizer = torch.optim.SGD(model.parameters())


def step(rows: Tensor) -> None:
    optimizer.zero_grad()
    model.train()
    model(rows).sum()
    optimizer.step()


step(torch.zeros(2, 3))
model(torch.zeros(2, 5))  # E: Linear: the last dim of the input [2, 5] is 5, the layer takes 3 [tensorclass-shape]
model(torch.zeros(2, 3))
