"""What a checker without the plugin makes of a typed class: constructors, fields and methods that return Self."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from typing_extensions import Self, assert_type

from tensorclass import TensorClass, TensorDict, cat, stack


class Particles(TensorClass):
    pos: Float[Tensor, "*batch 3"]
    vel: Float[Tensor, "*batch 3"]
    mass: Float[Tensor, "*batch"]

    def step(self, force: Float[Tensor, "*batch 3"], dt: float) -> Self:
        vel = self.vel + dt * force / self.mass.unsqueeze(-1)
        return self.replace(pos=self.pos + dt * vel, vel=vel)


def main() -> None:
    one = Particles(pos=torch.zeros(8, 3), vel=torch.zeros(8, 3), mass=torch.ones(8))
    given = Particles(torch.zeros(8, 3), torch.zeros(8, 3), torch.ones(8), batch_size=[8])
    assert_type(one[0], Particles)
    assert_type(one.step(torch.zeros(8, 3), 0.1), Particles)
    assert_type(one.reshape(2, 4).mass, Tensor)
    assert_type(one.batch_size, torch.Size)
    assert_type(stack([one, given]), Particles)
    assert_type(cat([one, given]), Particles)
    assert_type(one.to_tensordict(), TensorDict)


if __name__ == "__main__":
    main()
