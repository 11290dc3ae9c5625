"""A structure handed over once; from then on each container is one message of the bytes of its tensors."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

import torch
import torch.distributed as dist
from torch import Tensor

from .._container import Container
from .._rules import errors
from .._tensordict import TensorDict
from .._tree.join import equal
from ..io._load import typed_as
from ..io._outline import Outline
from ..io._pack import pack_into
from ._agree import Group, device_of, difference, structure
from ._pairs import Receiving, Sending, recv, send
from ._payload import described, filled, length_of

C = TypeVar("C", bound=Container)


class Outgoing(Generic[C]):
    """Containers of one structure to one rank: what `init_remote` gives."""

    def __init__(self, container: C, dst: int, group: Group, tag: int) -> None:
        self._place: tuple[int, Any, int] = (dst, group, tag)
        self._structure = structure(container)
        self._form, _ = described(container, "init_remote")
        self._length = length_of(self._form)

    def isend(self, container: C) -> Sending:
        """Begin to send a container, in one message; StructureError where it is not what was handed over."""
        form, leaves = described(container, "isend")
        mine = structure(container)
        dst, group, tag = self._place
        if mine != self._structure or list(mine) != list(self._structure):
            raise errors.StructureError(difference("isend", {dst: self._structure, dist.get_rank(): mine}))
        if not _same_plain(form, self._form):
            raise errors.StructureError(
                "isend: plain data, a class, names or a batch size differ from what was handed over, and only tensors "
                "go along; distributed.isend takes everything"
            )
        data = torch.empty(self._length, dtype=torch.uint8, device=device_of(group))
        pack_into(data, leaves)
        return Sending([data] if self._length else [], dst, group, tag)

    def send(self, container: C) -> None:
        """Send a container, in one message."""
        self.isend(container).wait()


class Incoming(Generic[C]):
    """Containers of one structure from one rank: what `from_remote` gives."""

    def __init__(self, form: Outline, cls: Any, src: int, group: Group, tag: int) -> None:
        self._form, self._cls = form, cls
        self._place: tuple[int, Any, int] = (src, group, tag)
        self._length = length_of(form)

    def irecv(self) -> Receiving[C]:
        """Begin to receive a container; several may be on their way, and come in the order of the calls."""
        src, group, tag = self._place
        data = torch.empty(self._length, dtype=torch.uint8, device=device_of(group))
        work = dist.irecv(data, src, group, tag) if self._length else None

        def receive() -> C:
            if work is not None:
                work.wait()
            return self._made(data)

        return Receiving(receive)

    def recv(self) -> C:
        """The next container."""
        return self.irecv().wait()

    def zeros(self) -> C:
        """A container of the structure that was handed over, full of zeros."""
        return self._made(torch.zeros(self._length, dtype=torch.uint8, device=device_of(self._place[1])))

    def _made(self, data: Tensor) -> C:
        node: Any = filled(self._form, data)
        return node if self._cls is None else typed_as(self._cls, node)  # type: ignore[no-any-return]


def init_remote(container: C, dst: int, *, group: Group = None, tag: int = 0) -> Outgoing[C]:
    """Hand the structure of a container over to a rank, which calls `from_remote`; no tensor is sent yet.

    What it gives sends containers of this structure in one message each. The tag is then for them alone.
    """
    out = Outgoing(container, dst, group, tag)
    send(TensorDict().set_non_tensor("form", out._form), dst, group=group, tag=tag)
    return out


@overload
def from_remote(src: int, cls: type[C], *, group: Group = None, tag: int = 0) -> Incoming[C]: ...
@overload
def from_remote(src: int, cls: None = None, *, group: Group = None, tag: int = 0) -> Incoming[Any]: ...
def from_remote(src: int, cls: Any = None, *, group: Group = None, tag: int = 0) -> Incoming[Any]:
    """Take over the structure that a rank hands over with `init_remote`; what it gives receives the containers."""
    return Incoming(recv(src, group=group, tag=tag)["form"], cls, src, group, tag)


def _same_plain(one: Any, other: Any) -> bool:
    """Whether two outlines of the same tensors say the same about everything else."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(key == "device" or _same_plain(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same_plain, one, other))
    return equal(one, other)
