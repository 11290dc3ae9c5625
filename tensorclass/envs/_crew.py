"""The crew: the processes of a ParallelEnv, as the process that started them talks to them."""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import util
from typing import Any

from .._rules import errors
from ._shared import Block
from ._worker import ERROR, STOP, work

GRACE = 5.0  # Seconds for workers to end by themselves.


class WorkerError(RuntimeError):
    """What a worker raised: also an error of the same class, with the traceback from the worker in its words."""

    worker: int


class WorkerDied(errors.RuleError, RuntimeError):
    """A worker that is gone, by a signal or by itself."""


class Worker:
    """A process that holds one environment."""

    def __init__(self, context: Any, index: int, creator: bytes, threads: int) -> None:
        self.index = index
        self._spoke = False  # Whether it has replied to anything.
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, creator, threads), name=f"ParallelEnv worker {index}")
        with uninterrupted():
            self.process.start()
        theirs.close()
        self._poll = select.poll()
        for file in (self.pipe.fileno(), self.process.sentinel):
            self._poll.register(file, select.POLLIN)

    def send(self, message: bytes) -> None:
        """Tell the worker to do something."""
        try:
            self.pipe.send_bytes(message)
        except OSError:
            raise self.died() from None

    def share(self, block: Block) -> None:
        """Give the worker its handle on a block of memory."""
        try:
            block.send(self.pipe, self.process.pid)
        except OSError:
            raise self.died() from None

    def receive(self) -> bytes:
        """What the worker replies, once it does."""
        while True:
            ready = [file for file, _ in self._poll.poll()]
            try:
                if self.pipe.fileno() in ready:
                    reply: bytes = self.pipe.recv_bytes()
                    self._spoke = True
                    return reply
            except (EOFError, OSError):
                raise self.died() from None
            if ready:
                raise self.died()

    def died(self) -> WorkerDied:
        """The error for a worker that is gone."""
        self.process.join(GRACE)
        code = self.process.exitcode
        how = "closed its pipe" if code is None else f"ended with exit code {code}"
        if code is not None and code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
        if code == 1 and not self._spoke:
            how += " before it had begun (a program that starts processes does so in `if __name__ == '__main__':`)"
        return WorkerDied(
            f"worker {self.index} of ParallelEnv {how}; the other workers are stopped, and a reset starts new ones"
        )


class Crew:
    """The workers of a ParallelEnv; they end with it."""

    def __init__(self, context: Any, creators: Sequence[bytes], threads: int) -> None:
        self.workers: list[Worker] = []
        self._end = util.Finalize(self, stop, (self.workers,), exitpriority=20)  # Before processes are joined.
        for index, creator in enumerate(creators):
            self.workers.append(Worker(context, index, creator, threads))

    def collect(self, which: Sequence[int], doing: str) -> list[bytes]:
        """The replies of some workers; the first error of one of them is raised when all have replied."""
        replies, failed = [], None
        for index in which:
            reply = self.workers[index].receive()
            if reply[:1] == ERROR and failed is None:
                failed = raised(index, doing, *pickle.loads(reply[1:]))
            replies.append(reply)
        if failed is not None:
            raise failed
        return replies

    def stop(self) -> None:
        """End all workers."""
        self._end()


def stop(workers: list[Worker]) -> None:
    """End workers: they are asked to, then made to."""
    for worker in workers:
        with contextlib.suppress(OSError):
            worker.pipe.send_bytes(STOP)
    end = time.monotonic() + GRACE
    for worker in workers:
        worker.process.join(max(0.0, end - time.monotonic()))
    for force in ("terminate", "kill"):
        for worker in workers:
            if worker.process.is_alive():
                getattr(worker.process, force)()
        for worker in workers:
            worker.process.join(GRACE)
    for worker in workers:
        worker.pipe.close()
        worker.process.close()
    workers.clear()


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Processes that start in here ignore Ctrl-C from the first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        if before is not None:  # Set by something that is not Python.
            signal.signal(signal.SIGINT, before)


def raised(index: int, doing: str, error: BaseException | None, text: str) -> Exception:
    """An error of a worker, to be raised here."""
    words = f"worker {index} of ParallelEnv raised in {doing}:\n\n{text}"
    try:
        out = _like(error)(words)
    except Exception:  # A class that cannot be a base beside ours, or that is made in some way of its own.
        out = WorkerError(words)
    out.worker = index
    out.__cause__ = error
    return out


def _like(error: BaseException | None) -> Callable[[str], WorkerError]:
    """A class that is WorkerError and that of an error, whatever the latter wants to be made of."""
    if not isinstance(error, Exception):
        return WorkerError
    kind = type(error)

    def new(cls: Any, words: str) -> Any:
        return kind.__new__(cls)

    def init(self: Any, words: str) -> None:
        self.args = (words,)

    body = {"__new__": new, "__init__": init, "__str__": BaseException.__str__, "__module__": __name__}
    return type("WorkerError", (WorkerError, kind), body)


def spawned(method: str | None) -> Any:
    """The ways to start processes."""
    return multiprocessing.get_context(method or "spawn")
