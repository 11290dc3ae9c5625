"""The value that an interaction type takes from a distribution."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor
from torch import distributions as d

from ._interaction import InteractionType


def value_of(dist: Any, kind: InteractionType, samples: tuple[int, ...], estimates: int) -> Any:
    """A value of a distribution, or (samples) several of them along new leading dims."""
    if kind is InteractionType.RANDOM:
        return drawn(dist, samples)
    if kind is InteractionType.MEAN:
        value = mean_of(dist, estimates)
    elif kind is InteractionType.DETERMINISTIC:
        value = deterministic_of(dist, estimates)
    else:
        value = attribute_of(dist, kind.value)
    return value.expand(*samples, *value.shape) if samples else value


def drawn(dist: Any, samples: tuple[int, ...]) -> Any:
    """A sample, with a gradient where the distribution can give one."""
    draw = dist.rsample if dist.has_rsample else dist.sample
    return draw(torch.Size(samples)) if samples else draw()


def attribute_of(dist: Any, name: str) -> Any:
    """The mode or median."""
    try:
        return getattr(dist, name)
    except (AttributeError, NotImplementedError):
        raise NotImplementedError(
            f"{type(dist).__name__} has no {name}; another interaction type, or a class with that attribute, would do"
        ) from None


def mean_of(dist: Any, estimates: int) -> Any:
    """The mean, or that of many samples."""
    try:
        return dist.mean
    except (AttributeError, NotImplementedError):
        shape = torch.Size((estimates,))
        value = dist.rsample(shape) if dist.has_rsample else dist.sample(shape)
        return value.mean(0) if _averages(value) else value.float().mean(0)


def _averages(value: Any) -> bool:
    return not isinstance(value, Tensor) or value.is_floating_point() or value.is_complex()


def deterministic_of(dist: Any, estimates: int) -> Any:
    """deterministic_sample, or what stands for it: the mode of a choice among values, the mean of everything else."""
    try:
        return dist.deterministic_sample
    except AttributeError:
        pass
    base = dist
    while isinstance(base, d.Independent):
        base = base.base_dist
        if hasattr(base, "deterministic_sample"):
            return base.deterministic_sample
    if _is_known(base):
        return attribute_of(dist, "mode") if base.has_enumerate_support else mean_of(dist, estimates)
    name = "mode" if _is_discrete(base) else "mean"
    if not torch.compiler.is_compiling():
        warnings.warn(
            f"{type(base).__name__} has no deterministic_sample; its {name} is taken. Give the class that property, or "
            "the module another interaction type.",
            stacklevel=2,
        )
    return attribute_of(dist, "mode") if name == "mode" else mean_of(dist, estimates)


def _is_known(dist: Any) -> bool:
    """Whether a class is derived from one of torch's, which say themselves whether they choose among values."""
    return any(
        cls is not d.Distribution
        and cls is not d.ExponentialFamily
        and cls.__module__.startswith("torch.distributions")
        for cls in type(dist).__mro__
    )


def _is_discrete(dist: Any) -> bool:
    try:
        return bool(dist.support.is_discrete)
    except (AttributeError, NotImplementedError):
        return False
