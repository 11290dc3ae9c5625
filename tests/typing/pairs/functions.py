"""Functions and methods of tensors. A line with a mistake stands beside its good twin."""

from __future__ import annotations

import torch


def factories() -> None:
    torch.zeros(2, 3).view(6)
    torch.zeros(2, 3).view(7)  # E: view: a tensor of shape [2, 3] has 6 elements, which [7] cannot hold [tensorclass-shape]
    torch.randn((2, 3)).view(7)  # E: view: a tensor of shape [2, 3] has 6 elements, which [7] cannot hold [tensorclass-shape]
    torch.randint(0, 10, (2, 3)).view(5)  # E: view: a tensor of shape [2, 3] has 6 elements, which [5] cannot hold [tensorclass-shape]
    torch.randint(10, (2, 3)).view(6)
    torch.randint(10, size=(2, 3)).view(5)  # E: view: a tensor of shape [2, 3] has 6 elements, which [5] cannot hold [tensorclass-shape]
    torch.full((2, 3), 1.0).view(5)  # E: view: a tensor of shape [2, 3] has 6 elements, which [5] cannot hold [tensorclass-shape]
    torch.full((2, 3), fill_value=1.0).view(6)
    torch.arange(0, 10, 2).view(6)  # E: view: a tensor of shape [5] has 5 elements, which [6] cannot hold [tensorclass-shape]
    torch.arange(0, 10, 2).view(5)
    torch.arange(start=0, end=10).view(9)  # E: view: a tensor of shape [10] has 10 elements, which [9] cannot hold [tensorclass-shape]
    torch.arange(end=10).view(9)  # E: view: a tensor of shape [10] has 10 elements, which [9] cannot hold [tensorclass-shape]
    torch.linspace(0, 1, 5).view(4)  # E: view: a tensor of shape [5] has 5 elements, which [4] cannot hold [tensorclass-shape]
    torch.linspace(0, 1, steps=5).view(5)
    torch.eye(3).view(8)  # E: view: a tensor of shape [3, 3] has 9 elements, which [8] cannot hold [tensorclass-shape]
    torch.eye(3, 4).view(12)
    torch.zeros_like(torch.ones(2, 3)).view(7)  # E: view: a tensor of shape [2, 3] has 6 elements, which [7] cannot hold [tensorclass-shape]
    torch.randn_like(torch.ones(2, 3)).view(6)
    torch.rand(2, 3, dtype=torch.float64) @ torch.rand(2, 3, dtype=torch.float64)  # E: matmul: shapes [2, 3] and [2, 3] do not fit: the last dim of the first is 3, the rows of the second are 2 [tensorclass-shape]
    torch.tensor([[1.0, 2.0], [3.0, 4.0]]) @ torch.tensor([1.0, 2.0, 3.0])  # E: matmul: shapes [2, 2] and [3] do not fit: the last dim of the first is 2, the rows of the second are 3 [tensorclass-shape]
    torch.tensor([[1.0, 2.0], [3.0, 4.0]]) @ torch.tensor([1.0, 2.0])
    torch.empty(3, 4).T @ torch.zeros(4)  # E: matmul: shapes [4, 3] and [4] do not fit: the last dim of the first is 3, the rows of the second are 4 [tensorclass-shape]
    torch.empty(3, 4).T @ torch.zeros(3)
    torch.ones(2, 3).new_zeros(4) + torch.ones(3)  # E: add: shapes [4] and [3] do not broadcast; dim -1 is 4 and 3 [tensorclass-shape]
    torch.ones(2, 3).new_ones((4, 3)) + torch.ones(3)
    torch.randperm(5).view(6)  # E: view: a tensor of shape [5] has 5 elements, which [6] cannot hold [tensorclass-shape]
    torch.randperm(5).view(5)
    torch.tril_indices(3, 3).shape
    torch.normal(0.0, 1.0, size=(2, 3)).view(7)  # E: view: a tensor of shape [2, 3] has 6 elements, which [7] cannot hold [tensorclass-shape]
    torch.normal(0.0, 1.0, size=(2, 3)).view(6)
    torch.multinomial(torch.ones(4, 3), 2).view(9)  # E: view: a tensor of shape [4, 2] has 8 elements, which [9] cannot hold [tensorclass-shape]
    torch.multinomial(torch.ones(4, 3), 2).view(8)
    torch.bernoulli(torch.full((2, 3), 0.5)).view(7)  # E: view: a tensor of shape [2, 3] has 6 elements, which [7] cannot hold [tensorclass-shape]
    torch.meshgrid(torch.arange(3), torch.arange(4), indexing="ij")[0].reshape(11)  # E: reshape: a tensor of shape [3, 4] has 12 elements, which [11] cannot hold [tensorclass-shape]
    torch.meshgrid(torch.arange(3), torch.arange(4), indexing="ij")[0].reshape(12)
    torch.diag(torch.ones(3)).view(8)  # E: view: a tensor of shape [3, 3] has 9 elements, which [8] cannot hold [tensorclass-shape]
    torch.diag(torch.ones(3)).view(9)
    torch.diag(torch.ones(3, 4)).view(4)  # E: view: a tensor of shape [3] has 3 elements, which [4] cannot hold [tensorclass-shape]
    torch.diag(torch.ones(3, 4)).view(3)
    torch.cartesian_prod(torch.arange(3), torch.arange(2)).view(12)
    torch.Tensor(2, 3).view(6)
    torch.complex(torch.zeros(2, 3), torch.zeros(2, 3)).view(7)  # E: view: a tensor of shape [2, 3] has 6 elements, which [7] cannot hold [tensorclass-shape]
    torch.polar(torch.ones(4), torch.ones(4)).view(5)  # E: view: a tensor of shape [4] has 4 elements, which [5] cannot hold [tensorclass-shape]

def indexing() -> None:
    x = torch.zeros(4, 5, 6)
    x[0].reshape(29)  # E: reshape: a tensor of shape [5, 6] has 30 elements, which [29] cannot hold [tensorclass-shape]
    x[0].reshape(30)
    x[:, 0].reshape(23)  # E: reshape: a tensor of shape [4, 6] has 24 elements, which [23] cannot hold [tensorclass-shape]
    x[:, 0].reshape(24)
    x[..., 0].reshape(19)  # E: reshape: a tensor of shape [4, 5] has 20 elements, which [19] cannot hold [tensorclass-shape]
    x[..., 0].reshape(20)
    x[:, None].reshape(4, 2, 5, 6)  # E: reshape: a tensor of shape [4, 1, 5, 6] has 120 elements, which [4, 2, 5, 6] cannot hold [tensorclass-shape]
    x[:, None].reshape(4, 1, 5, 6)
    x[1:3].reshape(61)  # E: reshape: a tensor of shape [2, 5, 6] has 60 elements, which [61] cannot hold [tensorclass-shape]
    x[1:3].reshape(60)
    x[-2:].reshape(61)  # E: reshape: a tensor of shape [2, 5, 6] has 60 elements, which [61] cannot hold [tensorclass-shape]
    x[-2:].reshape(60)
    x[::2].reshape(61)  # E: reshape: a tensor of shape [2, 5, 6] has 60 elements, which [61] cannot hold [tensorclass-shape]
    x[::2].reshape(60)
    x[:, [0, 2]].reshape(4, 3, 6)  # E: reshape: a tensor of shape [4, 2, 6] has 48 elements, which [4, 3, 6] cannot hold [tensorclass-shape]
    x[:, [0, 2]].reshape(4, 2, 6)
    x[torch.tensor([0, 1, 1])].reshape(4, 5, 6)  # E: reshape: a tensor of shape [3, 5, 6] has 90 elements, which [4, 5, 6] cannot hold [tensorclass-shape]
    x[torch.tensor([0, 1, 1])].reshape(3, 5, 6)
    x[torch.arange(4), torch.arange(5)]  # E: index: index tensors of shapes [4] and [5] do not broadcast [tensorclass-shape]
    x[torch.arange(4), torch.arange(4)]
    x[torch.arange(4), 0].reshape(25)  # E: reshape: a tensor of shape [4, 6] has 24 elements, which [25] cannot hold [tensorclass-shape]
    x[torch.arange(4), 0].reshape(24)
    x[torch.ones(4, 4, dtype=torch.bool)]  # E: index: the mask has shape [4, 4], the shape is [4, 5, 6]; its size 4 must equal 5, the size of dim 1 [tensorclass-shape]
    x[torch.ones(4, 5, dtype=torch.bool)]
    x[x > 0].reshape(-1, 1)
    x[x.sum(-1) > 0]
    x[x.sum(0) > 0]  # E: index: the mask has shape [5, 6], the shape is [4, 5, 6]; its size 5 must equal 4, the size of dim 0 [tensorclass-shape]
    x[:, :, :, 0]  # E: index: 4 indices for 3 dims (shape [4, 5, 6]) [tensorclass-shape]
    x[0, 1, 2]
    x[0][1][2][0]  # E: index: 1 index for 0 dims (shape []) [tensorclass-shape]
    x[0][1][2]
    x[0, ..., 0].reshape(6)  # E: reshape: a tensor of shape [5] has 5 elements, which [6] cannot hold [tensorclass-shape]
    x[0, ..., 0].reshape(5)
    x[:, 5]  # E: index: 5 is out of range for dim 1 of size 5 [tensorclass-shape]
    x[:, 4]
    x[:, :, -7]  # E: index: -7 is out of range for dim 2 of size 6 [tensorclass-shape]
    x[:, :, -6]
    x.select(1, 5)  # E: select: 5 is out of range for dim 1 of size 5 [tensorclass-shape]
    x.select(1, 4)
    x.narrow(2, 4, 3)  # E: narrow: start 4 and length 3 leave dim 2 of size 6; at most 2 rows are there [tensorclass-shape]
    x.narrow(2, 4, 2)
    x.index_select(1, torch.tensor([0, 1])).reshape(4, 3, 6)  # E: reshape: a tensor of shape [4, 2, 6] has 48 elements, which [4, 3, 6] cannot hold [tensorclass-shape]
    x.index_select(1, torch.tensor([0, 1])).reshape(4, 2, 6)
    x[0] = torch.zeros(5, 5)  # E: index: a value of shape [5, 5] does not fit into [5, 6] [tensorclass-shape]
    x[0] = torch.zeros(5, 6)
    x[:, 0] = torch.zeros(5, 6)  # E: index: a value of shape [5, 6] does not fit into [4, 6] [tensorclass-shape]
    x[:, 0] = torch.zeros(4, 6)
    x[:, 0] = torch.zeros(6)
    x[..., 0] += torch.zeros(4)  # E: add: shapes [4, 5] and [4] do not broadcast; dim -1 is 5 and 4 [tensorclass-shape]
    x[..., 0] += torch.zeros(5)
    x[0:2] *= torch.zeros(3, 1, 1)  # E: mul: shapes [2, 5, 6] and [3, 1, 1] do not broadcast; dim -3 is 2 and 3 [tensorclass-shape]
    x[0:2] *= torch.zeros(2, 1, 1)
    x[torch.tensor([0, 1])] = torch.zeros(3, 5, 6)  # E: index: a value of shape [3, 5, 6] does not fit into [2, 5, 6] [tensorclass-shape]
    x[torch.tensor([0, 1])] = torch.zeros(2, 5, 6)
    torch.take_along_dim(x, torch.zeros(4, 5, 1, dtype=torch.long), dim=2).reshape(21)  # E: reshape: a tensor of shape [4, 5, 1] has 20 elements, which [21] cannot hold [tensorclass-shape]
    torch.take_along_dim(x, torch.zeros(4, 5, 1, dtype=torch.long), dim=2).reshape(20)
    x.gather(2, torch.zeros(4, 5, 2, dtype=torch.long)).reshape(41)  # E: reshape: a tensor of shape [4, 5, 2] has 40 elements, which [41] cannot hold [tensorclass-shape]
    x.gather(2, torch.zeros(4, 5, 2, dtype=torch.long)).reshape(40)
    x.gather(3, torch.zeros(4, 5, 2, dtype=torch.long))  # E: gather: dim 3 is out of range for 3 dims; -3 to 2 would do [tensorclass-shape]
    x.gather(2, torch.zeros(4, 6, 2, dtype=torch.long))  # E: gather: dim 1 of the index [4, 6, 2] is 6, that of the tensor [4, 5, 6] is 5 [tensorclass-shape]
    x.gather(dim=2, index=torch.zeros(4, 5, dtype=torch.long))  # E: gather: the index has shape [4, 5], the tensor [4, 5, 6]; they have as many dims [tensorclass-shape]
    x.scatter(2, torch.zeros(4, 5, 2, dtype=torch.long), 1.0)
    x.scatter(2, torch.zeros(4, 5, dtype=torch.long), 1.0)  # E: scatter: the index has shape [4, 5], the tensor [4, 5, 6]; they have as many dims [tensorclass-shape]
    x.scatter(2, torch.zeros(4, 5, 1, dtype=torch.long), torch.zeros(4, 5, 1))
    x.unfold(1, 2, 1).shape
    x.unfold(1, 6, 1)  # E: unfold: windows of 6 in dim 1 of [4, 5, 6], which has 5 [tensorclass-shape]
    x.unfold(1, 2, 1).reshape(4, 4, 6, 3)  # E: reshape: a tensor of shape [4, 4, 6, 2] has 192 elements, which [4, 4, 6, 3] cannot hold [tensorclass-shape]
    x.unfold(1, 2, 1).reshape(4, 4, 6, 2)
    x.diagonal(dim1=1, dim2=2).reshape(19)  # E: reshape: a tensor of shape [4, 5] has 20 elements, which [19] cannot hold [tensorclass-shape]
    x.diagonal(dim1=1, dim2=2).reshape(20)
    x.masked_select(x > 0)
    x.masked_fill(torch.zeros(4, 5, dtype=torch.bool), 0.0)  # E: masked_fill: shapes [4, 5, 6] and [4, 5] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    x.masked_fill(torch.zeros(4, 5, 1, dtype=torch.bool), 0.0)
    x.masked_fill_(torch.zeros(5, dtype=torch.bool), 0.0)  # E: masked_fill_: a value of shape [5] does not fit into [4, 5, 6] [tensorclass-shape]
    torch.where(x > 0, x, torch.zeros(5))  # E: where: shapes [4, 5, 6] and [5] do not broadcast; dim -1 is 6 and 5 [tensorclass-shape]
    torch.where(x > 0, x, torch.zeros(6))
    torch.where(torch.zeros(4, dtype=torch.bool), torch.zeros(3), torch.zeros(3))  # E: where: shapes [4] and [3] do not broadcast; dim -1 is 4 and 3 [tensorclass-shape]

def ops() -> None:
    x = torch.zeros(4, 5, 6)
    torch.add(x, torch.zeros(5))  # E: add: shapes [4, 5, 6] and [5] do not broadcast; dim -1 is 6 and 5 [tensorclass-shape]
    torch.add(x, torch.zeros(6))
    torch.mul(x, torch.zeros(4, 6))  # E: mul: shapes [4, 5, 6] and [4, 6] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    torch.sub(x, torch.zeros(5, 6))
    torch.maximum(x, torch.zeros(4))  # E: max: shapes [4, 5, 6] and [4] do not broadcast; dim -1 is 6 and 4 [tensorclass-shape]
    torch.minimum(x, torch.zeros(1))
    torch.pow(x, torch.zeros(5))  # E: **: shapes [4, 5, 6] and [5] do not broadcast; dim -1 is 6 and 5 [tensorclass-shape]
    x.pow(2).view(121)  # E: view: a tensor of shape [4, 5, 6] has 120 elements, which [121] cannot hold [tensorclass-shape]
    x ** torch.zeros(5)  # E: **: shapes [4, 5, 6] and [5] do not broadcast; dim -1 is 6 and 5 [tensorclass-shape]
    x // torch.ones(5)  # E: //: shapes [4, 5, 6] and [5] do not broadcast; dim -1 is 6 and 5 [tensorclass-shape]
    x % torch.ones(4, 1, 1)
    (x > torch.zeros(5)).any()  # E: >: shapes [4, 5, 6] and [5] do not broadcast; dim -1 is 6 and 5 [tensorclass-shape]
    (x > torch.zeros(6)).any()
    (x == torch.zeros(4, 5)).all()  # E: ==: shapes [4, 5, 6] and [4, 5] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    torch.lerp(x, x, 0.5).view(121)  # E: view: a tensor of shape [4, 5, 6] has 120 elements, which [121] cannot hold [tensorclass-shape]
    torch.lerp(x, torch.zeros(5), 0.5)  # E: lerp: shapes [4, 5, 6] and [5] do not broadcast; dim -1 is 6 and 5 [tensorclass-shape]
    torch.addmm(torch.zeros(3), torch.zeros(2, 4), torch.zeros(5, 3))  # E: matmul: shapes [2, 4] and [5, 3] do not fit: the last dim of the first is 4, the rows of the second are 5 [tensorclass-shape]
    torch.addmm(torch.zeros(3), torch.zeros(2, 4), torch.zeros(4, 3))
    torch.addcmul(x, x, torch.zeros(5))  # E: addcmul: shapes [4, 5, 6] and [5] do not broadcast; dim -1 is 6 and 5 [tensorclass-shape]
    torch.clamp(x, min=0).view(121)  # E: view: a tensor of shape [4, 5, 6] has 120 elements, which [121] cannot hold [tensorclass-shape]
    torch.clamp(x, min=0).view(120)
    x.sum(-1, keepdim=True).view(4, 5)
    x.sum(-1, keepdim=True).view(4, 6)  # E: view: a tensor of shape [4, 5, 1] has 20 elements, which [4, 6] cannot hold [tensorclass-shape]
    x / x.sum(1)  # E: div: shapes [4, 5, 6] and [4, 6] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    x / x.sum(1, keepdim=True)
    x - x.mean(dim=(0, 1))
    x - x.mean(dim=(0, 2))  # E: sub: shapes [4, 5, 6] and [5] do not broadcast; dim -1 is 6 and 5 [tensorclass-shape]
    x - x.mean(dim=(0, 2), keepdim=True)
    x - x.max(dim=-1)[0]  # E: sub: shapes [4, 5, 6] and [4, 5] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    x - x.max(dim=-1, keepdim=True)[0]
    x - x.max(dim=-1, keepdim=True).values
    x - x.max(dim=-1).values  # E: sub: shapes [4, 5, 6] and [4, 5] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    x - x.amax(1)  # E: sub: shapes [4, 5, 6] and [4, 6] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    x - x.amax((1,), keepdim=True)
    x - torch.max(x, dim=1).values  # E: sub: shapes [4, 5, 6] and [4, 6] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    x - torch.logsumexp(x, 1)  # E: sub: shapes [4, 5, 6] and [4, 6] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    x - torch.logsumexp(x, dim=1, keepdim=True)
    x - x.std(1)  # E: sub: shapes [4, 5, 6] and [4, 6] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    x - x.std(1, keepdim=True)
    x - x.var(dim=1, unbiased=False)  # E: sub: shapes [4, 5, 6] and [4, 6] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    x - x.median(dim=1).values  # E: sub: shapes [4, 5, 6] and [4, 6] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    torch.var_mean(x, dim=1)[1].view(25)  # E: view: a tensor of shape [4, 6] has 24 elements, which [25] cannot hold [tensorclass-shape]
    torch.var_mean(x, dim=1)[1].view(24)
    torch.std_mean(x, dim=1, keepdim=True)[1].view(24)
    x.argmax(-1).view(21)  # E: view: a tensor of shape [4, 5] has 20 elements, which [21] cannot hold [tensorclass-shape]
    x.argmax(-1).view(20)
    x.argmax().view(1)
    x.norm(dim=-1).view(21)  # E: view: a tensor of shape [4, 5] has 20 elements, which [21] cannot hold [tensorclass-shape]
    torch.linalg.norm(x, dim=-1).view(21)  # E: view: a tensor of shape [4, 5] has 20 elements, which [21] cannot hold [tensorclass-shape]
    torch.linalg.norm(x, dim=-1, keepdim=True).view(20)
    torch.linalg.vector_norm(x, dim=-1).view(21)  # E: view: a tensor of shape [4, 5] has 20 elements, which [21] cannot hold [tensorclass-shape]
    x / x.norm(dim=1)  # E: div: shapes [4, 5, 6] and [4, 6] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    x / x.norm(dim=1, keepdim=True)
    x / x.norm(p=2, dim=1)  # E: div: shapes [4, 5, 6] and [4, 6] do not broadcast; dim -2 is 5 and 4 [tensorclass-shape]
    x.cumsum(3)  # E: cumsum: dim 3 is out of range for 3 dims; -3 to 2 would do [tensorclass-shape]
    x.cumsum(2).view(120)
    torch.cumsum(x, dim=3)  # E: cumsum: dim 3 is out of range for 3 dims; -3 to 2 would do [tensorclass-shape]
    x.softmax(3)  # E: softmax: dim 3 is out of range for 3 dims; -3 to 2 would do [tensorclass-shape]
    x.softmax(dim=-1).view(120)
    x.topk(2, dim=1)[0].view(4, 3, 6)  # E: view: a tensor of shape [4, 2, 6] has 48 elements, which [4, 3, 6] cannot hold [tensorclass-shape]
    x.topk(2, dim=1).values.view(4, 2, 6)
    x.topk(2, dim=1).indices.view(4, 3, 6)  # E: view: a tensor of shape [4, 2, 6] has 48 elements, which [4, 3, 6] cannot hold [tensorclass-shape]
    x.sort(dim=1)[1].view(121)  # E: view: a tensor of shape [4, 5, 6] has 120 elements, which [121] cannot hold [tensorclass-shape]
    x.sort(dim=1).values.view(120)
    x.sort(dim=3)  # E: sort: dim 3 is out of range for 3 dims; -3 to 2 would do [tensorclass-shape]
    x.argsort(dim=1).view(121)  # E: view: a tensor of shape [4, 5, 6] has 120 elements, which [121] cannot hold [tensorclass-shape]
    x.argsort(dim=1).view(120)
    x.bincount() if x.dim() == 1 else x
    x.quantile(0.5, dim=1).view(25)  # E: view: a tensor of shape [4, 6] has 24 elements, which [25] cannot hold [tensorclass-shape]
    x.quantile(0.5, dim=1).view(24)
    x.nansum(1).view(25)  # E: view: a tensor of shape [4, 6] has 24 elements, which [25] cannot hold [tensorclass-shape]
    x.count_nonzero(1).view(25)  # E: view: a tensor of shape [4, 6] has 24 elements, which [25] cannot hold [tensorclass-shape]
    x.count_nonzero(dim=1).view(24)
    x.diff(dim=1).view(120)  # E: view: a tensor of shape [4, 4, 6] has 96 elements, which [120] cannot hold [tensorclass-shape]
    x.diff(dim=1).view(96)
    torch.diff(x).view(100)
    torch.cdist(torch.zeros(4, 3), torch.zeros(5, 4))  # E: cdist: the last dims of [4, 3] and [5, 4] are 3 and 4; they must be equal [tensorclass-shape]
    torch.cdist(torch.zeros(4, 3), torch.zeros(5, 3)).view(20)
    torch.cdist(torch.zeros(4, 3), torch.zeros(5, 3)).view(21)  # E: view: a tensor of shape [4, 5] has 20 elements, which [21] cannot hold [tensorclass-shape]
    torch.cross(torch.zeros(4, 3), torch.zeros(5, 3), dim=-1)  # E: cross: shapes [4, 3] and [5, 3] do not broadcast; dim -2 is 4 and 5 [tensorclass-shape]
    torch.cross(torch.zeros(4, 3), torch.zeros(4, 3), dim=-1)
    torch.linalg.cross(torch.zeros(4, 2), torch.zeros(4, 2))  # E: linalg.cross: dim 1 of [4, 2] is 2; it takes 3 [tensorclass-shape]
    torch.linalg.solve(torch.zeros(3, 4), torch.zeros(3))  # E: linalg.solve: the matrices are not square: the shape is [3, 4] [tensorclass-shape]
    torch.linalg.det(torch.zeros(2, 3, 4))  # E: linalg.det: the matrices are not square: the shape is [2, 3, 4] [tensorclass-shape]
    torch.trace(torch.zeros(3))  # E: trace: the tensor has shape [3]; trace takes 2 dims [tensorclass-shape]
    torch.trace(torch.zeros(3, 3))
