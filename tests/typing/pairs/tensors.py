"""Shapes of tensors: layers, ops and functions. A line with a mistake stands beside its good twin."""

from __future__ import annotations

from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import nn

T = TypeVar("T")


def ts() -> None:
    x = torch.zeros(5, 3)
    nn.Linear(4, 2)(x)  # E: Linear: the last dim of the input [5, 3] is 3, the layer takes 4 [tensorclass-shape]
    nn.Linear(3, 2)(x).view(10)
    nn.Linear(3, 2)(x).view(15)  # E: view: a tensor of shape [5, 2] has 10 elements, which [15] cannot hold [tensorclass-shape]
    nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(5, 2))(x)  # E: Linear: the last dim of the input [5, 4] is 4, the layer takes 5 [tensorclass-shape]
    nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))(x)
    nn.Conv2d(3, 8, 3)(torch.zeros(2, 4, 16, 16))  # E: Conv2d: the channels of the input [2, 4, 16, 16] is 4, the layer takes 3 [tensorclass-shape]
    nn.Conv2d(3, 8, 3)(torch.zeros(2, 3, 16, 16))
    nn.Conv2d(3, 8, 3)(x)  # E: Conv2d: the input [5, 3] has 2 dims; 3 or 4 would do [tensorclass-shape]
    nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(8 * 16 * 16, 2))(torch.zeros(2, 3, 16, 16))  # E: Linear: the last dim of the input [2, 1568] is 1568, the layer takes 2048 [tensorclass-shape]
    nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.Flatten(), nn.Linear(8 * 16 * 16, 2))(torch.zeros(2, 3, 16, 16))
    nn.Sequential(nn.Conv2d(3, 8, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 7 * 7, 2))(torch.zeros(2, 3, 16, 16))
    nn.Sequential(nn.Conv2d(3, 8, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 8 * 8, 2))(torch.zeros(2, 3, 16, 16))  # E: Linear: the last dim of the input [2, 392] is 392, the layer takes 512 [tensorclass-shape]
    nn.LayerNorm(4)(x)  # E: LayerNorm: the last dims of the input [5, 3] are [3], the layer takes [4] [tensorclass-shape]
    nn.LayerNorm(3)(x)
    nn.BatchNorm1d(4)(x)  # E: BatchNorm1d: dim 1 of the input [5, 3] is 3, the layer takes 4 [tensorclass-shape]
    nn.BatchNorm1d(3)(x)
    nn.BatchNorm2d(3)(x)  # E: BatchNorm2d: the input [5, 3] has 2 dims; 4 would do [tensorclass-shape]
    nn.Embedding(10, 4)(torch.zeros(5))  # E: Embedding: the input has dtype float32; it takes ints [tensorclass-shape]
    nn.Embedding(10, 4)(torch.zeros(5, dtype=torch.long)).view(20)
    nn.MultiheadAttention(10, 3)  # E: MultiheadAttention: embed_dim 10 is no multiple of num_heads 3 [tensorclass-shape]
    nn.MultiheadAttention(8, 2)(torch.zeros(5, 2, 7), torch.zeros(5, 2, 7), torch.zeros(5, 2, 7))  # E: MultiheadAttention: the last dim of the query of the input [5, 2, 7] is 7, the layer takes 8 [tensorclass-shape]
    nn.LSTM(4, 5)(torch.zeros(7, 2, 3))  # E: LSTM: the last dim of the input [7, 2, 3] is 3, the layer takes 4 [tensorclass-shape]
    nn.LSTM(3, 5)(torch.zeros(7, 2, 3))[0].view(70)
    nn.GRUCell(3, 5)(torch.zeros(2, 4))  # E: GRUCell: the last dim of the input [2, 4] is 4, the layer takes 3 [tensorclass-shape]
    nn.GRUCell(3, 5)(torch.zeros(2, 3))
    nn.ConvTranspose2d(3, 8, 2)(torch.zeros(2, 4, 5, 5))  # E: ConvTranspose2d: the channels of the input [2, 4, 5, 5] is 4, the layer takes 3 [tensorclass-shape]
    nn.ConvTranspose2d(3, 8, 2, stride=2)(torch.zeros(2, 3, 5, 5)).view(2, 800)
    nn.GroupNorm(3, 8)  # E: GroupNorm: num_channels 8 is no multiple of num_groups 3 [tensorclass-shape]
    nn.GroupNorm(2, 8)(torch.zeros(2, 8, 4))
    nn.GroupNorm(2, 8)(torch.zeros(2, 6, 4))  # E: GroupNorm: dim 1 of the input [2, 6, 4] is 6, the layer takes 8 [tensorclass-shape]
    nn.Bilinear(3, 4, 5)(torch.zeros(2, 3), torch.zeros(2, 5))  # E: Bilinear: the last dim (of input 1) of the input [2, 5] is 5, the layer takes 4 [tensorclass-shape]
    nn.TransformerEncoderLayer(8, 2)(torch.zeros(5, 2, 7))  # E: TransformerEncoderLayer: the last dim of the input [5, 2, 7] is 7, the layer takes 8 [tensorclass-shape]
    nn.TransformerEncoderLayer(8, 3)  # E: TransformerEncoderLayer: d_model 8 is no multiple of nhead 3 [tensorclass-shape]
    nn.TransformerEncoderLayer(8, 2)(torch.zeros(5, 2, 8))
    x.view(4, 4)  # E: view: a tensor of shape [5, 3] has 15 elements, which [4, 4] cannot hold [tensorclass-shape]
    x.view(-1, 4)  # E: view: a tensor of shape [5, 3] has 15 elements, which [-1, 4] cannot hold [tensorclass-shape]
    x.reshape(3, 5)
    x[5]  # E: index: 5 is out of range for dim 0 of size 5 [tensorclass-shape]
    x[4, 3]  # E: index: 3 is out of range for dim 1 of size 3 [tensorclass-shape]
    x[0, 0, 0]  # E: index: 3 indices for 2 dims (shape [5, 3]) [tensorclass-shape]
    x.sum(2)  # E: sum: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    x.sum(1)[4]
    x @ x  # E: matmul: shapes [5, 3] and [5, 3] do not fit: the last dim of the first is 3, the rows of the second are 5 [tensorclass-shape]
    x @ x.T
    x.T @ torch.zeros(4)  # E: matmul: shapes [3, 5] and [4] do not fit: the last dim of the first is 5, the rows of the second are 4 [tensorclass-shape]
    torch.bmm(torch.zeros(2, 3, 4), torch.zeros(2, 5, 6))  # E: matmul: shapes [2, 3, 4] and [2, 5, 6] do not fit: the last dim of the first is 4, the rows of the second are 5 [tensorclass-shape]
    torch.bmm(torch.zeros(2, 3, 4), torch.zeros(3, 4, 6))  # E: matmul: shapes [2] and [3] do not broadcast; dim -1 is 2 and 3 [tensorclass-shape]
    torch.bmm(torch.zeros(2, 3), torch.zeros(2, 3))  # E: bmm: the first tensor has shape [2, 3]; bmm takes 3 dims there [tensorclass-shape]
    torch.mm(torch.zeros(2, 3, 4), torch.zeros(2, 4, 3))  # E: mm: the first tensor has shape [2, 3, 4]; mm takes 2 dims there [tensorclass-shape]
    torch.einsum("ij,jk->ik", x, x)  # E: einsum: j is 5 in operand 1 and 3 before [tensorclass-shape]
    torch.einsum("ij,kj->ik", x, x)
    torch.einsum("ijk->i", x)  # E: einsum: operand 0 has shape [5, 3], and "ijk" has 3 dims [tensorclass-shape]
    torch.cat([x, torch.zeros(5, 4)])  # E: cat: tensor 0 has shape [5, 3], tensor 1 has [5, 4]; they may differ in dim 0 alone [tensorclass-shape]
    torch.cat([x, torch.zeros(5, 4)], 1)
    torch.stack([x, torch.zeros(5, 4)])  # E: stack: tensor 0 has shape [5, 3], tensor 1 has [5, 4]; they must be equal [tensorclass-shape]
    torch.cat([x, torch.zeros(5)])  # E: cat: tensor 0 has shape [5, 3], tensor 1 has [5]; they may differ in dim 0 alone [tensorclass-shape]
    x + torch.zeros(4)  # E: add: shapes [5, 3] and [4] do not broadcast; dim -1 is 3 and 4 [tensorclass-shape]
    x + torch.zeros(3)
    x * torch.zeros(5)  # E: mul: shapes [5, 3] and [5] do not broadcast; dim -1 is 3 and 5 [tensorclass-shape]
    x * torch.zeros(5, 1)
    x.permute(0, 1, 2)  # E: permute: (0, 1, 2) is not a permutation of 2 dims [tensorclass-shape]
    x.transpose(0, 2)  # E: transpose: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    x.unsqueeze(4)  # E: unsqueeze: dim 4 is out of range for 2 dims; -3 to 2 would do [tensorclass-shape]
    x.squeeze(2)  # E: squeeze: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    x.expand(5, 4)  # E: expand: shape [5, 3] does not fit [5, 4]; dim 1 has size 3, and only size 1 can grow [tensorclass-shape]
    x.expand(2, 5, 3)
    x.repeat(2)  # E: repeat: 1 numbers for a tensor of shape [5, 3]; give one a dim at least [tensorclass-shape]
    a, b = torch.split(x, 3)
    a, b, c = torch.split(x, 3)  # E: unpack: there are 2 values for 3 names [tensorclass-shape]
    a, b = x.shape  # E: Incompatible types in assignment (expression has type "int", variable has type "Tensor") [assignment]
    a, b, c = x.shape  # E: unpack: there are 2 values for 3 names [tensorclass-shape]  # E: Incompatible types in assignment (expression has type "int", variable has type "Tensor") [assignment]
    F.cross_entropy(x, torch.zeros(4, dtype=torch.long))  # E: cross_entropy: the input has shape [5, 3], so the target has [5]; it has [4] [tensorclass-shape]
    F.cross_entropy(x, torch.zeros(5, dtype=torch.long))
    F.mse_loss(x, torch.zeros(5))  # E: mse_loss: the input has shape [5, 3], the target [5]; they must be equal [tensorclass-shape]
    F.mse_loss(x, torch.zeros(5, 3))
    F.linear(x, torch.zeros(2, 4))  # E: linear: the last dim of [5, 3] is 3, the weight takes 4 [tensorclass-shape]
    F.softmax(x, dim=2)  # E: softmax: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    F.one_hot(torch.zeros(5))  # E: one_hot: the input has dtype float32; it takes ints [tensorclass-shape]
    F.one_hot(torch.zeros(5, dtype=torch.long), 4).view(20)
    F.conv2d(torch.zeros(2, 3, 8, 8), torch.zeros(4, 2, 3, 3))  # E: conv2d: the input [2, 3, 8, 8] has 3 channels, the weight [4, 2, 3, 3] takes 2 [tensorclass-shape]
    F.layer_norm(x, (4,))  # E: layer_norm: the last dims of the input [5, 3] are [3], normalized_shape is [4] [tensorclass-shape]
    F.scaled_dot_product_attention(torch.zeros(2, 5, 8), torch.zeros(2, 6, 7), torch.zeros(2, 6, 7))  # E: scaled_dot_product_attention: dim -1 of the key [2, 6, 7] is 7, that of the query [2, 5, 8] is 8 [tensorclass-shape]
    x.gather(1, torch.zeros(5, dtype=torch.long))  # E: gather: the index has shape [5], the tensor [5, 3]; they have as many dims [tensorclass-shape]
    x.index_select(2, torch.zeros(2, dtype=torch.long))  # E: index_select: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    torch.linalg.inv(x)  # E: linalg.inv: the matrices are not square: the shape is [5, 3] [tensorclass-shape]
    torch.outer(x, x)  # E: outer: the first tensor has shape [5, 3]; outer takes 1 dims there [tensorclass-shape]
    torch.dot(torch.zeros(3), torch.zeros(4))  # E: matmul: shapes [3] and [4] do not fit: the last dim of the first is 3, the rows of the second are 4 [tensorclass-shape]
    x[torch.zeros(4, dtype=torch.bool)]  # E: index: the mask has shape [4], the shape is [5, 3]; its size 4 must equal 5, the size of dim 0 [tensorclass-shape]
    x[torch.zeros(5, dtype=torch.bool)]
    x = torch.zeros(5, 3)
    x[:, :2] = torch.zeros(5, 3)  # E: index: a value of shape [5, 3] does not fit into [5, 2] [tensorclass-shape]
    x[:, :2] = torch.zeros(5, 2)
    x[0] = torch.zeros(4)  # E: index: a value of shape [4] does not fit into [3] [tensorclass-shape]
    x.copy_(torch.zeros(4))  # E: copy_: a value of shape [4] does not fit into [5, 3] [tensorclass-shape]
    x += torch.zeros(4)  # E: add: shapes [5, 3] and [4] do not broadcast; dim -1 is 3 and 4 [tensorclass-shape]
    x = torch.zeros(5, 3)
    torch.arange(12).view(3, 5)  # E: view: a tensor of shape [12] has 12 elements, which [3, 5] cannot hold [tensorclass-shape]
    torch.chunk(x, 2, dim=2)  # E: chunk: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    torch.tensor([[1, 2], [3, 4]]).view(3)  # E: view: a tensor of shape [2, 2] has 4 elements, which [3] cannot hold [tensorclass-shape]
    torch.tril(torch.ones(4, 4)).view(16)
    x.flatten(0, 2)  # E: flatten: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    x.movedim(0, 2)  # E: movedim: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    x.norm(dim=2)  # E: norm: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    x.argmax(2)  # E: argmax: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    x.topk(4)  # E: topk: 4 of dim 1 of [5, 3], which has 3 [tensorclass-shape]
    x.topk(3)
    torch.topk(x, k=4)  # E: topk: 4 of dim 1 of [5, 3], which has 3 [tensorclass-shape]
    torch.topk(x, k=2)[1][4, 1]
    torch.kthvalue(x, k=2)[0][4]
    torch.mode(x)[0][4]
    torch.mode(x)[0][5]  # E: index: 5 is out of range for dim 0 of size 5 [tensorclass-shape]
    x.max(2)  # E: max: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    v, i = x.max(1)
    x.max(1).view(5)  # E: "max" has no attribute "view" [attr-defined]
    x.max(1).values.view(5)
    x.max(1).values.view(6)  # E: view: a tensor of shape [5] has 5 elements, which [6] cannot hold [tensorclass-shape]
    x.max(1)[0].view(6)  # E: view: a tensor of shape [5] has 5 elements, which [6] cannot hold [tensorclass-shape]
    x.sort(1).values.view(16)  # E: view: a tensor of shape [5, 3] has 15 elements, which [16] cannot hold [tensorclass-shape]
