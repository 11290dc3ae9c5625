"""The same containers in our library and in the peer, where that is installed."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict

from .by_hand import Leaves


class Particles(TensorClass):
    """Six plain leaves; the peer knows no shape annotations, so neither does this class."""

    pos: Tensor
    vel: Tensor
    force: Tensor
    mass: Tensor
    charge: Tensor
    label: Tensor


class Tagged(Particles):
    """The same with a plain value beside the tensors."""

    name: str = "none"


@dataclass(frozen=True)
class Library:
    """What the rows call; both libraries answer to the same names, so that `Any` stands for either."""

    particles: Any
    tagged: Any
    tensordict: Any


def ours() -> Library:
    return Library(Particles, Tagged, TensorDict)


def peer() -> Library | None:
    """The peer with a class like ours, or None where it is not installed."""
    try:
        module = importlib.import_module("benchmarks.peer")
    except ImportError:
        return None
    return Library(module.Particles, module.Tagged, module.TensorDict)


def leaves(batch: Sequence[int]) -> Leaves:
    """Small leaves: what is timed is the library, not the arithmetic."""
    return {
        "pos": torch.rand(*batch, 3),
        "vel": torch.rand(*batch, 3),
        "force": torch.rand(*batch, 3),
        "mass": torch.rand(*batch),
        "charge": torch.rand(*batch),
        "label": torch.zeros(batch, dtype=torch.long),
    }
