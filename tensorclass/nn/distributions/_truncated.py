"""TruncatedNormal: a normal distribution between two bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Size, Tensor
from torch import distributions as d
from torch.distributions import constraints
from torch.distributions.utils import broadcast_all

_LOG_SQRT_2PI = math.log(math.sqrt(2 * math.pi))


class TruncatedNormal(d.Distribution):
    """A normal distribution of which only what lies between a and b counts.

    >>> dist = TruncatedNormal(torch.zeros(1), torch.ones(1), -1.0, 1.0)
    >>> dist.mean, dist.variance
    (tensor([0.]), tensor([0.2911]))
    """

    has_rsample = True
    loc: Tensor
    scale: Tensor
    a: Tensor
    b: Tensor

    def __init__(self, loc: Any, scale: Any, a: Any, b: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.a, self.b = broadcast_all(loc, scale, a, b)
        super().__init__(self.loc.shape, Size(()), validate_args=validate_args)
        if validate_args is not False and not torch.compiler.is_compiling() and bool((self.a >= self.b).any()):
            raise ValueError("TruncatedNormal: a must be below b")
        self._low, self._high = (self.a - self.loc) / self.scale, (self.b - self.loc) / self.scale
        self._cdf_low = _cdf(self._low)
        self._mass = (_cdf(self._high) - self._cdf_low).clamp_min(torch.finfo(self.loc.dtype).eps)
        self._log_mass = self._mass.log()

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """What the arguments must be."""
        real = constraints.real
        return {"loc": real, "scale": constraints.positive, "a": real, "b": real}

    @property
    def support(self) -> constraints.Constraint:
        """From a to b."""
        return constraints.interval(self.a, self.b)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc + self.scale * (_pdf(self._low) - _pdf(self._high)) / self._mass

    @property
    def mode(self) -> Tensor:
        """The location, or the bound that is next to it."""
        mode: Tensor = self.loc.clamp(self.a, self.b)
        return mode

    @property
    def variance(self) -> Tensor:
        """The variance."""
        low, high = _pdf(self._low), _pdf(self._high)
        spread = (_times(self._low, low) - _times(self._high, high)) / self._mass
        return self.scale**2 * (1 + spread - ((low - high) / self._mass) ** 2)

    def entropy(self) -> Tensor:
        """The entropy."""
        spread = (_times(self._low, _pdf(self._low)) - _times(self._high, _pdf(self._high))) / self._mass
        return _LOG_SQRT_2PI + 0.5 + self.scale.log() + self._log_mass + spread / 2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Samples with a gradient, by the inverse of the cumulative distribution."""
        shape = self._extended_shape(Size(sample_shape))
        eps = torch.finfo(self.loc.dtype).eps
        return self.icdf(torch.rand(shape, device=self.loc.device, dtype=self.loc.dtype).clamp(eps, 1 - eps))

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a smaller value."""
        return ((_cdf((value - self.loc) / self.scale) - self._cdf_low) / self._mass).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        """The value below which a part of the probability lies."""
        inner: Tensor = torch.special.ndtri(self._cdf_low + value * self._mass)
        return (self.loc + self.scale * inner).clamp(self.a, self.b)

    def log_prob(self, value: Tensor) -> Tensor:
        """The log-probability of a value between a and b."""
        if self._validate_args:
            self._validate_sample(value)
        found: Tensor = -_LOG_SQRT_2PI - ((value - self.loc) / self.scale) ** 2 / 2 - self._log_mass - self.scale.log()
        return found

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> TruncatedNormal:
        """The same distribution with a larger batch shape."""
        loc, scale, a, b = [value.expand(batch_shape) for value in (self.loc, self.scale, self.a, self.b)]
        return TruncatedNormal(loc, scale, a, b, validate_args=False)


def _cdf(value: Tensor) -> Tensor:
    below: Tensor = torch.special.ndtr(value)
    return below


def _pdf(value: Tensor) -> Tensor:
    return (-(value**2) / 2 - _LOG_SQRT_2PI).exp()


def _times(bound: Tensor, density: Tensor) -> Tensor:
    """bound * density, which is 0 at infinity."""
    return torch.where(bound.isinf(), 0.0, bound * density)
