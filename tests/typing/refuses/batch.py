"""Batch sizes after ops, and ops that a batch size does not allow."""

from __future__ import annotations

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from tensorclass import TensorClass, TensorDict, cat, lazy_stack, reveal_batch, stack


class Obs(TensorClass):
    state: Tensor
    loss: Tensor | None = None


class Other(TensorClass):
    state: Tensor


class Body(TensorClass):
    pos: Float[Tensor, "*batch 3"]
    mass: Float[Tensor, "*batch"]


def grid() -> Obs:
    return Obs(state=torch.zeros(4, 3, 5), batch_size=[4, 3])


def moves() -> None:
    obs = Obs(state=torch.zeros(4, 3, 5), batch_size=[4, 3])
    print(obs.reshape(12), obs.reshape(2, 6), obs.reshape(-1), obs.view(3, 4), obs.flatten(), obs.permute(1, 0))
    obs.reshape(5, 2)
    obs.reshape(4, 3, 5)
    obs.view(-1, 5)
    obs.permute(1, 1)
    obs.permute(0, 1, 2)
    obs.transpose(0, 2)
    obs.unsqueeze(4)
    obs.squeeze(2)
    obs.expand(4, 2)
    obs.expand(2, 4, 3).reshape(25)
    obs.flatten(0, 2)
    obs.unflatten(0, (3, 2))
    obs.movedim(0, 3)
    obs.flip(2)


def pieces() -> None:
    obs = Obs(state=torch.zeros(10, 3), batch_size=[10])
    train, test = obs.split([8, 2])
    one, two = obs.split([8, 1])
    first, second = obs.chunk(3)
    a, b = obs.split(4)
    print(train, test, one, two, first, second, a, b)
    obs.unbind(1)
    reveal_batch(train)
    reveal_batch(obs.chunk(2)[0])


def folds() -> None:
    obs = Obs(state=torch.zeros(4, 3, 5), batch_size=[4, 3])
    reveal_batch(obs.sum(0))
    reveal_batch(obs.mean(dim=(0, 1)))
    reveal_batch(obs.sum(0, keepdim=True))
    obs.sum(2)
    obs.sum(0)[0, 0]
    torch.mean(obs, 1)[0, 0]


def indices() -> None:
    obs = Obs(state=torch.zeros(4, 3, 5), batch_size=[4, 3])
    print(obs[0], obs[0, 1], obs[:, 1], obs[..., 0], obs[None], obs[torch.arange(2)], obs[1:3][1])
    obs[0, 0, 0]
    obs[0][0][0]
    obs[4]
    obs[:, 3]
    obs[0:2][2]
    obs[torch.zeros(3, dtype=torch.bool)]
    mask = torch.ones(4, dtype=torch.bool)
    reveal_batch(obs[mask])
    reveal_batch(obs[[0, 2]])
    reveal_batch(obs[torch.zeros(6, 2, dtype=torch.long)])
    for row in obs:
        reveal_batch(row)
        row[0, 0]


def writes() -> None:
    obs = Obs(state=torch.zeros(8, 3), batch_size=[8])
    obs[0:3] = Obs(state=torch.ones(3, 3), batch_size=[3])
    obs[0:4] = Obs(state=torch.ones(3, 3), batch_size=[3])
    obs[0] = Obs(state=torch.ones(3), batch_size=[])
    obs.state = torch.ones(8, 2)
    obs.state = torch.ones(7, 2)
    obs["state"] = torch.ones(7, 2)
    obs.set("state", torch.ones(7, 2))
    obs.loss = obs.state.logsumexp(-1)
    obs.loss = torch.zeros(8, 3).logsumexp(0)
    obs.update({"state": torch.ones(7, 2)})
    print(obs.replace(state=torch.ones(7, 2)))
    obs.batch_size = [8, 3]
    obs.batch_size = [3]
    td = TensorDict({"x": torch.zeros(4, 3)}, batch_size=[4])
    td["y"] = torch.zeros(4)
    td["z"] = torch.zeros(5)
    td["n", "z"] = torch.zeros(5)
    td.names = ["row"]
    td.names = ["row", "column"]


def joins() -> None:
    a = Obs(state=torch.zeros(4, 3), batch_size=[4])
    b = Obs(state=torch.zeros(5, 3), batch_size=[5])
    c = Obs(state=torch.zeros(4, 6), batch_size=[4])
    other = Other(state=torch.zeros(4, 3), batch_size=[4])
    reveal_batch(torch.stack([a, a]))
    reveal_batch(cat([a, b]))
    reveal_batch(stack([a, a, a], 1))
    torch.stack([a, b])
    stack([a, c])
    torch.cat([a, b], 1)
    torch.stack([a, other])
    reveal_batch(lazy_stack([a, b]))
    stack([a, a], 3)


def annotated(batch: Shaped[Obs, "b t"], flat: Shaped[Obs, "n"]) -> Shaped[Obs, "b"]:
    reveal_batch(batch)
    batch[0, 0, 0]
    flat.permute(1, 0)
    reveal_batch(batch.permute(1, 0))
    if batch.is_empty():
        return batch[0]
    return batch[:, 0]


def through_calls() -> None:
    obs = grid()
    reveal_batch(obs)
    obs[0, 0, 0]
    annotated(obs, obs[0])
    annotated(obs, obs)
    reveal_batch(annotated(obs, obs[0]))


class Step(TensorClass):
    x: Tensor

    def double(self) -> Step:
        return self.replace(x=self.x * 2)

    def first(self) -> Step:
        return self[0]


def methods() -> None:
    step = Step(x=torch.zeros(4, 3), batch_size=[4])
    reveal_batch(step.double())
    step.first()[0]
    both = step + step
    reveal_batch(both)
    step + Step(x=torch.zeros(3, 3), batch_size=[3])
    body = Body(pos=torch.zeros(8, 3), mass=torch.ones(8))
    body["mass"] = torch.ones(31)
    body.pos = torch.zeros(8, 4)
    reveal_batch(body[2:5])
    count, = body.batch_size
    rows, columns = body.batch_size
    print(count, rows, columns)
