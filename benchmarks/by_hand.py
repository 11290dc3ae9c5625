"""What a careful user writes without a library: a dataclass or a dict, and a shape check at each write."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

Leaves = dict[str, Tensor]
NAMES = ("pos", "vel", "force", "mass", "charge", "label")


@dataclass
class Particles:
    """Six tensors that share their leading dims, checked once when made."""

    pos: Tensor
    vel: Tensor
    force: Tensor
    mass: Tensor
    charge: Tensor
    label: Tensor
    batch: tuple[int, ...]

    def __post_init__(self) -> None:
        batch, dims = self.batch, len(self.batch)
        for name in NAMES:
            shape = getattr(self, name).shape
            if shape[:dims] != batch:
                raise ValueError(f"{name} has shape {shape}, not {batch} and more")


def write_field(particles: Particles, value: Tensor) -> None:
    if value.shape[: len(particles.batch)] != particles.batch:
        raise ValueError(f"mass has shape {value.shape}, not {particles.batch} and more")
    particles.mass = value


def write_key(leaves: Leaves, batch: tuple[int, ...], key: str, value: Tensor) -> None:
    if value.shape[: len(batch)] != batch:
        raise ValueError(f"{key} has shape {value.shape}, not {batch} and more")
    leaves[key] = value


def unbind(leaves: Leaves) -> list[Leaves]:
    rows = zip(*[value.unbind(0) for value in leaves.values()], strict=True)
    return [dict(zip(leaves, row, strict=True)) for row in rows]
