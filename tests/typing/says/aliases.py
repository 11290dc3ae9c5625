"""Aliases and constants in the annotations of fields: what they declare is not read, and nothing is told."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

from tensorclass import TensorClass

Vec = Float[Tensor, "*batch 3"]
Vec2: TypeAlias = Float[Tensor, "*batch 3"]
BATCH: Final = "*batch 3"
Number = int


class P(TensorClass):
    pos: Vec


class P2(TensorClass):
    pos: Vec2


class P5(TensorClass):
    pos: Vec | None


class P6(TensorClass):
    pos: Annotated[Vec, "hi"]


class P7(TensorClass):
    pos: Float[Tensor, BATCH]


class P8(P):
    mass: Float[Tensor, "*batch"]


class P9(TensorClass):
    inner: P
    pos: Vec


class Plain(TensorClass):
    pos: Tensor
    n: Number = 3
    o: Tensor | None = None


z = torch.zeros(8, 3)
print(P(pos=z)[0].pos.shape, P2(pos=z)[0], P5(pos=z)[0], P6(pos=z)[0], P7(pos=z)[0])
print(P8(pos=z, mass=torch.ones(8))[0], P9(inner=P(pos=z), pos=z).reshape(2, 4))
for row in P(pos=z):
    print(row)
print(Plain(pos=z).n)
