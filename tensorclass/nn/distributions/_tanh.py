"""TanhNormal: a normal distribution squashed between two bounds."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch import distributions as d


class TanhNormal(d.TransformedDistribution):
    """tanh of a normal variable, stretched to lie between low and high.

    >>> TanhNormal(torch.zeros(1), torch.ones(1)).deterministic_sample
    tensor([0.])

    event_dims: how many of the last dims are one event, whose log-probabilities are summed.
    """

    def __init__(
        self,
        loc: Tensor,
        scale: Tensor,
        low: float | Tensor = -1.0,
        high: float | Tensor = 1.0,
        event_dims: int = 0,
        validate_args: bool | None = None,
    ) -> None:
        self.loc, self.scale = loc, scale
        self.low, self.high = low, high
        base: Any = d.Normal(loc, scale, validate_args=validate_args)
        if event_dims:
            base = d.Independent(base, event_dims, validate_args=validate_args)
        stretch = d.AffineTransform((low + high) / 2, (high - low) / 2)
        super().__init__(base, [d.TanhTransform(), stretch], validate_args=False)

    def _squashed(self, value: Tensor) -> Tensor:
        squashed: Any = value
        for transform in self.transforms:
            squashed = transform(squashed)
        return squashed  # type: ignore[no-any-return]  # Transforms are untyped.

    @property
    def deterministic_sample(self) -> Tensor:
        """What the location is squashed to."""
        return self._squashed(self.loc)

    @property
    def median(self) -> Tensor:
        """What the location is squashed to: squashing keeps the order."""
        return self._squashed(self.loc)

    def log_prob(self, value: Tensor) -> Tensor:
        """The log-probability, also of values at the bounds, which are moved a little inside."""
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        eps = torch.finfo(value.dtype).eps
        inside = ((value - middle) / half).clamp(-1 + eps, 1 - eps)
        found: Tensor = super().log_prob(middle + half * inside)  # type: ignore[no-untyped-call]
        return found
