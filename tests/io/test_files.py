"""One file for a container: torch.save's, loadable with weights_only, and safetensors."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import NonTensorStack, TensorClass, TensorDict, assert_close, lazy_stack
from tensorclass.io import DataDamaged, NotStorable, load, load_safetensors, save, save_safetensors

pytest.importorskip("safetensors")


class Sample(TensorClass):
    x: Tensor
    inner: TensorDict
    maybe: Tensor | None = None
    label: str = "none"


def containers() -> dict[str, Any]:
    inner = TensorDict({"a.b": torch.ones(3, dtype=torch.bool), "a": {"b": torch.zeros(3, 0)}}, [3])
    sample = Sample(x=torch.rand(3, dtype=torch.bfloat16), inner=inner, label="cat", batch_size=[3])
    td = TensorDict({"s": sample, "w": NonTensorStack("x", "y", "x"), "k": torch.rand(3, 2)}, [3], names=["time"])
    td.set_non_tensor("pair", (1, {"k": b"x"}))
    return {
        "class": sample,
        "nested": td,
        "rows": td[1:],
        "transposed": TensorDict(a=torch.arange(6).reshape(2, 3).T, batch_size=[3]),
        "lazy": lazy_stack([TensorDict(q=torch.rand(n), batch_size=[n]) for n in (1, 3)]),
        "shared": TensorDict(dict.fromkeys("ab", torch.rand(3)), batch_size=[3]),
        "map": TensorDict(a=torch.rand(3)).memmap(),
        "packed": TensorDict(a=torch.rand(3), b=torch.rand(3)).consolidate(),
        "empty": TensorDict(batch_size=[3], device="cpu"),
    }


FORMS: dict[str, tuple[Any, Any]] = {"torch": (save, load), "safetensors": (save_safetensors, load_safetensors)}
each = pytest.mark.parametrize("name", containers())
both = pytest.mark.parametrize("form", FORMS)


@each
@both
def test_what_is_written_is_read(name: str, form: str, tmp_path: Path) -> None:
    container, (write, read) = containers()[name], FORMS[form]
    write(container, tmp_path / "file")
    back = read(tmp_path / "file")

    assert type(back) is type(container) and back.batch_size == container.batch_size and back.device == container.device
    assert back.names == container.names
    for one, other in zip(back._items or [back], container._items or [container]):
        assert_close(one, other)
        assert {key: repr(value) for key, value in one.non_tensor_items(True)} == {
            key: repr(value) for key, value in other.non_tensor_items(True)
        }


@both
def test_the_class_that_loads_says_what_comes(form: str, tmp_path: Path) -> None:
    write, read = FORMS[form]
    write(containers()["class"].to_tensordict(), tmp_path / "file")

    assert type(read(tmp_path / "file")) is TensorDict
    assert type(read(tmp_path / "file", Sample)) is Sample


def test_a_saved_row_takes_the_room_of_a_row() -> None:
    file = io.BytesIO()
    save(TensorDict(a=torch.zeros(100_000), batch_size=[100_000])[:2], file)

    assert file.tell() < 5000


def test_torch_can_load_it_with_weights_only(tmp_path: Path) -> None:
    save(containers()["nested"], tmp_path / "file")

    assert {*torch.load(tmp_path / "file", weights_only=True)} == {"tensorclass", "tensors"}


def test_a_file_can_be_mapped(tmp_path: Path) -> None:
    save(containers()["class"], tmp_path / "file")

    assert_close(load(tmp_path / "file", Sample, mmap=True), load(tmp_path / "file", Sample))


@both
def test_what_only_a_pickle_could_hold_is_refused(form: str, tmp_path: Path) -> None:
    td = TensorDict({"n": {"v": object()}})

    with pytest.raises(NotStorable, match=r"\('n', 'v'\) is a object, which only a pickle could hold"):
        FORMS[form][0](td, tmp_path / "file")
    assert not list(tmp_path.iterdir())


def test_a_file_from_elsewhere_gives_its_tensors(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file({"layer.weight": torch.ones(2)}, tmp_path / "file")

    assert load_safetensors(tmp_path / "file")["layer.weight"].tolist() == [1, 1]


@both
@pytest.mark.parametrize("cut", [0, 1, 100])
def test_a_truncated_file_is_refused(form: str, cut: int, tmp_path: Path) -> None:
    write, read = FORMS[form]
    write(containers()["class"], tmp_path / "file")
    (tmp_path / "file").write_bytes((tmp_path / "file").read_bytes()[:cut])

    with pytest.raises(DataDamaged, match="file cannot be read"):
        read(tmp_path / "file")


@pytest.mark.parametrize(
    "held",
    [
        3,
        {"a": torch.ones(3)},
        {"tensorclass": "{", "tensors": []},
        {"tensorclass": json.dumps({"batch": [3], "entries": {"a": {"tensor": 0}}}), "tensors": []},
        {"tensorclass": json.dumps({"batch": [3], "entries": 3}), "tensors": []},
        {"tensorclass": json.dumps({"batch": "x", "entries": {}}), "tensors": []},
        {"tensorclass": json.dumps({"lazy": []}), "tensors": []},
        {"tensorclass": "{}", "tensors": [3]},
    ],
    ids=str,
)
def test_another_outline_is_refused(held: Any, tmp_path: Path) -> None:
    torch.save(held, tmp_path / "file")

    with pytest.raises(DataDamaged, match="was not written by|damaged|no JSON|no list of sizes|else than tensors"):
        load(tmp_path / "file")


def test_what_would_have_to_be_unpickled_is_not(tmp_path: Path) -> None:
    torch.save({"tensorclass": tmp_path}, tmp_path / "file")

    with pytest.raises(DataDamaged, match="cannot be read"):
        load(tmp_path / "file")


@both
@pytest.mark.parametrize("layout", [torch.jagged, torch.strided], ids=str)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype stage")
def test_rows_of_other_sizes_are_kept(layout: torch.layout, form: str, tmp_path: Path) -> None:
    write, read = FORMS[form]
    rows = [torch.rand(n, 2, dtype=torch.float64) for n in (2, 0, 3)]
    write(TensorDict(q=torch.nested.as_nested_tensor(rows, layout=layout), batch_size=[3]), tmp_path / "file")
    back = read(tmp_path / "file")["q"]

    assert back.layout is layout and [row.tolist() for row in back.unbind()] == [row.tolist() for row in rows]


@pytest.mark.parametrize(
    "entry",
    [
        {"nested": [[2], [4]], "jagged": True},
        {"nested": [[2], [-3]], "jagged": True},
        {"nested": "x", "jagged": True},
        {"nested": [[2], [3]]},
        {"nested": [], "jagged": True},
        {"nested": [[2], [1, 3]], "jagged": True},
    ],
    ids=str,
)
def test_rows_that_are_not_there_are_refused(entry: dict[str, Any], tmp_path: Path) -> None:
    outline = {"batch": [2], "entries": {"q": {"tensor": 0, "shape": [5], "dtype": "torch.float32", **entry}}}
    torch.save({"tensorclass": json.dumps(outline), "tensors": [torch.ones(5)]}, tmp_path / "file")

    with pytest.raises(DataDamaged, match="damaged|no list of sizes"):
        load(tmp_path / "file")
