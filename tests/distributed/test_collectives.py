"""Collectives of whole containers: two gloo processes run every check once, and each law is a test of what they saw."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import NonTensorStack, TensorClass, TensorDict, distributed, errors, lazy_stack
from tests.distributed.ranks import Check, Seen, together

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
    except errors.RuleError as error:
        return str(error)


def nested(rank: int) -> Any:
    rows = [torch.full((n,), float(rank)) for n in (2, 0, 3)]
    jagged, strided = [torch.nested.nested_tensor(rows, layout=layout) for layout in (torch.jagged, torch.strided)]
    found = distributed.all_gather(TensorDict(j=jagged, s=strided, batch_size=[3]))
    return [[[row.tolist() for row in one[key].unbind()] for key in "js"] for one in found], found[0]["j"].layout


def gave_nothing(rank: int) -> Any:
    """Rank 1 cannot do its part; the others must not wait for it."""
    mine: Any = sample(rank) if rank == 0 else TensorDict(a=torch.ones(1).to_sparse())
    other: Any = sample(rank) if rank == 0 else "text"
    calls: list[Any] = [
        lambda: distributed.all_gather(mine),
        lambda: distributed.gather(mine),
        lambda: distributed.broadcast(other if rank else None, src=1),
        lambda: distributed.scatter([sample(0), other] if rank == 1 else None, src=1),
        lambda: distributed.all_reduce(other),
    ]
    return [said_by(call) for call in calls]


def said_by(call: Any) -> str:
    try:
        return str(call() and "fine")
    except errors.RuleError as error:
        return str(error)


def called_another(rank: int) -> Any:
    td = TensorDict(a=torch.ones(1))
    pairs: list[list[Any]] = [
        [lambda: distributed.all_gather(td), lambda: distributed.all_reduce(td)],
        [lambda: distributed.gather(td, 0), lambda: distributed.gather(td, 1)],
        [lambda: distributed.reduce(td, 0, "sum"), lambda: distributed.reduce(td, 0, "max")],
        [lambda: distributed.broadcast(td, 0), lambda: distributed.broadcast(td, 1)],
        [lambda: distributed.broadcast(td, 1), lambda: distributed.broadcast(td, 0)],
        [lambda: distributed.scatter([td, td], 0), lambda: distributed.scatter([td, td], 1)],
    ]
    return [said_by(pair[rank]) for pair in pairs]


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


class Frozen(TensorClass, frozen=True):
    a: Tensor


def frozen(rank: int) -> Any:
    """Rank 1 has what must not be written."""
    mine = Frozen(a=torch.full((2,), float(rank))) if rank == 1 else TensorDict(a=torch.zeros(2))
    return (
        said_by(lambda: distributed.all_reduce(mine)),
        said_by(lambda: distributed.broadcast(mine)),
        mine.get("a").tolist(),
    )


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
    one = torch.ones(1)
    for op, leaf in (
        ("sum", one.bool()), ("mean", one.int()), ("middle", one), ("product", one + 1j), ("sum", one.short()),
        ("sum", torch.nested.nested_tensor([one], layout=torch.jagged)),
    ):  # fmt: skip
        try:
            distributed.all_reduce(TensorDict(a=leaf), op)  # type: ignore[arg-type]
        except errors.RuleError as error:
            said.append(str(error))
    return said


def died(rank: int) -> Any:
    """The last check, since the other rank is gone after it."""
    if rank == 1:
        sys.exit()
    try:
        distributed.all_reduce(TensorDict(a=torch.ones(3)))
    except RuntimeError:
        return "an error"
    return "a value"


CHECKS: list[Check] = [
    sent, received_as_a_class, broadcast, broadcast_in_place, broadcast_misfit, gathered, all_gathered, scattered,
    scattered_wrongly, nested, gave_nothing, called_another, summed, meant, extremes, reduced, frozen, disagreed,
    refused, died,
]  # fmt: skip


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What each check saw on each rank."""
    return together(CHECKS, WORLD, tmp_path_factory.mktemp("ranks"))


def both(seen: Seen, check: Check) -> list[Any]:
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
    assert both(seen, scattered_wrongly) == [
        "scatter: 1 part for 2 ranks; one for each would do",
        "scatter: rank 0 cannot give what it should: 1 part for 2 ranks; one for each would do",
    ]


def test_ragged_rows_are_gathered_as_they_are(seen: Any) -> None:
    rows = [[[[rank] * n for n in (2, 0, 3)]] * 2 for rank in (0.0, 1.0)]
    assert both(seen, nested) == [(rows, torch.jagged)] * 2


def test_a_rank_that_cannot_take_part_is_named_by_those_that_need_it(seen: Any) -> None:
    one, other = both(seen, gave_nothing)
    what = "cannot give what it should"
    sparse = (
        "a tensor of torch.sparse_coo, torch.float32 cannot be stored; .to_dense(), .dequantize() or .to_empty() make"
    )

    assert one == [
        f"all_gather: rank 1 {what}: {sparse} one that can",
        f"gather: rank 1 {what}: {sparse} one that can",
        f"broadcast: rank 1 {what}: a str is no container; a TensorDict or a typed class would do",
        f"scatter: rank 1 {what}: a str is no container; a TensorDict or a typed class would do",
        "all_reduce: rank 1 gives a str; a TensorDict or a typed class would do",
    ]
    assert other[:2] == [f"{sparse} one that can"] * 2 and other[4] == one[4]


def test_ranks_that_call_another_thing_are_told_so(seen: Any) -> None:
    must = "all ranks must make the same call"
    said = [
        f"rank 0 calls all_gather(), rank 1 calls all_reduce('sum'); {must}",
        f"rank 0 calls gather(dst=0), rank 1 calls gather(dst=1); {must}",
        f"rank 0 calls reduce(0, 'sum'), rank 1 calls reduce(0, 'max'); {must}",
        f"rank 0 calls broadcast(src=0), rank 1 calls broadcast(src=1); {must}",
        f"rank 0 calls broadcast(src=1), rank 1 calls broadcast(src=0); {must}",
        f"rank 0 calls scatter(src=0), rank 1 calls scatter(src=1); {must}",
    ]
    assert both(seen, called_another) == [said, said]


def test_a_reduction_is_leaf_by_leaf_in_place(seen: Any) -> None:
    assert both(seen, summed) == [{"a": [2, 1], "('n', 'i')": [3], "('n', 'c')": [1 + 2j]}] * 2
    assert both(seen, meant) == [[1.0, 0.5]] * 2
    assert both(seen, extremes) == [([1, 0], [True, False], [1, 1], [True, True])] * 2


def test_a_reduction_to_one_rank_leaves_the_others(seen: Any) -> None:
    assert both(seen, reduced) == [[1.0], [3.0]]


def test_what_is_frozen_is_not_written(seen: Any) -> None:
    one, other = both(seen, frozen)
    assert one[0] == other[0] and one[0].startswith("all_reduce: rank 1 gives what cannot be written: ")
    assert "broadcast()" in other[1] and other[2] == [1, 1]


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
            "all_reduce: there is no product of torch.complex64 between ranks; 'sum' and 'mean' there are",
            "all_reduce: gloo has no sum of torch.int16; cast first",
            "all_reduce: a nested tensor has no one shape; its .values() can be reduced",
        ]
    )


def test_a_rank_that_dies_is_an_error_on_the_others(seen: Any) -> None:
    assert seen[0, "died"] == "an error"
