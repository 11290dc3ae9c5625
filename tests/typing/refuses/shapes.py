"""Shapes of tensors: torch's functions, layers, and functions with annotations."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Complex, Float, Int
from torch import Tensor, nn

from tensorclass import TensorClass


class Obs(TensorClass):
    state: Tensor


def tensors() -> None:
    x = torch.zeros(4, 6)
    y = torch.zeros(4, 3)
    print(x.view(4, 2, 3), x.reshape(-1, 8), x + torch.ones(6), x @ torch.zeros(6, 2), x.T @ y, x.sum(-1) + x[:, 0])
    x.view(4, 5)  # E: view: a tensor of shape [4, 6] has 24 elements, which [4, 5] cannot hold [tensorclass-shape]
    x.reshape(-1, 7)  # E: reshape: a tensor of shape [4, 6] has 24 elements, which [-1, 7] cannot hold [tensorclass-shape]
    x + y  # E: add: shapes [4, 6] and [4, 3] do not broadcast; dim -1 is 6 and 3 [tensorclass-shape]
    x @ y  # E: matmul: shapes [4, 6] and [4, 3] do not fit: the last dim of the first is 6, the rows of the second are 4 [tensorclass-shape]
    x.mean(2)  # E: mean: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    x.permute(0, 0)  # E: permute: (0, 0) is not a permutation of 2 dims [tensorclass-shape]
    x.transpose(0, 2)  # E: transpose: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    x.unsqueeze(4)  # E: unsqueeze: dim 4 is out of range for 2 dims; -3 to 2 would do [tensorclass-shape]
    x[0, 0, 0]  # E: index: 3 indices for 2 dims (shape [4, 6]) [tensorclass-shape]
    x[5]  # E: index: 5 is out of range for dim 0 of size 4 [tensorclass-shape]
    x[:, 6]  # E: index: 6 is out of range for dim 1 of size 6 [tensorclass-shape]
    torch.cat([x, y])  # E: cat: tensor 0 has shape [4, 6], tensor 1 has [4, 3]; they may differ in dim 0 alone [tensorclass-shape]
    torch.cat([x, y], dim=1).view(4, 8)  # E: view: a tensor of shape [4, 9] has 36 elements, which [4, 8] cannot hold [tensorclass-shape]
    torch.stack([x, y])  # E: stack: tensor 0 has shape [4, 6], tensor 1 has [4, 3]; they must be equal [tensorclass-shape]
    torch.matmul(x, y)  # E: matmul: shapes [4, 6] and [4, 3] do not fit: the last dim of the first is 6, the rows of the second are 4 [tensorclass-shape]
    torch.einsum("bi,ij->bj", x, y)  # E: einsum: i is 4 in operand 1 and 6 before [tensorclass-shape]
    torch.einsum("bi,bj->ij", x, y)
    F.softmax(x, dim=2)  # E: softmax: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    a, b = x.chunk(3, 1)  # E: unpack: there are 3 values for 2 names [tensorclass-shape]
    c, d, e = x.split(2, dim=1)  # E: Call to untyped function "split" in typed context [no-untyped-call]
    rows, columns = x.shape
    one, two, three = x.shape  # E: unpack: there are 2 values for 3 names [tensorclass-shape]
    print(a, b, c, d, e, rows, columns, one, two, three)
    x.expand(5, 6)  # E: expand: shape [4, 6] does not fit [5, 6]; dim 0 has size 4, and only size 1 can grow [tensorclass-shape]
    torch.where(x > 0, x, y)  # E: where: shapes [4, 6] and [4, 3] do not broadcast; dim -1 is 6 and 3 [tensorclass-shape]
    x[torch.zeros(3, dtype=torch.bool)]  # E: index: the mask has shape [3], the shape is [4, 6]; its size 3 must equal 4, the size of dim 0 [tensorclass-shape]
    x.squeeze(3)  # E: squeeze: dim 3 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    x.flatten(0, 2)  # E: flatten: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    assert x.shape == (4, 7)  # E: this assertion is always false: it compares [4, 6] and [4, 7] [tensorclass-shape]


def layers() -> None:
    x = torch.zeros(4, 6)
    image = torch.zeros(2, 3, 8, 8)
    tokens = torch.zeros(4, 5, 12)
    nn.Linear(6, 2)(x)
    nn.Linear(5, 2)(x)  # E: Linear: the last dim of the input [4, 6] is 6, the layer takes 5 [tensorclass-shape]
    nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))(x)
    nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(9, 1))(x)  # E: Linear: the last dim of the input [4, 8] is 8, the layer takes 9 [tensorclass-shape]
    nn.Linear(4 * 6 * 6, 10)(nn.Conv2d(3, 4, 3)(image).flatten(1))
    nn.Linear(4 * 8 * 8, 10)(nn.Conv2d(3, 4, 3)(image).flatten(1))  # E: Linear: the last dim of the input [2, 144] is 144, the layer takes 256 [tensorclass-shape]
    nn.Linear(4 * 8 * 8, 10)(nn.Conv2d(3, 4, 3, padding=1)(image).flatten(1))
    nn.Conv2d(1, 4, 3)(image)  # E: Conv2d: the channels of the input [2, 3, 8, 8] is 3, the layer takes 1 [tensorclass-shape]
    nn.Conv2d(3, 4, 3)(x)  # E: Conv2d: the input [4, 6] has 2 dims; 3 or 4 would do [tensorclass-shape]
    nn.Sequential(nn.Conv2d(3, 8, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 2))(image)
    nn.Sequential(nn.Conv2d(3, 8, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(73, 2))(image)  # E: Linear: the last dim of the input [2, 72] is 72, the layer takes 73 [tensorclass-shape]
    nn.LayerNorm(6)(x)
    nn.LayerNorm(4)(x)  # E: LayerNorm: the last dims of the input [4, 6] are [6], the layer takes [4] [tensorclass-shape]
    nn.BatchNorm1d(6)(x)
    nn.BatchNorm1d(4)(x)  # E: BatchNorm1d: dim 1 of the input [4, 6] is 6, the layer takes 4 [tensorclass-shape]
    nn.Embedding(10, 3)(torch.zeros(2, dtype=torch.long))
    nn.Embedding(10, 3)(torch.zeros(2))  # E: Embedding: the input has dtype float32; it takes ints [tensorclass-shape]
    nn.MultiheadAttention(12, 4, batch_first=True)(tokens, tokens, tokens)
    nn.MultiheadAttention(16, 4, batch_first=True)(tokens, tokens, tokens)  # E: MultiheadAttention: the last dim of the query of the input [4, 5, 12] is 12, the layer takes 16 [tensorclass-shape]
    nn.GRU(12, 4, batch_first=True)(tokens)
    nn.GRU(11, 4, batch_first=True)(tokens)  # E: GRU: the last dim of the input [4, 5, 12] is 12, the layer takes 11 [tensorclass-shape]
    F.cross_entropy(x, torch.zeros(4, dtype=torch.long))
    F.cross_entropy(x, torch.zeros(5, dtype=torch.long))  # E: cross_entropy: the input has shape [4, 6], so the target has [4]; it has [5] [tensorclass-shape]
    F.mse_loss(x, torch.zeros(4, 6))
    F.mse_loss(x.sum(1), torch.zeros(4, 1))  # E: mse_loss: the input has shape [4], the target [4, 1]; they must be equal [tensorclass-shape]


class Net(nn.Module):
    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.up = nn.Linear(features, hidden)
        self.down = nn.Linear(hidden, 1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.down(torch.relu(self.up(x)))
        return y


class Broken(nn.Module):
    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.up = nn.Linear(features, hidden)
        self.down = nn.Linear(features, 1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.down(self.up(x))
        return y


class Fixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(3, 8)
        self.down = nn.Linear(9, 1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.down(self.up(x))  # E: Linear: the last dim of the input [..., 8] is 8, the layer takes 9 [tensorclass-shape]
        return y


def modules() -> None:
    obs = Obs(state=torch.zeros(4, 3), batch_size=[4])
    Net(3, 8)(obs.state)
    Net(5, 8)(obs.state)  # E: Linear: the last dim of the input [4, 3] is 3, the layer takes 5 (in forward, line 90) [tensorclass-shape]
    Broken(3, 8)(obs.state)  # E: Linear: the last dim of the input [4, 8] is 8, the layer takes 3 (in forward, line 101) [tensorclass-shape]
    Broken(8, 8)(torch.zeros(4, 8))


def per_sample(x: Float[Tensor, "b d"]) -> Float[Tensor, "b"]:
    return x.sum(dim=0)  # E: the result has shape [d], which does not fit "b": b is d here [tensorclass-shape]


def whole(x: Float[Tensor, "b d"]) -> Float[Tensor, ""]:
    return x.sum(dim=1)  # E: the result has shape [b], which does not fit "": it has 1 dim, not 0 [tensorclass-shape]


def loss(pred: Float[Tensor, "b c"], label: Int[Tensor, "b"]) -> Float[Tensor, ""]:
    return F.cross_entropy(pred, label)


def bias(x: Float[Tensor, "b t d"], b: Float[Tensor, "t"]) -> Float[Tensor, "b t d"]:
    return x + b  # E: add: shapes [b, t, d] and [t] do not broadcast; dim -1 is d and t [tensorclass-shape]


def joined(a: Float[Tensor, "b m"], b: Float[Tensor, "b n"]) -> Float[Tensor, "b m+n"]:
    return torch.cat([a, b], dim=1)


def joined_wrong(a: Float[Tensor, "b m"], b: Float[Tensor, "b n"]) -> Float[Tensor, "b m+n"]:
    return torch.cat([a, a], dim=1)  # E: the result has shape [b, 2*m], which does not fit "b m+n": dim 1 is 2*m, not m+n [tensorclass-shape]


def variadic(x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b"]:
    return x.square().sum(-1)


def variadic_wrong(x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b"]:
    return x.square()  # E: the result has shape [*b, d], which does not fit "*b": it has 1 dim too many [tensorclass-shape]


def kinds(ids: Int[Tensor, "n"]) -> Float[Tensor, "n"]:
    return ids  # E: the result has dtype int, which Float does not take [tensorclass-shape]


def masked(x: Float[Tensor, "n d"], mask: Bool[Tensor, "n"]) -> Float[Tensor, "n d"]:
    return x * mask.unsqueeze(-1)


def masked_wrong(x: Float[Tensor, "n d"], mask: Bool[Tensor, "n"]) -> Float[Tensor, "n d"]:
    return x * mask  # E: mul: shapes [n, d] and [n] do not broadcast; dim -1 is d and n [tensorclass-shape]


def local(x: Float[Tensor, "b 3"]) -> Float[Tensor, "b 8"]:
    y: Float[Tensor, "b 4"] = nn.Linear(3, 8)(x)  # E: y has shape [b, 8], which does not fit "b 4": dim 1 is 8, not 4 [tensorclass-shape]
    return nn.Linear(4, 8)(y)  # E: Returning Any from function declared to return "Tensor" [no-any-return]


def pair(x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"], Float[Tensor, "d"]]:
    return x.sum(0), x  # E: result 0 has shape [d], which does not fit "b d": it has 1 dim, not 2 [tensorclass-shape]


def attention(q: Float[Tensor, "b h t d"], k: Float[Tensor, "b h s d"]) -> Float[Tensor, "b h t s"]:
    return q @ k.transpose(-1, -2)


def attention_wrong(q: Float[Tensor, "b h t d"], k: Float[Tensor, "b h s d"]) -> Float[Tensor, "b h t s"]:
    return q @ k  # E: matmul: shapes [b, h, t, d] and [b, h, s, d] do not fit: the last dim of the first is d, the rows of the second are s [tensorclass-shape]


def heads(x: Float[Tensor, "b t d"]) -> Float[Tensor, "b t d"]:
    b, t, d = x.shape
    return x.reshape(b, t, 4, d // 4).transpose(1, 2).reshape(b, t, d)


def calls(x: Tensor) -> None:
    loss(torch.zeros(4, 3), torch.zeros(4, dtype=torch.long))
    loss(torch.zeros(4, 3), torch.zeros(5, dtype=torch.long))  # E: loss: argument 'label' has shape [5], which does not fit "b": b is 5 here and 4 elsewhere [tensorclass-shape]
    loss(torch.zeros(4, 3), torch.zeros(4))  # E: loss: argument 'label' has dtype float32, which Int does not take [tensorclass-shape]
    loss(torch.zeros(4, 3, 2), torch.zeros(4, dtype=torch.long))  # E: loss: argument 'pred' has shape [4, 3, 2], which does not fit "b c": it has 3 dims, not 2 [tensorclass-shape]
    loss(x, torch.zeros(4, dtype=torch.long))
    local(torch.zeros(2, 3)).view(16)
    local(torch.zeros(2, 3)).view(15)  # E: view: a tensor of shape [2, 8] has 16 elements, which [15] cannot hold [tensorclass-shape]
    joined(torch.zeros(2, 3), torch.zeros(2, 4)).view(2, 8)  # E: view: a tensor of shape [2, 7] has 14 elements, which [2, 8] cannot hold [tensorclass-shape]
    variadic(torch.zeros(2, 3, 4)).view(7)  # E: view: a tensor of shape [2, 3] has 6 elements, which [7] cannot hold [tensorclass-shape]


def stable(x: Float[Tensor, "b d"], w: Float[Tensor, "d d"]) -> Float[Tensor, "b d"]:
    for _ in range(3):
        x = torch.relu(x @ w) + x
    return x


def growing(x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
    for _ in range(3):
        x = torch.cat([x, x], dim=0)
    return x  # E: the result has shape [8*b, d], which does not fit "b d": b is 8*b here [tensorclass-shape]


def conjugate(z: Complex[Tensor, "n"]) -> Float[Tensor, "n"]:
    return z.conj()  # E: the result has dtype complex, which Float does not take [tensorclass-shape]
