"""A worker: a process that holds one environment, and does with it what comes through a pipe."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from multiprocessing import util
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._tree.node import is_tree
from ._entries import branch
from ._operations import describe
from ._shared import Block, Slot

Path = tuple[str, ...]

# What comes through the pipe: the first byte says what it is, a pickle may follow.
STEP, RESET, CALL, MEMORY, STOP = b"s", b"r", b"c", b"m", b"q"
DONE, VALUE, ERROR = b"d", b"v", b"e"


class Layout(NamedTuple):
    """Where the entries of one worker lie in the shared memory."""

    given: list[tuple[Path, Slot]]
    gives: list[tuple[Path, Slot]]
    rewards: set[Path]  # What a reset does not give.


def work(pipe: Connection, creator: bytes, threads: int) -> None:
    """What a worker process runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the caller, who closes the workers.
    torch.set_num_threads(threads)
    desk = Desk(pipe)
    if desk.open(creator):
        desk.serve()
    util._exit_function()  # type: ignore[attr-defined]  # Processes of the environment's own end here.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # There is nothing to save, and to take torch apart takes half a second.


class Desk:
    """The environment of a worker, where it stands, and the memory that it shares."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.env: Any = None
        self.now: Any = None  # What the next step starts from.
        self.given: list[tuple[Path, Tensor]] = []
        self.gives: list[tuple[Path, Tensor]] = []
        self.begins: list[tuple[Path, Tensor]] = []

    def open(self, creator: bytes) -> bool:
        """Make the environment, and say what it is; whether that went well."""
        try:
            self.env = pickle.loads(creator)()
            told = describe(self.env)
            self.send(VALUE, told if can_be_sent(told.classes) else told._replace(classes=(Any, Any)))
        except Exception as error:
            self.fail(error)
            return False
        return True

    def serve(self) -> None:
        """Do what comes through the pipe, up to the end."""
        try:
            while True:
                message = self.pipe.recv_bytes()
                if message[:1] == STOP:
                    break
                self.answer(message)
        except (EOFError, OSError):  # The caller is gone.
            pass
        finally:
            self.env.close()

    def answer(self, message: bytes) -> None:
        """Do what a message says, and reply."""
        kind, rest = message[:1], message[1:]
        try:
            if kind == STEP:
                absent, mask = pickle.loads(rest) if rest else ((), None)
                self.step(absent, mask)
            elif kind == RESET:
                row, kwargs = pickle.loads(rest) if rest else (None, {})
                self.reset(row, kwargs)
            elif kind == MEMORY:
                self.share(pickle.loads(rest))
            else:
                operation, arguments = pickle.loads(rest)
                self.send(VALUE, operation(self.env, *arguments))
        except Exception as error:
            self.fail(error)

    def share(self, layout: Layout) -> None:
        """Take the memory that comes next through the pipe."""
        block = Block.receive(self.pipe)
        self.given = [(at, block.tensor(slot)) for at, slot in layout.given]
        self.gives = [(at, block.tensor(slot)) for at, slot in layout.gives]
        self.begins = [(at, tensor) for at, tensor in self.gives if at not in layout.rewards]
        self.pipe.send_bytes(DONE)

    def step(self, absent: tuple[Path, ...], mask: Tensor | None) -> None:
        """Step with the action in the memory, in some rows only if there is a mask; what comes of it goes there."""
        root = branch(self.now)
        for at, tensor in self.given:
            if at not in absent:
                root[at] = tensor.clone()  # The memory is written to at the next step.
        after = self.env._advance(root) if mask is None else self.env._advance_some(root, mask)
        self.publish(after, self.gives)
        root._fields["next"] = after
        self.now = self.env._onward(root)

    def reset(self, row: Any, kwargs: dict[str, Any]) -> None:
        """Begin an episode."""
        out = self.env._restart(row, **kwargs)
        self.publish(out, self.begins)
        self.now = branch(out)

    def publish(self, td: Any, places: list[tuple[Path, Tensor]]) -> None:
        """Put entries into the memory, and say so; those that are not as the specs say go through the pipe."""
        found = dict(leaves(td))
        absent = []
        for at, tensor in places:
            value = found.get(at)
            if isinstance(value, Tensor) and value.shape == tensor.shape and value.dtype is tensor.dtype:
                tensor.copy_(found.pop(at).detach())
            else:
                absent.append(at)
        if found or absent:
            self.send(DONE, (absent, found))
        else:
            self.pipe.send_bytes(DONE)

    def send(self, kind: bytes, value: Any) -> None:
        """Reply with a value."""
        self.pipe.send_bytes(kind + pickle.dumps(value))

    def fail(self, error: Exception) -> None:
        """Reply with an error."""
        text = "".join(traceback.format_exception(error))
        self.send(ERROR, (error if can_be_sent(error) else None, text))


def can_be_sent(value: Any) -> bool:
    """Whether a value survives a pickle."""
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:  # Classes and exceptions of users may raise anything.
        return False
    return True


def leaves(td: Any, under: Path = ()) -> Any:
    """The entries of a container that are no dense containers themselves, by path."""
    for key, value in td._fields.items():
        if is_tree(value) and value._items is None:
            yield from leaves(value, (*under, key))
        else:
            yield (*under, key), value
