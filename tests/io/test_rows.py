"""Growing data: rows count when they are flushed, and a crash costs no more than those that do not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tensorclass import NonTensorStack, TensorClass, TensorDict, assert_close, cat, errors
from tensorclass.io import DataDamaged, DataExists, NotStorable, RowWriter, _bytes


class Step(TensorClass):
    obs: Tensor
    info: TensorDict
    name: str = "run"
    maybe: Tensor | None = None


def steps(n: int, start: int = 0) -> Step:
    obs = torch.arange(start, start + n * 2).reshape(n, 2).float()
    return Step(obs=obs, info=TensorDict({"a/b": {"done": torch.ones(n, dtype=torch.bool)}}, [n]), batch_size=[n])


def test_what_is_appended_is_what_cat_gives(tmp_path: Path) -> None:
    parts = [steps(n, n) for n in (2, 0, 1, 5)]
    with RowWriter(tmp_path) as rows:
        for part in parts:
            rows.append(part)
        assert len(rows) == 8

    back = Step.load_memmap(tmp_path)
    assert_close(back, cat(parts))
    assert back.name == "run" and back.info.batch_size == (8,)


def test_what_was_saved_can_grow(tmp_path: Path) -> None:
    steps(3).memmap(tmp_path)
    for _ in range(2):
        with RowWriter(tmp_path) as rows:
            rows.append(steps(2, 10))

    assert_close(Step.load_memmap(tmp_path), cat([steps(3), steps(2, 10), steps(2, 10)]))


def test_a_map_that_was_loaded_before_keeps_its_rows(tmp_path: Path) -> None:
    before = steps(3).memmap(tmp_path)
    with RowWriter(tmp_path) as rows:
        rows.append(steps(2, 10))
    Step.load_memmap(tmp_path).obs[0] = -1.0

    assert before.batch_size == (3,) and before.obs[0].tolist() == [-1, -1]


def test_rows_count_once_they_are_flushed(tmp_path: Path) -> None:
    rows = RowWriter(tmp_path)
    rows.append(steps(2))
    assert Step.load_memmap(tmp_path).batch_size == (0,)
    rows.flush()
    rows.append(steps(3, 50))

    assert_close(Step.load_memmap(tmp_path), steps(2))
    rows.close()
    assert_close(Step.load_memmap(tmp_path), cat([steps(2), steps(3, 50)]))


CRASH = """
import os, signal, sys, torch
from tensorclass import TensorDict
from tensorclass.io import RowWriter, _meta
rows = RowWriter("store")
part = TensorDict({"a": torch.ones(5, 2), "n": {"b": torch.ones(5)}}, [5])
rows.append(part)
rows.flush()
rows.append(part)
put = _meta.put
def killed(folder, meta, *rest):
    if folder == "store":
        os.kill(os.getpid(), signal.SIGKILL)
    put(folder, meta)
if sys.argv[1] == "between":
    _meta.put = killed  # What is nested says 10 rows already, the root still 5.
    rows.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("moment", ["before", "between"])
def test_a_crash_leaves_the_rows_that_counted(moment: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CRASH, moment], cwd=tmp_path)
    assert done.returncode == -signal.SIGKILL and os.path.getsize(tmp_path / "store" / "a.memmap") == 80

    assert TensorDict.load_memmap(tmp_path / "store")["n", "b"].shape == (5,)
    with RowWriter(tmp_path / "store") as rows:
        rows.append(TensorDict({"a": torch.zeros(1, 2), "n": {"b": torch.zeros(1)}}, [1]))
    assert TensorDict.load_memmap(tmp_path / "store")["a"].sum(-1).tolist() == [2, 2, 2, 2, 2, 0]


@pytest.mark.parametrize(
    ("rows", "error", "said"),
    [
        (
            TensorDict(a=torch.ones(2, 3), b=torch.ones(2), batch_size=[2]),
            errors.KeyMissing,
            "append: one of the two has no 'b'",
        ),
        (
            TensorDict(a=torch.ones(2, 4), batch_size=[2]),
            errors.ShapeError,
            "append: 'a' has shape [2, 4] of torch.float32; stored are [rows, 3] of torch.float32",
        ),
        (
            TensorDict(a=torch.ones(2, 3, dtype=torch.int), batch_size=[2]),
            errors.ShapeError,
            "append: 'a' has shape [2, 3] of torch.int32; stored are [rows, 3] of torch.float32",
        ),
        (TensorDict({"a": {"x": torch.ones(2)}}, [2]), errors.StructureError, "append: 'a' is a TensorDict"),
        (TensorDict(a=torch.ones(2, 3)), errors.KindError, "append: a TensorDict has no rows"),
        (
            TensorDict(a=torch.ones(2, 3), batch_size=[2, 3]),
            errors.ShapeError,
            "append: batch size [2, 3] is added to data of [rows]",
        ),
    ],
    ids=["key", "shape", "dtype", "kind", "no rows", "batch"],
)
def test_rows_of_another_structure_are_refused_before_anything_is_written(
    rows: TensorDict, error: type[Exception], said: str, tmp_path: Path
) -> None:
    with RowWriter(tmp_path) as writer:
        writer.append(TensorDict(a=torch.zeros(1, 3), batch_size=[1]))
        with pytest.raises(error) as caught:
            writer.append(rows)
    assert said in str(caught.value)
    assert TensorDict.load_memmap(tmp_path)["a"].tolist() == [[0, 0, 0]]


def test_rows_that_cannot_be_written_whole_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = TensorDict(a=torch.ones(2), b=torch.ones(2), batch_size=[2])
    append = _bytes.append
    with RowWriter(tmp_path) as rows:
        rows.append(part)
        calls = iter([append])

        def full(*args: object) -> None:
            next(calls)(*args)  # type: ignore[arg-type]

        monkeypatch.setattr(_bytes, "append", full)
        with pytest.raises(StopIteration):
            rows.append(part)
        monkeypatch.setattr(_bytes, "append", append)
        rows.append(part)

    assert TensorDict.load_memmap(tmp_path)["a"].tolist() == [1] * 4


def test_there_is_one_writer_at_a_time(tmp_path: Path) -> None:
    with RowWriter(tmp_path) as rows:
        rows.append(steps(2))
        with pytest.raises(DataExists, match="somebody else adds rows to it; one writer at a time would do"):
            RowWriter(tmp_path)
        rows.append(steps(1))
    with RowWriter(tmp_path) as rows:
        rows.append(steps(1))

    assert Step.load_memmap(tmp_path).batch_size == (4,)


@pytest.mark.parametrize("value", [NonTensorStack("x", "y"), TensorDict(batch_size=[])], ids=["plain rows", "no rows"])
def test_what_cannot_grow_is_named(value: object, tmp_path: Path) -> None:
    td = TensorDict(w=value, batch_size=[2]) if isinstance(value, NonTensorStack) else value
    assert isinstance(td, TensorDict)
    td.memmap(tmp_path)

    with pytest.raises(NotStorable, match="'w': neither lazy stacks.*can grow|data of batch size .. have no rows"):
        RowWriter(tmp_path)


def test_files_that_are_too_short_do_not_grow(tmp_path: Path) -> None:
    steps(3).memmap(tmp_path)
    os.truncate(tmp_path / "obs.memmap", 8)

    with pytest.raises(DataDamaged, match="a file is shorter than 3 rows"):
        RowWriter(tmp_path)
    assert os.path.getsize(tmp_path / "obs.memmap") == 8
