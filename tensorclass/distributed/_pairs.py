"""send, recv, isend, irecv: a container from one rank to another, in two messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import torch
import torch.distributed as dist
from torch import Tensor

from .._container import Container
from ..io._load import typed_as
from ._agree import Group, device_of
from ._payload import opened, payload

C = TypeVar("C", bound=Container)


class Sending:
    """A container on its way to another rank; what is written to it meanwhile does not go along."""

    def __init__(self, messages: list[Tensor], dst: int, group: Group, tag: int) -> None:
        self._messages = messages  # They must live as long as they are sent.
        self._works = [dist.isend(message, dst, group, tag) for message in messages]

    def wait(self) -> None:
        """Return when the other rank has it; raise where that cannot be any more."""
        while self._works:
            work = self._works[0]
            if work is not None:
                work.wait()
            del self._works[0], self._messages[0]


class Receiving(Generic[C]):
    """A container on its way from another rank."""

    def __init__(self, receive: Callable[[], C]) -> None:
        self._receive = receive
        self._came: C | None = None

    def wait(self) -> C:
        """The container, once it is there."""
        if self._came is None:
            self._came = self._receive()
        return self._came


def isend(container: Container, dst: int, *, group: Group = None, tag: int = 0) -> Sending:
    """Begin to send a container to a rank, which calls `recv` or `irecv`; `.wait()` ends it."""
    message = payload(container, device_of(group), "isend")
    return Sending([torch.tensor([len(message)], device=message.device), message], dst, group, tag)


def send(container: Container, dst: int, *, group: Group = None, tag: int = 0) -> None:
    """Send a container to a rank, which calls `recv` or `irecv`."""
    isend(container, dst, group=group, tag=tag).wait()


@overload
def irecv(src: int, cls: type[C], *, group: Group = None, tag: int = 0) -> Receiving[C]: ...
@overload
def irecv(src: int, cls: None = None, *, group: Group = None, tag: int = 0) -> Receiving[Any]: ...
def irecv(src: int, cls: Any = None, *, group: Group = None, tag: int = 0) -> Receiving[Any]:
    """Begin to receive a container from a rank; `.wait()` gives it.

    Containers with the same tag come in the order of the calls, whichever is waited for first.
    """
    line = _line(src, group, tag)
    return Receiving(_Coming(line, cls).take)


@overload
def recv(src: int, cls: type[C], *, group: Group = None, tag: int = 0) -> C: ...
@overload
def recv(src: int, cls: None = None, *, group: Group = None, tag: int = 0) -> Any: ...
def recv(src: int, cls: Any = None, *, group: Group = None, tag: int = 0) -> Any:
    """The container that a rank sends, as an instance of a class, or as what it was."""
    return irecv(src, cls, group=group, tag=tag).wait()


# ---- in order -------------------------------------------------------------------------------------------------------


class _Coming:
    """One place in a line: the length is asked for when its turn comes, the data once the length is known."""

    def __init__(self, line: _Line, cls: Any) -> None:
        self.line, self.cls = line, cls
        self.length = torch.zeros(1, dtype=torch.int64, device=device_of(line.group))
        self.work: Any = None
        self.message: Tensor | None = None
        line.waiting.append(self)
        line.ask()

    def take(self) -> Any:
        while self.message is None:
            self.line.advance()
        node = opened(self.message)
        return node if self.cls is None else typed_as(self.cls, node)


class _Line:
    """What is to come from one rank under one tag; the next length is asked for when the data before are there."""

    def __init__(self, src: int, group: Group, tag: int) -> None:
        self.src, self.group, self.tag = src, group, tag
        self.waiting: list[_Coming] = []

    def ask(self) -> None:
        if self.waiting and self.waiting[0].work is None:
            first = self.waiting[0]
            first.work = dist.irecv(first.length, self.src, self.group, self.tag)

    def advance(self) -> None:
        """Have the first in the line arrive; what fails leaves the line, and so do those behind it."""
        first = self.waiting[0]
        try:
            first.work.wait()
            message = torch.empty(int(first.length), dtype=torch.uint8, device=first.length.device)
            dist.recv(message, self.src, self.group, self.tag)
        except BaseException:
            _LINES.pop((self.src, self.group or dist.group.WORLD, self.tag), None)
            raise
        first.message = message
        del self.waiting[0]
        if self.waiting:
            self.ask()
        else:
            _LINES.pop((self.src, self.group or dist.group.WORLD, self.tag), None)


_LINES: dict[tuple[int, Any, int], _Line] = {}


def _line(src: int, group: Group, tag: int) -> _Line:
    return _LINES.setdefault((src, group or dist.group.WORLD, tag), _Line(src, group, tag))
