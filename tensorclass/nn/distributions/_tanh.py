"""TanhNormal: a normal distribution squashed between two bounds."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch import distributions as d
from torch.distributions.utils import _sum_rightmost as sum_rightmost
from torch.nn.functional import softplus


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
        self._drawn: tuple[Tensor, Tensor, int] | None = None
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

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """A sample with a gradient; what it was before it was squashed is kept for its log-probability."""
        normal: Tensor = self.base_dist.rsample(torch.Size(sample_shape))
        value = self._squashed(normal)
        self._drawn = value, normal, version(value)
        return value

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """A sample."""
        with torch.no_grad():
            return self.rsample(sample_shape)

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
        half = (self.high - self.low) / 2
        normal = self._unsquashed(value)
        # The slope of tanh, in a form that does not round to 0 where tanh is flat.
        slope = 2 * (math.log(2) - normal - softplus(-2 * normal))
        stretch = half.log() if isinstance(half, Tensor) else math.log(half)
        found: Tensor = self.base_dist.log_prob(normal)
        return found - sum_rightmost(slope + stretch, len(self.event_shape))

    def _unsquashed(self, value: Tensor) -> Tensor:
        if self._drawn is not None and value is self._drawn[0] and version(value) == self._drawn[2]:
            return self._drawn[1]  # Exact, where atanh of a value near the bounds is mostly rounding.
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        eps = torch.finfo(value.dtype).eps
        return ((value - middle) / half).clamp(-1 + eps, 1 - eps).atanh()


def version(value: Tensor) -> int:
    """How often a tensor was written to; compiled graphs do not say."""
    return 0 if torch.compiler.is_compiling() or value.is_inference() else value._version
