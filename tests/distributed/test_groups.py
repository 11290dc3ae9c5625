"""Collectives on four processes and on a group of two of them: ranks are those of the world, sizes differ."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist

from tensorclass import TensorDict, distributed, errors
from tests.distributed.ranks import together

pytestmark = pytest.mark.slow


def mine(rank: int) -> TensorDict:
    return TensorDict(a=torch.full((rank + 1,), rank), batch_size=[rank + 1]).set_non_tensor("name", str(rank))


def names(found: list[TensorDict] | None) -> list[str] | None:
    return None if found is None else [f"{one['name']} of {len(one)}" for one in found]


def one(value: float) -> TensorDict:
    return TensorDict(a=torch.tensor([float(value)]))


def all_four(rank: int) -> None:
    all_of_them = ["0 of 1", "1 of 2", "2 of 3", "3 of 4"]
    assert names(distributed.all_gather(mine(rank))) == all_of_them
    assert names(distributed.gather(mine(rank), dst=2)) == (all_of_them if rank == 2 else None)
    assert len(distributed.scatter([mine(part) for part in range(4)] if rank == 3 else None, src=3)) == rank + 1
    assert len(distributed.broadcast(mine(rank) if rank == 1 else None, src=1)) == 2
    assert distributed.all_reduce(one(rank), "mean")["a"].item() == 1.5


def a_pair(rank: int) -> None:
    pair: Any = dist.new_group([1, 3])
    if rank not in (1, 3):
        with pytest.raises(ValueError, match="Invalid process group"):
            distributed.all_gather(mine(rank), group=pair)
        return
    assert names(distributed.all_gather(mine(rank), group=pair)) == ["1 of 2", "3 of 4"]
    assert names(distributed.gather(mine(rank), dst=1, group=pair)) == (["1 of 2", "3 of 4"] if rank == 1 else None)
    assert len(distributed.broadcast(mine(rank) if rank == 3 else None, src=3, group=pair)) == 4
    assert len(distributed.scatter([mine(0), mine(1)] if rank == 3 else None, src=3, group=pair)) == (
        1 if rank == 1 else 2
    )
    assert distributed.reduce(one(rank), dst=3, group=pair)["a"].item() == (4 if rank == 3 else 1)
    with pytest.raises(errors.StructureError, match=r"'a' is \[2\] of .* on rank 1, \[4\] of .* on rank 3"):
        distributed.all_reduce(mine(rank), group=pair)


BRAVE: list[Any] = []  # A group with a short time-out.


def a_brave_group(rank: int) -> None:
    BRAVE.append(dist.new_group([0, 1, 2, 3], timeout=timedelta(seconds=2)))


def one_dies(rank: int) -> Any:
    """The last check: rank 2 is gone, and the others have an error or what is right, within the time-out."""
    if rank == 2:
        raise SystemExit
    (brave,) = BRAVE
    whole = TensorDict(a=torch.full((1000,), 7.0))
    calls: list[Callable[[], Any]] = [
        lambda: distributed.all_gather(mine(rank), group=brave),
        lambda: distributed.all_reduce(one(rank), group=brave),
        lambda: (distributed.broadcast(whole if rank == 0 else None, 0, group=brave)["a"] == 7).all().item(),
    ]
    return [errors_or(call) for call in calls]


def errors_or(call: Callable[[], Any]) -> Any:
    start = time.monotonic()
    try:
        found = call()
    except RuntimeError:
        found = "error"
    return found if time.monotonic() - start < 20 else "late"


def test_four_ranks_and_two_of_them_see_what_they_should(tmp_path: Path) -> None:
    seen = together([all_four, a_pair, a_brave_group, one_dies], 4, tmp_path)

    assert all(seen[rank, check] is None for rank in range(4) for check in ("all_four", "a_pair"))
    for rank in (0, 1, 3):
        gathered, reduced, whole = seen[rank, "one_dies"]
        assert gathered == reduced == "error" and whole in ("error", True)
