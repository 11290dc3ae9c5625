"""Laws of every spec: what is drawn or projected is in the domain, and an op moves the domain as it moves values."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import hypothesis
import pytest
import torch
from hypothesis import strategies as st
from torch import Tensor

from tensorclass import TensorDict
from tensorclass._rules import errors, table
from tensorclass.envs import (
    Binary,
    Bounded,
    Categorical,
    Choice,
    Composite,
    MultiCategorical,
    MultiOneHot,
    NonTensor,
    OneHot,
    TensorSpec,
    Unbounded,
)
from tests.laws.arguments import called, every

INF = float("inf")


def masked(*shape: int) -> Tensor:
    """A mask that allows something else in every row."""
    rows = torch.arange(torch.Size(shape).numel()).reshape(shape)
    return (rows % 3 != 1) | (torch.arange(shape[-1]) == 0)


def bounds(*shape: int) -> Tensor:
    """Another number everywhere."""
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape)


def leaves(*batch: int) -> dict[str, Any]:
    """Leaf specs of every kind whose shape starts with a batch."""
    low = bounds(*batch, 2)
    return {
        "unbounded": Unbounded((*batch, 2)),
        "ints": Unbounded((*batch, 2), dtype=torch.int64),
        "bytes": Unbounded(batch, dtype=torch.uint8),
        "halves": Unbounded(batch, dtype=torch.bfloat16),
        "flags": Unbounded(batch, dtype=torch.bool),
        "complex": Unbounded(batch, dtype=torch.complex64),
        "bounded": Bounded(low, low + 1),
        "even": Bounded(-2.0, 3.0, (*batch, 2)),
        "half infinite": Bounded(torch.tensor([0.0, -INF]), torch.tensor([INF, 1.0]), (*batch, 2)),
        "infinite": Bounded(-INF, INF, (*batch, 2)),
        "wide": Bounded(-3.4e38, 3.4e38, (*batch, 2)),
        "bounded halves": Bounded(low.half(), low.half() + 0.1),
        "even halves": Bounded(-0.1, 0.3, (*batch, 2), dtype=torch.bfloat16),
        "bounded ints": Bounded(low.int(), low.int() + 2),
        "bounded flags": Bounded(0, 1, batch, dtype=torch.bool),
        "all ints": Bounded(-(2**63), 2**63 - 1, batch, dtype=torch.int64),
        "pixels": Bounded(0, 255, (*batch, 2), dtype=torch.uint8),
        "categorical": Categorical(5, batch),
        "categorical flags": Categorical(2, (*batch, 1), dtype=torch.bool),
        "masked categorical": Categorical(5, batch, mask=masked(*batch, 5)),
        "one hot": OneHot(5, (*batch, 5)),
        "masked one hot": OneHot(5, (*batch, 5), dtype=torch.int64, mask=masked(*batch, 5)),
        "multi categorical": MultiCategorical([2, 5], (*batch, 2)),
        "masked multi categorical": MultiCategorical([3, 5], (*batch, 2), mask=masked(*batch, 8)),
        "multi one hot": MultiOneHot([2, 3], (*batch, 5)),
        "masked multi one hot": MultiOneHot([3, 5], (*batch, 8), mask=torch.tensor([1, 0, 1, 0, 1, 1, 0, 0]).bool()),
        "binary": Binary(3, (*batch, 3)),
    }


def composite(*batch: int) -> Composite:
    """All of them, in two levels."""
    flat = leaves(*batch)
    nested = Composite({"one hot": flat["one hot"], "empty": None}, shape=batch)
    return Composite(flat, {"nested": nested, "text": NonTensor(batch, example_data="hey")}, shape=batch)


def stack(specs: list[Any], dim: int = 0) -> Any:
    return torch.stack(specs, dim)


SPECS = {
    **leaves(4, 3),
    "composite": composite(4, 3),
    "ragged": stack([Unbounded((4, 2)), Unbounded((4, 3))], 1),
    "unlike": stack([Unbounded((4,)), Bounded(0.0, 1.0, (4,))]),
    "ragged composites": stack([Composite(a=Unbounded((n,)), b=OneHot(3)) for n in (2, 3)]),
    "choice": Choice([Bounded(0.0, 1.0, (2,)), Bounded(3.0, 4.0, (2,))]),
}
every_spec = pytest.mark.parametrize("spec", [pytest.param(spec, id=name) for name, spec in SPECS.items()])
every_leaf = pytest.mark.parametrize("spec", [pytest.param(spec, id=name) for name, spec in leaves(4, 3).items()])


@every_spec
def test_what_is_drawn_is_in_the_domain(spec: TensorSpec) -> None:
    for size in ((), (7,), (0,), (2, 50)):
        spec.assert_is_in(spec.rand(size))


@every_spec
def test_a_copy_is_equal_and_hashes_the_same(spec: TensorSpec) -> None:
    for other in (spec.clone(), copy.deepcopy(spec), pickle.loads(pickle.dumps(spec))):
        assert other == spec and other is not spec
        if not isinstance(spec, Composite) and "Composite" not in type(spec).__name__:
            assert hash(other) == hash(spec)
    text: Any = "spec"
    assert (spec == text) is False


@pytest.mark.parametrize("first", SPECS)
def test_equality_is_one_bool(first: str) -> None:
    assert [name for name, spec in SPECS.items() if spec == SPECS[first]] == [first]
    assert all(type(spec == SPECS[first]) is bool for spec in SPECS.values())


@every_leaf
@hypothesis.given(data=st.data())
@hypothesis.settings(max_examples=30, deadline=None)
def test_a_projection_is_in_the_domain_and_stays_what_it_is(spec: TensorSpec, data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([(), (2,)]))
    shape = (*size, *spec.shape)
    number = st.one_of(st.sampled_from([0.0, 1.0, 2.5, -1.0, INF, -INF, float("nan"), 1e30]), st.floats(-300, 300))
    value = torch.tensor([data.draw(number) for _ in range(6)]).repeat(torch.Size(shape).numel())
    value = value[: torch.Size(shape).numel()].reshape(shape)

    done = spec.project(value)
    spec.assert_is_in(done)
    assert spec.project(done) is done


@every_leaf
def test_a_value_of_the_domain_is_its_own_projection(spec: TensorSpec) -> None:
    value = spec.rand((3,))
    assert spec.project(value) is value


@every_spec
def test_zeros_and_ones_have_the_shape_and_dtype(spec: TensorSpec) -> None:
    if isinstance(spec, Choice):
        return
    for size in ((), (5,)):
        spec.type_check(spec.zero(size))
        spec.type_check(spec.ones(size))


MOVES = [op for op in table.OPS.values() if op.family in ("move", "along", "split")]
PICKS = ("flip", "roll", "narrow", "repeat", "repeat_interleave", "index_select", "gather")
WORKS = [op for op in MOVES if op.family != "along" or op.name in PICKS]


def on(value: Any, op: table.Op, arguments: dict[str, Any]) -> list[Any]:
    args, kwargs = called(op, arguments)
    if isinstance(value, Tensor) and op.name == "squeeze" and kwargs.get("dim", 0) is None:
        kwargs = {}
    done = getattr(value, "reshape" if op.name == "view" else op.name)(*args, **kwargs)
    return list(done) if op.family == "split" else [done]


@pytest.mark.parametrize("batch", [(4, 3), (4, 1)], ids=str)
@pytest.mark.parametrize("op", WORKS, ids=lambda op: op.name)
def test_an_op_moves_the_domain_as_it_moves_a_container_of_values(op: table.Op, batch: tuple[int, ...]) -> None:
    spec = composite(*batch)
    value = spec.rand()
    tried = 0
    for arguments in every(op, batch):
        try:
            wanted = on(value, op, arguments)
        except (RuntimeError, IndexError) as error:
            with pytest.raises(type(error)) as caught:
                on(spec, op, arguments)
            assert not isinstance(error, errors.RuleError) or str(caught.value) == str(error)
            continue
        moved = on(spec, op, arguments)
        tried += 1
        assert len(moved) == len(wanted)
        for one, want in zip(moved, wanted):
            assert one.shape == want.batch_size
            assert one.keys(True) == spec.keys(True)
            one.assert_is_in(want)
            assert one.rand().batch_size == want.batch_size
            for key in ("bounded", "masked categorical", "multi categorical"):
                assert one[key].shape == want[key].shape
    assert tried


@pytest.mark.parametrize("op", WORKS, ids=lambda op: op.name)
def test_bounds_and_masks_are_moved_as_tensors_are(op: table.Op) -> None:
    low, mask = bounds(4, 3), masked(4, 3, 5)
    batched = TensorDict(mask=mask, batch_size=[4, 3])
    tried = 0
    for arguments in every(op, (4, 3)):
        try:
            wanted = on(low, op, arguments)
            masks = on(batched, op, arguments)
        except (RuntimeError, IndexError, TypeError, ValueError):
            continue
        tried += 1
        moved = on(Bounded(low, low + 1), op, arguments)
        allowed = on(Categorical(5, (4, 3), mask=mask), op, arguments)
        for one, want, choice, want_mask in zip(moved, wanted, allowed, masks):
            assert torch.equal(one.low, want) and torch.equal(one.high, want + 1)
            assert torch.equal(choice.mask, want_mask["mask"])
    assert tried


@pytest.mark.parametrize("op", [op for op in MOVES if op not in WORKS], ids=lambda op: op.name)
def test_ops_that_compute_do_not_work_on_a_domain(op: table.Op) -> None:
    with pytest.raises(TypeError, match=f"^{op.name}: a spec is a domain, not numbers"):
        getattr(Bounded(0.0, 1.0, (3,)), op.name)(0)


INDICES: list[Callable[[], Any]] = [
    lambda: 1,
    lambda: -1,
    lambda: slice(1, 3),
    lambda: None,
    lambda: ...,
    lambda: (..., 0),
    lambda: (slice(None), 1),
    lambda: torch.tensor([2, 0]),
    lambda: torch.tensor([True, False, True, False]),
    lambda: torch.arange(12).reshape(4, 3) % 2 == 0,
    lambda: (torch.tensor([0, 1]), torch.tensor([2, 2])),
    lambda: [0, 3],
    lambda: torch.tensor(2),
    lambda: slice(0, 0),
]


@pytest.mark.parametrize("index", INDICES, ids=range(len(INDICES)))
def test_an_index_picks_the_domain_as_it_picks_values(index: Callable[[], Any]) -> None:
    spec = composite(4, 3)
    value = spec.rand()
    picked, wanted = spec[index()], value[index()]
    assert picked.shape == wanted.batch_size
    picked.assert_is_in(wanted)
    low = bounds(4, 3)
    assert torch.equal(Bounded(low, low)[index()].low, low[index()])


@every_leaf
def test_torch_functions_are_the_methods(spec: Any) -> None:
    again: Any = Composite(x=spec, shape=(4, 3))
    assert torch.permute(again, (1, 0)) == again.permute(1, 0)
    assert torch.unsqueeze(spec, 0) == spec.unsqueeze(0)
    assert torch.stack([spec, spec]) == torch.stack([spec, spec], 0)
    assert torch.stack([spec, spec], 1)[:, 1] == spec
    assert type(torch.stack([spec, spec])) is type(spec)


@every_spec
def test_the_words_of_a_refusal_say_why(spec: TensorSpec) -> None:
    with pytest.raises(AssertionError, match="^not in "):
        spec.assert_is_in(object() if not isinstance(spec, NonTensor) else torch.zeros(()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bounded", "masked categorical", "one hot", "composite", "unlike"])
def test_values_are_made_in_one_compiled_graph(name: str) -> None:
    spec = SPECS[name]

    def values() -> Any:
        return spec.zero((2,)), spec.project(spec.rand((2,)))

    zero, drawn = torch.compile(values, fullgraph=True, backend="eager")()
    spec.type_check(zero)
    spec.assert_is_in(drawn)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@every_leaf
def test_values_and_moves_on_a_gpu(spec: Any) -> None:
    moved = spec.to("cuda")
    value = moved.rand((2,))
    assert value.is_cuda and moved.device == value.device
    moved.assert_is_in(value)
    moved.assert_is_in(moved.project(moved.zero()))
    moved[0].assert_is_in(value[:, 0])
    moved.expand(2, *moved.shape).assert_is_in(value)
    moved[torch.tensor([2, 0], device="cuda")].assert_is_in(value[:, [2, 0]])
    assert moved.to("cpu") == spec
