"""What is real of complex tensors: absolute values, parts, norms and spreads."""

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from tensorclass import TensorClass


class Signal(TensorClass):
    z: Complex[Tensor, "*batch n"]

    def power(self) -> Float[Tensor, "*batch n"]:
        return self.z.abs().square()


def magnitude(z: Complex[Tensor, "n"]) -> Float[Tensor, "n"]:
    return z.abs() + torch.abs(z) + z.real + z.imag + torch.real(z) + torch.imag(z) + abs(z) + z.absolute()


def spread(z: Complex[Tensor, "n"]) -> Float[Tensor, ""]:
    norms: Tensor = torch.norm(z) + z.norm() + (z - z).norm(dim=0)
    norms += torch.linalg.vector_norm(z)
    return norms + z.std() + z.var()  # mypy has Any for some of these.


def parts(z: Complex[Tensor, "n"]) -> Float[Tensor, "n"]:
    return (z * z.conj()).real + z.angle() + torch.view_as_real(z)[..., 0]


values = torch.tensor([3 + 4j, 1j])
print(magnitude(values).dtype, spread(values).dtype, parts(values).dtype, Signal(z=values).power().dtype)
