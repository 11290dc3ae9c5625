"""Functions that make positive scales out of what a network gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import overload

import torch
from torch import Tensor, nn

from ..._rules import errors
from ..._rules.nearest import suggest

Mapping = Callable[[Tensor], Tensor]


@overload
def inv_softplus(bias: float) -> float: ...
@overload
def inv_softplus(bias: Tensor) -> Tensor: ...
def inv_softplus(bias: float | Tensor) -> float | Tensor:
    """The number whose softplus is given.

    >>> round(inv_softplus(1.0), 4)
    0.5413
    """
    return bias.expm1().clamp_min(1e-6).log() if isinstance(bias, Tensor) else math.log(math.expm1(bias))


class biased_softplus(nn.Module):
    """A softplus that gives `bias` for 0, and never less than min_val.

    >>> biased_softplus(0.5)(torch.zeros(1))
    tensor([0.5000])
    """

    def __init__(self, bias: float, min_val: float = 0.01) -> None:
        super().__init__()
        self.shift = inv_softplus(bias - min_val)
        self.min_val = min_val

    def forward(self, value: Tensor) -> Tensor:
        """softplus(value + shift) + min_val."""
        return nn.functional.softplus(value + self.shift) + self.min_val


def expln(value: Tensor) -> Tensor:
    """exp below 0, 1 + log(1 + value) above: grows slowly, and is smooth.

    >>> expln(torch.zeros(1))
    tensor([1.])
    """
    return torch.where(value > 0, 1 + torch.log1p(value.clamp_min(0)), value.clamp_max(0).exp())


_KNOWN: dict[str, Mapping] = {
    "softplus": nn.functional.softplus,
    "exp": torch.exp,
    "relu": torch.relu,
    "expln": expln,
    "none": lambda value: value,
}


def add_custom_mapping(name: str, mapping: Mapping) -> None:
    """Make a function known under a name, as scale_mapping."""
    _KNOWN[name] = mapping


def mappings(name: str) -> Mapping:
    """The function that a name stands for; "biased_softplus_0.5" is a softplus that gives 0.5 for 0.

    >>> mappings("relu")(torch.tensor([-1.0, 1.0]))
    tensor([0., 1.])
    """
    if name in _KNOWN:
        return _KNOWN[name]
    if name.startswith("biased_softplus"):
        bias = name.removeprefix("biased_softplus").lstrip("_") or "1.0"
        try:
            return biased_softplus(float(bias))
        except ValueError:
            pass
    known = [*_KNOWN, "biased_softplus"]
    near = suggest(name, known)
    raise UnknownMapping(f"no mapping {name!r}{near or ';'} {'T' if near else 't'}here are {errors.some_names(known)}")


class UnknownMapping(errors.OptionError, NotImplementedError):
    """A name that stands for no mapping."""
