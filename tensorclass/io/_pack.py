"""One buffer: all tensors of a container side by side in one storage, which is copied, sent and pickled as one."""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from .._tree import walk
from .._tree.contract import full_device
from .._tree.node import Node
from ._bytes import size_of, storable

N = TypeVar("N", bound=Node)

ALIGN = 64  # A cache line; also what vector instructions and safetensors like.


class Buffer:
    """The bytes that packed tensors share; a pickle (protocol 5) hands them on without a copy."""

    def __init__(self, data: Tensor) -> None:
        self.data = data  # One dim of uint8: a whole storage.

    def view(self, dtype: torch.dtype, offset: int, shape: Any, stride: Any) -> Tensor:
        """A tensor in the buffer: what PackedTensor pickles as."""
        typed = self.data[: len(self.data) // dtype.itemsize * dtype.itemsize].view(dtype)
        return typed.as_strided(shape, stride, offset).as_subclass(PackedTensor)

    def __reduce_ex__(self, protocol: Any) -> Any:
        data = self.data.cpu()
        if protocol < 5:
            return _from_bytes, (bytes(_memory(data)), str(self.data.device))
        return _from_bytes, (pickle.PickleBuffer(_memory(data)), str(self.data.device))


# A pickle that meets the same buffer twice must see the same object; it is kept only as long as the pickle is made.
_BUFFERS: WeakValueDictionary[int, Buffer] = WeakValueDictionary()


def buffer_of(tensor: Tensor) -> Buffer:
    """The whole storage that a tensor lies in."""
    storage = tensor.untyped_storage()
    buffer = _BUFFERS.get(storage._cdata)
    if buffer is None:
        data = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
        buffer = _BUFFERS[storage._cdata] = Buffer(data)
    return buffer


class PackedTensor(Tensor):
    """A tensor of a consolidated container: pickled with the buffer that it lies in, which is pickled once."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # pyright: ignore

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Buffer.view, (
            buffer_of(self),
            self.dtype,
            self.storage_offset(),
            tuple(self.shape),
            self.stride(),
        )

    def __getitem__(self, index: Any) -> Any:
        out = _item(self, index)
        return out.as_subclass(PackedTensor) if out.untyped_storage()._cdata == self.untyped_storage()._cdata else out

    def __format__(self, spec: str) -> str:
        return format(self.as_subclass(Tensor), spec)

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        return repr(self.as_subclass(Tensor))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return memo.setdefault(id(self), self.clone())


_item = Tensor.__getitem__


def _memory(data: Tensor) -> memoryview:
    if not len(data):
        return memoryview(b"")
    memory = (ctypes.c_char * len(data)).from_address(data.data_ptr())
    memory._kept = data  # type: ignore[attr-defined]  # As long as someone looks at the memory.
    return memoryview(memory).cast("B")


def _from_bytes(data: Any, device: str) -> Buffer:
    memory = memoryview(data)
    if not memory.nbytes:
        return Buffer(torch.empty(0, dtype=torch.uint8, device=device))
    if memory.readonly and _borrowed.get():
        return Buffer(_seen(memory).to(device))
    if memory.readonly:
        memory = memoryview(bytearray(memory))
    return Buffer(torch.frombuffer(memory, dtype=torch.uint8).to(device))


# Whether what is unpickled may lie in memory that must not be written.
_borrowed: ContextVar[bool] = ContextVar("_borrowed", default=False)


@contextmanager
def borrowing() -> Iterator[None]:
    """A with block in which what is unpickled lies in the memory that it comes from, read-only or not."""
    before = _borrowed.set(True)
    try:
        yield
    finally:
        _borrowed.reset(before)


def _seen(memory: memoryview) -> Tensor:
    """The bytes of read-only memory as a tensor: torch knows none that cannot be written."""
    import numpy as np

    place = np.frombuffer(memory, dtype=np.uint8)
    bytes_there = (ctypes.c_char * len(place)).from_address(place.ctypes.data)
    bytes_there._kept = place  # type: ignore[attr-defined]  # As long as someone looks at the memory.
    return torch.frombuffer(bytes_there, dtype=torch.uint8)


def _shared(buffer: Buffer) -> Any:
    return Buffer, (buffer.data,)  # To another process: torch hands a tensor on as shared memory.


ForkingPickler.register(Buffer, _shared)


# ---- packing ------------------------------------------------------------------------------------------------------


Kind = tuple[torch.dtype, tuple[int, ...]]


def kinds(leaves: list[Tensor]) -> list[Kind]:
    """The dtype and shape of each tensor."""
    return [(leaf.dtype, tuple(leaf.shape)) for leaf in leaves]


def places(of: list[Kind]) -> tuple[list[int], int]:
    """Where each tensor begins in a buffer, and how long the buffer is."""
    starts, end = [], 0
    for dtype, shape in of:
        start = -(-end // ALIGN) * ALIGN
        starts.append(start)
        end = start + size_of(shape, dtype)
    return starts, end


def views(buffer: Tensor, of: list[Kind], starts: list[int]) -> list[Tensor]:
    """Tensors in a buffer, of these dtypes and shapes."""
    return [
        buffer[start : start + size_of(shape, dtype)].view(dtype).view(shape)
        for (dtype, shape), start in zip(of, starts)
    ]


def pack_into(buffer: Tensor, leaves: list[Tensor]) -> list[Tensor]:
    """Copy tensors into a buffer; the tensors there."""
    of = kinds(leaves)
    out = views(buffer, of, places(of)[0])
    with torch.no_grad():
        for view, leaf in zip(out, leaves):
            view.copy_(leaf)
    return out


def empty_buffer(length: int, device: Any = "cpu", share: bool = False, pin: bool = False) -> Tensor:
    """A buffer of bytes, in shared or pinned memory on request."""
    if share:
        data = torch.empty(length, dtype=torch.uint8)
        data.share_memory_()
        return data
    return torch.empty(length, dtype=torch.uint8, device=device, pin_memory=pin)


def consolidate(node: N, *, device: Any = None, share_memory: bool = False, pin_memory: bool = False) -> N:
    """A container whose tensors lie side by side in one buffer; a nested tensor is a copy with memory of its own."""
    every = walk.gather(node, [])
    leaves = [storable(leaf) for leaf in every if not leaf.is_nested]
    of = kinds(leaves)
    starts, length = places(of)
    places_of = {leaf.device for leaf in leaves}
    # Put together where they are (else in main memory) and moved in one copy.
    here = places_of.pop() if len(places_of) == 1 else torch.device("cpu")
    data = empty_buffer(length, here, share_memory, pin_memory and here.type == "cpu")
    pack_into(data, leaves)
    target = full_device(device)
    if target is not None and data.device != target:
        data = data.to(target)
    packed = iter([view.as_subclass(PackedTensor) for view in views(data, of, starts)])
    out = walk.refill(
        node, iter([_own(leaf, target, share_memory) if leaf.is_nested else next(packed) for leaf in every])
    )
    return out if target is None else _on(out, target)


def _on(node: N, device: torch.device) -> N:
    for part in node._items if node._items is not None else node._fields.values():
        if isinstance(part, Node):
            _on(part, device)
    object.__setattr__(node, "_device", device)
    return node


def _own(leaf: Tensor, device: torch.device | None, share_memory: bool) -> Tensor:
    """A copy of a nested tensor, which has no one shape and so no place in a buffer."""
    copy = leaf.detach().to(device=device, copy=True)
    return copy.share_memory_() if share_memory else copy
