"""Print every row and whether its limit holds; exit with 1 where one does not."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from itertools import chain

import torch

from . import envs, modules, storage
from .imports import imports
from .libraries import ours, peer
from .rows import Case, cases
from .timing import Times, in_turns

# The peer over ours, geometric mean over the operations on one kind of container (and on keys), so that each counts
# once: at least 3 where the class has a plain value beside its tensors.  A class of tensors alone lets the peer take
# short cuts, and its own torch calls are then most of the time; that mean is printed without a limit.
MEANS = {"Tagged": 3.0, "TensorClass": None}
KEYS = "TensorDict keys"


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    arguments.add_argument("--only", default="", help="rows whose name contains this, e.g. 'TensorDict index'")
    arguments.add_argument("--rounds", type=int, default=60, help="how often each way of a row is timed (60)")
    arguments.add_argument("--threads", type=int, default=1, help="threads that torch may use (1)")
    options = arguments.parse_args()
    torch.set_num_threads(options.threads)

    other = peer()
    if other is None:
        print("The peer is not installed (`pip install tensordict`): its column is empty.\n")
    print(f"us a call, medians of {options.rounds} rounds".ljust(32), *HEADINGS)
    broken: list[str] = []
    over_peer: dict[str, list[float]] = {}
    for case in chain(
        cases(ours(), other), modules.cases(other is not None), storage.cases(ours(), other), envs.cases()
    ):
        if options.only not in f"{case.kind} {case.name}":
            continue
        times = in_turns(case.ways, case.rounds or options.rounds, case.clock)
        print(_line(case, times), flush=True)
        broken += _beyond(case, times)
        if "peer" in case.ways:
            over_peer.setdefault(case.kind, []).append(times.ratio("peer", to="ours"))
    if over_peer and not options.only:
        broken += _show_mean(over_peer)
    if not options.only:
        broken += _show_imports()
    print("", *(broken or ["all limits hold"]), sep="\n")
    return 1 if broken else 0


HEADINGS = ("    ours", " by hand", "    peer", " ratio", " limit", " peer/ours")


def _line(case: Case, times: Times) -> str:
    figures = [
        f"{times.median(way) * 1e6:8.2f}" if way in case.ways else " " * 8 for way in ("ours", "by hand", "peer")
    ]
    over_peer = f"{times.ratio('peer', to='ours'):10.2f}" if "peer" in case.ways else ""
    ratio = times.ratio("ours", to="by hand")
    return " ".join([f"{case.kind} {case.name}".ljust(32), *figures, f"{ratio:6.2f}", f"{case.limit:6.2f}", over_peer])


def _beyond(case: Case, times: Times) -> Iterator[str]:
    """The limits that a case does not keep."""
    if math.isinf(case.limit):
        return
    ratio = times.ratio("ours", to="by hand")
    if ratio > case.limit:
        yield f"over the limit: {case.kind} {case.name} takes {ratio:.2f} times as long as by hand, limit {case.limit}"
    if "peer" in case.ways and times.ratio("peer", to="ours") <= 1:
        yield f"slower than the peer: {case.kind} {case.name}"


def _show_mean(over_peer: dict[str, list[float]]) -> Iterator[str]:
    print()
    for kind, limit in MEANS.items():
        ratios = over_peer[kind] + over_peer[KEYS]
        mean = math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
        wanted = "" if limit is None else f"   limit {limit}"
        print(f"peer/ours, geometric mean of {kind} and {KEYS}: {mean:.2f}{wanted}")
        if limit is not None and mean < limit:
            yield f"over the limit: on {kind} the peer takes {mean:.2f} times as long on the mean, not {limit}"


def _show_imports() -> Iterator[str]:
    for each in imports():
        print(f"{each.name + ', after torch':44} {each.seconds * 1e3:6.1f} ms   limit {each.limit * 1e3:.0f}")
        if each.seconds > each.limit:
            yield f"over the limit: {each.name} takes {each.seconds * 1e3:.0f} ms, limit {each.limit * 1e3:.0f}"


if __name__ == "__main__":
    sys.exit(main())
