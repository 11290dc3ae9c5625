"""Data move both ways between this library and tensordict: written here and read there, and the reverse."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import NonTensorStack, TensorClass, TensorDict, assert_close, lazy_stack

peer: Any = pytest.importorskip("tensordict")
pytestmark = pytest.mark.filterwarnings("ignore")

DTYPES = "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128"
FLOAT8 = "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz"


class Body(TensorClass):
    pos: Tensor
    name: str = "none"
    maybe: Tensor | None = None


class World(TensorClass):
    body: Body
    time: Tensor


class PeerBody(peer.TensorClass):  # type: ignore[misc]  # Any.
    pos: Tensor
    name: str = "none"
    maybe: Tensor | None = None


class PeerWorld(peer.TensorClass):  # type: ignore[misc]
    body: PeerBody
    time: Tensor


def entries(dtypes: str) -> dict[str, Any]:
    leaves: dict[str, Any] = {name: torch.ones(3).to(getattr(torch, name)) for name in dtypes.split()}
    keys = {key: torch.rand(3) for key in ("a/b/c", "..", "x.y", "%", "", "a b", "é", "\x01", "data")}
    nested = {
        "deep": {"er": torch.rand(3, 2), "no": torch.zeros(3, 0)},
        "a/b": {"v": torch.rand(3)},
        "hollow": {},
        "stack_dim": {"v": torch.rand(3)},
    }
    return {**leaves, **keys, **nested, "whole": torch.arange(6).reshape(3, 2)}


def leaves_of(td: Any) -> dict[Any, Tensor]:
    return dict(td.items(True, True))


def same(one: Any, other: Any) -> None:
    mine, theirs = leaves_of(one), leaves_of(other)
    assert mine.keys() == theirs.keys()
    for key, leaf in mine.items():
        assert leaf.dtype is theirs[key].dtype and leaf.shape == theirs[key].shape, key
        assert leaf.contiguous().view(torch.uint8).tolist() == theirs[key].contiguous().view(torch.uint8).tolist(), key


def test_tensors_written_here_are_read_there(tmp_path: Path) -> None:
    # tensordict 0.15 writes float8, and cannot load what it wrote.
    td = TensorDict(entries(DTYPES), batch_size=[3], names=["time"])
    td.memmap(tmp_path)

    back = peer.TensorDict.load_memmap(tmp_path)

    same(td, back)
    assert back.batch_size == (3,) and back.names == ["time"] and back["hollow"].batch_size == (3,)


def test_tensors_written_there_are_read_here(tmp_path: Path) -> None:
    td = peer.TensorDict(entries(f"{DTYPES} {FLOAT8}"), batch_size=[3], names=["time"])
    td.memmap(tmp_path)

    back = TensorDict.load_memmap(tmp_path)

    same(td, back)
    assert back.batch_size == (3,) and back.names == ["time"] and back["hollow"].batch_size == (3,)


VALUES: list[Any] = ["text", 3, 2.5, None, True, {"k": [1, "x"]}, [1, "a", None]]


def test_plain_data_written_here_are_read_there(tmp_path: Path) -> None:
    td = TensorDict(batch_size=[2])
    for number, value in enumerate(VALUES):
        td.set_non_tensor(str(number), value)
    td["rows"] = NonTensorStack("x", "y")
    td.set_non_tensor("pair", (1, 2))
    td.memmap(tmp_path)

    back = peer.TensorDict.load_memmap(tmp_path)

    assert [back[str(number)] for number in range(len(VALUES))] == VALUES
    assert list(back["rows"]) == ["x", "y"] and list(back["pair"]) == [1, 2]


def test_plain_data_written_there_are_read_here(tmp_path: Path) -> None:
    td = peer.TensorDict(batch_size=[2])
    for number, value in enumerate(VALUES):
        td.set_non_tensor(str(number), value)
    td["rows"] = peer.NonTensorStack("x", "y")
    td["object"] = peer.NonTensorData({1, 2}, batch_size=[2])
    td["objects"] = peer.NonTensorStack({1}, "y")
    td.memmap(tmp_path)

    back = TensorDict.load_memmap(tmp_path, allow_pickle=True)

    assert [back[str(number)] for number in range(len(VALUES))] == VALUES
    assert back["rows"].tolist() == ["x", "y"]
    assert back["object"] == {1, 2} and back["objects"].tolist() == [{1}, "y"]


def test_classes_written_here_are_read_there(tmp_path: Path) -> None:
    world = World(body=Body(pos=torch.rand(3, 2), name="sun", batch_size=[3]), time=torch.rand(3), batch_size=[3])
    world.memmap(tmp_path)

    back = PeerWorld.load_memmap(tmp_path)

    assert type(back) is PeerWorld and back.batch_size == (3,)
    assert torch.equal(back.time, world.time) and torch.equal(back.body.get("pos"), world.body.pos)
    same(world, peer.TensorDict.load_memmap(tmp_path))


def test_classes_written_there_are_read_here(tmp_path: Path) -> None:
    body = PeerBody(pos=torch.rand(3, 2), name="sun", batch_size=[3])
    world = PeerWorld(body=body, time=torch.rand(3), batch_size=[3])
    world.memmap(tmp_path)

    back = World.load_memmap(tmp_path)

    assert type(back) is World and type(back.body) is Body and back.body.name == "sun" and back.body.maybe is None
    assert torch.equal(back.body.pos, world.body.pos) and back.batch_size == (3,)
    assert_close(TensorDict.load_memmap(tmp_path)["body"], back.body.to_tensordict())


@pytest.mark.parametrize("dim", [0, 1])
def test_lazy_stacks_written_here_are_read_there(dim: int, tmp_path: Path) -> None:
    stacked = lazy_stack([TensorDict(a=torch.rand(2, n), batch_size=[2]) for n in (1, 3)], dim)
    stacked.memmap(tmp_path)

    back = peer.TensorDict.load_memmap(tmp_path)

    for one, item in zip(back.unbind(dim), stacked.unbind(dim)):
        same(one, item)


@pytest.mark.parametrize("dim", [0, 1])
def test_lazy_stacks_written_there_are_read_here(dim: int, tmp_path: Path) -> None:
    stacked = peer.lazy_stack([peer.TensorDict(a=torch.rand(2, n), batch_size=[2]) for n in (1, 3)], dim)
    stacked.memmap(tmp_path)

    back = TensorDict.load_memmap(tmp_path)

    for one, item in zip(back.unbind(dim), stacked.unbind(dim)):
        same(one, item)


def test_lazy_stacks_of_a_class_written_there_are_read_here(tmp_path: Path) -> None:
    stacked = peer.lazy_stack([PeerBody(pos=torch.rand(n), name="x") for n in (1, 3)])
    stacked.memmap(tmp_path)

    back = Body.load_memmap(tmp_path)

    assert isinstance(back, Body) and [item.pos.shape[0] for item in back.unbind(0)] == [1, 3]


def test_nested_tensors_move_both_ways(tmp_path: Path) -> None:
    rows = [torch.rand(n, 2) for n in (2, 3)]
    for one, other in ((TensorDict, peer.TensorDict), (peer.TensorDict, TensorDict)):
        folder = tmp_path / one.__module__
        one({"a": torch.nested.nested_tensor(rows)}, batch_size=[2]).memmap(folder)
        back = other.load_memmap(folder)["a"]
        assert all(torch.equal(a, b) for a, b in zip(back.unbind(0), rows))


def test_a_class_of_a_script_that_used_tensordict_is_found_by_name(tmp_path: Path) -> None:
    """The library is exchanged in a script, and what the script saved before can still be loaded."""
    script = tmp_path / "script.py"
    text = """
import sys, torch
from {} import TensorClass, TensorDict

class Body(TensorClass):
    pos: torch.Tensor

if sys.argv[1] == "save":
    TensorDict({{"b": Body(pos=torch.ones(3), batch_size=[3])}}, [3]).memmap("store")
else:
    print(type(TensorDict.load_memmap("store")["b"]).__name__)
"""
    script.write_text(text.format("tensordict"))
    subprocess.run([sys.executable, "script.py", "save"], cwd=tmp_path, check=True)
    script.write_text(text.format("tensorclass"))
    done = subprocess.run(
        [sys.executable, "script.py", "load"], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "Body"
