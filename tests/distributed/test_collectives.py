"""Collectives of whole containers: two gloo processes run every check once, and each law is a test of what they saw."""

from __future__ import annotations

import os
import pickle
import socket
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import Tensor

from tensorclass import NonTensorStack, TensorClass, TensorDict, distributed, errors, lazy_stack

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
WORLD = 2


class Sample(TensorClass):
    x: Tensor
    inner: TensorDict
    label: str = "none"


def sample(rank: int, n: int = 3) -> Sample:
    inner = TensorDict({"b": torch.full((n,), rank == 0), "c": torch.full((n,), rank + 1j)}, [n])
    return Sample(x=torch.full((n, 2), float(rank)), inner=inner, label=f"rank {rank}", batch_size=[n])


def told(container: Any) -> Any:
    """A container in words that can be compared across processes."""
    if container._items is not None:
        return [told(item) for item in container._items]
    plain = {str(key): repr(value) for key, value in container.non_tensor_items(True)}
    tensors = {str(key): leaf.tolist() for key, leaf in container.items(True, True) if isinstance(leaf, Tensor)}
    return type(container).__name__, list(container.batch_size), tensors, plain


# ---- what each rank does: gives what it saw ----------------------------------------------------------------


def sent(rank: int) -> Any:
    td = TensorDict({"s": sample(7), "w": NonTensorStack("x", "y", "z"), "e": torch.zeros(3, 0)}, [3])
    if rank == 0:
        distributed.send(td, 1)
        return told(td)
    return told(distributed.recv(0))


def received_as_a_class(rank: int) -> Any:
    if rank == 0:
        distributed.send(sample(7).to_tensordict(), 1)
        return "Sample"
    return type(distributed.recv(0, Sample)).__name__


def broadcast(rank: int) -> Any:
    return told(distributed.broadcast(sample(7) if rank == 1 else None, src=1))


def broadcast_in_place(rank: int) -> Any:
    mine = sample(rank)
    leaf = mine.x
    assert distributed.broadcast(mine, src=1) is mine and mine.x is leaf
    return mine.x.tolist(), mine.inner["c"].tolist()


def broadcast_misfit(rank: int) -> Any:
    try:
        distributed.broadcast(sample(rank, 3 + rank), src=1)
    except errors.StructureError as error:
        return str(error)
    return "fine"


def gathered(rank: int) -> Any:
    found = distributed.gather(sample(rank, 2 + rank), dst=1)
    return None if found is None else [told(one) for one in found]


def all_gathered(rank: int) -> Any:
    mine: Any = sample(0, 0) if rank == 0 else lazy_stack([TensorDict(q=torch.arange(n)) for n in (1, 3)])
    return [told(one) for one in distributed.all_gather(mine)]


def scattered(rank: int) -> Any:
    return told(distributed.scatter([sample(0, 1), sample(1, 4)] if rank == 0 else None))


def scattered_wrongly(rank: int) -> Any:
    try:
        distributed.scatter([sample(0)] if rank == 0 else None)
    except errors.ShapeError as error:
        return str(error)


def summed(rank: int) -> Any:
    mine = TensorDict(
        {"a": torch.tensor([1.0, rank]), "n": {"i": torch.tensor([rank + 1]), "c": torch.tensor([rank + 1j])}}
    )
    leaf = mine["a"]
    assert distributed.all_reduce(mine) is mine and mine["a"] is leaf
    return {str(key): leaf.tolist() for key, leaf in mine.items(True, True)}


def meant(rank: int) -> Any:
    return distributed.all_reduce(TensorDict(a=torch.tensor([1.0, rank])), "mean")["a"].tolist()


def extremes(rank: int) -> Any:
    mine = TensorDict(a=torch.tensor([1, rank]), b=torch.tensor([True, rank == 0]))
    low, high = distributed.all_reduce(mine.clone(), "min"), distributed.all_reduce(mine.clone(), "max")
    return low["a"].tolist(), low["b"].tolist(), high["a"].tolist(), high["b"].tolist()


def reduced(rank: int) -> Any:
    return distributed.reduce(TensorDict(a=torch.tensor([rank + 1.0])), dst=1)["a"].tolist()


def disagreed(rank: int) -> Any:
    said = []
    first: list[Any] = [
        {"a": torch.ones(3, 2), "n": {"b": torch.ones(3)}},
        {"a": torch.ones(4, 2), "n": {"b": torch.ones(3)}},
    ]
    others: list[Any] = [
        [{"a": torch.ones(3)}, {"a": torch.ones(3, dtype=torch.int)}],
        [{"n": {"b": torch.ones(3)}}, {}],
        [{"a": torch.ones(3)}, {"a": torch.ones(3), "z": torch.ones(3)}],
        [{"a": torch.ones(1), "b": torch.ones(1)}, {"b": torch.ones(1), "a": torch.ones(1)}],
    ]
    for pair in [first, *others]:
        try:
            distributed.all_reduce(TensorDict(pair[rank]))
        except errors.StructureError as error:
            said.append(str(error))
    return said


def refused(rank: int) -> Any:
    said = []
    for op, leaf in (("sum", torch.ones(1).bool()), ("mean", torch.ones(1).int()), ("middle", torch.ones(1))):
        try:
            distributed.all_reduce(TensorDict(a=leaf), op)  # type: ignore[arg-type]
        except errors.RuleError as error:
            said.append(str(error))
    return said


def died(rank: int) -> Any:
    """The last check, since the other rank is gone after it."""
    if rank == 1:
        os._exit(0)
    try:
        distributed.all_reduce(TensorDict(a=torch.ones(3)))
    except RuntimeError:
        return "an error"
    return "a value"


CHECKS: list[Callable[[int], Any]] = [
    sent, received_as_a_class, broadcast, broadcast_in_place, broadcast_misfit, gathered, all_gathered, scattered,
    scattered_wrongly, summed, meant, extremes, reduced, disagreed, refused, died,
]  # fmt: skip


def run(rank: int, port: int, folder: Path) -> None:
    torch.set_num_threads(1)
    address = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("gloo", address, timedelta(seconds=30), rank=rank, world_size=WORLD)
    results = {}
    for check in CHECKS:
        try:
            results[rank, check.__name__] = check(rank)
        except Exception:
            results[rank, check.__name__] = traceback.format_exc()
        (folder / str(rank)).write_bytes(pickle.dumps(results))


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, str], Any]:
    """What each check saw on each rank."""
    folder = tmp_path_factory.mktemp("ranks")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context: Any = mp.get_context("spawn")
    ranks = [context.Process(target=run, args=(rank, port, folder)) for rank in range(WORLD)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join(timeout=100)
        rank.kill()
    return {
        key: value for rank in range(WORLD) for key, value in pickle.loads((folder / str(rank)).read_bytes()).items()
    }


def both(seen: dict[tuple[int, str], Any], check: Callable[[int], Any]) -> list[Any]:
    return [seen[rank, check.__name__] for rank in range(WORLD)]


def test_what_is_sent_is_received(seen: Any) -> None:
    one, other = both(seen, sent)
    assert one == other and one[0] == "TensorDict" and "rank 7" in str(one)


def test_the_receiver_says_the_class(seen: Any) -> None:
    assert both(seen, received_as_a_class) == ["Sample", "Sample"]


def test_a_broadcast_gives_every_rank_what_the_source_holds(seen: Any) -> None:
    assert both(seen, broadcast) == [told(sample(7))] * 2


def test_a_broadcast_fills_what_is_given(seen: Any) -> None:
    assert both(seen, broadcast_in_place) == [([[1.0, 1.0]] * 3, [1 + 1j] * 3)] * 2


def test_a_broadcast_that_does_not_fit_is_refused_in_words(seen: Any) -> None:
    said, fine = both(seen, broadcast_misfit)
    assert fine == "fine"
    assert said == (
        "broadcast: 'x' is [4, 2] of torch.float32 on rank 1, [3, 2] of torch.float32 on rank 0; "
        "all ranks must hold the same keys, shapes and dtypes"
    )


def test_a_gather_gives_one_rank_what_all_hold(seen: Any) -> None:
    assert both(seen, gathered) == [None, [told(sample(0, 2)), told(sample(1, 3))]]


def test_a_gather_takes_containers_of_any_structure(seen: Any) -> None:
    one, other = both(seen, all_gathered)
    assert (
        one == other and one[0] == told(sample(0, 0)) and [item[2] for item in one[1]] == [{"q": [0]}, {"q": [0, 1, 2]}]
    )


def test_a_scatter_gives_each_rank_its_part(seen: Any) -> None:
    assert both(seen, scattered) == [told(sample(0, 1)), told(sample(1, 4))]


def test_a_scatter_of_too_few_parts_is_refused_by_all(seen: Any) -> None:
    assert (
        both(seen, scattered_wrongly)
        == ["scatter: rank 0 gives another number of parts than the 2 ranks there are"] * 2
    )


def test_a_reduction_is_leaf_by_leaf_in_place(seen: Any) -> None:
    assert both(seen, summed) == [{"a": [2, 1], "('n', 'i')": [3], "('n', 'c')": [1 + 2j]}] * 2
    assert both(seen, meant) == [[1.0, 0.5]] * 2
    assert both(seen, extremes) == [([1, 0], [True, False], [1, 1], [True, True])] * 2


def test_a_reduction_to_one_rank_leaves_the_others(seen: Any) -> None:
    assert both(seen, reduced) == [[1.0], [3.0]]


def test_ranks_that_disagree_are_told_the_key_and_the_shapes(seen: Any) -> None:
    one, other = both(seen, disagreed)
    must = "all ranks must hold the same keys, shapes and dtypes"
    assert (
        one
        == other
        == [
            f"all_reduce: 'a' is [3, 2] of torch.float32 on rank 0, [4, 2] of torch.float32 on rank 1; {must}",
            f"all_reduce: 'a' is [3] of torch.float32 on rank 0, [3] of torch.int32 on rank 1; {must}",
            f"all_reduce: rank 0 has ('n', 'b'), rank 1 has not; {must}",
            f"all_reduce: rank 1 has 'z', rank 0 has not; {must}",
            f"all_reduce: the keys stand in another order on some rank; {must}",
        ]
    )


def test_a_reduction_that_means_nothing_is_refused(seen: Any) -> None:
    one, other = both(seen, refused)
    assert (
        one
        == other
        == [
            "all_reduce: there is no sum of torch.bool; 'min' is logical and, 'max' logical or",
            "all_reduce: the mean of torch.int32 is no whole number; cast first, or take the sum",
            "all_reduce: 'middle' is none of 'sum', 'mean', 'min', 'max', 'product'",
        ]
    )


def test_a_rank_that_dies_is_an_error_on_the_others(seen: Any) -> None:
    assert seen[0, "died"] == "an error"
