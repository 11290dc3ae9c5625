"""Batch sizes of a typed class: read off the fields, and kept or changed by ops."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from typing_extensions import Self, assert_type

from tensorclass import TensorClass, TensorDict, cat, lazy_stack, reveal_batch, stack


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
    reveal_batch(one)  # N: batch (8,)
    reveal_batch(one[0])  # N: batch ()
    reveal_batch(one[2:5])  # N: batch (3,)
    reveal_batch(one[None])  # N: batch (1, 8)
    reveal_batch(one.reshape(2, -1))  # N: batch (2, 4)
    reveal_batch(one.reshape(2, 4).permute(1, 0))  # N: batch (4, 2)
    reveal_batch(one.unsqueeze(-1).expand(8, 3))  # N: batch (8, 3)
    reveal_batch(one.step(torch.zeros(8, 3), 0.1))  # N: batch (8,)
    reveal_batch(one.clone().to("cpu"))  # N: batch (8,)
    reveal_batch(stack([one, given], 1))  # N: batch (8, 2)
    reveal_batch(cat([one, given[:3]]))  # N: batch (11,)
    reveal_batch(lazy_stack([one, given]))  # N: batch (2, 8)
    reveal_batch(one.split([3, 5])[1])  # N: batch (5,)
    reveal_batch(one.reshape(2, 4).sum(0))  # N: batch (4,)
    reveal_batch(one.to_tensordict())  # N: batch (8,)
    reveal_batch(TensorDict({"a": torch.zeros(4, 3)}, batch_size=[4])[:, None])  # N: batch (4, 1)
    for row in one:
        reveal_batch(row)  # N: batch ()
    pieces = [one[place] for place in range(3)]
    reveal_batch(stack(pieces))  # N: batch (3,)
    assert_type(one.get("mass"), Tensor)
    assert_type(one["mass"], Tensor)
    assert_type(torch.stack([one, one]), Particles)
    assert_type(torch.mean(one), Particles)


if __name__ == "__main__":
    main()
