"""Time several ways to do one thing, in turns (and in CPU seconds), so that a busy machine slows them all alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from timeit import Timer

Way = Callable[[], None]
Clock = Callable[[], float]


@dataclass
class Times:
    """Seconds a run, one entry a round, for every way of doing it."""

    rounds: Mapping[str, list[float]]

    def median(self, way: str) -> float:
        return statistics.median(self.rounds[way])

    def ratio(self, way: str, to: str) -> float:
        """How many times as long `way` takes; a round is compared with itself only."""
        pairs = zip(self.rounds[way], self.rounds[to], strict=True)
        return statistics.median(one / other for one, other in pairs)


def in_turns(ways: Mapping[str, Way], rounds: int, clock: Clock = time.process_time, seconds: float = 0.002) -> Times:
    """Run each way for about `seconds` a round, starting each round with another one."""
    timers = {name: Timer(way, timer=clock) for name, way in ways.items()}
    counts = {name: _runs_in(seconds, timer) for name, timer in timers.items()}
    names = list(ways)
    taken: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            taken[name].append(timers[name].timeit(counts[name]) / counts[name])  # a Timer keeps gc off meanwhile
    return Times(taken)


def _runs_in(seconds: float, timer: Timer) -> int:
    count = 1
    while (taken := timer.timeit(count)) < seconds / 4:
        count *= 2
    return max(1, round(count * seconds / taken))
