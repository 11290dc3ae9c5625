"""Arrow tables and Parquet files: a container with one batch dim, one column an entry."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, TypeVar, overload

import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch import Tensor

from .._container import Container
from .._rules import errors
from ._columns import At, Laid, as_class, gathered, jagged, split_name
from ._errors import DataDamaged, NotStorable
from ._map import Path
from ._meta import DTYPES
from ._plain import NotPlain, decode, encode

C = TypeVar("C", bound=Container)
_NOTE = b"tensorclass"
# Dtypes that Arrow has not are held by wider ones, without loss; the note says what they were.
_WIDER = {dtype: torch.float32 for dtype in DTYPES.values() if dtype.is_floating_point and dtype.itemsize < 2} | {
    torch.bfloat16: torch.float32
}


def to_arrow(container: Container, *, separator: str = ".") -> pa.Table:
    """The entries of a container with one batch dim as columns of an Arrow table.

    >>> table = to_arrow(TensorDict({"x": torch.ones(2, 3), "n": {"i": torch.arange(2)}}, batch_size=[2]))
    >>> table.column_names, table["x"].to_pylist(), table.schema.field("x").type.list_size
    (['x', 'n.i'], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], 3)

    Features are lists of a fixed size, rows of different sizes lists, plain data of one value a row what Arrow makes of
    them. The keys, the class and the other plain data stand in the metadata, so that `from_arrow` gives it all back.
    """
    laid = Laid("to_arrow", container)
    names = laid.names("to_arrow", separator)
    arrays, fields = [], []
    for name, (at, value) in zip(names, laid.columns.items()):
        array = _array(at, value)
        note: dict[str, Any] = {"path": at}
        if isinstance(value, Tensor):
            note |= {"dtype": str(value.dtype).removeprefix("torch."), "features": _features(value)}
        arrays.append(array)
        fields.append(pa.field(name, array.type, metadata={_NOTE: json.dumps(note)}))
    note = {"nodes": laid.nodes, "plain": [[at, _encoded(at, value)] for at, value in laid.plain]}
    note["rows"] = container._batch[0]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={_NOTE: json.dumps(note)}))


def _encoded(at: At, value: Any) -> Any:
    try:
        return encode(value)
    except NotPlain as error:
        raise NotStorable(f"{errors.name_of(at)} is a {error}, which a table has no place for") from None


def _features(tensor: Tensor) -> list[int]:
    return [] if tensor.is_nested else list(tensor.shape[1:])


def _array(at: At, value: Any) -> Any:
    """A column as an Arrow array."""
    try:
        if not isinstance(value, Tensor):
            return pa.array(value)
        if value.is_nested:
            rows = [row.contiguous() for row in value.unbind()]
            ends = torch.tensor([0, *[len(row) for row in rows]]).cumsum(0)
            flat = torch.cat(rows) if rows else value.new_empty(0)
            return pa.LargeListArray.from_arrays(pa.array(ends.numpy()), _dense(flat))
        return _dense(value)
    except (pa.ArrowException, TypeError, ValueError, RuntimeError) as error:
        raise NotStorable(f"{errors.name_of(at)}: Arrow has no column for it: {error}") from error


def _dense(tensor: Tensor) -> Any:
    tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    array = pa.array(tensor.to(_WIDER.get(tensor.dtype, tensor.dtype)).contiguous().reshape(-1).numpy())
    for size in reversed(tensor.shape[1:]):
        if size == 0:  # Arrow cannot say how many empty lists there are.
            return pa.nulls(len(tensor))
        array = pa.FixedSizeListArray.from_arrays(array, size)
    return array


@overload
def from_arrow(table: pa.Table, cls: type[C], *, separator: str | None = ".") -> C: ...
@overload
def from_arrow(table: pa.Table, cls: None = None, *, separator: str | None = ".") -> Any: ...
def from_arrow(table: pa.Table, cls: Any = None, *, separator: str | None = ".") -> Any:
    """The container that an Arrow table makes, as an instance of a class, or of the one that it was made from.

    >>> from_arrow(to_arrow(TensorDict(x=torch.ones(2, 3), batch_size=[2])))["x"].shape
    torch.Size([2, 3])

    In a table from elsewhere a separator in the name of a column stands between nested keys; columns of lists become
    features where all have one size, else nested tensors; strings and the like stay plain data.
    """
    note = _noted(table.schema.metadata, "the table")
    columns: dict[At, Any] = {}
    for field, column in zip(table.schema, table.columns):
        own = _noted(field.metadata, field.name)
        at = tuple(own["path"]) if "path" in own else split_name(field.name, separator)
        array = column.combine_chunks()
        columns[at] = _column(array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array, own, field.name)
    rows = table.num_rows if table.num_columns else note.get("rows", 0)
    try:
        plain = [(tuple(at), decode(value)) for at, value in note.get("plain", [])]
        nodes = [(tuple(at), name, int(rank)) for at, name, rank in note.get("nodes", [])]
    except (ValueError, TypeError, RecursionError) as error:
        raise DataDamaged(f"the notes of the table are damaged: {error!r}") from error
    return as_class(cls, gathered(columns, rows, plain), nodes)


def _noted(metadata: Any, what: str) -> dict[str, Any]:
    try:
        note = json.loads((metadata or {}).get(_NOTE, b"{}"))
        if type(note) is dict and all(type(key) is str for key in note.get("path", ())):
            return note
    except (ValueError, TypeError, RecursionError):
        pass
    raise DataDamaged(f"{what}: the note of tensorclass is damaged")


def _column(array: Any, note: dict[str, Any], name: str) -> Any:
    """A tensor, a nested tensor or a list of plain values."""
    dtype = DTYPES.get(f"torch.{note.get('dtype')}")
    if dtype is not None and 0 in note.get("features", ()):
        return torch.empty(len(array), *note["features"], dtype=dtype)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    found = _tensor(array, name)
    if found is None:
        return array.to_pylist()
    if dtype is not None and dtype.is_complex and not found.is_nested:
        found = torch.view_as_complex(found)
    return found if dtype is None or found.dtype == dtype else found.to(dtype)


def _tensor(array: Any, name: str) -> Tensor | None:
    of = array.type
    if pa.types.is_fixed_size_list(of):
        _check_no_nulls(array, name)
        inner = _tensor(array.flatten(), name)
        return None if inner is None else inner.reshape(len(array), of.list_size, *inner.shape[1:])
    if pa.types.is_list(of) or pa.types.is_large_list(of):
        return _rows(array, name)
    if not (pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_boolean(of)):
        return None
    if not pa.types.is_floating(of):
        _check_no_nulls(array, name)
    # A copy: what Arrow holds must not be written.
    return torch.from_numpy(array.to_numpy(zero_copy_only=False).copy())


def _rows(array: Any, name: str) -> Tensor | None:
    _check_no_nulls(array, name)
    inner = _tensor(array.flatten(), name)
    if inner is None:
        return None
    sizes = array.value_lengths().to_pylist()
    parts = inner.split(sizes)
    return (
        torch.stack(parts) if sizes and len(set(sizes)) == 1 else jagged(name, parts) if sizes else inner.reshape(0, 0)
    )


def _check_no_nulls(array: Any, name: str) -> None:
    if array.null_count:
        raise DataDamaged(f"column {name!r} has {array.null_count} nulls, which no tensor of {array.type} can have")


# ---- files ----------------------------------------------------------------------------------------------------------


def to_parquet(container: Container, path: Path, *, separator: str = ".", **options: Any) -> None:
    """Write a container with one batch dim to a Parquet file, put in place whole; options go to pyarrow.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/data.parquet"
    >>> to_parquet(TensorDict(x=torch.arange(4), batch_size=[4]), path)
    >>> read_parquet(path)["x"]
    tensor([0, 1, 2, 3])
    """
    table = to_arrow(container, separator=separator)
    aside = f"{os.fspath(path)}.{os.getpid()}.saving"
    try:
        pq.write_table(table, aside, **options)
        os.replace(aside, path)
    finally:
        if os.path.exists(aside):
            os.unlink(aside)


@overload
def read_parquet(
    path: Path, cls: type[C], *, columns: Sequence[str] | None = None, separator: str | None = ".", **options: Any
) -> C: ...
@overload
def read_parquet(
    path: Path, cls: None = None, *, columns: Sequence[str] | None = None, separator: str | None = ".", **options: Any
) -> Any: ...
def read_parquet(
    path: Path, cls: Any = None, *, columns: Sequence[str] | None = None, separator: str | None = ".", **options: Any
) -> Any:
    """The container that a Parquet file makes, as `from_arrow` does; columns and options go to pyarrow."""
    try:
        table = pq.read_table(path, columns=None if columns is None else list(columns), **options)
    except pa.ArrowException as error:
        raise DataDamaged(f"{path} cannot be read: {error}") from error
    return from_arrow(table, cls, separator=separator)
