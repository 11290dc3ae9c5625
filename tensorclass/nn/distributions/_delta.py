"""Delta: all probability at one value."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Size, Tensor
from torch import distributions as d
from torch.distributions import constraints


class Delta(d.Distribution):
    """Always gives its parameter.

    >>> Delta(torch.tensor([1.0, 2.0])).sample()
    tensor([1., 2.])

    The log-probability is inf at the parameter (within the tolerances) and -inf elsewhere, one for each event.
    """

    has_rsample = True

    def __init__(
        self,
        param: Tensor,
        atol: float = 1e-6,
        rtol: float = 1e-6,
        batch_shape: Sequence[int] | None = None,
        event_shape: Sequence[int] | None = None,
    ) -> None:
        self.param, self.atol, self.rtol = param, atol, rtol
        event = Size(() if event_shape is None else event_shape)
        batch = param.shape[: param.ndim - len(event)] if batch_shape is None else Size(batch_shape)
        super().__init__(batch, event, validate_args=False)

    @property
    def support(self) -> constraints.Constraint:
        """Any real number."""
        return constraints.independent(constraints.real, len(self.event_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """The parameter, for every sample."""
        return self.param.expand(*sample_shape, *self.param.shape)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """The parameter, for every sample, without a gradient."""
        return self.rsample(sample_shape).detach()

    def log_prob(self, value: Tensor) -> Tensor:
        """inf at the parameter, -inf elsewhere."""
        same = torch.isclose(value, self.param, rtol=self.rtol, atol=self.atol)
        if self.event_shape:
            same = same.flatten(-len(self.event_shape)).all(-1)
        inf = torch.full(same.shape, torch.inf, device=value.device, dtype=value.dtype)
        return torch.where(same, inf, -inf)

    @property
    def mode(self) -> Tensor:
        """The parameter."""
        return self.param

    @property
    def mean(self) -> Tensor:
        """The parameter."""
        return self.param

    @property
    def deterministic_sample(self) -> Tensor:
        """The parameter."""
        return self.param

    def __repr__(self) -> str:
        return f"Delta(param: {self.param.shape})"
