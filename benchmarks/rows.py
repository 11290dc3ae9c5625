"""What is timed: one row an operation, with the most that ours may cost over the same by hand.

A row is two lines of Python. The first runs on our container and on the peer's, `x` (sixteen of them, `xs`; one that
holds another, `nested`); the second on what a careful user has without a library: the dataclass `hand`, the dict of
leaves `d` (`ds`, `dd`). Each line is the body of a function, and the call of that function is timed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from . import by_hand
from .libraries import Library, leaves
from .timing import Clock, Way

BATCH = (32,)


@dataclass(frozen=True)
class Row:
    name: str
    limit: float
    container: str
    hand: str


@dataclass(frozen=True)
class Case:
    """A row on one kind of container, ready to be timed."""

    kind: str
    name: str
    limit: float
    ways: dict[str, Way]
    clock: Clock = time.process_time
    rounds: int = 0  # Of what takes seconds; 0: as many as are asked for.


TYPED = [
    Row("construct 6 leaves", 2.5, "Particles(**d, batch_size=SIZES)", "Hand(**d, batch=BATCH)"),
    Row("read a field", 2, "x.mass", "hand.mass"),
    Row("write a field", 2, "x.mass = value", "write_field(hand, value)"),
]
KEYED = [
    Row("read", 3, "x['mass']", "d['mass']"),
    Row("nested read", 8, "nested['agent', 'mass']", "dd['agent']['mass']"),
    Row("write", 2.5, "x['mass'] = value", "write_key(d, BATCH, 'mass', value)"),
]
BOTH = [
    Row("index int", 1.6, "x[3]", "{k: v[3] for k, v in d.items()}"),
    Row("index slice", 1.6, "x[4:20]", "{k: v[4:20] for k, v in d.items()}"),
    Row("index tensor", 1.3, "x[rows]", "{k: v[rows] for k, v in d.items()}"),
    Row("index mask", 1.3, "x[mask]", "{k: v[mask] for k, v in d.items()}"),
    Row("reshape", 1.6, "x.reshape(4, 8)", "{k: v.reshape(4, 8, *v.shape[1:]) for k, v in d.items()}"),
    Row("clone", 1.6, "x.clone()", "{k: v.clone() for k, v in d.items()}"),
    Row("to", 1.6, "x.to(torch.float64)", "{k: v.to(torch.float64) for k, v in d.items()}"),
    Row("unbind", 1.6, "x.unbind(0)", "unbind(d)"),
    Row("+ 1", 1.6, "x + 1", "{k: v + 1 for k, v in d.items()}"),
    Row("stack 16", 2, "torch.stack(xs)", "{k: torch.stack([d[k] for d in ds]) for k in ds[0]}"),
    Row("cat 16", 2, "torch.cat(xs)", "{k: torch.cat([d[k] for d in ds]) for k in ds[0]}"),
]


# "Tagged" is a TensorClass with a plain value beside the tensors; by hand, the value is not carried along.
KINDS = {"TensorClass": TYPED + BOTH, "Tagged": TYPED + BOTH, "TensorDict keys": KEYED, "TensorDict": BOTH}


def cases(ours: Library, peer: Library | None) -> Iterator[Case]:
    """Every row of every kind of container; without the peer, two ways each."""
    libraries = {"ours": ours} if peer is None else {"ours": ours, "peer": peer}
    shared = _shared()
    for kind, rows in KINDS.items():
        names = {name: shared | _containers(kind, library, shared) for name, library in libraries.items()}
        for row in rows:
            ways = {name: as_way(row.container, known) for name, known in names.items()}
            ways["by hand"] = as_way(row.hand, dict(shared))
            yield Case(kind, row.name, row.limit, ways)


def as_way(line: str, names: dict[str, Any]) -> Way:
    """A line of Python as a function, its names given."""
    exec(f"def way():\n    {line}", names)
    way: Way = names["way"]
    return way


def _shared() -> dict[str, Any]:
    d = leaves(BATCH)
    return {
        "torch": torch,
        "BATCH": BATCH,
        "SIZES": list(BATCH),
        "Hand": by_hand.Particles,
        "write_field": by_hand.write_field,
        "write_key": by_hand.write_key,
        "unbind": by_hand.unbind,
        "hand": by_hand.Particles(**d, batch=BATCH),
        "d": d,
        "dd": {"agent": leaves(BATCH)},
        "ds": [leaves(BATCH) for _ in range(16)],
        "value": torch.rand(BATCH),
        "rows": torch.tensor([5, 1, 30, 7, 7, 0, 12, 3]),
        "mask": torch.arange(*BATCH) % 2 == 0,
    }


def _containers(kind: str, library: Library, shared: dict[str, Any]) -> dict[str, Any]:
    def make(d: by_hand.Leaves) -> Any:
        if kind == "TensorClass":
            return library.particles(**d, batch_size=BATCH)
        if kind == "Tagged":
            return library.tagged(**d, name="x", batch_size=BATCH)
        return library.tensordict(d, batch_size=BATCH)

    return {
        "Particles": library.tagged if kind == "Tagged" else library.particles,
        "x": make(shared["d"]),
        "xs": [make(d) for d in shared["ds"]],
        "nested": library.tensordict(shared["dd"], batch_size=BATCH),
    }
