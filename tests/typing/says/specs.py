"""Correct programs whose classes have specs as annotations: what mypy cannot read, it says nothing about."""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor

from tensorclass import TensorClass
from tensorclass.envs import Bounded, Categorical, Composite, OneHot, specs_of

SPEED = Bounded(-8.0, 8.0, (2,))


class Hand(TensorClass):
    grip: Annotated[Tensor, OneHot(3)]


class Body(TensorClass):
    angle: Annotated[Tensor, Bounded(-3.1, 3.1)]
    speed: Annotated[Tensor, SPEED]
    gait: Annotated[Tensor, Categorical(4)] | None = None


def main() -> None:
    hand = Hand(grip=torch.zeros(4, 3))
    assert hand.batch_size == (4,)
    body = Body(angle=torch.zeros(2, 4), speed=torch.zeros(2, 4, 2))
    assert body.batch_size == (2, 4)
    assert body[0].speed.shape == (4, 2)
    body = Body(angle=torch.zeros(()), speed=torch.zeros(2), gait=torch.zeros((), dtype=torch.int64))
    assert body.batch_size == ()

    spec: Composite = specs_of(Body).exclude("gait")
    assert spec.keys() == ["angle", "speed"] and spec["speed"] == SPEED
    assert spec.expand(5).rand().batch_size == (5,)
    assert torch.stack([spec, spec]).shape == (2,)
    assert torch.stack([OneHot(3), Bounded(0.0, 1.0, (4,))]).shape == (2, -1)
    assert torch.unsqueeze(spec, 0).keys() == spec.keys()


main()
