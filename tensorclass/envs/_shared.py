"""Memory that several processes read and write: tensors side by side in one block that has no name."""

from __future__ import annotations

import mmap
import os
import tempfile
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import NamedTuple

import torch
from torch import Tensor

from ..io._bytes import size_of
from ..io._pack import Kind, places


class Slot(NamedTuple):
    """Where a tensor lies in a block."""

    start: int
    dtype: torch.dtype
    shape: tuple[int, ...]

    def row(self, index: int) -> Slot:
        """Where one row of it lies."""
        shape = self.shape[1:]
        return Slot(self.start + index * size_of(shape, self.dtype), self.dtype, shape)


def arrange(kinds: list[Kind]) -> tuple[list[Slot], int]:
    """Slots for tensors of these dtypes and shapes, and how long a block for them is."""
    starts, length = places(kinds)
    return [Slot(start, *kind) for start, kind in zip(starts, kinds)], length


class Block:
    """Bytes that this process and those that it sends them to share.

    The file behind them has no name from the start, so that nothing is left over however the processes end.
    """

    def __init__(self, length: int, file: int | None = None) -> None:
        self.length = max(length, 1)
        self._file = _nameless(self.length) if file is None else file
        self.bytes = torch.frombuffer(mmap.mmap(self._file, self.length), dtype=torch.uint8)

    def tensor(self, slot: Slot) -> Tensor:
        """The tensor that lies in a slot; the block lives as long as it."""
        length = size_of(slot.shape, slot.dtype)
        return self.bytes[slot.start : slot.start + length].view(slot.dtype).view(slot.shape)

    def send(self, to: Connection, process: int | None) -> None:
        """Give a process its own handle on the block."""
        to.send(self.length)
        reduction.send_handle(to, self._file, process)

    @classmethod
    def receive(cls, sender: Connection) -> Block:
        """The block that another process sends."""
        return cls(sender.recv(), reduction.recv_handle(sender))

    def __del__(self) -> None:
        file, self._file = getattr(self, "_file", -1), -1
        if file >= 0:
            os.close(file)  # The memory stays as long as a tensor is in it.


def _nameless(length: int) -> int:
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("tensorclass", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as named:
            file = os.dup(named.fileno())
    os.ftruncate(file, length)
    return file
