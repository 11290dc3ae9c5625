"""What storage and lazy stacks cost next to the files, lists and pickles that one would write by hand.

Each row is timed twice, in CPU seconds and on the clock of the wall: a disk that is waited for costs no CPU. A busy
machine moves the second by far, so that it is shown, and has no limit.
"""

from __future__ import annotations

import math
import os
import pickle
import shutil
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from .by_hand import Leaves
from .libraries import Library, leaves
from .rows import Case, Row, as_way

ROWS = 2048  # Of what is stored.
GIGABYTE = 1 << 30

MAPS = [
    Row("load_memmap", 3, "Class.load_memmap(folder)", "from_files(folder, d)"),
    Row("read 32 rows", 1.15, "mapped[rows]", "{k: v[rows] for k, v in files.items()}"),
]
LAZY = [
    Row("build of 64", 20, "lazy_stack(xs)", "[d for d in ds]"),
    Row("[:, :2]", 2.5, "lazy[:, :2]", "[{k: v[:2] for k, v in d.items()} for d in ds]"),
    Row("one item", 20, "lazy[5]", "ds[5]"),
]
PICKLES = [
    Row("pickle", 1.15, "dumps(x)", "dumps(small)"),
    Row("pickle and back", 1.15, "loads(dumps(x))", "loads(dumps(small))"),
]
SAVE = Row("save 1 GB", 1.2, "big.memmap(folder); remove(folder)", "to_files(folder, large); remove(folder)")

CLOCKS = {"Storage": time.process_time, "Storage, wall": time.perf_counter}


def cases(ours: Library, peer: Library | None) -> Iterator[Case]:
    """Every row by each clock; without the peer, two ways each."""
    libraries = {"ours": ours} if peer is None else {"ours": ours, "peer": peer}
    with tempfile.TemporaryDirectory() as folder:
        d = leaves((ROWS,)) | {"pos": torch.rand(ROWS, 3, 32, 32)}  # The rows of a data set are rarely tiny.
        shared = _shared(folder, d)
        for clock in CLOCKS:
            for kind in ("TensorDict", "TensorClass"):
                names = {
                    name: shared | _stored(kind, library, d, f"{folder}/{name}") for name, library in libraries.items()
                }
                for row in MAPS:
                    yield _case(clock, f"{kind} {row.name}", row, names, shared)
            names = {name: shared | _stacked(library, shared["small"]) for name, library in libraries.items()}
            for row in [*LAZY, *PICKLES]:
                yield _case(clock, row.name, row, names, shared)
        large = {str(part): torch.zeros(GIGABYTE // 32, dtype=torch.float64) for part in range(4)}
        shared |= {"large": large, "remove": shutil.rmtree, "folder": f"{folder}/big by hand"}
        names = {
            name: shared | {"big": library.tensordict(large), "folder": f"{folder}/{name} big"}
            for name, library in libraries.items()
        }
        for clock in CLOCKS:
            yield _case(clock, SAVE.name, SAVE, names, shared, rounds=5)


def _case(clock: str, name: str, row: Row, names: dict[str, Any], shared: dict[str, Any], rounds: int = 0) -> Case:
    ways = {library: as_way(row.container, dict(known)) for library, known in names.items()}
    ways["by hand"] = as_way(row.hand, dict(shared))
    limit = row.limit if CLOCKS[clock] is time.process_time else math.inf
    return Case(clock, name, limit, ways, CLOCKS[clock], rounds)


def _shared(folder: str, d: Leaves) -> dict[str, Any]:
    by_hand = f"{folder}/by hand"
    to_files(by_hand, d)
    return {
        "torch": torch,
        "from_files": from_files,
        "to_files": to_files,
        "dumps": pickle.dumps,
        "loads": pickle.loads,
        "d": d,
        "small": leaves((ROWS,)),
        "folder": by_hand,
        "files": from_files(by_hand, d),
        "rows": torch.randint(ROWS, (32,)),
        "ds": [_few(number) for number in range(64)],
    }


def _stored(kind: str, library: Library, d: Leaves, folder: str) -> dict[str, Any]:
    made = library.tensordict if kind == "TensorDict" else library.particles
    data = made(d, batch_size=[ROWS]) if kind == "TensorDict" else made(**d, batch_size=[ROWS])
    data.memmap(folder)
    return {"Class": made, "folder": folder, "mapped": made.load_memmap(folder)}


def _stacked(library: Library, small: Leaves) -> dict[str, Any]:
    items = [library.tensordict(_few(number), batch_size=[2 + number % 5]) for number in range(64)]
    stack = library.tensordict.lazy_stack
    x = library.tensordict(small, batch_size=[ROWS])
    return {"xs": items, "lazy_stack": stack, "lazy": stack(items), "x": x}


def _few(number: int) -> Leaves:
    """Two leaves of a size that differs from item to item."""
    return {"obs": torch.rand(2 + number % 5, 3), "reward": torch.rand(2 + number % 5)}


def to_files(folder: str, d: Leaves) -> None:
    """One file a tensor, as plain as can be."""
    os.makedirs(folder, exist_ok=True)
    for name, leaf in d.items():
        with open(f"{folder}/{name}", "wb") as file:
            file.write(leaf.numpy().data)


def from_files(folder: str, d: Leaves) -> Leaves:
    """The files as maps, whose shapes and dtypes are known."""
    return {name: _map(f"{folder}/{name}", leaf) for name, leaf in d.items()}


def _map(path: str, leaf: Tensor) -> Tensor:
    return torch.from_file(path, shared=True, size=leaf.numel(), dtype=leaf.dtype).view(leaf.shape)
