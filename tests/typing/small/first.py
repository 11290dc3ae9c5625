"""The first slice: fields, keys, batch sizes, wiring and shapes, against a small torch."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict, reveal_batch
from tensorclass.nn import TensorDictModule


class Body(TensorClass):
    pos: Float[Tensor, "*batch 3"]
    mass: Float[Tensor, "*batch"]


def total(mass: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    return mass.sum()


def main() -> None:
    body = Body(pos=torch.zeros(8, 3), mass=torch.ones(8))
    reveal_batch(body.reshape(2, 4))  # N: batch (2, 4)
    print(body["mss"])  # E: Body has no field 'mss'; did you mean 'mass'? Its fields are 'pos', 'mass' [tensorclass-field]
    print(body.permute(1, 1))  # E: permute: (1, 1) is not a permutation of 1 batch dim [tensorclass-batch]
    body.mass = torch.ones(31)  # E: field 'mass' has shape [31]; the batch size is [8], and the leading dims of a value must equal it [tensorclass-batch]
    total(body.pos)  # E: total: argument 'mass' has shape [8, 3], which does not fit "n": it has 2 dims, not 1 [tensorclass-shape]
    td = TensorDict({"x": torch.zeros(4, 3)}, batch_size=[4])
    net = TensorDictModule(nn.Linear(5, 1), in_keys=["x"], out_keys=["y"])
    print(net(td)["z"])  # E: Linear: the last dim of the input [4, 3] is 3, the layer takes 5 [tensorclass-shape]  # E: no key 'z'; the keys here are 'x', 'y' [tensorclass-key]
    torch.cat([torch.zeros(2, 3), torch.zeros(2, 4)])  # E: cat: tensor 0 has shape [2, 3], tensor 1 has [2, 4]; they may differ in dim 0 alone [tensorclass-shape]
