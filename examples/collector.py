"""Collectors: processes that step environments and fill one replay buffer on disk, which the caller samples meanwhile.

`python -m examples.collector` makes two of them collect 2 x 2000 steps of CartPole-v1. The rows are memory-mapped
files: no step goes through a pipe, and the buffer may be larger than memory.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch
from torch import Tensor

from tensorclass import MemoryMappedTensor, TensorDict
from tensorclass.envs import BoxAction, BoxObs, GymEnv, Transition

COLLECTORS, ROWS, ROUND = 2, 2000, 100  # Each collector has so many rows, and writes so many at once.
BATCH = 256


def make_env() -> GymEnv:
    return GymEnv("CartPole-v1", categorical_action_encoding=True)


def lean(seen: BoxObs) -> BoxAction:
    """Push where the pole leans to, nine times of ten."""
    leans = seen.observation[..., 2] > 0
    slips = torch.rand(leans.shape) < 0.1
    return BoxAction(action=(leans ^ slips).long(), batch_size=seen.batch_size)


class Replay:
    """A row for each step in files that several processes map, and how many of them each collector has written."""

    def __init__(self, folder: Path) -> None:
        self.rows = TensorDict.load_memmap(folder / "rows", mode="r+")
        self.written = MemoryMappedTensor.from_filename(folder / "written", torch.int64, [COLLECTORS])

    @classmethod
    def create(cls, folder: Path, row: Transition[BoxObs, BoxAction]) -> Replay:
        """An empty buffer for rows like this one; it takes room on disk as it is filled."""
        row.to_tensordict().expand(COLLECTORS, ROWS).memmap_like(folder / "rows")
        MemoryMappedTensor.zeros(COLLECTORS, dtype=torch.int64, filename=folder / "written")
        return cls(folder)

    def extend(self, collector: int, steps: Transition[BoxObs, BoxAction]) -> None:
        """Write steps, over the oldest where there is no more room, and then say that they are there."""
        written = int(self.written[collector])
        at = torch.arange(written, written + len(steps)) % ROWS
        self.rows[collector, at] = steps.to_tensordict()
        self.written[collector] = written + len(steps)

    def sample(self, count: int) -> TensorDict:
        """Random steps of those that have been written."""
        filled = self.written.clamp(max=ROWS).float()
        collector = filled.multinomial(count, replacement=True)
        return self.rows[collector, (torch.rand(count) * filled[collector]).long()]

    def __len__(self) -> int:
        return int(self.written.clamp(max=ROWS).sum())


def collect(folder: Path, collector: int, steps: int = ROWS) -> None:
    """What a collector does: step its environment, write what came of it, until it has so many steps."""
    torch.set_num_threads(1)
    replay, env = Replay(folder), make_env()
    env.set_seed(collector)
    for _ in range(steps // ROUND):
        replay.extend(collector, env.rollout(ROUND, lean, break_when_any_done=False))


def started(folder: Path) -> Sequence[BaseProcess]:
    """The collectors, at work."""
    context = multiprocessing.get_context("spawn")
    collectors = [context.Process(target=collect, args=(folder, at), daemon=True) for at in range(COLLECTORS)]
    for collector in collectors:
        collector.start()
    return collectors


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        replay = Replay.create(folder, make_env().fake_tensordict())
        collectors = started(folder)
        while len(replay) < COLLECTORS * ROWS and any(collector.is_alive() for collector in collectors):
            collectors[0].join(0.2)
            if len(replay):
                print(f"{len(replay):5} steps, {falls(replay.sample(BATCH)):.1%} of them fell", flush=True)
        for collector in collectors:
            collector.join()
        if len(replay) < COLLECTORS * ROWS:
            raise SystemExit("a collector did not finish")


def falls(steps: TensorDict) -> float:
    """How many of some steps ended an episode."""
    over: Tensor = steps["next", "terminated"]
    return over.float().mean().item()


if __name__ == "__main__":
    main()
