"""Modules that make the parameters of a normal distribution out of what a network gives."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ._mappings import mappings


class NormalParamExtractor(nn.Module):
    """Splits the last dim into a location and a positive scale.

    >>> loc, scale = NormalParamExtractor()(torch.zeros(2, 6))
    >>> loc.shape, scale[0]
    (torch.Size([2, 3]), tensor([1., 1., 1.]))

    scale_mapping: the name of a function that makes it positive; scale_lb: the least scale.
    """

    def __init__(self, scale_mapping: str = "biased_softplus_1.0", scale_lb: float = 1e-4) -> None:
        super().__init__()
        self.scale_mapping = mappings(scale_mapping)
        self.scale_lb = scale_lb

    def forward(self, value: Tensor, *others: Tensor) -> tuple[Tensor, ...]:
        """Location and scale of the first tensor, and the other tensors as they are."""
        loc, scale = value.chunk(2, -1)
        return loc, self.scale_mapping(scale).clamp_min(self.scale_lb), *others


class AddStateIndependentNormalScale(nn.Module):
    """Adds a scale, which is learned and the same for all inputs, to a location.

    >>> loc, scale = AddStateIndependentNormalScale(2)(torch.zeros(5, 2))
    >>> scale.shape
    torch.Size([5, 2])
    """

    def __init__(
        self,
        scale_shape: Any = None,
        *,
        scale_mapping: str = "exp",
        scale_lb: float = 1e-4,
        device: Any = None,
        make_param: bool = True,
        init_value: float = 0.0,
    ) -> None:
        super().__init__()
        shape = () if scale_shape is None else (scale_shape,) if isinstance(scale_shape, int) else tuple(scale_shape)
        self.scale_mapping = mappings(scale_mapping)
        self.scale_lb = scale_lb
        start = torch.full(shape, init_value, device=device)
        if make_param:
            self.state_independent_scale = nn.Parameter(start)
        else:
            self.register_buffer("state_independent_scale", start)

    def forward(self, loc: Tensor, *others: Tensor) -> tuple[Tensor, ...]:
        """The location, the scale, and the other tensors as they are."""
        scale = self.scale_mapping(self.state_independent_scale).clamp_min(self.scale_lb)
        return loc, scale.expand_as(loc), *others
