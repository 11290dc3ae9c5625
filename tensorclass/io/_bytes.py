"""The bytes of a tensor: written to a file, counted, reserved."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import BinaryIO

import torch
from torch import Tensor

from ._errors import NotStorable

CHUNK = 64 << 20  # What is held in memory at a time of a tensor that cannot be written as it lies.

Progress = Callable[[int], object]  # Told how many bytes were written.


def size_of(shape: Sequence[int], dtype: torch.dtype) -> int:
    """The bytes that a tensor takes."""
    count = dtype.itemsize
    for size in shape:
        count *= size
    return count


def write(path: str, tensor: Tensor, told: Progress | None = None) -> None:
    """Write the elements of a tensor, in order, to a file."""
    with open(path, "wb", buffering=0) as file:
        append(file, tensor, told)


def append(file: BinaryIO, tensor: Tensor, told: Progress | None = None) -> None:
    """Write the elements of a tensor, in order, where a file stands."""
    tensor = storable(tensor)
    if tensor.is_nested:
        for row in tensor.unbind():
            append(file, row, told)
        return
    whole = tensor.device.type == "cpu" and tensor.is_contiguous()
    rows = 1 if tensor.ndim == 0 else max(1, CHUNK * len(tensor) // max(1, tensor.nbytes))
    for part in (tensor,) if tensor.ndim == 0 or whole else tensor.split(rows):
        _put(file, part.cpu().contiguous(), told)


def _put(file: BinaryIO, part: Tensor, told: Progress | None) -> None:
    length, start = part.nbytes, 0
    while start < length:
        size = min(CHUNK, length - start)
        done = file.write((ctypes.c_char * size).from_address(part.data_ptr() + start))
        start += done
        if told is not None:
            told(done)


def storable(tensor: Tensor) -> Tensor:
    """A tensor as bytes can tell it: detached, nothing put off; refuses what has no bytes of its own."""
    if tensor.layout not in (torch.strided, torch.jagged) or tensor.is_quantized or tensor.device.type == "meta":
        what = "on the meta device" if tensor.device.type == "meta" else f"of {tensor.layout}, {tensor.dtype}"
        raise NotStorable(
            f"a tensor {what} cannot be stored; .to_dense(), .dequantize() or .to_empty() make one that can"
        )
    tensor = tensor.detach()
    return tensor if tensor.is_nested else tensor.resolve_conj().resolve_neg()


def reserve(path: str, length: int) -> None:
    """A file of zeros that takes no room before something is written."""
    with open(path, "wb") as file:
        file.truncate(length)
