"""Arrow, Parquet and pandas: what goes in as columns comes out as it was; tables from elsewhere make sense."""

from __future__ import annotations

import builtins
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from torch import Tensor
from typing_extensions import assert_type

import tensorclass.io as io
from tensorclass import NonTensorStack, TensorClass, TensorDict, assert_close, errors, lazy_stack
from tensorclass.io import DataDamaged, NotStorable


class Inner(TensorClass):
    y: Tensor


class Sample(TensorClass):
    x: Tensor
    inner: Inner
    name: NonTensorStack
    label: str = "none"
    maybe: Tensor | None = None


def samples(n: int = 3) -> Sample:
    return Sample(
        x=torch.arange(n * 6.0).reshape(n, 2, 3),
        inner=Inner(y=torch.arange(n), batch_size=[n]),
        name=NonTensorStack(*"abcdefghij"[:n]),
        label="cat",
        batch_size=[n],
    )


def test_a_class_goes_through_arrow_and_parquet(tmp_path: Path) -> None:
    rows = samples()
    io.to_parquet(rows, tmp_path / "rows.parquet")
    found = [
        io.from_arrow(io.to_arrow(rows)),
        assert_type(io.from_arrow(io.to_arrow(rows), Sample), Sample),
        io.read_parquet(tmp_path / "rows.parquet"),
        assert_type(io.read_parquet(tmp_path / "rows.parquet", Sample), Sample),
    ]

    for one in found:
        assert type(one) is Sample and type(one.inner) is Inner and one.label == "cat" and one.maybe is None
        assert_close(one, rows)
        assert one.name.tolist() == ["a", "b", "c"] and one.batch_size == (3,)
    assert list(tmp_path.iterdir()) == [tmp_path / "rows.parquet"]


def test_features_are_lists_of_a_fixed_size() -> None:
    table = io.to_arrow(samples())
    outer = table.schema.field("x").type

    assert table.column_names == ["x", "inner.y", "name"]
    assert (outer.list_size, outer.value_type.list_size, outer.value_type.value_type) == (2, 3, pa.float32())
    assert table.schema.field("inner.y").type == pa.int64() and table.schema.field("name").type == pa.string()


DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32,
    torch.uint64, torch.float16, torch.float32, torch.float64, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2,
    torch.complex64, torch.complex128,
]  # fmt: skip


@pytest.mark.parametrize("shape", [(4,), (4, 2), (0,), (0, 2), (4, 0), (4, 2, 0, 3)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_and_shape_comes_back_as_it_was(dtype: torch.dtype, shape: tuple[int, ...], tmp_path: Path) -> None:
    leaf = torch.randint(0, 2, shape).to(dtype)
    td = TensorDict(a=leaf, batch_size=shape[:1])
    io.to_parquet(td, tmp_path / "file")

    for found in (io.from_arrow(io.to_arrow(td)), io.read_parquet(tmp_path / "file")):
        assert found["a"].dtype is dtype and found["a"].shape == shape and found.batch_size == shape[:1]
        assert found["a"].tolist() == leaf.tolist()


def test_rows_of_other_sizes_are_lists() -> None:
    ragged = lazy_stack([TensorDict(q=torch.arange(n), p=torch.ones(n, 2)) for n in (2, 0, 3)])
    table = io.to_arrow(ragged)
    back = io.from_arrow(table)

    assert table["q"].to_pylist() == [[0, 1], [], [0, 1, 2]]
    assert [row.tolist() for row in back["q"].unbind()] == [[0, 1], [], [0, 1, 2]]
    assert [list(row.shape) for row in back["p"].unbind()] == [[2, 2], [0, 2], [3, 2]]
    assert_close(io.from_arrow(io.to_arrow(back))["q"].values(), back["q"].values())


def test_what_is_filtered_sliced_and_joined_as_a_table_is_read_as_rows() -> None:
    table = io.to_arrow(samples(6))
    part = table.filter(pa.array([False, False, True, True, True, True])).slice(1, 2)
    back = io.from_arrow(pa.concat_tables([part, table.slice(0, 1)]), Sample)

    assert back.inner.y.tolist() == [3, 4, 0] and back.name.tolist() == ["d", "e", "a"]
    assert torch.equal(back.x, samples(6).x[[3, 4, 0]])


def test_some_columns_can_be_read(tmp_path: Path) -> None:
    io.to_parquet(samples(), tmp_path / "file", row_group_size=2)
    found = io.read_parquet(tmp_path / "file", TensorDict, columns=["inner.y"], filters=[("inner.y", ">", 0)])

    assert found["inner", "y"].tolist() == [1, 2]


def test_tables_from_elsewhere_make_containers(tmp_path: Path) -> None:
    table = pa.table(
        {
            "a": [1.5, None],
            "n.i": pa.array([1, 2], pa.uint8()),
            "words": ["x", None],
            "pair": [[1, 2], [3, 4]],
            "tags": [["t"], []],
            "day": pa.array([1, 2], pa.date32()),
        }
    )
    pq.write_table(table, tmp_path / "file")
    found = io.read_parquet(tmp_path / "file")

    assert type(found) is TensorDict and found.batch_size == (2,)
    assert found["a"].isnan().tolist() == [False, True]
    assert found["n", "i"].dtype is torch.uint8 and found["pair"].tolist() == [[1, 2], [3, 4]]
    assert found["words"].tolist() == ["x", None] and found["tags"].tolist() == [["t"], []]
    assert str(found["day"].tolist()[0]) == "1970-01-02"
    assert set(io.from_arrow(table, separator=None).keys()) == set(table.column_names)


def test_what_is_read_is_not_the_memory_of_the_table() -> None:
    table = pa.table({"a": np.arange(3)})
    io.from_arrow(table)["a"].zero_()

    assert table["a"].to_pylist() == [0, 1, 2]


def test_a_data_frame_and_back() -> None:
    rows = samples()
    frame = io.to_pandas(rows)
    back = assert_type(io.from_pandas(frame, Sample), Sample)

    assert list(frame.columns) == ["x", "inner.y", "name", "label"] and frame["x"][1].shape == (2, 3)
    assert_close(back.exclude("label").to_tensordict(), rows.exclude("label").to_tensordict())
    assert back.name.tolist() == ["a", "b", "c"] and type(back.inner) is Inner


@pytest.mark.parametrize("dtype", [*DTYPES[:12], torch.complex64], ids=str)
@pytest.mark.parametrize("shape", [(4,), (4, 2), (0,)], ids=str)
def test_dtypes_that_numpy_has_go_through_a_data_frame(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    leaf = torch.randint(0, 2, shape).to(dtype)
    found = io.from_pandas(io.to_pandas(TensorDict(a=leaf, batch_size=shape[:1])))["a"]

    assert found.dtype is dtype and found.tolist() == leaf.tolist()


def test_data_frames_from_elsewhere_make_containers() -> None:
    frame = pd.DataFrame(
        {
            "a": [1.5, None],
            "n.i": pd.array([1, 2], dtype="Int16"),
            "b": pd.array([True, False], dtype="boolean"),
            "words": ["x", None],
            "ragged": [[1, 2], [3]],
            "kind": pd.Categorical(["u", "v"]),
        },
        index=[7, 9],
    )
    found = io.from_pandas(frame)

    assert found["n", "i"].dtype is torch.int16 and found["b"].dtype is torch.bool
    assert [row.tolist() for row in found["ragged"].unbind()] == [[1, 2], [3]]
    assert found["kind"].tolist() == ["u", "v"] and found["words"].tolist()[0] == "x"


def test_a_lazy_stack_makes_a_data_frame() -> None:
    ragged = lazy_stack([TensorDict(q=torch.arange(n), s=torch.tensor(n)) for n in (2, 3)])
    frame = io.to_pandas(ragged)

    assert [row.tolist() for row in frame["q"]] == [[0, 1], [0, 1, 2]] and frame["s"].tolist() == [2, 3]


REFUSED: list[tuple[str, Any, type[Exception], str]] = [
    ("no rows", lambda: TensorDict(a=torch.ones(3)), errors.ShapeError, r"batch size \[\] is no row of rows"),
    ("two dims", lambda: TensorDict(a=torch.ones(3, 2), batch_size=[3, 2]), errors.ShapeError, r"\.reshape\(-1\)"),
    ("no container", lambda: torch.ones(3), errors.KindError, "is no container; a TensorDict"),
    (
        "one name",
        lambda: TensorDict({"a.b": torch.ones(1), "a": {"b": torch.ones(1)}}, [1]),
        errors.KeyTaken,
        "two entries would be called 'a.b'; another separator would do",
    ),
    (
        "sparse",
        lambda: TensorDict(a=torch.ones(2).to_sparse(), batch_size=[2]),
        NotStorable,
        "'a': .* cannot be stored",
    ),
    ("meta", lambda: TensorDict(a=torch.ones(2, device="meta"), batch_size=[2]), NotStorable, "'a': .* meta device"),
]


@pytest.mark.parametrize(("make", "error", "said"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
@pytest.mark.parametrize("write", [io.to_arrow, io.to_pandas], ids=["arrow", "pandas"])
def test_what_has_no_columns_is_refused(write: Any, make: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        write(make())


def test_another_separator_tells_keys_apart() -> None:
    td = TensorDict({"a.b": torch.zeros(1), "a": {"b": torch.ones(1)}}, [1])
    table = io.to_arrow(td, separator="/")

    assert table.column_names == ["a.b", "a/b"]
    assert_close(io.from_arrow(table), td)


def test_plain_rows_that_fit_no_column_are_named() -> None:
    td = TensorDict(w=NonTensorStack("x", 1), batch_size=[2])
    with pytest.raises(NotStorable, match="'w': Arrow has no column for it"):
        io.to_arrow(td)
    with pytest.raises(NotStorable, match="'o' is a object, which a table has no place for"):
        io.to_arrow(TensorDict({"o": object()}, [2]))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"a": pa.array([1, None])}, "column 'a' has 1 nulls, which no tensor of int64 can have"),
        ({"a": pa.array([[1], None])}, "column 'a' has 1 nulls, which no tensor of list"),
        ({"a": pa.array([[1], [None]])}, "column 'a' has 1 nulls"),
    ],
    ids=["int", "list", "in a list"],
)
def test_missing_values_are_named(table: Any, said: str) -> None:
    with pytest.raises(DataDamaged, match=said):
        io.from_arrow(pa.table(table))


def test_missing_values_of_a_data_frame_are_named() -> None:
    with pytest.raises(DataDamaged, match="column 'a' has missing values, which no tensor of Int64 can have"):
        io.from_pandas(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}))


@pytest.mark.parametrize(
    "note", [b"{", b"[]", b'{"plain": 3}', b'{"nodes": [[1, 2]]}', b'{"plain": [[["a"], {"x": 1}]]}']
)
def test_damaged_notes_are_refused_in_words(note: bytes) -> None:
    table = io.to_arrow(samples()).replace_schema_metadata({b"tensorclass": note})
    with pytest.raises(DataDamaged, match="damaged"):
        io.from_arrow(table)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype stage")
def test_rows_that_differ_in_more_than_one_dim_are_named() -> None:
    arrays = [np.ones((2, 2)), np.ones((3, 1))]
    with pytest.raises(DataDamaged, match=r"column 'a' has rows of shapes \[2, 2\], \[3, 1\], which differ in more"):
        io.from_pandas(pd.DataFrame({"a": arrays}))
    nested = torch.nested.nested_tensor([torch.from_numpy(array) for array in arrays])
    with pytest.raises(NotStorable, match="'a': Arrow has no column for it"):
        io.to_arrow(TensorDict(a=nested, batch_size=[2]))


def test_a_nested_container_keeps_its_batch_size() -> None:
    td = TensorDict({"n": TensorDict({"x": torch.ones(2, 3)}, [2, 3])}, [2])

    assert io.from_arrow(io.to_arrow(td))["n"].batch_size == (2, 3)


def test_a_container_without_entries_keeps_its_rows(tmp_path: Path) -> None:
    io.to_parquet(TensorDict({}, [5]), tmp_path / "file")

    assert io.read_parquet(tmp_path / "file").batch_size == (5,)


def test_a_file_that_is_none_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no table")
    with pytest.raises(DataDamaged, match="cannot be read"):
        io.read_parquet(tmp_path / "file")


def test_a_table_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    io.to_parquet(samples(), path)
    with pytest.raises(TypeError):
        io.to_parquet(samples(4), path, nonsense=True)

    assert len(io.read_parquet(path)) == 3 and list(tmp_path.iterdir()) == [path]


def test_an_extra_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest)

    monkeypatch.delitem(sys.modules, "tensorclass.io._arrow", raising=False)
    monkeypatch.delitem(vars(io), "to_arrow", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r"to_arrow needs pyarrow; pip install 'tensorclass\[arrow\]'"):
        io.to_arrow  # noqa: B018
    monkeypatch.undo()
    importlib.import_module("tensorclass.io._arrow")


def test_tables_load_nothing_before_they_are_used() -> None:
    program = "import sys, tensorclass.io; print(*{'pyarrow', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""


def test_a_lazy_stack_below_the_rows_is_a_column_and_comes_back_lazy() -> None:
    rows = lazy_stack(
        [TensorDict({"a": torch.rand(n, 2), "n": {"b": torch.arange(n)}}, batch_size=[n]) for n in (2, 3)]
    )
    td = TensorDict({"rows": rows, "q": torch.ones(2)}, batch_size=[2])

    back = io.from_arrow(io.to_arrow(td))

    assert_close(back, td)
    assert back["rows"].batch_size == (2, -1)
    assert back["rows"][1]["n"].batch_size == (3,)
