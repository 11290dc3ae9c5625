"""ParallelEnv: environments side by side, each in a process of its own, over shared memory."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .._rules import errors
from .._rules.keys import path
from ._board import Board
from ._crew import Crew, WorkerError, spawned
from ._entries import drop
from ._env import EnvBase
from ._many import Many
from ._operations import Description
from ._rows import halted, rows_of
from ._serial import SerialEnv
from ._typed import Action, Obs, view
from ._worker import CALL, MEMORY, RESET, STEP, Path

NOTHING: Any = ((), {})  # What a worker says beside what it writes into the memory, as a rule.


class ParallelEnv(Many[Obs, Action]):
    """Environments in processes of their own, as one environment with a first batch dim.

    >>> from tensorclass.envs import GymEnv
    >>> env = ParallelEnv(2, lambda: GymEnv("CartPole-v1"))  # In a program: in `if __name__ == "__main__":`.
    >>> env.rollout(20, break_when_any_done=False).shape
    torch.Size([2, 20])
    >>> env.close()

    The same numbers as SerialEnv for a seed. Actions and what comes of them lie in shared memory; nothing is pickled at
    a step, as long as the environments give what their specs say. What a worker raises is raised here as a WorkerError
    that is also of the class of the error, with the worker's traceback; WorkerDied says which one is gone. Processes
    are spawned (or mp_start_method), when they are needed; they end with close(), with this object and with this
    process. num_threads: of torch, in each of them. serial_for_single: one environment stays here, in a SerialEnv.
    """

    if not TYPE_CHECKING:

        def __new__(cls, num_workers, create_env_fn, *, serial_for_single=False, **options):
            """A SerialEnv, where one environment is asked not to have a process."""
            if not (serial_for_single and num_workers == 1):
                return super().__new__(cls)
            for name in ("mp_start_method", "num_threads"):
                options.pop(name, None)
            return SerialEnv(num_workers, create_env_fn, **options)

    def __init__(
        self,
        num_workers: int,
        create_env_fn: Callable[..., EnvBase[Obs, Action]] | Sequence[Callable[..., EnvBase[Obs, Action]]],
        *,
        create_env_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None = None,
        mp_start_method: str | None = None,
        num_threads: int = 1,
        serial_for_single: bool = False,
        device: torch.device | str | int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(num_workers, create_env_fn, create_env_kwargs=create_env_kwargs, device=device, **options)
        own = vars(self)
        own["_context"], own["_threads"] = spawned(mp_start_method), num_threads

    # ---- starting and stopping --------------------------------------------------------------------------------------

    def _open(self) -> list[Description]:
        own = vars(self)
        crew = Crew(own["_context"], [pickle.dumps(one) for one in own["_creators"]], own["_threads"])
        own["_crew"] = crew
        try:
            replies = crew.collect(range(self.num_workers), "the function that makes its environment")
        except BaseException:
            crew.stop()
            raise
        return [pickle.loads(reply[1:]) for reply in replies]

    def _ready(self, found: list[Description]) -> None:
        own = vars(self)
        board, crew = Board(found, own["_even"]), own["_crew"]
        for worker, layout in zip(crew.workers, board.layouts):
            worker.send(MEMORY + pickle.dumps(layout))
            worker.share(board.block)
        crew.collect(range(self.num_workers), "its start")
        own["_board"], own["_extras"] = board, [NOTHING] * self.num_workers

    def _shut(self) -> None:
        own = vars(self)
        own.pop("_board", None)
        own.pop("_crew").stop()

    # ---- talking to the workers -------------------------------------------------------------------------------------

    def _talk(self, which: Sequence[int], messages: Sequence[bytes], doing: str) -> list[bytes]:
        crew = vars(self)["_crew"]
        try:
            for at, message in zip(which, messages):
                crew.workers[at].send(message)
            return crew.collect(which, doing)  # type: ignore[no-any-return]  # Replies, though vars() does not know.
        except WorkerError:  # They have all replied, and wait for more.
            raise
        except BaseException:  # One is gone, or Ctrl-C came in between: who has said what is not known any more.
            self.close()
            raise

    def _ask(
        self, which: Sequence[int], operation: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        messages = [CALL + pickle.dumps((operation, given)) for given in arguments]
        return [pickle.loads(reply[1:]) for reply in self._talk(which, messages, operation.__name__)]

    # ---- resets and steps -------------------------------------------------------------------------------------------

    def _restart_rows(self, which: list[int], rows: list[Any], kwargs: dict[str, Any]) -> Any:
        messages = [
            RESET if not kwargs and rows[at] is None else RESET + pickle.dumps((rows[at], kwargs)) for at in which
        ]
        self._hear(which, self._talk(which, messages, "reset"))
        return self._heard(self._transition, rewards=False)

    def _advance(self, tensordict: Any) -> Any:
        self._start()
        own = vars(self)
        inside = self._inside(tensordict)
        containers = [inside] if own["_even"] else rows_of(inside, self.num_workers)
        absent = own["_board"].write(containers)
        self._check_given(absent, containers)
        every = range(self.num_workers)
        if any(absent):
            absent = absent * self.num_workers if own["_even"] else absent
            messages = [STEP + pickle.dumps((missing, None)) for missing in absent]
        else:
            messages = [STEP] * self.num_workers
        self._hear(every, self._talk(every, messages, "step"))
        return self._heard(self._next, rewards=True)

    def _advance_rows(self, rows: list[Any], masks: list[Any]) -> Any:
        own = vars(self)
        before = self._rows_heard()
        which = [at for at, mask in enumerate(masks) if mask.any()]
        absent = {at: own["_board"].write_row(at, rows[at]) for at in which}
        self._check_given(absent.values(), [rows[at] for at in which])
        messages = [STEP + pickle.dumps((absent[at], None if masks[at].all() else masks[at])) for at in which]
        self._hear(which, self._talk(which, messages, "step"))
        out = self._rows_heard()
        for at, row in enumerate(rows):
            if at not in which:
                out[at] = halted(before[at], row, self.full_reward_spec[at])
        return self._gathered(self._next, out)

    def _check_given(self, absent: Iterable[list[Path]], containers: Sequence[Any]) -> None:
        """Refuse a step without an action; a state that is not there is the worker's own."""
        actions = {path(key) for key in self._keys.actions}
        for missing, container in zip(absent, containers):
            for at in missing:
                if at in actions:
                    have = list(type(container).keys(container, True, True))
                    raise errors.KeyMissing(f"step: {errors.key_missing(at, have)}")

    def _hear(self, which: Sequence[int], replies: list[bytes]) -> None:
        """Keep what the workers said beside what they wrote into the memory."""
        for at, reply in zip(which, replies):
            vars(self)["_extras"][at] = NOTHING if len(reply) == 1 else pickle.loads(reply[1:])

    def _heard(self, cls: Any, rewards: bool) -> Any:
        """What the workers gave last, as one container."""
        own = vars(self)
        if not own["_even"] or any(extra is not NOTHING for extra in own["_extras"]):
            return self._gathered(cls, self._rows_heard(rewards))
        (out,) = own["_board"].read()
        if not rewards:
            for key in self._keys.rewards:
                drop(out, key)
        out = view(cls, out._fields, self._batch)
        return out if self._on is None else out.to(self._on)

    def _rows_heard(self, rewards: bool = True) -> list[Any]:
        """What each worker gave last."""
        read = vars(self)["_board"].read()
        rows = rows_of(read[0], self.num_workers) if vars(self)["_even"] else read
        for row, (absent, found) in zip(rows, vars(self)["_extras"]):
            for at in absent if rewards else [*absent, *self._keys.rewards]:
                drop(row, at)
            for at, value in found.items():
                row[at] = value
        return rows
