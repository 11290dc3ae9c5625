"""Shapes of tensors: torch's functions, layers, and functions with annotations."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tensorclass import TensorClass


class Obs(TensorClass):
    state: Tensor


def tensors() -> None:
    x = torch.zeros(4, 6)
    y = torch.zeros(4, 3)
    print(x.view(4, 2, 3), x.reshape(-1, 8), x + torch.ones(6), x @ torch.zeros(6, 2), x.T @ y, x.sum(-1) + x[:, 0])
    x.view(4, 5)
    x.reshape(-1, 7)
    x + y
    x @ y
    x.mean(2)
    x.permute(0, 0)
    x.transpose(0, 2)
    x.unsqueeze(4)
    x[0, 0, 0]
    x[5]
    x[:, 6]
    torch.cat([x, y])
    torch.cat([x, y], dim=1).view(4, 8)
    torch.stack([x, y])
    torch.matmul(x, y)
    torch.einsum("bi,ij->bj", x, y)
    torch.einsum("bi,bj->ij", x, y)
    F.softmax(x, dim=2)
    a, b = x.chunk(3, 1)
    c, d, e = x.split(2, dim=1)
    rows, columns = x.shape
    one, two, three = x.shape
    print(a, b, c, d, e, rows, columns, one, two, three)
    x.expand(5, 6)
    torch.where(x > 0, x, y)
    x[torch.zeros(3, dtype=torch.bool)]
    x.squeeze(3)
    x.flatten(0, 2)
    assert x.shape == (4, 7)


def layers() -> None:
    x = torch.zeros(4, 6)
    image = torch.zeros(2, 3, 8, 8)
    tokens = torch.zeros(4, 5, 12)
    nn.Linear(6, 2)(x)
    nn.Linear(5, 2)(x)
    nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))(x)
    nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(9, 1))(x)
    nn.Linear(4 * 6 * 6, 10)(nn.Conv2d(3, 4, 3)(image).flatten(1))
    nn.Linear(4 * 8 * 8, 10)(nn.Conv2d(3, 4, 3)(image).flatten(1))
    nn.Linear(4 * 8 * 8, 10)(nn.Conv2d(3, 4, 3, padding=1)(image).flatten(1))
    nn.Conv2d(1, 4, 3)(image)
    nn.Conv2d(3, 4, 3)(x)
    nn.Sequential(nn.Conv2d(3, 8, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 2))(image)
    nn.Sequential(nn.Conv2d(3, 8, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(73, 2))(image)
    nn.LayerNorm(6)(x)
    nn.LayerNorm(4)(x)
    nn.BatchNorm1d(6)(x)
    nn.BatchNorm1d(4)(x)
    nn.Embedding(10, 3)(torch.zeros(2, dtype=torch.long))
    nn.Embedding(10, 3)(torch.zeros(2))
    nn.MultiheadAttention(12, 4, batch_first=True)(tokens, tokens, tokens)
    nn.MultiheadAttention(16, 4, batch_first=True)(tokens, tokens, tokens)
    nn.GRU(12, 4, batch_first=True)(tokens)
    nn.GRU(11, 4, batch_first=True)(tokens)
    F.cross_entropy(x, torch.zeros(4, dtype=torch.long))
    F.cross_entropy(x, torch.zeros(5, dtype=torch.long))
    F.mse_loss(x, torch.zeros(4, 6))
    F.mse_loss(x.sum(1), torch.zeros(4, 1))


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
        y: Tensor = self.down(self.up(x))
        return y


def modules() -> None:
    obs = Obs(state=torch.zeros(4, 3), batch_size=[4])
    Net(3, 8)(obs.state)
    Net(5, 8)(obs.state)
    Broken(3, 8)(obs.state)
    Broken(8, 8)(torch.zeros(4, 8))


def per_sample(x: Float[Tensor, "b d"]) -> Float[Tensor, "b"]:
    return x.sum(dim=0)


def whole(x: Float[Tensor, "b d"]) -> Float[Tensor, ""]:
    return x.sum(dim=1)


def loss(pred: Float[Tensor, "b c"], label: Int[Tensor, "b"]) -> Float[Tensor, ""]:
    return F.cross_entropy(pred, label)


def bias(x: Float[Tensor, "b t d"], b: Float[Tensor, "t"]) -> Float[Tensor, "b t d"]:
    return x + b


def joined(a: Float[Tensor, "b m"], b: Float[Tensor, "b n"]) -> Float[Tensor, "b m+n"]:
    return torch.cat([a, b], dim=1)


def joined_wrong(a: Float[Tensor, "b m"], b: Float[Tensor, "b n"]) -> Float[Tensor, "b m+n"]:
    return torch.cat([a, a], dim=1)


def variadic(x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b"]:
    return x.square().sum(-1)


def variadic_wrong(x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b"]:
    return x.square()


def kinds(ids: Int[Tensor, "n"]) -> Float[Tensor, "n"]:
    return ids


def masked(x: Float[Tensor, "n d"], mask: Bool[Tensor, "n"]) -> Float[Tensor, "n d"]:
    return x * mask.unsqueeze(-1)


def masked_wrong(x: Float[Tensor, "n d"], mask: Bool[Tensor, "n"]) -> Float[Tensor, "n d"]:
    return x * mask


def local(x: Float[Tensor, "b 3"]) -> Float[Tensor, "b 8"]:
    y: Float[Tensor, "b 4"] = nn.Linear(3, 8)(x)
    return nn.Linear(4, 8)(y)


def pair(x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"], Float[Tensor, "d"]]:
    return x.sum(0), x


def attention(q: Float[Tensor, "b h t d"], k: Float[Tensor, "b h s d"]) -> Float[Tensor, "b h t s"]:
    return q @ k.transpose(-1, -2)


def attention_wrong(q: Float[Tensor, "b h t d"], k: Float[Tensor, "b h s d"]) -> Float[Tensor, "b h t s"]:
    return q @ k


def heads(x: Float[Tensor, "b t d"]) -> Float[Tensor, "b t d"]:
    b, t, d = x.shape
    return x.reshape(b, t, 4, d // 4).transpose(1, 2).reshape(b, t, d)


def calls(x: Tensor) -> None:
    loss(torch.zeros(4, 3), torch.zeros(4, dtype=torch.long))
    loss(torch.zeros(4, 3), torch.zeros(5, dtype=torch.long))
    loss(torch.zeros(4, 3), torch.zeros(4))
    loss(torch.zeros(4, 3, 2), torch.zeros(4, dtype=torch.long))
    loss(x, torch.zeros(4, dtype=torch.long))
    local(torch.zeros(2, 3)).view(16)
    local(torch.zeros(2, 3)).view(15)
    joined(torch.zeros(2, 3), torch.zeros(2, 4)).view(2, 8)
    variadic(torch.zeros(2, 3, 4)).view(7)


def stable(x: Float[Tensor, "b d"], w: Float[Tensor, "d d"]) -> Float[Tensor, "b d"]:
    for _ in range(3):
        x = torch.relu(x @ w) + x
    return x


def growing(x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
    for _ in range(3):
        x = torch.cat([x, x], dim=0)
    return x
