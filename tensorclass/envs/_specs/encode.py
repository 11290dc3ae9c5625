"""encode and to_numpy: from the values of Python and numpy to tensors, and back."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..._rules import errors, spec_errors
from ..._tree.node import kind
from .asked import encode, to_numpy
from .choices import OneHot, marks
from .leaf import LeafSpec, shape_fits
from .multi import MultiOneHot
from .plain import NonTensor


@encode.register
def _(spec: NonTensor, value: Any) -> Any:
    return value


@encode.register
def _(spec: LeafSpec, value: Any) -> Tensor:
    tensor = as_tensor(value, spec)
    if tensor.dtype is not spec.dtype:
        tensor = tensor.to(spec.dtype)
    return shaped(tensor, spec)


@encode.register
def _(spec: OneHot, value: Any) -> Tensor:
    tensor = as_tensor(value, spec)
    if tensor.dtype is torch.bool or tensor.is_floating_point():  # Marks already.
        return shaped(tensor.to(spec.dtype), spec)
    return shaped(marked(tensor, spec.n).to(spec.dtype), spec)


@encode.register
def _(spec: MultiOneHot, value: Any) -> Tensor:
    tensor = as_tensor(value, spec)
    if tensor.dtype is torch.bool or tensor.is_floating_point():
        return shaped(tensor.to(spec.dtype), spec)
    if not tensor.ndim or tensor.shape[-1] != len(spec.nvec):
        raise errors.ShapeError(f"encode: a number for each of {len(spec.nvec)} slots; got {list(tensor.shape)}")
    rows = [marked(slot, n) for slot, n in zip(tensor.unbind(-1), spec.nvec)]
    return shaped(torch.cat(rows, -1).to(spec.dtype), spec)


@to_numpy.register
def _(spec: LeafSpec, value: Tensor) -> Any:
    return value.detach().cpu().numpy()


@to_numpy.register
def _(spec: NonTensor, value: Any) -> Any:
    return value


@to_numpy.register(OneHot)
@to_numpy.register(MultiOneHot)
def _(spec: Any, value: Tensor) -> Any:
    return spec.to_categorical(value).detach().cpu().numpy()


def as_tensor(value: Any, spec: LeafSpec) -> Tensor:
    """A value as a tensor on the device of the spec."""
    if isinstance(value, Tensor):
        return value if value.device == spec.device else value.to(spec.device)
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "shape"):
        return torch.stack([as_tensor(row, spec) for row in value])
    try:
        return torch.tensor(value, device=spec.device)  # Copied: an environment may write its array again.
    except (TypeError, ValueError, RuntimeError):
        raise errors.KindError(f"encode: {kind(value)} is no number, and no list or array of numbers") from None


def marked(numbers: Tensor, n: int) -> Tensor:
    """Numbers as marks; one that is out of range would have no mark at all."""
    if not torch.compiler.is_compiling():  # A graph cannot ask that.
        wrong = (numbers < 0) | (numbers >= n)
        if bool(wrong.any()):
            number = numbers[wrong][0].item()
            raise errors.OptionError(f"encode: there is no choice {number} among {n}; 0 to {n - 1} would do")
    return marks(numbers, n)


def shaped(tensor: Tensor, spec: LeafSpec) -> Tensor:
    """A tensor with the shape of the spec: a number may stand for a last dim of size 1."""
    if shape_fits(tensor.shape, spec.shape):
        return tensor
    if spec.shape and spec.shape[-1] == 1 and shape_fits((*tensor.shape, 1), spec.shape):
        return tensor.unsqueeze(-1)
    raise errors.ShapeError(f"encode: {spec_errors.wrong_shape(tuple(tensor.shape), tuple(spec.shape))}")
