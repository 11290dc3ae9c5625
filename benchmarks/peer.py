"""The class that the rows use, as the peer's own documentation writes one: its annotations are no strings."""

import warnings

from torch import Tensor

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tensordict import TensorClass as TensorClass
    from tensordict import TensorDict as TensorDict


class Particles(TensorClass):
    pos: Tensor
    vel: Tensor
    force: Tensor
    mass: Tensor
    charge: Tensor
    label: Tensor


class Tagged(Particles):
    name: str = "none"


class In(TensorClass):
    x: Tensor


class Out(TensorClass):
    y: Tensor
