"""From one rank to another: messages come in order, and a structure that was handed over is not sent again."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from tensorclass import TensorClass, TensorDict, distributed, errors
from tests.distributed.ranks import Check, Seen, together

pytestmark = pytest.mark.slow


class Step(TensorClass):
    obs: Tensor
    label: str = "none"


def step(value: float, n: int = 2, label: str = "none") -> Step:
    return Step(obs=torch.full((n, 3), float(value)), label=label, batch_size=[n])


def overlapped(rank: int) -> Any:
    """Three are on their way at a time, and the last is waited for first."""
    if rank == 0:
        for sending in [distributed.isend(step(n, n + 1, str(n)), 1) for n in range(3)]:
            sending.wait()
        return None
    coming = [distributed.irecv(0, Step) for _ in range(3)]
    last = coming[2].wait()
    return [(one.wait().label, len(one.wait()), float(one.wait().obs[0, 0])) for one in coming], type(last).__name__


def both_ways(rank: int) -> Any:
    sending = distributed.isend(step(rank), 1 - rank)
    got = distributed.recv(1 - rank)
    sending.wait()
    return float(got.obs[0, 0])


def tagged(rank: int) -> Any:
    if rank == 0:
        for sending in [distributed.isend(step(tag), 1, tag=tag) for tag in (5, 6)]:
            sending.wait()
        return None
    return [float(distributed.recv(0, tag=tag).obs[0, 0]) for tag in (6, 5)]


def handed_over(rank: int) -> Any:
    """How many messages each side sees, and what comes."""
    if rank == 0:
        out = distributed.init_remote(step(0), 1, tag=3)
        works = count_calls("isend")
        for sending in [out.isend(step(n)) for n in (1, 2)]:
            sending.wait()
        out.send(step(3))
        return len(works)
    coming = distributed.from_remote(0, Step, tag=3)
    works = count_calls("irecv")
    ahead = [coming.irecv() for _ in range(2)]
    steps = [coming.zeros(), ahead[1].wait(), ahead[0].wait(), coming.recv()]
    return len(works), [float(one.obs[1, 2]) for one in steps], {type(one).__name__ for one in steps}


def count_calls(name: str) -> list[Any]:
    calls: list[Any] = []
    real = getattr(dist, name)

    def counted(*args: Any) -> Any:
        calls.append(args)
        return real(*args)

    setattr(dist, name, counted)
    return calls


def another_structure(rank: int) -> Any:
    if rank == 1:
        distributed.from_remote(0, tag=4)
        return None
    out: Any = distributed.init_remote(step(0), 1, tag=4)
    said = []
    for other in (step(0, 5), step(0, 2, "cat"), TensorDict(obs=torch.ones(2, 3), batch_size=[2]), "text"):
        try:
            out.send(other)
        except errors.RuleError as error:
            said.append(str(error))
    return said


def nothing_in_it(rank: int) -> Any:
    if rank == 0:
        distributed.init_remote(step(0, 0), 1, tag=7).send(step(0, 0))
        return None
    return list(distributed.from_remote(0, Step, tag=7).recv().obs.shape)


def died(rank: int) -> Any:
    """The last check, since the other rank is gone after it."""
    coming = distributed.irecv(1) if rank == 0 else None
    if coming is None:
        raise SystemExit
    said = []
    for _ in range(2):
        try:
            coming.wait()
        except RuntimeError:
            said.append("an error")
    return said


CHECKS: list[Check] = [overlapped, both_ways, tagged, handed_over, another_structure, nothing_in_it, died]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What each check saw on each rank."""
    return together(CHECKS, 2, tmp_path_factory.mktemp("ranks"))


def test_containers_come_in_the_order_of_the_calls(seen: Seen) -> None:
    assert seen[1, "overlapped"] == ([("0", 1, 0.0), ("1", 2, 1.0), ("2", 3, 2.0)], "Step")


def test_two_ranks_send_to_each_other_at_once(seen: Seen) -> None:
    assert (seen[0, "both_ways"], seen[1, "both_ways"]) == (1.0, 0.0)


def test_a_tag_tells_messages_apart(seen: Seen) -> None:
    assert seen[1, "tagged"] == [6.0, 5.0]


def test_a_container_of_a_known_structure_is_one_message(seen: Seen) -> None:
    assert seen[0, "handed_over"] == 3
    assert seen[1, "handed_over"] == (3, [0.0, 2.0, 1.0, 3.0], {"Step"})


def test_a_container_of_another_structure_is_not_sent(seen: Seen) -> None:
    must = "all ranks must hold the same keys, shapes and dtypes"
    plain = (
        "isend: plain data, a class, names or a batch size differ from what was handed over, and only tensors go "
        "along; distributed.isend takes everything"
    )
    assert seen[0, "another_structure"] == [
        f"isend: 'obs' is [2, 3] of torch.float32 on rank 1, [5, 3] of torch.float32 on rank 0; {must}",
        plain,
        plain,
        "isend: a str is no container; a TensorDict or a typed class would do",
    ]


def test_a_container_without_bytes_needs_no_message(seen: Seen) -> None:
    assert seen[1, "nothing_in_it"] == [0, 3]


def test_a_rank_that_dies_is_an_error_for_who_waits(seen: Seen) -> None:
    assert seen[0, "died"] == ["an error"] * 2
