"""Shapes that nobody knows: a branch, a loop, a list, a callee or an untyped function is in between, and nothing is told."""

from __future__ import annotations

import math
from typing import Any, Optional

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from tensorclass import TensorClass

Vec = Float[Tensor, "*batch 3"]
Edges = Float[Tensor, "*batch edges"]
Maybe = Optional[Float[Tensor, "n"]]  # noqa: UP045  # Also how it was written before 3.10.


class Points(TensorClass):
    pos: Vec
    mass: Float[Tensor, "*batch"]

    def pulled(self, other: Points) -> Tensor:
        return (other.pos - self.pos) * other.mass[..., None]

    def near(self, other: Points) -> Tensor:
        return self.pos * other.mass  # The other may have a batch size of its own: () here.


def untyped(x: Any):  # type: ignore[no-untyped-def]  # that is the point
    return x


def middles(weights: Float[Tensor, "*batch bins"], edges: Edges) -> Tensor:
    return weights * (edges[..., 1:] - edges[..., :-1])


def scaled(x: Float[Tensor, "n"], by: Maybe = None) -> Float[Tensor, "n"]:
    if by is None:
        by = torch.ones(1)
    return x * by


def picked(x: Float[Tensor, "n"], by: Maybe = None) -> Tensor:
    other = untyped(by)
    return x if other is None else x * other


def turned(x: Float[Tensor, "... d"], y: Float[Tensor, "..."]) -> Tensor:
    return x * y


def flat(x: Float[Tensor, "h w"], grid: Float[Tensor, "pixels"]) -> Tensor:
    return x.flatten() * grid


def shorter(x: Float[Tensor, "n"]) -> Tensor:
    while x.numel() > 2:
        x = x[1:]
    return x


def grow(rows: list[Tensor]) -> None:
    rows.append(torch.zeros(2, 4))


def main(wide: bool) -> None:
    points = Points(pos=torch.zeros(4, 3), mass=torch.zeros(4))
    one = points[0]
    print(points.pulled(one), points.near(one))
    print(middles(torch.zeros(2, 5), torch.zeros(2, 6)), scaled(torch.ones(3)), picked(torch.ones(3)))
    print(turned(torch.zeros(2, 2), torch.zeros(2)), flat(torch.zeros(2, 3), torch.zeros(6)), shorter(torch.zeros(5)))
    x = torch.zeros(2, 3) if wide else torch.zeros(2, 4)
    print(torch.cdist(x, untyped(x)), F.pad(x, (0, 4 - x.shape[1])).view(2, 4), x.diff(dim=1))
    image = torch.zeros(1, 12, 4, 4)
    layer = nn.PixelShuffle(2) if wide else nn.Identity()
    print(layer(image).view(-1, 2), nn.AdaptiveAvgPool2d((None, 2))(image).view(1, 12, 4, 2))
    rows = [torch.zeros(2, 3)]
    grow(rows)
    print(torch.hstack(rows).view(2, 7))
    del rows[0]
    print(torch.vstack(rows).view(2, 4), x / math.sqrt(x.shape[-1]))
    cell = nn.GRUCell(3, 5)
    state = None
    for _ in range(2):
        state = cell(torch.zeros(2, 3), state)
    print(state)


main(True)
main(False)
