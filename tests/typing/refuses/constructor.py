"""Constructors: fields, their kinds and their order; batch sizes that contradict the values."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from tensorclass import TensorClass, TensorDict, tensorclass


class Obs(TensorClass):
    pixels: Tensor
    state: Tensor
    note: str | None = None


class Outer(TensorClass):
    obs: Obs
    action: Tensor


class Body(TensorClass):
    pos: Float[Tensor, "*batch 3"]
    mass: Float[Tensor, "*batch"]


class Grid(TensorClass):
    rows: Float[Tensor, "*batch n 2"]
    cols: Float[Tensor, "*batch n"]


@tensorclass
class Sample:
    image: Tensor


class Late(TensorClass):
    weight: Tensor | None = None
    pixels: Tensor


def arguments() -> None:
    Obs(pixels=torch.zeros(4, 3), state=torch.zeros(4), batch_size=[4])
    Obs(torch.zeros(4, 3), torch.zeros(4), batch_size=[4])
    Obs(pixels=torch.zeros(4, 3), batch_size=[4])
    Obs(pixels=torch.zeros(4, 3), stat=torch.zeros(4), batch_size=[4])
    Obs(torch.zeros(4, 3), torch.zeros(4), "a", [4])
    Obs(pixels=torch.zeros(4, 3), state="no", batch_size=[4])
    Obs(pixels=torch.zeros(4, 3), state=torch.zeros(4), batchsize=[4])
    Obs(pixels=torch.zeros(4, 3), state=torch.zeros(4), batch_size=[4 / 2])
    Sample(image=torch.zeros(4, 3), batch_size=[4])
    Sample(imgae=torch.zeros(4, 3), batch_size=[4])


def sizes() -> None:
    Obs(pixels=torch.zeros(4, 3), state=torch.zeros(4), batch_size=[3])
    Obs(pixels=torch.zeros(4, 3), state=torch.zeros(5), batch_size=[4])
    Obs(pixels=torch.zeros(4, 3), state=torch.zeros(4), batch_size=[4, 3])
    Obs(pixels=torch.rand(4, 3), state=torch.ones(4, dtype=torch.long), batch_size=(4,))
    Obs(pixels=torch.rand(4, 3), state=torch.full((4,), 2.0), batch_size=torch.Size([5]))
    n = 4
    Obs(pixels=torch.rand(n, 3), state=torch.arange(n), batch_size=[n])
    Obs(pixels=torch.rand(n, 3), state=torch.arange(n), batch_size=[n + 1])
    Sample(image=torch.zeros(4, 3), batch_size=[2])
    TensorDict({"a": torch.zeros(4, 3), "b": torch.zeros(4)}, batch_size=[4])
    TensorDict({"a": torch.zeros(4, 3), "b": torch.zeros(4)}, batch_size=[4, 3])
    TensorDict({"a": torch.zeros(4, 3), "n": {"b": torch.zeros(5)}}, batch_size=[4])
    TensorDict(a=torch.zeros(4, 3), batch_size=[3])


def unknown(n: int, x: Tensor) -> None:
    Obs(pixels=torch.zeros(n, 3), state=torch.zeros(n), batch_size=[n])
    Obs(pixels=torch.zeros(n, 3), state=torch.zeros(n + 1), batch_size=[n])
    Obs(pixels=x, state=torch.zeros(4), batch_size=[4])
    Obs(pixels=x, state=torch.zeros(5), batch_size=[4])
    Obs(pixels=torch.zeros(x.shape[0], 3), state=torch.zeros(4), batch_size=[4])


def nested() -> None:
    inner = Obs(pixels=torch.zeros(5, 3), state=torch.zeros(5), batch_size=[5])
    Outer(obs=inner, action=torch.zeros(5), batch_size=[5])
    Outer(obs=inner, action=torch.zeros(4), batch_size=[4])
    Outer(obs=inner, action=torch.zeros(5), batch_size=[])
    Outer(obs={"pixels": torch.zeros(5)}, action=torch.zeros(5))


def voted() -> None:
    Body(pos=torch.zeros(8, 3), mass=torch.ones(8))
    Body(pos=torch.zeros(8, 3), mass=torch.ones(7))
    Body(pos=torch.zeros(8, 4), mass=torch.ones(8))
    Body(pos=torch.zeros(3), mass=torch.ones(()))
    Body(pos=torch.zeros(8, 3), mass=torch.ones(8, dtype=torch.long))
    Grid(rows=torch.zeros(8, 5, 2), cols=torch.zeros(8, 5))
    Grid(rows=torch.zeros(8, 5, 2), cols=torch.zeros(8, 6))


def without_batch_size() -> None:
    obs = Obs(pixels=torch.zeros(4, 3), state=torch.zeros(4))
    print(obs[0])
    assert len(obs) == 4
    for row in obs:
        print(row)
    for place in range(len(obs)):
        print(place)
