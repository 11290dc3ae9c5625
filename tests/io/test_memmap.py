"""Memory maps of containers: what is saved comes back, locked, typed, and as maps."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import NonTensorStack, TensorClass, TensorDict, TypedTensorDict, assert_close, errors, lazy_stack
from tensorclass.io import DataExists, MemoryMappedTensor, NotStorable, PickleRefused
from tensorclass.io._meta import DTYPES


class Inner(TensorClass):
    x: Tensor
    label: str = "none"


class Outer(TensorClass):
    inner: Inner
    y: Tensor
    maybe: Tensor | None = None
    steps: int = 3


class Declared(TypedTensorDict):
    a: Tensor


class Colour(Enum):
    RED = 1


def outer(n: int = 4) -> Outer:
    return Outer(inner=Inner(x=torch.rand(n, 2), label="hot", batch_size=[n]), y=torch.rand(n), batch_size=[n])


def mixed() -> TensorDict:
    td = TensorDict(
        {
            "a": torch.arange(6.0).reshape(3, 2),
            "n": {"b": torch.ones(3, dtype=torch.bfloat16), "m": {"c": torch.zeros(3, dtype=torch.bool)}},
            "empty": torch.zeros(3, 0),
            "words": NonTensorStack("x", "y", "z"),
            "text": "text",
            "typed": outer(3),
        },
        batch_size=[3],
        names=["time"],
    )
    return td.set_non_tensor("pair", (1, 2))


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    td = mixed()

    td.memmap(tmp_path)
    back = TensorDict.load_memmap(tmp_path)

    assert_close(back, td)
    assert set(back.keys(True)) == set(td.keys(True))
    assert back.names == ["time"] and back["n"].batch_size == (3,)
    assert back["words"].tolist() == ["x", "y", "z"] and back["text"] == "text" and back["pair"] == (1, 2)
    assert type(back["typed"]) is Outer and type(back["typed"].inner) is Inner and back["typed"].inner.label == "hot"


def test_memmap_gives_what_load_memmap_gives(tmp_path: Path) -> None:
    saved = mixed().memmap(tmp_path)

    assert_close(saved, TensorDict.load_memmap(tmp_path))
    assert saved.is_memmap() and saved.is_locked and saved["n"].is_locked
    with pytest.raises(errors.Locked):
        saved["new"] = torch.zeros(3)


def test_the_source_of_memmap_is_left_as_it_was(tmp_path: Path) -> None:
    td = mixed()
    td.memmap(tmp_path)

    assert not td.is_locked and not td.is_memmap() and type(td["a"]) is Tensor


def test_memmap_in_place_has_the_container_map_the_files(tmp_path: Path) -> None:
    td = mixed()
    leaves = td.clone()

    assert td.memmap_(tmp_path) is td
    td["a"][0] = 7.0

    assert td.is_memmap() and td.is_locked
    assert TensorDict.load_memmap(tmp_path)["a"][0].tolist() == [7.0, 7.0]
    assert_close(td["n"], leaves["n"])


def test_memmap_like_makes_zeros_that_can_be_written(tmp_path: Path) -> None:
    td = mixed().select("a", "n")
    like = td.memmap_like(tmp_path)
    like[1] = td[2]

    back = TensorDict.load_memmap(tmp_path)
    assert back["a"].tolist() == [[0, 0], [4, 5], [0, 0]] and back["n", "b"].tolist() == [0, 1, 0]


def test_load_memmap_in_place_copies_into_the_tensors(tmp_path: Path) -> None:
    td = mixed()
    td.memmap(tmp_path)
    other = td.clone().zero_()
    leaf = other["a"]

    other.load_memmap_(tmp_path)

    assert other["a"] is leaf and leaf.tolist() == td["a"].tolist()


def test_without_a_prefix_the_files_go_with_the_process() -> None:
    program = (
        "import torch; from tensorclass import TensorDict\nprint(TensorDict(a=torch.ones(3)).memmap()['a'].filename)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip().endswith("a.memmap") and not os.path.exists(done.stdout.strip())


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_every_dtype_comes_back_bit_by_bit(dtype: torch.dtype, tmp_path: Path) -> None:
    bits = torch.arange(4 * dtype.itemsize, dtype=torch.uint8) % 2
    leaf = bits.view(dtype)

    back = TensorDict(a=leaf, batch_size=[4]).memmap(tmp_path)["a"]

    assert back.dtype is dtype and back.view(torch.uint8).tolist() == bits.tolist()


@pytest.mark.parametrize(
    "leaf",
    [
        torch.arange(6).reshape(2, 3).T,
        torch.arange(10)[::2],
        torch.ones(3, dtype=torch.complex64).mul(1j).conj(),
        torch.nn.Parameter(torch.ones(3)),
        torch.ones(1).expand(5),
        torch.tensor(3.0),
        torch.zeros(0, 2),
    ],
    ids=["transposed", "strided", "conjugate", "parameter", "expanded", "scalar", "empty"],
)
def test_a_tensor_is_stored_by_value_however_it_lies(leaf: Tensor, tmp_path: Path) -> None:
    back = TensorDict(a=leaf).memmap(tmp_path)["a"]

    assert type(back) is MemoryMappedTensor and back.shape == leaf.shape and torch.equal(back, leaf.detach())


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype stage")
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged], ids=str)
def test_nested_tensors_come_back(layout: torch.layout, tmp_path: Path) -> None:
    rows = [torch.rand(n, 2) for n in (2, 0, 3)]
    nested = torch.nested.nested_tensor(rows, layout=layout)
    TensorDict(a=nested, batch_size=[3]).memmap(tmp_path)
    back = TensorDict.load_memmap(tmp_path)["a"]

    assert back.layout is layout
    assert all(torch.equal(one, row) for one, row in zip(back.unbind(), rows))


@pytest.mark.parametrize(
    "key",
    [
        "a/b",
        "..",
        ".",
        "",
        "x.y",
        "%",
        "%2F",
        "a b",
        "é",
        "meta.json",
        "meta",
        "shape",
        "device",
        "_type",
        "_entries",
        "data",
        "_x",
        "\x00",
        "a\\b",
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_any_key_comes_back_and_stays_in_the_folder(key: str, nested: bool, tmp_path: Path) -> None:
    value = {"v": torch.ones(3)} if nested else torch.ones(3)
    TensorDict({key: value, "other": torch.zeros(3)}, [3]).memmap(tmp_path / "store")

    back = TensorDict.load_memmap(tmp_path / "store")

    assert set(back.keys()) == {key, "other"}
    assert (back[key]["v"] if nested else back[key]).tolist() == [1, 1, 1]
    assert os.listdir(tmp_path) == ["store"]


def test_keys_that_would_share_a_file_have_one_each(tmp_path: Path) -> None:
    td = TensorDict({"a": torch.zeros(3), "a.memmap": {"v": torch.ones(3)}, "meta.json": {"v": torch.ones(3)}}, [3])

    assert_close(td.memmap(tmp_path), td)


@pytest.mark.parametrize(
    "value",
    [1, 2.5, float("nan"), "x", None, (1, (2,)), {1, 2}, b"\x00", {"k": [1]}, {1: 2}, torch.float16, torch.Size([2]),
     1j, torch.device("cpu"), [[1], ["a"]]],
    ids=repr,
)  # fmt: skip
def test_plain_data_come_back_as_they_were(value: Any, tmp_path: Path) -> None:
    td = TensorDict(batch_size=[2]).set_non_tensor("v", value)
    td.memmap(tmp_path)

    back = TensorDict.load_memmap(tmp_path)["v"]

    assert type(back) is type(value) and repr(back) == repr(value)


def test_rows_that_are_lists_come_back(tmp_path: Path) -> None:
    rows = NonTensorStack._from_positions([["a"], "b", (1, 2)], torch.tensor([0, 1, 2]))
    TensorDict(v=rows, batch_size=[3]).memmap(tmp_path)

    assert TensorDict.load_memmap(tmp_path)["v"].tolist() == [["a"], "b", (1, 2)]


@pytest.mark.parametrize("value", [Colour.RED, NonTensorStack(Colour.RED, "b")], ids=["one", "rows"])
def test_nothing_is_unpickled_unless_asked(value: Any, tmp_path: Path) -> None:
    td = TensorDict(v=value, batch_size=[2])
    td.memmap(tmp_path)

    with pytest.raises(PickleRefused, match="'v' is stored as a pickle .*allow_pickle=True loads it"):
        TensorDict.load_memmap(tmp_path)
    back = TensorDict.load_memmap(tmp_path, allow_pickle=True)["v"]
    assert (back.tolist() if isinstance(back, NonTensorStack) else back) in (Colour.RED, [Colour.RED, "b"])


# ---- classes ------------------------------------------------------------------------------------------------------


def test_a_class_comes_back_as_itself(tmp_path: Path) -> None:
    saved = outer().memmap(tmp_path)
    back = Outer.load_memmap(tmp_path)

    assert type(saved) is type(back) is Outer and type(back.inner) is Inner
    assert back.maybe is None and back.steps == 3 and back.inner.label == "hot" and back.is_locked
    assert type(back[1].inner.x) is MemoryMappedTensor


def test_a_typed_dict_comes_back_as_itself(tmp_path: Path) -> None:
    Declared(a=torch.ones(3), batch_size=[3]).memmap(tmp_path)

    assert type(Declared.load_memmap(tmp_path)) is Declared


def test_a_class_of_dicts_comes_back_as_itself(tmp_path: Path) -> None:
    class Named(TensorDict):
        pass

    assert type(Named(a=torch.ones(3)).memmap(tmp_path)) is type(Named.load_memmap(tmp_path)) is Named


def test_the_class_that_loads_says_what_comes(tmp_path: Path) -> None:
    outer().memmap(tmp_path)
    untyped = TensorDict.load_memmap(tmp_path)
    assert type(untyped) is TensorDict and type(untyped["inner"]) is Inner and "maybe" not in untyped

    outer().to_tensordict().memmap(tmp_path)
    assert type(Outer.load_memmap(tmp_path).inner) is Inner


def test_data_that_a_class_has_no_field_for_are_refused(tmp_path: Path) -> None:
    TensorDict(z=torch.ones(3)).memmap(tmp_path)

    with pytest.raises(errors.UnknownField, match="Inner has no field 'z'"):
        Inner.load_memmap(tmp_path)


def test_what_an_op_made_of_the_fields_can_be_loaded(tmp_path: Path) -> None:
    from jaxtyping import Float

    class Whole(TensorClass):
        a: Float[Tensor, "4 2"]

    Whole.__qualname__ = "Whole"
    globals()["Whole"] = Whole
    Whole(a=torch.ones(4, 2), batch_size=[4])[:3].memmap(tmp_path)

    assert Whole.load_memmap(tmp_path).a.shape == (3, 2)


def test_lazy_stacks_come_back_lazy(tmp_path: Path) -> None:
    plain = lazy_stack([TensorDict(a=torch.rand(2, n), batch_size=[2, n]) for n in (1, 3)], 1)
    typed = lazy_stack([outer(2), outer(3)])
    plain.memmap(tmp_path / "plain")
    saved = typed.memmap(tmp_path / "typed")

    back = TensorDict.load_memmap(tmp_path / "plain")
    assert back.batch_size == (2, 2, -1) and torch.equal(back._items[1]["a"], plain._items[1]["a"])
    for one in (saved, Outer.load_memmap(tmp_path / "typed")):
        assert isinstance(one, Outer) and one.batch_size == (2, -1) and torch.equal(one[1].y, typed[1].y)


def test_rows_alone_come_back(tmp_path: Path) -> None:
    NonTensorStack("x", "y").memmap(tmp_path)

    assert NonTensorStack.load_memmap(tmp_path).tolist() == ["x", "y"]


def test_parameters_are_saved_as_tensors(tmp_path: Path) -> None:
    saved = TensorDict.from_module(torch.nn.Linear(3, 2)).memmap(tmp_path)

    assert saved["weight"].shape == (2, 3) and type(saved["weight"]) is MemoryMappedTensor


def test_many_items_keep_their_order(tmp_path: Path) -> None:
    lazy_stack([TensorDict(a=torch.full((n % 3,), n)) for n in range(12)]).memmap(tmp_path)

    assert [int(item["a"].sum()) for item in TensorDict.load_memmap(tmp_path)] == [n * (n % 3) for n in range(12)]


# ---- options ------------------------------------------------------------------------------------------------------


def test_threads_write_the_same_files(tmp_path: Path) -> None:
    td = TensorDict({str(n): torch.rand(100) for n in range(20)}, [100])

    assert_close(td.memmap(tmp_path, num_threads=4), td)


def test_a_bar_tells_of_every_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    TensorDict(a=torch.zeros(1000)).memmap(tmp_path, progress=True)

    assert "4.00k/4.00k" in capsys.readouterr().err


def test_existsok_false_keeps_what_is_there(tmp_path: Path) -> None:
    TensorDict(a=torch.zeros(3)).memmap(tmp_path)

    with pytest.raises(DataExists, match="holds data already; existsok=True replaces them"):
        TensorDict(a=torch.ones(3)).memmap(tmp_path, existsok=False)
    assert TensorDict.load_memmap(tmp_path)["a"].sum() == 0


@pytest.mark.parametrize("leaf", [torch.zeros(3, device="meta"), torch.eye(3).to_sparse()], ids=["meta", "sparse"])
def test_a_tensor_without_bytes_is_refused_before_anything_changes(leaf: Tensor, tmp_path: Path) -> None:
    TensorDict(a=torch.zeros(3)).memmap(tmp_path)

    with pytest.raises(NotStorable, match="'n', 'b'"):
        TensorDict({"n": {"b": leaf}}).memmap(tmp_path)
    assert list(TensorDict.load_memmap(tmp_path).keys()) == ["a"]
    assert sorted(os.listdir(tmp_path)) == ["a.memmap", "meta.json"]


def test_load_to_a_device_reads_into_memory(tmp_path: Path) -> None:
    TensorDict(a=torch.ones(3)).memmap(tmp_path)
    back = TensorDict.load_memmap(tmp_path, device="cpu")

    assert back.device == torch.device("cpu") and back["a"].tolist() == [1, 1, 1]


@pytest.mark.parametrize(("mode", "kept"), [(None, 5.0), ("r+", 5.0), ("c", 1.0)])
def test_the_mode_says_whether_writes_reach_the_file(mode: Any, kept: float, tmp_path: Path) -> None:
    TensorDict(a=torch.ones(3)).memmap(tmp_path)

    written = TensorDict.load_memmap(tmp_path, mode=mode)
    written["a"].fill_(5.0)

    assert written["a"].tolist() == [5.0] * 3
    assert TensorDict.load_memmap(tmp_path)["a"].tolist() == [kept] * 3


def test_a_pickle_of_maps_holds_their_names_and_no_data(tmp_path: Path) -> None:
    td = TensorDict(a=torch.rand(10_000, 4), batch_size=[10_000])
    saved = td.memmap(tmp_path)

    text = pickle.dumps(saved[5000:])
    back = pickle.loads(text)

    assert len(text) < 2000 and torch.equal(back["a"], td["a"][5000:])
    back["a"].zero_()
    assert saved["a"][5000:].sum() == 0


def test_a_map_of_a_file_elsewhere_is_copied_or_refused(tmp_path: Path) -> None:
    one = TensorDict({"n": {"a": torch.arange(3)}}).memmap(tmp_path / "one")
    two = one.memmap(tmp_path / "two", True)

    two["n", "a"][0] = 7
    assert one["n", "a"].tolist() == [0, 1, 2]
    with pytest.raises(DataExists, match=r"memmap: \('n', 'a'\) is a map of .*one/n/a.memmap already; copy_existing"):
        one.memmap(tmp_path / "three", copy_existing=False)
    assert not (tmp_path / "three").exists()
    assert two.memmap_(tmp_path / "two", copy_existing=False)["n", "a"].tolist() == [7, 1, 2]


def test_the_name_of_a_stack_dim_is_kept_on_disk_and_in_one_buffer(tmp_path: Path) -> None:
    stack = lazy_stack([TensorDict(a=torch.rand(n), batch_size=[n], names=["time"]) for n in (2, 3)])
    stack.names = ["episode", "time"]
    stack.memmap(tmp_path)

    assert TensorDict.load_memmap(tmp_path).names == ["episode", "time"]
    assert pickle.loads(pickle.dumps(stack.consolidate())).names == ["episode", "time"]


def test_a_parameter_and_the_map_of_one_are_close(tmp_path: Path) -> None:
    td = TensorDict(w=torch.nn.Parameter(torch.ones(2)))
    td.memmap(tmp_path)

    assert_close(TensorDict.load_memmap(tmp_path), td)
    with pytest.raises(AssertionError, match="'w': Tensor-likes are not close"):
        assert_close(TensorDict.load_memmap(tmp_path), TensorDict(w=torch.zeros(2)))
