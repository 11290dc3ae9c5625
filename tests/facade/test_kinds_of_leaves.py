"""Every kind of tensor, batch and dtype: right, or a clear error, never wrong data; and threads."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorclass import NonTensorData, NonTensorStack, TensorClass, TensorDict, assert_close, cat, errors, stack

DTYPES = [
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.complex64,
    torch.int8,
    torch.uint8,
    torch.int64,
    torch.bool,
]


class Point(TensorClass):
    x: Tensor
    y: Tensor


class Marked(Tensor):
    """A tensor subclass."""


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_keeps_its_values(dtype: torch.dtype) -> None:
    value = torch.arange(6).reshape(3, 2).to(dtype)
    td = TensorDict(a=value, batch_size=[3])

    assert torch.equal(td[1]["a"], value[1])
    assert torch.equal(td.flip(0)["a"], value.flip(0))
    assert torch.equal(stack([td, td])["a"], torch.stack([value, value]))
    assert torch.equal(td.unsqueeze(0).reshape(-1)["a"], value)
    assert (td == td).all()
    assert pickle.loads(pickle.dumps(td))["a"].dtype is dtype
    assert torch.equal((td + td)["a"], value + value)


def test_a_batch_without_rows_is_a_batch() -> None:
    td = TensorDict(a=torch.ones(0, 3), n={"b": torch.ones(0)}, batch_size=[0])

    assert len(td) == 0 and list(td) == [] and td.unbind(0) == ()
    assert td.reshape(0, 2).batch_size == (0, 2)
    assert td.sum(0)["a"].tolist() == [0, 0, 0]
    assert cat([td, td]).batch_size == (0,)
    assert stack([td] * 3).batch_size == (3, 0)
    assert td[:0].batch_size == (0,)
    assert td[torch.zeros(0, dtype=torch.bool)].batch_size == (0,)
    assert [part.batch_size for part in td.split(2)] == [(0,)]
    assert (td == td).all()
    with pytest.raises(IndexError, match="index: 0 is out of range for batch dim 0 of size 0"):
        td[0]


def test_a_container_without_entries_keeps_its_batch_size() -> None:
    td = TensorDict(batch_size=[4])

    assert td[1:].batch_size == (3,)
    assert td.reshape(2, 2).batch_size == (2, 2)
    assert stack([td, td]).batch_size == (2, 4)
    assert td[torch.tensor([True, False, True, False])].batch_size == (2,)
    assert pickle.loads(pickle.dumps(td)).batch_size == (4,)
    assert td.sum(0).batch_size == ()


def test_a_batch_of_huge_rank_is_a_batch() -> None:
    td = TensorDict(a=torch.ones([1] * 30), batch_size=[1] * 29)

    assert td.squeeze().batch_size == ()
    assert td.permute(*range(28, -1, -1)).batch_dims == 29
    assert td[(0,) * 29]["a"].shape == (1,)


def test_meta_tensors_have_shapes_and_no_values() -> None:
    td = TensorDict(a=torch.ones(3, 2, device="meta"), batch_size=[3])

    assert td[0].reshape(1)["a"].shape == (1, 2)
    assert (td + 1)["a"].device.type == "meta"
    assert td[torch.tensor([0, 1])].batch_size == (2,)
    with pytest.raises(NotImplementedError, match="no data"):
        td.to("cpu")


def test_parameters_stay_themselves_where_nothing_is_computed() -> None:
    weight = nn.Parameter(torch.ones(3))
    td = TensorDict(w=weight, v=nn.Parameter(torch.ones(3)), u=nn.Parameter(torch.ones(3)), batch_size=[3])

    assert td["w"] is weight and td.copy()["w"] is weight and td.select("w")["w"] is weight
    (td * 3).sum(0).sum(reduce=True).backward()
    assert weight.grad is not None and weight.grad.tolist() == [3, 3, 3]


def test_tensor_subclasses_stay_what_they_are() -> None:
    td = TensorDict({key: torch.ones(3).as_subclass(Marked) for key in "abc"}, batch_size=[3])

    for out in (td[0], td + 1, td.reshape(3, 1), stack([td, td]), td.clone(), td.exp()):
        assert all(type(value) is Marked for value in out.values())


@pytest.mark.parametrize("layout", [torch.jagged, torch.strided], ids=["jagged", "nested"])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype stage")
def test_nested_tensors_are_one_row_each(layout: Any) -> None:
    rows = [torch.ones(2, 3), torch.ones(4, 3)]
    td = TensorDict(a=torch.nested.nested_tensor(rows, layout=layout), b=torch.zeros(2), batch_size=[2])

    assert td[1]["a"].shape == (4, 3)
    assert [row["a"].shape for row in td] == [(2, 3), (4, 3)]
    assert (td * 2)[0]["a"].unique().tolist() == [2]
    assert td.clone()["a"].is_nested
    with pytest.raises(errors.ShapeError, match=r"nested tensor 'a' has shape \[2, \*\]; the batch size is \[3\]"):
        TensorDict(a=td["a"], batch_size=[3])
    with pytest.raises(errors.StructureError, match="reshape: 'a' is a nested tensor, which torch refuses here"):
        td.reshape(2, 1)


def test_sparse_tensors_work_as_far_as_torch_does() -> None:
    td = TensorDict(a=torch.eye(3).to_sparse(), batch_size=[3])

    assert td[0]["a"].to_dense().tolist() == [1, 0, 0]
    assert (td * 2)["a"].to_dense().diagonal().tolist() == [2, 2, 2]
    assert td.unsqueeze(0).batch_size == (1, 3)
    with pytest.raises(errors.StructureError, match="reshape: 'a' is a tensor of layout torch.sparse_coo"):
        td.reshape(3, 1)


def test_values_of_rows_move_with_the_rows() -> None:
    words = NonTensorStack("a", "b", "c", "d")

    assert words.reshape(2, 2).tolist() == [["a", "b"], ["c", "d"]]
    assert words.flip(0).tolist() == ["d", "c", "b", "a"]
    assert words[1:3].tolist() == ["b", "c"] and words[2] == "c"
    assert cat([words, NonTensorData("e", batch_size=[1])]).tolist() == ["a", "b", "c", "d", "e"]
    assert stack([words, words], 1).batch_size == (4, 2)
    assert (words == "b").tolist() == [False, True, False, False]
    copied = words.clone()
    words[0] = "z"
    words[2:] = ["x", "y"]
    assert words.tolist() == ["z", "b", "x", "y"] and copied.tolist() == ["a", "b", "c", "d"]
    for other in (pickle.loads(pickle.dumps(words)), copy.deepcopy(words)):
        assert other.tolist() == ["z", "b", "x", "y"]
    with pytest.raises(errors.ShapeError, match="NonTensorStack: rows of different lengths"):
        NonTensorStack(["a"], ["b", "c"])


def test_readers_in_many_threads_see_whole_containers() -> None:
    td = TensorDict(
        {f"k{i}": torch.full((8,), float(i)) for i in range(6)} | {"n": {"x": torch.ones(8)}}, batch_size=[8]
    )
    points = Point(x=torch.ones(8), y=torch.zeros(8), batch_size=[8])

    def work(i: int) -> bool:
        rows = list(td)
        again = pickle.loads(pickle.dumps(td))
        both = stack([points, copy.deepcopy(points)])
        return (
            len(rows) == 8
            and all(float(rows[i % 8][f"k{j}"]) == j for j in range(6))
            and bool((again == td).all())
            and bool((both.x == 1).all())
            and set(td.clone().flatten_keys().keys()) == {*[f"k{j}" for j in range(6)], "n.x"}
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))


def test_classes_are_made_and_first_used_in_many_threads() -> None:
    def work(i: int) -> bool:
        class Local(TensorClass):
            a: Tensor
            b: Tensor | None = None

        made = Local(a=torch.full((3,), float(i)), batch_size=[3])
        return bool((stack([made, made]).a == i).all()) and made.b is None

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(32)))


def test_assert_close_names_the_key() -> None:
    td = TensorDict(n={"a": torch.ones(2)})
    assert_close(td, td.clone())
    with pytest.raises(AssertionError, match=r"\('n', 'a'\): Tensor-likes are not close"):
        assert_close(td, td + 1)
    with pytest.raises(AssertionError, match="keys differ"):
        assert_close(td, TensorDict(b=torch.ones(2)))


@pytest.mark.parametrize("index", [slice(1, 3), [0, 2]])
def test_an_index_that_torch_refuses_names_the_entry(index: Any) -> None:
    td = TensorDict({"a": torch.zeros(3, 2), "ragged": torch.nested.nested_tensor([torch.zeros(1)] * 3)}, 3)
    with pytest.raises(errors.StructureError, match="index: 'ragged' is a nested tensor, which torch refuses here"):
        td[index]
