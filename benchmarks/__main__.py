"""Print every row and whether its limit holds; exit with 1 where one does not."""

from __future__ import annotations

import argparse
import math
import sys

import torch

from .imports import imports
from .libraries import ours, peer
from .rows import Case, cases
from .timing import in_turns

PEER_MEAN = 3.0  # the peer over ours, geometric mean of all rows, at least


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
    broken: list[str] = []
    over_peer: list[float] = []
    print(
        f"{'us a call, medians of ' + str(options.rounds) + ' rounds':32}",
        "    ours  by hand     peer   ratio  limit  peer/ours",
    )
    for case in cases(ours(), other):
        if options.only in case.name:
            over_peer += _show(case, options.rounds, broken)
    if over_peer:
        mean = math.exp(math.fsum(map(math.log, over_peer)) / len(over_peer))
        print(f"{'geometric mean':86}{mean:8.2f}")
        if mean < PEER_MEAN and not options.only:
            broken.append(f"the peer takes {mean:.2f} times as long on the geometric mean, not {PEER_MEAN}")
    if not options.only:
        print()
        _show_imports(broken)
    print(*["", *(f"over the limit: {sentence}" for sentence in broken)] if broken else ["\nall limits hold"], sep="\n")
    return 1 if broken else 0


def _show(case: Case, rounds: int, broken: list[str]) -> list[float]:
    """Print a row; give what the peer takes over ours, where there is a peer."""
    times = in_turns(case.ways, rounds)
    ratio = times.ratio("ours", to="by hand")
    over_peer = [times.ratio("peer", to="ours")] if "peer" in case.ways else []
    figures = [
        f"{times.median(way) * 1e6:9.2f}" if way in case.ways else " " * 9 for way in ("ours", "by hand", "peer")
    ]
    print(
        f"{case.name:32}",
        *figures,
        f"{ratio:6.2f} {case.limit:6.1f}",
        *(f"{each:8.2f}" for each in over_peer),
        flush=True,
    )
    if ratio > case.limit:
        broken.append(f"{case.name} takes {ratio:.2f} times as long as by hand, limit {case.limit}")
    if over_peer and over_peer[0] <= 1:
        broken.append(f"{case.name} is slower than the peer ({over_peer[0]:.2f})")
    return over_peer


def _show_imports(broken: list[str]) -> None:
    for each in imports():
        print(f"{each.name + ', after torch':44} {each.seconds * 1e3:6.1f} ms   limit {each.limit * 1e3:.0f}")
        if each.seconds > each.limit:
            broken.append(f"{each.name} takes {each.seconds * 1e3:.0f} ms, limit {each.limit * 1e3:.0f}")


if __name__ == "__main__":
    sys.exit(main())
