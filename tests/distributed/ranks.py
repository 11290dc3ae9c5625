"""Ranks for tests: processes forked from one that has loaded torch, which make the same checks and end together."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

Check = Callable[[int], Any]
Seen = dict[tuple[int, str], Any]  # What each check gave, by rank and name.

FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(
    ["torch.distributed.checkpoint", "torch.distributed.fsdp", "torch.distributed.tensor", "tensorclass"]
)


def together(checks: list[Check], world: int, folder: Path) -> Seen:
    """Have each of so many ranks make all checks, in order; what they saw, or the traceback where one failed."""
    ranks = [FORKED.Process(target=_rank, args=(checks, rank, world, folder)) for rank in range(world)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join(timeout=100)
        rank.kill()
    assert [rank.exitcode for rank in ranks] == [0] * world
    return {key: value for rank in range(world) for key, value in pickle.loads(_seen(folder, rank)).items()}


def _seen(folder: Path, rank: int) -> bytes:
    return (folder / f"seen.{rank}").read_bytes()


def _rank(checks: list[Check], rank: int, world: int, folder: Path) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    os.chdir(folder)
    # Ranks meet in a file: one that serves a port might end before the others have taken their leave.
    dist.init_process_group("gloo", f"file://{folder}/store", timedelta(seconds=30), rank=rank, world_size=world)
    seen: Seen = {}
    for check in checks:
        (folder / f"{check.__name__}.{rank}").touch()
        try:
            seen[rank, check.__name__] = check(rank)
        except SystemExit:  # This rank is to die, once no other needs it for the checks before.
            (folder / f"done.{rank}").touch()
            _wait_for_all(check.__name__, world, folder)
            os._exit(0)
        except BaseException:
            seen[rank, check.__name__] = traceback.format_exc()
        (folder / f"seen.{rank}").write_bytes(pickle.dumps(seen))
    # A rank that is needed must not be gone.
    (folder / f"done.{rank}").touch()
    _wait_for_all("done", world, folder)
    os._exit(0)  # Threads of gloo may still run, and abort where the interpreter takes itself down around them.


def _wait_for_all(name: str, world: int, folder: Path) -> None:
    """Return once all ranks have got so far."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not all((folder / f"{name}.{rank}").exists() for rank in range(world)):
        time.sleep(0.01)
