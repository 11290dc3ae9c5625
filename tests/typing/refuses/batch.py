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
    obs.reshape(5, 2)  # E: reshape: a batch of size [4, 3] has 12 elements, which [5, 2] cannot hold [tensorclass-batch]
    obs.reshape(4, 3, 5)  # E: reshape: a batch of size [4, 3] has 12 elements, which [4, 3, 5] cannot hold [tensorclass-batch]
    obs.view(-1, 5)  # E: view: a batch of size [4, 3] has 12 elements, which [-1, 5] cannot hold [tensorclass-batch]
    obs.permute(1, 1)  # E: permute: (1, 1) is not a permutation of 2 batch dims [tensorclass-batch]
    obs.permute(0, 1, 2)  # E: permute: (0, 1, 2) is not a permutation of 2 batch dims [tensorclass-batch]
    obs.transpose(0, 2)  # E: transpose: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    obs.unsqueeze(4)  # E: unsqueeze: dim 4 is out of range for 2 batch dims; -3 to 2 would do [tensorclass-batch]
    obs.squeeze(2)  # E: squeeze: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    obs.expand(4, 2)  # E: expand: batch size [4, 3] does not fit [4, 2]; dim 1 has size 3, and only size 1 can grow [tensorclass-batch]
    obs.expand(2, 4, 3).reshape(25)  # E: reshape: a batch of size [2, 4, 3] has 24 elements, which [25] cannot hold [tensorclass-batch]
    obs.flatten(0, 2)  # E: flatten: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    obs.unflatten(0, (3, 2))  # E: unflatten: a batch of size [4] has 4 elements, which [3, 2] cannot hold [tensorclass-batch]
    obs.movedim(0, 3)  # E: movedim: dim 3 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    obs.flip(2)  # E: flip: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]


def pieces() -> None:
    obs = Obs(state=torch.zeros(10, 3), batch_size=[10])
    train, test = obs.split([8, 2])
    one, two = obs.split([8, 1])  # E: split: sizes [8, 1] sum to 9; dim 0 has size 10 [tensorclass-batch]
    first, second = obs.chunk(3)  # E: unpack: there are 3 values for 2 names [tensorclass-shape]
    a, b = obs.split(4)  # E: unpack: there are 3 values for 2 names [tensorclass-shape]
    print(train, test, one, two, first, second, a, b)
    obs.unbind(1)  # E: unbind: dim 1 is out of range for 1 batch dim; -1 to 0 would do [tensorclass-batch]
    reveal_batch(train)  # N: batch (8,)
    reveal_batch(obs.chunk(2)[0])  # N: batch (5,)


def folds() -> None:
    obs = Obs(state=torch.zeros(4, 3, 5), batch_size=[4, 3])
    reveal_batch(obs.sum(0))  # N: batch (3,)
    reveal_batch(obs.mean(dim=(0, 1)))  # N: batch ()
    reveal_batch(obs.sum(0, keepdim=True))  # N: batch (1, 3)
    obs.sum(2)  # E: sum: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    obs.sum(0)[0, 0]  # E: index: 2 indices for 1 batch dim (batch size [3]); index a field to reach its feature dims [tensorclass-batch]
    torch.mean(obs, 1)[0, 0]  # E: index: 2 indices for 1 batch dim (batch size [4]); index a field to reach its feature dims [tensorclass-batch]


def indices() -> None:
    obs = Obs(state=torch.zeros(4, 3, 5), batch_size=[4, 3])
    print(obs[0], obs[0, 1], obs[:, 1], obs[..., 0], obs[None], obs[torch.arange(2)], obs[1:3][1])
    obs[0, 0, 0]  # E: index: 3 indices for 2 batch dims (batch size [4, 3]); index a field to reach its feature dims [tensorclass-batch]
    obs[0][0][0]  # E: index: 1 index for 0 batch dims (batch size []); index a field to reach its feature dims [tensorclass-batch]
    obs[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    obs[:, 3]  # E: index: 3 is out of range for batch dim 1 of size 3 [tensorclass-batch]
    obs[0:2][2]  # E: index: 2 is out of range for batch dim 0 of size 2 [tensorclass-batch]
    obs[torch.zeros(3, dtype=torch.bool)]  # E: index: the mask has shape [3], the batch size is [4, 3]; its size 3 must equal 4, the size of batch dim 0 [tensorclass-batch]
    mask = torch.ones(4, dtype=torch.bool)
    reveal_batch(obs[mask])  # N: batch (?, 3)
    reveal_batch(obs[[0, 2]])  # N: batch (2, 3)
    reveal_batch(obs[torch.zeros(6, 2, dtype=torch.long)])  # N: batch (6, 2, 3)
    for row in obs:
        reveal_batch(row)  # N: batch (3,)
        row[0, 0]  # E: index: 2 indices for 1 batch dim (batch size [3]); index a field to reach its feature dims [tensorclass-batch]


def writes() -> None:
    obs = Obs(state=torch.zeros(8, 3), batch_size=[8])
    obs[0:3] = Obs(state=torch.ones(3, 3), batch_size=[3])
    obs[0:4] = Obs(state=torch.ones(3, 3), batch_size=[3])  # E: index: the rows have batch size [4], the value has [3]; they must be equal [tensorclass-batch]
    obs[0] = Obs(state=torch.ones(3), batch_size=[])
    obs.state = torch.ones(8, 2)
    obs.state = torch.ones(7, 2)  # E: field 'state' has shape [7, 2]; the batch size is [8], and the leading dims of a value must equal it [tensorclass-batch]
    obs["state"] = torch.ones(7, 2)  # E: field 'state' has shape [7, 2]; the batch size is [8], and the leading dims of a value must equal it [tensorclass-batch]
    obs.set("state", torch.ones(7, 2))  # E: field 'state' has shape [7, 2]; the batch size is [8], and the leading dims of a value must equal it [tensorclass-batch]
    obs.loss = obs.state.logsumexp(-1)
    obs.loss = torch.zeros(8, 3).logsumexp(0)  # E: field 'loss' has shape [3]; the batch size is [8], and the leading dims of a value must equal it [tensorclass-batch]
    obs.update({"state": torch.ones(7, 2)})  # E: field 'state' has shape [7, 2]; the batch size is [8], and the leading dims of a value must equal it [tensorclass-batch]
    print(obs.replace(state=torch.ones(7, 2)))  # E: field 'state' has shape [7, 2]; the batch size is [8], and the leading dims of a value must equal it [tensorclass-batch]
    obs.batch_size = [8, 3]
    obs.batch_size = [3]
    td = TensorDict({"x": torch.zeros(4, 3)}, batch_size=[4])
    td["y"] = torch.zeros(4)
    td["z"] = torch.zeros(5)  # E: field 'z' has shape [5]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    td["n", "z"] = torch.zeros(5)  # E: field ('n', 'z') has shape [5]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    td.names = ["row"]
    td.names = ["row", "column"]  # E: names: 2 names for 1 batch dim; give one for each [tensorclass-batch]


def joins() -> None:
    a = Obs(state=torch.zeros(4, 3), batch_size=[4])
    b = Obs(state=torch.zeros(5, 3), batch_size=[5])
    c = Obs(state=torch.zeros(4, 6), batch_size=[4])
    other = Other(state=torch.zeros(4, 3), batch_size=[4])
    reveal_batch(torch.stack([a, a]))  # N: batch (2, 4)
    reveal_batch(cat([a, b]))  # N: batch (9,)
    reveal_batch(stack([a, a, a], 1))  # N: batch (4, 3)
    torch.stack([a, b])  # E: stack: item 0 has batch size [4], item 1 has [5]; they must be equal (lazy_stack keeps items of different sizes) [tensorclass-batch]
    stack([a, c])  # E: stack: 'state' is a tensor of shape [4, 3] in item 0 and a tensor of shape [4, 6] in item 1; they must be alike (lazy_stack keeps items that differ) [tensorclass-shape]
    torch.cat([a, b], 1)  # E: cat: dim 1 is out of range for 1 batch dim; -1 to 0 would do [tensorclass-batch]
    torch.stack([a, other])  # E: stack: item 0 is a Obs, item 1 is a Other; items must have one class [tensorclass-field]
    reveal_batch(lazy_stack([a, b]))  # N: batch (2, ?)
    stack([a, a], 3)  # E: stack: dim 3 is out of range for 1 batch dim; -2 to 1 would do [tensorclass-batch]


def annotated(batch: Shaped[Obs, "b t"], flat: Shaped[Obs, "n"]) -> Shaped[Obs, "b"]:
    reveal_batch(batch)  # N: batch (b, t)
    batch[0, 0, 0]  # E: index: 3 indices for 2 batch dims (batch size [b, t]); index a field to reach its feature dims [tensorclass-batch]
    flat.permute(1, 0)  # E: permute: (1, 0) is not a permutation of 1 batch dim [tensorclass-batch]
    reveal_batch(batch.permute(1, 0))  # N: batch (t, b)
    if batch.is_empty():
        return batch[0]
    return batch[:, 0]


def through_calls() -> None:
    obs = grid()
    reveal_batch(obs)  # N: batch (4, 3)
    obs[0, 0, 0]  # E: index: 3 indices for 2 batch dims (batch size [4, 3]); index a field to reach its feature dims [tensorclass-batch]
    annotated(obs, obs[0])
    annotated(obs, obs)  # E: annotated: argument 'flat' has batch size [4, 3], which does not fit "n": it has 2 dims, not 1 [tensorclass-batch]
    reveal_batch(annotated(obs, obs[0]))  # N: batch (4,)


class Step(TensorClass):
    x: Tensor

    def double(self) -> Step:
        return self.replace(x=self.x * 2)

    def first(self) -> Step:
        return self[0]


def methods() -> None:
    step = Step(x=torch.zeros(4, 3), batch_size=[4])
    reveal_batch(step.double())  # N: batch (4,)
    step.first()[0]  # E: index: 1 index for 0 batch dims (batch size []); index a field to reach its feature dims [tensorclass-batch]
    both = step + step
    reveal_batch(both)  # N: batch (4,)
    step + Step(x=torch.zeros(3, 3), batch_size=[3])  # E: add: batch sizes [4] and [3] do not broadcast; 4 is not 3 [tensorclass-batch]
    body = Body(pos=torch.zeros(8, 3), mass=torch.ones(8))
    body["mass"] = torch.ones(31)  # E: field 'mass' has shape [31]; the batch size is [8], and the leading dims of a value must equal it [tensorclass-batch]
    body.pos = torch.zeros(8, 4)  # E: field 'pos' has shape [8, 4], which does not fit "*batch 3": dim 1 is 4, not 3 [tensorclass-shape]
    reveal_batch(body[2:5])  # N: batch (3,)
    count, = body.batch_size
    rows, columns = body.batch_size  # E: unpack: there are 1 value for 2 names [tensorclass-shape]
    print(count, rows, columns)
