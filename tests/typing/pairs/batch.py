"""Batch sizes: indices, ops and joins. A line with a mistake stands beside its good twin."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict, cat, lazy_stack, stack

T = TypeVar("T")


class P(TensorClass):
    x: Tensor
    y: Tensor


class Q(TensorClass):
    x: Tensor


def p(*b: int) -> P:
    return P(x=torch.zeros(*b, 3), y=torch.zeros(*b), batch_size=b)


def td46() -> None:
    td = TensorDict({"a": torch.zeros(4, 6, 3), "b": torch.zeros(4, 6)}, batch_size=[4, 6])
    td["c"] = torch.zeros(4, 5)  # E: field 'c' has shape [4, 5]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    td["c"] = torch.zeros(4, 6, 1)
    td["c"] = td["a"].mean()  # E: field 'c' has shape []; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    td["c"] = td["a"].mean(-1)
    td["c"] = td["a"].sum(0)  # E: field 'c' has shape [6, 3]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    td.set("c", torch.zeros(6, 4))  # E: field 'c' has shape [6, 4]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    td.update({"c": torch.zeros(4)})  # E: field 'c' has shape [4]; the batch size is [4, 6], and the leading dims of a value must equal it [tensorclass-batch]
    td[0, 0, 0]  # E: index: 3 indices for 2 batch dims (batch size [4, 6]); index a field to reach its feature dims [tensorclass-batch]
    td[0, 0]
    td[4]  # E: index: 4 is out of range for batch dim 0 of size 4 [tensorclass-batch]
    td[3]
    td[:, 6]  # E: index: 6 is out of range for batch dim 1 of size 6 [tensorclass-batch]
    td[:, -6]
    td[:2] = TensorDict({"a": torch.zeros(3, 6, 3), "b": torch.zeros(3, 6)}, batch_size=[3, 6])  # E: index: the rows have batch size [2, 6], the value has [3, 6]; they must be equal [tensorclass-batch]
    td[:2] = TensorDict({"a": torch.zeros(2, 6, 3), "b": torch.zeros(2, 6), "c": torch.zeros(2, 6)}, batch_size=[2, 6])
    td.reshape(5, 5)  # E: reshape: a batch of size [4, 6] has 24 elements, which [5, 5] cannot hold [tensorclass-batch]
    td.reshape(24)
    td.reshape(-1, 3)
    td.reshape(-1, 5)  # E: reshape: a batch of size [4, 6] has 24 elements, which [-1, 5] cannot hold [tensorclass-batch]
    td.view(4, 6, 3)  # E: view: a batch of size [4, 6] has 24 elements, which [4, 6, 3] cannot hold [tensorclass-batch]
    td.view(2, 2, 6)
    td.permute(0, 1, 2)  # E: permute: (0, 1, 2) is not a permutation of 2 batch dims [tensorclass-batch]
    td.permute(1, 0)
    td.permute(0, 0)  # E: permute: (0, 0) is not a permutation of 2 batch dims [tensorclass-batch]
    td.transpose(0, 2)  # E: transpose: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    td.transpose(0, 1)
    td.unsqueeze(3)  # E: unsqueeze: dim 3 is out of range for 2 batch dims; -3 to 2 would do [tensorclass-batch]
    td.unsqueeze(2)
    td.squeeze(2)  # E: squeeze: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    td.squeeze(0)
    td.flatten(0, 2)  # E: flatten: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    td.flatten(0, 1)[23]
    td.flatten(0, 1)[24]  # E: index: 24 is out of range for batch dim 0 of size 24 [tensorclass-batch]
    td.unflatten(0, (2, 3))  # E: unflatten: a batch of size [4] has 4 elements, which [2, 3] cannot hold [tensorclass-batch]
    td.unflatten(0, (2, 2))
    td.expand(3, 4, 5)  # E: expand: batch size [4, 6] does not fit [3, 4, 5]; dim 1 has size 6, and only size 1 can grow [tensorclass-batch]
    td.expand(3, 4, 6)
    td.expand(4)  # E: expand: [4] has fewer dims than the batch size [4, 6]; give all of them, or -1 to keep one [tensorclass-batch]
    td.split([1, 2], 0)  # E: split: sizes [1, 2] sum to 3; dim 0 has size 4 [tensorclass-batch]
    td.split([1, 3], 0)
    td.split(2, 2)  # E: split: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    td.chunk(2, 3)  # E: chunk: dim 3 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    td.unbind(2)  # E: unbind: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    a, b, c, d = td.unbind(0)
    a, b, c = td.unbind(0)  # E: unpack: there are 4 values for 3 names [tensorclass-shape]
    a, b = td.chunk(2)
    a, b, c = td.chunk(2)  # E: unpack: there are 2 values for 3 names [tensorclass-shape]
    td.repeat(2)  # E: repeat: 1 number for 2 batch dims; give one a dim [tensorclass-batch]
    td.repeat(2, 1)
    td.repeat_interleave(2, dim=2)  # E: repeat_interleave: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    td.gather(2, torch.zeros(4, 6, dtype=torch.long))  # E: gather: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    td.sum(2)  # E: sum: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    td.sum(1)[3]
    td.sum(1)[3, 0]  # E: index: 2 indices for 1 batch dim (batch size [4]); index a field to reach its feature dims [tensorclass-batch]
    td.mean(dim=(0, 1))[0]  # E: index: 1 index for 0 batch dims (batch size []); index a field to reach its feature dims [tensorclass-batch]
    td.batch_size = [4, 5]  # E: field 'a' has shape [4, 6, 3]; the batch size is [4, 5], and the leading dims of a value must equal it [tensorclass-batch]
    td.batch_size = [4]
    td.names = ["a", "b"]  # E: names: 2 names for 1 batch dim; give one for each [tensorclass-batch]
    td.names = ["a"]
    td[torch.zeros(5, dtype=torch.bool)]  # E: index: the mask has shape [5], the batch size is [4]; its size 5 must equal 4, the size of batch dim 0 [tensorclass-batch]
    td[torch.zeros(4, dtype=torch.bool)]
    td[torch.tensor([0, 1])]
    td[..., None]
    td.masked_fill(torch.zeros(5, dtype=torch.bool), 0.0)  # E: index: the mask has shape [5], the batch size is [4]; its size 5 must equal 4, the size of batch dim 0 [tensorclass-batch]
    td.narrow(0, 3, 2)  # E: narrow: start 3 and length 2 leave dim 0 of size 4; at most 1 rows are there [tensorclass-batch]
    td.narrow(0, 2, 2)
    (n,) = td.batch_size
    n, m = td.batch_size  # E: unpack: there are 1 value for 2 names [tensorclass-shape]
    for i in range(4):
        td[i]
    td.view(-1)[0]


def joins() -> None:
    stack([p(3), p(4)])  # E: stack: item 0 has batch size [3], item 1 has [4]; they must be equal (lazy_stack keeps items of different sizes) [tensorclass-batch]
    stack([p(3), p(3)])
    stack([p(3), p(3)], 2)  # E: stack: dim 2 is out of range for 1 batch dim; -2 to 1 would do [tensorclass-batch]
    stack([p(3), p(3)], 1)
    stack([p(3), p(3)])[2]  # E: index: 2 is out of range for batch dim 0 of size 2 [tensorclass-batch]
    stack([p(3), p(3)])[1]
    cat([p(3), p(4)])[6]
    cat([p(3), p(4)])[7]  # E: index: 7 is out of range for batch dim 0 of size 7 [tensorclass-batch]
    cat([p(3, 2), p(3, 4)])  # E: cat: item 0 has batch size [3, 2], item 1 has [3, 4]; they may differ in dim 0 alone [tensorclass-batch]
    cat([p(3, 2), p(3, 4)], 1)
    cat([p(3, 2), p(3, 4)], dim=2)  # E: cat: dim 2 is out of range for 2 batch dims; -2 to 1 would do [tensorclass-batch]
    torch.stack([p(3), p(4)])  # E: stack: item 0 has batch size [3], item 1 has [4]; they must be equal (lazy_stack keeps items of different sizes) [tensorclass-batch]
    torch.cat([p(3, 2), p(4, 3)], 0)  # E: cat: item 0 has batch size [3, 2], item 1 has [4, 3]; they may differ in dim 0 alone [tensorclass-batch]
    stack([p(3), Q(x=torch.zeros(3), batch_size=[3])])  # E: stack: item 0 is a P, item 1 is a Q; items must have one class [tensorclass-field]
    torch.stack([p(3), Q(x=torch.zeros(3), batch_size=[3])])  # E: stack: item 0 is a P, item 1 is a Q; items must have one class [tensorclass-field]
    p(3) + p(4)  # E: add: batch sizes [3] and [4] do not broadcast; 3 is not 4 [tensorclass-batch]
    p(3) + p(3)
    p(3) == p(4)  # E: eq: batch sizes [3] and [4] do not broadcast; 3 is not 4 [tensorclass-batch]
    lazy_stack([p(3), p(4)])[0]
    lazy_stack([p(3), p(4)])[2]  # E: index: 2 is out of range for batch dim 0 of size 2 [tensorclass-batch]
    stack([P(x=torch.zeros(3, 2), y=torch.zeros(3), batch_size=[3]), P(x=torch.zeros(3, 4), y=torch.zeros(3), batch_size=[3])])  # E: stack: 'x' is a tensor of shape [3, 2] in item 0 and a tensor of shape [3, 4] in item 1; they must be alike (lazy_stack keeps items that differ) [tensorclass-shape]
    stack([TensorDict({"a": torch.zeros(3)}, [3]), TensorDict({"b": torch.zeros(3)}, [3])])  # E: stack: item 1 has no 'a'; both must have the same keys [tensorclass-key]
    p(3).update(p(4))  # E: field 'x' has shape [4, 3]; the batch size is [3], and the leading dims of a value must equal it [tensorclass-batch]
    p(3).where(torch.ones(4, dtype=torch.bool), p(3))  # E: where: the condition has shape [4], the batch size is [3]; they must be equal [tensorclass-batch]
    torch.where(torch.ones(3, dtype=torch.bool), p(3), p(3))
    p(3).replace(x=torch.zeros(4, 3))  # E: field 'x' has shape [4, 3]; the batch size is [3], and the leading dims of a value must equal it [tensorclass-batch]
    p(3).replace(x=torch.zeros(3, 9))
    p(3).apply(lambda a: a + 1, batch_size=[3])
    p(3).apply(lambda a, b: a + b)  # E: apply: the function is called with 1 value, and it takes 2 [tensorclass-module]
    p(3).apply(lambda a, b: a + b, p(3))
    p(3).named_apply(lambda a: a)  # E: named_apply: the function is called with a name and 1 value, and it takes 1 [tensorclass-module]
    p(3).named_apply(lambda k, a: a)
    torch.vmap(lambda a, b: a, in_dims=(0, 0, 0))(p(3), p(3))  # E: vmap: in_dims has 3 for 2 arguments of the function; give one for each [tensorclass-module]
