"""OneHotCategorical: a choice, as a vector with a single one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch import distributions as d
from torch.distributions import constraints


class OneHotCategorical(d.Categorical):
    """A choice among n values as a vector of n with a one.

    >>> OneHotCategorical(logits=torch.tensor([0.0, 9.0, 0.0])).mode
    tensor([0, 1, 0])

    rsample has the gradient of the probabilities (the straight-through estimate).
    """

    def __init__(self, logits: Tensor | None = None, probs: Tensor | None = None, **options: Any) -> None:
        super().__init__(probs=probs, logits=logits, **options)

    @property
    def support(self) -> constraints.Constraint:
        """Vectors with a single one."""
        return constraints.one_hot

    def _validate_sample(self, value: Tensor) -> None:
        """The index is what counts; log_prob takes it out of the vector."""

    def _one_hot(self, index: Tensor) -> Tensor:
        return torch.nn.functional.one_hot(index, self._num_events)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """A vector with a one at a random place."""
        return self._one_hot(super().sample(torch.Size(sample_shape)))  # type: ignore[no-untyped-call]

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Like sample, with the gradient of the probabilities."""
        picked = self.sample(sample_shape).to(self.probs.dtype)
        return picked + self.probs - self.probs.detach()

    def log_prob(self, value: Tensor) -> Tensor:
        """The log-probability of the place of the one."""
        found: Tensor = super().log_prob(value.argmax(-1))  # type: ignore[no-untyped-call]
        return found

    @property
    def mode(self) -> Tensor:
        """A one at the likeliest place."""
        return self._one_hot(self.probs.argmax(-1))

    @property
    def deterministic_sample(self) -> Tensor:
        """The mode."""
        return self.mode

    @property
    def mean(self) -> Tensor:
        """The probabilities."""
        return self.probs

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Every vector with a single one."""
        return self._one_hot(super().enumerate_support(expand))  # type: ignore[no-untyped-call]


def rand_one_hot(values: Tensor, do_softmax: bool = True) -> Tensor:
    """Random vectors with a single one; values are scores of the places, or (do_softmax=False) probabilities.

    >>> rand_one_hot(torch.tensor([0.0, 99.0]))
    tensor([0, 1])
    """
    probs = values.softmax(-1) if do_softmax else values
    return OneHotCategorical(probs=probs).sample()
