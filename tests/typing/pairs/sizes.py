"""Batch sizes: of typed classes, through ops, loops, calls and modules. A mistake stands beside its good twin."""

from __future__ import annotations

from typing import Self

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict, cat, lazy_stack, stack
from tensorclass.nn import TensorDictModule, TensorDictSequential


class P(TensorClass):
    pos: Float[Tensor, "*batch 3"]
    mass: Float[Tensor, "*batch"]

    def momentum(self, other: Self) -> Self:
        self.pos + other.pos
        self.pos - other.mass[..., None]
        self.replace(pos=other.pos)
        return self.replace(pos=self.pos * self.mass[..., None])

    def scaled(self, w: Float[Tensor, "*batch"]) -> Self:
        column = w[..., None]
        self.pos * w  # E: mul: shapes [*batch, 3] and [*batch] do not broadcast; dim -1 is 3 and in *batch [tensorclass-shape]
        self.pos * column
        return self.replace(pos=self.pos * column)

    def divided(self, w: Float[Tensor, "*batch 1"]) -> Self:
        flat = w.squeeze(-1)
        self.replace(pos=self.pos * w, mass=w)  # E: field 'mass' has shape [*batch, 1], which does not fit "*batch": it has 1 dim too many [tensorclass-shape]
        self.replace(pos=self.pos * w, mass=flat)
        return self.replace(pos=self.pos / w)

    @property
    def centre(self) -> Float[Tensor, "*batch"]:
        if self.mass.sum() > 0:
            return self.pos  # E: the result has shape [*batch, 3], which does not fit "*batch": it has 1 dim too many [tensorclass-shape]
        return self.pos.mean(-1)

    @classmethod
    def zeros(cls, n: int) -> P:
        if n > 3:
            return cls(pos=torch.zeros(n, 3), mass=torch.zeros(n, 1))  # E: fields 'pos' and 'mass' disagree on *batch: [n] and [n, 1] [tensorclass-batch]
        return cls(pos=torch.zeros(n, 3), mass=torch.zeros(n))

class Traj(TensorClass):
    obs: Float[Tensor, "*batch d"]
    act: Float[Tensor, "*batch a"]
    reward: Tensor
    inner: P

class Plain(TensorClass):
    x: Tensor
    y: Tensor

class Agent(TensorClass):
    q: Float[Tensor, "*batch n 4"]
    k: Float[Tensor, "*batch n"]

def p(*b: int) -> P:
    return P(pos=torch.zeros(*b, 3), mass=torch.zeros(b))

def build() -> None:
    P(pos=torch.zeros(4, 3), mass=torch.zeros(4))
    P(pos=torch.zeros(4, 3), mass=torch.zeros(5))  # E: fields 'pos' and 'mass' disagree on *batch: [4] and [5] [tensorclass-batch]
    P(pos=torch.zeros(4, 3), mass=torch.zeros(4), batch_size=[5])  # E: field 'pos' has shape [4, 3]; the batch size is [5], and the leading dims of a value must equal it [tensorclass-batch]
    P(pos=torch.zeros(4, 3), mass=torch.zeros(4), batch_size=[4])
    P(pos=torch.zeros(4, 2), mass=torch.zeros(4))  # E: field 'pos' has shape [4, 2], which does not fit "*batch 3": dim 1 is 2, not 3 [tensorclass-shape]
    P(pos=torch.zeros(3), mass=torch.tensor(0.0))
    P(pos=torch.zeros(4, 3), mass=torch.zeros(4, dtype=torch.long))  # E: field 'mass' has dtype int64, which Float does not take [tensorclass-shape]
    Plain(x=torch.zeros(4, 3), y=torch.zeros(4), batch_size=[4, 3])  # E: field 'y' has shape [4]; the batch size is [4, 3], and the leading dims of a value must equal it [tensorclass-batch]
    Plain(x=torch.zeros(4, 3), y=torch.zeros(4), batch_size=[4])
    Plain(x=torch.zeros(4, 3), y=torch.zeros(4), batch_size=(4,))[0, 0]  # E: index: 2 indices for 1 batch dim (batch size [4]); index a field to reach its feature dims [tensorclass-batch]
    Plain(x=torch.zeros(4, 3), y=torch.zeros(4), batch_size=4)[0]
    Plain(torch.zeros(4, 3), torch.zeros(4), batch_size=torch.Size([4]))[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    Plain(torch.zeros(4, 3), torch.zeros(4), batch_size=torch.Size([4]))[3]
    Plain(x=torch.zeros(4, 3), y=torch.zeros(4))[0]  # E: index: 1 index for 0 batch dims (batch size []); index a field to reach its feature dims; no batch_size was given where this was made [tensorclass-batch]
    Plain(x=torch.zeros(4, 3), y=torch.zeros(4)).x[0]
    Agent(q=torch.zeros(2, 5, 4), k=torch.zeros(2, 6))  # E: field 'k' has shape [2, 6], which does not fit "*batch n": n is 6 here and 5 elsewhere [tensorclass-shape]
    Agent(q=torch.zeros(2, 5, 4), k=torch.zeros(2, 5))
    TensorDict({"a": torch.zeros(3, 2), "b": torch.zeros(2, 3)}, batch_size=[3])  # E: field 'b' has shape [2, 3]; the batch size is [3], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDict({"a": torch.zeros(3, 2), "b": torch.zeros(3)}, batch_size=[3])
    TensorDict({"a": torch.zeros(3, 2), "n": {"b": torch.zeros(2)}}, batch_size=[3])  # E: field 'b' has shape [2]; the batch size is [3], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDict({"a": torch.zeros(3, 2), "n": {"b": torch.zeros(3)}}, batch_size=[3])
    TensorDict(a=torch.zeros(3, 2), batch_size=[4])  # E: field 'a' has shape [3, 2]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDict(a=torch.zeros(3, 2), batch_size=[3, 2])
    TensorDict({"a": p(3)}, batch_size=[4])  # E: 'a' has batch size [3]; inside batch size [4] it must start with that [tensorclass-batch]
    TensorDict({"a": p(3, 2)}, batch_size=[3])
    Traj(obs=torch.zeros(4, 5), act=torch.zeros(4, 2), reward=torch.zeros(5), inner=p(4))  # E: field 'reward' has shape [5]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    Traj(obs=torch.zeros(4, 5), act=torch.zeros(4, 2), reward=torch.zeros(4), inner=p(5))  # E: 'inner' has batch size [5]; inside batch size [4] it must start with that [tensorclass-batch]
    Traj(obs=torch.zeros(4, 5), act=torch.zeros(4, 2), reward=torch.zeros(4), inner=p(4))

def change() -> None:
    x = p(4, 6)
    x.pos = torch.zeros(4, 3)  # E: field 'pos' has shape [4, 3]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    x.pos = torch.zeros(4, 6, 3)
    x.pos = x.pos.sum(0)  # E: field 'pos' has shape [6, 3]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    x.pos = x.pos.cumsum(0)
    x.mass = x.pos.norm(dim=-1)
    x["mass"] = torch.zeros(6, 4)  # E: field 'mass' has shape [6, 4]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    x["mass"] = torch.zeros(4, 6)
    x.set("mass", torch.zeros(4, 6, 1))  # E: field 'mass' has shape [4, 6, 1], which does not fit "*batch": it has 3 dims; with batch size [4, 6] it must have 2 [tensorclass-shape]
    x.set_("mass", torch.zeros(4, 5))  # E: field 'mass' has shape [4, 5]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    x.set_("mass", torch.zeros(4, 6))
    x.replace(mass=torch.zeros(4))  # E: field 'mass' has shape [4]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    x.replace(mass=torch.zeros(4, 6))
    x.update({"mass": torch.zeros(4)})  # E: field 'mass' has shape [4]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    x.update({"mass": torch.zeros(4, 6)})
    x.update_({"mass": torch.zeros(4)})  # E: field 'mass' has shape [4]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    x[0] = p(5)  # E: index: the rows have batch size [6], the value has [5]; they must be equal [tensorclass-batch]
    x[0] = p(6)
    x[:, 0] = p(6)  # E: index: the rows have batch size [4], the value has [6]; they must be equal [tensorclass-batch]
    x[:, 0] = p(4)
    x[0, 0] = p(1)  # E: index: the rows have batch size [], the value has [1]; they must be equal [tensorclass-batch]
    x[0, 0] = p()
    x[x.mass > 0]
    x[x.mass.sum(1) > 0]
    x[torch.arange(4), torch.arange(5)]  # E: index: index tensors of shapes [4] and [5] do not broadcast [tensorclass-batch]
    x[torch.arange(4), torch.arange(4)]
    x[[0, 1], 7]  # E: index: 7 is out of range for batch dim 1 of size 6 [tensorclass-batch]
    x[[0, 1], 5]
    x[..., 6]  # E: index: 6 is out of range for batch dim 1 of size 6 [tensorclass-batch]
    x[..., 5]
    x[:, :, 0]  # E: index: 3 indices for 2 batch dims (batch size [4, 6]); index a field to reach its feature dims [tensorclass-batch]
    x[:, None, :]
    x[1:3][2]  # E: index: 2 is out of range for batch dim 0 of size 2 [tensorclass-batch]
    x[1:3][1]
    x[:, -1].pos.reshape(12)
    x[0].mass.view(6)

def ops() -> None:
    x = p(4, 6)
    x.reshape(5, 5)  # E: reshape: a batch of size [4, 6] has 24 elements, which [5, 5] cannot hold [tensorclass-batch]
    x.reshape(8, 3)
    x.reshape(-1).pos.view(24, 4)  # E: view: a tensor of shape [24, 3] has 72 elements, which [24, 4] cannot hold [tensorclass-shape]
    x.reshape(-1).pos.view(24, 3)
    x.view(4, 7)  # E: view: a batch of size [4, 6] has 24 elements, which [4, 7] cannot hold [tensorclass-batch]
    x.view(2, 2, 6)
    x.flatten(0, 1)[24]  # E: index: 24 is out of range for batch dim 0 of size 24 [tensorclass-batch]
    x.flatten()[23]
    x.unflatten(1, (2, 4))  # E: unflatten: a batch of size [6] has 6 elements, which [2, 4] cannot hold [tensorclass-batch]
    x.unflatten(1, (2, 3))
    x.permute(1, 0)[6]  # E: index: 6 is out of range for batch dim 0 of size 6 [tensorclass-batch]
    x.permute(1, 0)[5]
    x.permute(0, 2)  # E: permute: (0, 2) is not a permutation of 2 batch dims [tensorclass-batch]
    x.transpose(0, 1)[5, 4]  # E: index: 4 is out of range for batch dim 1 of size 4 [tensorclass-batch]
    x.transpose(0, 1)[5, 3]
    x.movedim(0, 2)  # E: movedim: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    x.unsqueeze(0)[1]  # E: index: 1 is out of range for batch dim 0 of size 1 [tensorclass-batch]
    x.unsqueeze(0)[0]
    x.unsqueeze(-1)[0, 0, 1]  # E: index: 1 is out of range for batch dim 2 of size 1 [tensorclass-batch]
    x.squeeze(0)[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    x.expand(3, 4, 6)[3]  # E: index: 3 is out of range for batch dim 0 of size 3 [tensorclass-batch]
    x.expand(3, 4, 6)[2]
    x.expand(4, 7)  # E: expand: batch size [4, 6] does not fit [4, 7]; dim 1 has size 6, and only size 1 can grow [tensorclass-batch]
    x.repeat(2, 1)[8]  # E: index: 8 is out of range for batch dim 0 of size 8 [tensorclass-batch]
    x.repeat(2, 1)[7]
    x.repeat_interleave(3, dim=1)[0, 18]  # E: index: 18 is out of range for batch dim 1 of size 18 [tensorclass-batch]
    x.repeat_interleave(3, dim=1)[0, 17]
    x.split([1, 2], 0)  # E: split: sizes [1, 2] sum to 3; dim 0 has size 4 [tensorclass-batch]
    x.split([1, 3], 0)
    x.split(3, 1)[1][:, 3]  # E: index: 3 is out of range for batch dim 1 of size 3 [tensorclass-batch]
    x.split(3, 1)[1][:, 2]
    x.chunk(2, 1)[1][0, 3]  # E: index: 3 is out of range for batch dim 1 of size 3 [tensorclass-batch]
    x.chunk(2, 1)[1][0, 2]
    x.unbind(1)[0][4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    x.unbind(1)[0][3]
    x.unbind(2)  # E: unbind: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    x.sum(0)[6]  # E: index: 6 is out of range for batch dim 0 of size 6 [tensorclass-batch]
    x.sum(0)[5]
    x.mean(dim=1)[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    x.mean(dim=1, keepdim=True)[0, 0]
    x.mean()[0]  # E: index: 1 index for 0 batch dims (batch size []); index a field to reach its feature dims [tensorclass-batch]
    x.gather(1, torch.zeros(4, 2, dtype=torch.long))[0, 2]  # E: index: 2 is out of range for batch dim 1 of size 2 [tensorclass-batch]
    x.gather(1, torch.zeros(4, 2, dtype=torch.long))[0, 1]
    x.gather(0, torch.zeros(2, dtype=torch.long))  # E: gather: the index has 1 dim, the batch has 2; they must be equal [tensorclass-batch]
    x.index_select(1, torch.tensor([0, 1]))[0, 2]  # E: index: 2 is out of range for batch dim 1 of size 2 [tensorclass-batch]
    x.index_select(1, torch.tensor([0, 1]))[0, 1]
    x.masked_select(torch.ones(4, dtype=torch.bool))[0]
    x.masked_select(torch.ones(6, dtype=torch.bool))  # E: index: the mask has shape [6], the batch size is [4, 6]; its size 6 must equal 4, the size of batch dim 0 [tensorclass-batch]
    x.narrow(1, 4, 3)  # E: narrow: start 4 and length 3 leave dim 1 of size 6; at most 2 rows are there [tensorclass-batch]
    x.narrow(1, 4, 2)
    x.flip(2)  # E: flip: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    x.flip(1)
    x.roll(1, 2)  # E: roll: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    x.roll(1, 1)
    x.clone()[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    x.detach().to("cpu")[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    x.apply(lambda t: t + 1)[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    x.apply(lambda t: t + 1)[3]
    x.contiguous()[3]
    x.select("pos")[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    x.exclude("pos")[3, 6]  # E: index: 6 is out of range for batch dim 1 of size 6 [tensorclass-batch]
    x.to_tensordict()[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    x.to_tensordict()[3]
    x.float()[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    x.zero_()[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    torch.reshape(x, (5, 5))  # E: reshape: a batch of size [4, 6] has 24 elements, which [5, 5] cannot hold [tensorclass-batch]
    torch.permute(x, (0, 2))  # E: permute: (0, 2) is not a permutation of 2 batch dims [tensorclass-batch]
    torch.unsqueeze(x, 3)  # E: unsqueeze: dim 3 is out of range for 2 batch dims; -3 to 2 would do [tensorclass-batch]
    torch.squeeze(x, 2)  # E: squeeze: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    torch.flatten(x, 0, 2)  # E: flatten: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    torch.split(x, [1, 2], 0)  # E: split: sizes [1, 2] sum to 3; dim 0 has size 4 [tensorclass-batch]
    torch.chunk(x, 2, 2)  # E: chunk: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    torch.unbind(x, 2)  # E: unbind: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    torch.sum(x, 2)  # E: sum: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    torch.mean(x, dim=2)  # E: mean: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    torch.transpose(x, 0, 2)  # E: transpose: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    torch.gather(x, 2, torch.zeros(4, 2, dtype=torch.long))  # E: gather: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    torch.zeros_like(x)[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    torch.zeros_like(x)[3]
    torch.where(torch.ones(4, 5, dtype=torch.bool), x, x)  # E: where: the condition has shape [4, 5], the batch size is [4, 6]; they must be equal [tensorclass-batch]
    torch.where(torch.ones(4, 6, dtype=torch.bool), x, x)
    torch.stack([x, x])[2]  # E: index: 2 is out of range for batch dim 0 of size 2 [tensorclass-batch]
    torch.stack([x, x], 2)[0, 0, 2]  # E: index: 2 is out of range for batch dim 2 of size 2 [tensorclass-batch]
    torch.stack([x, p(4, 5)])  # E: stack: item 0 has batch size [4, 6], item 1 has [4, 5]; they must be equal (lazy_stack keeps items of different sizes) [tensorclass-batch]
    torch.cat([x, p(4, 5)])  # E: cat: item 0 has batch size [4, 6], item 1 has [4, 5]; they may differ in dim 0 alone [tensorclass-batch]
    torch.cat([x, p(4, 5)], 1)[0, 11]  # E: index: 11 is out of range for batch dim 1 of size 11 [tensorclass-batch]
    torch.cat([x, p(4, 5)], dim=1)[0, 10]
    lazy_stack([x, p(4, 5)])[2]  # E: index: 2 is out of range for batch dim 0 of size 2 [tensorclass-batch]
    lazy_stack([x, p(4, 5)])[1]
    lazy_stack([p(3), p(4)], 1)[0]
    x + p(4, 5)  # E: add: batch sizes [4, 6] and [4, 5] do not broadcast; 6 is not 5 [tensorclass-batch]
    x * p(4, 6)
    x == p(5, 6)  # E: eq: batch sizes [4, 6] and [5, 6] do not broadcast; 4 is not 5 [tensorclass-batch]
    (x > p(4, 6)).all()

def loops() -> None:
    x = p(4, 6)
    for row in x:
        row[6]  # E: index: 6 is out of range for batch dim 0 of size 6 [tensorclass-batch]
        row[5]
        row[0, 0]  # E: index: 2 indices for 1 batch dim (batch size [6]); index a field to reach its feature dims [tensorclass-batch]
    for i in range(x.batch_size[0]):
        x[i, 6]  # E: index: 6 is out of range for batch dim 1 of size 6 [tensorclass-batch]
        x[i, 5]
    for i, row in enumerate(x):
        row.pos.view(17)  # E: view: a tensor of shape [6, 3] has 18 elements, which [17] cannot hold [tensorclass-shape]
        row.pos.view(18)
    for a, b in zip(x, x):
        a + b
        a + b[:3]  # E: add: batch sizes [6] and [3] do not broadcast; 6 is not 3 [tensorclass-batch]
    (n,) = x.shape  # E: unpack: there are 2 values for 1 names [tensorclass-shape]
    rows = [row for row in x]
    stack(rows)[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    stack(rows)[3]
    torch.stack([r.pos for r in x]).view(71)  # E: view: a tensor of shape [4, 6, 3] has 72 elements, which [71] cannot hold [tensorclass-shape]
    torch.stack([r.pos for r in x]).view(72)
    len(x)
    x.ndim
    x[x.batch_size[0]]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    x[x.batch_size[0] - 1]
    x[len(x)]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    x.batch_size = [5]  # E: field 'pos' has shape [4, 6, 3]; the batch size is [5], and the leading dims of a value must equal it [tensorclass-batch]
    x.pos[0, 0]
    x.auto_batch_size_()
    x[0, 0]

def annotated(x: Shaped[P, "b t"], y: Shaped[P, "b t"], z: Shaped[P, "b s"], w: Shaped[P, "*batch t"]) -> Shaped[P, "t b"]:
    x[0, 0]
    x[0, 0, 0]  # E: index: 3 indices for 2 batch dims (batch size [b, t]); index a field to reach its feature dims [tensorclass-batch]
    x + y
    x + z  # E: add: batch sizes [b, t] and [b, s] do not broadcast; t is not s [tensorclass-batch]
    x.pos + z.pos  # E: add: shapes [b, t, 3] and [b, s, 3] do not broadcast; dim -2 is t and s [tensorclass-shape]
    x.pos + y.pos
    stack([x, z])  # E: stack: item 0 has batch size [b, t], item 1 has [b, s]; they must be equal (lazy_stack keeps items of different sizes) [tensorclass-batch]
    stack([x, y])
    cat([x, z], 1)
    cat([x, z], 0)  # E: cat: item 0 has batch size [b, t], item 1 has [b, s]; they may differ in dim 0 alone [tensorclass-batch]
    x.permute(0, 1, 2)  # E: permute: (0, 1, 2) is not a permutation of 2 batch dims [tensorclass-batch]
    x.pos.sum(3)  # E: sum: dim 3 is out of range for 3 dims; -3 to 2 would do [tensorclass-shape]
    x.replace(mass=z.mass)  # E: field 'mass' has shape [b, s]; the batch size is [b, t], and the leading dims of a value must equal it [tensorclass-batch]
    x.replace(mass=y.mass)
    x.mass = x.pos.sum(0)  # E: field 'mass' has shape [t, 3]; the batch size is [b, t], and the leading dims of a value must equal it [tensorclass-batch]
    x.mass = x.pos.sum(-1)
    v: Shaped[P, "b"] = x[:, 0]
    u: Shaped[P, "b"] = x[0]  # E: u has batch size [t], which does not fit "b": b is t here [tensorclass-batch]
    if x.mass.sum() > 0:
        return x  # E: the result has batch size [b, t], which does not fit "t b": t is b here [tensorclass-batch]
    if x.mass.sum() > 0:
        return x.transpose(0, 1)
    if x.mass.sum() > 0:
        return stack([x, y])  # E: the result has batch size [2, b, t], which does not fit "t b": it has 3 dims, not 2 [tensorclass-batch]
    return x.permute(1, 0)

def calls() -> None:
    annotated(p(2, 3), p(2, 3), p(2, 4), p(3))
    annotated(p(2, 3), p(2, 4), p(2, 4), p(3))  # E: annotated: argument 'y' has batch size [2, 4], which does not fit "b t": t is 4 here and 3 elsewhere [tensorclass-batch]
    annotated(p(2), p(2), p(2), p(3))  # E: annotated: argument 'x' has batch size [2], which does not fit "b t": it has 1 dim, not 2 [tensorclass-batch]
    annotated(p(2, 3), p(2, 3), p(2, 4), p(3))[3]  # E: index: 3 is out of range for batch dim 0 of size 3 [tensorclass-batch]
    annotated(p(2, 3), p(2, 3), p(2, 4), p(3))[2, 1]
    p(4).momentum(p(4))[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    p(4).scaled(torch.zeros(4))
    p(4).scaled(torch.zeros(5))  # E: scaled: argument 'w' has shape [5], which does not fit "*batch": *batch is [5] here and [4] elsewhere [tensorclass-shape]
    p(4).centre.view(5)  # E: view: a tensor of shape [4] has 4 elements, which [5] cannot hold [tensorclass-shape]
    p(4).centre.view(4)
    P.zeros(3)[0]

def modules() -> None:
    td = TensorDict(x=torch.zeros(4, 6, 3), batch_size=[4, 6])
    m = TensorDictModule(nn.Linear(3, 2), in_keys=["x"], out_keys=["y"])
    m(td)["y"].view(47)  # E: view: a tensor of shape [4, 6, 2] has 48 elements, which [47] cannot hold [tensorclass-shape]
    m(td)["y"].view(48)
    m(td)[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    TensorDictModule(nn.Linear(4, 2), in_keys=["x"], out_keys=["y"])(td)  # E: Linear: the last dim of the input [4, 6, 3] is 3, the layer takes 4 [tensorclass-shape]
    TensorDictModule(lambda x: x.mean(0), in_keys=["x"], out_keys=["y"])(td)  # E: out_key 'y': field 'y' has shape [6, 3]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDictModule(lambda x: x.mean(-1), in_keys=["x"], out_keys=["y"])(td)
    TensorDictModule(lambda x: x.flatten(0, 1), in_keys=["x"], out_keys=["y"])(td)  # E: out_key 'y': field 'y' has shape [24, 3]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDictModule(lambda x: x.sum(), in_keys=["x"], out_keys=["y"])(td)  # E: out_key 'y': field 'y' has shape []; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    seq = TensorDictSequential(m, TensorDictModule(nn.Linear(2, 1), in_keys=["y"], out_keys=["z"]))
    seq(td)["z"].view(25)  # E: view: a tensor of shape [4, 6, 1] has 24 elements, which [25] cannot hold [tensorclass-shape]
    seq(td)["z"].view(24)
    TensorDictSequential(m, TensorDictModule(nn.Linear(3, 1), in_keys=["y"], out_keys=["z"]))(td)  # E: Linear: the last dim of the input [4, 6, 2] is 2, the layer takes 3 [tensorclass-shape]
