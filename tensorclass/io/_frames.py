"""Data frames of pandas: a container with one batch dim, one column an entry."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from .._container import Container
from .._rules import errors
from ._columns import At, Laid, as_class, gathered, jagged, split_name
from ._errors import DataDamaged, NotStorable

C = TypeVar("C", bound=Container)
_WIDER = {torch.bfloat16: torch.float32}


def to_pandas(container: Container, *, separator: str = ".") -> pd.DataFrame:
    """The entries of a container with one batch dim as columns of a data frame; features stand in it as arrays.

    >>> to_pandas(TensorDict({"x": torch.ones(2), "n": {"i": torch.arange(2)}}, batch_size=[2]))
         x  n.i
    0  1.0    0
    1  1.0    1

    Plain data that are the same for all rows have a column, too. No copy is made of what needs none.
    """
    laid = Laid("to_pandas", container)
    rows = container._batch[0]
    for at, value in laid.plain:
        laid.columns[at] = [value] * rows
    names = laid.names("to_pandas", separator)
    columns = {name: _series(at, value) for name, (at, value) in zip(names, laid.columns.items())}
    return pd.DataFrame(columns, index=pd.RangeIndex(rows), copy=False)


def _series(at: At, value: Any) -> Any:
    if not isinstance(value, Tensor):
        return _objects(value)
    try:
        if value.is_nested:
            return _objects([_numpy(row) for row in value.unbind()])
        array = _numpy(value)
    except TypeError as error:
        raise NotStorable(f"{errors.name_of(at)}: pandas has no column for it: {error}") from error
    return array if array.ndim == 1 else _objects(list(array))


def _numpy(tensor: Tensor) -> Any:
    return tensor.to(_WIDER.get(tensor.dtype, tensor.dtype)).numpy()


def _objects(values: list[Any]) -> Any:
    """Values as they are: pandas looks into no array of objects."""
    out = np.empty(len(values), dtype=object)
    out[:] = values if not values or not isinstance(values[0], (np.ndarray, list, tuple)) else None
    for row, value in enumerate(values):
        out[row] = value
    return pd.Series(out, dtype=None if values and all(isinstance(one, str) for one in values) else object)


@overload
def from_pandas(frame: pd.DataFrame, cls: type[C], *, separator: str | None = ".") -> C: ...
@overload
def from_pandas(frame: pd.DataFrame, cls: None = None, *, separator: str | None = ".") -> Any: ...
def from_pandas(frame: pd.DataFrame, cls: Any = None, *, separator: str | None = ".") -> Any:
    """The container that a data frame makes, as an instance of a class; its index is not looked at.

    >>> from_pandas(pd.DataFrame({"x": [1.0, 2.0], "n.i": [3, 4]}))["n", "i"]
    tensor([3, 4])

    A separator in a name stands between nested keys. Arrays of one shape become features, of several a nested tensor;
    strings and the like stay plain data, one a row.
    """
    columns: dict[At, Any] = {}
    for name, column in frame.items():
        at = split_name(str(name), separator)
        if at in columns:
            raise errors.KeyTaken(f"from_pandas: two columns are called {name!r}")
        columns[at] = _column(str(name), column)
    return as_class(cls, gathered(columns, len(frame)))


def _column(name: str, column: Any) -> Any:
    kind = column.dtype.kind
    if kind in "biuf":
        if kind != "f" and column.hasnans:
            raise DataDamaged(f"column {name!r} has missing values, which no tensor of {column.dtype} can have")
        return _tensor(column.to_numpy(dtype=_plain_dtype(column.dtype)))
    if kind == "c":
        return _tensor(column.to_numpy())
    values = column.tolist()
    arrays = bool(values) and all(isinstance(value, (np.ndarray, list, Tensor)) for value in values)
    if not arrays or any(isinstance(value, list) and value and isinstance(value[0], str) for value in values):
        return values
    rows = [value if isinstance(value, Tensor) else _tensor(np.asarray(value)) for value in values]
    return torch.stack(rows) if len({row.shape for row in rows}) == 1 else jagged(name, rows)


def _plain_dtype(dtype: Any) -> Any:
    """The dtype of numpy behind one of pandas that may have missing values."""
    return getattr(dtype, "numpy_dtype", dtype)


def _tensor(array: Any) -> Tensor:
    return torch.from_numpy(np.array(array))  # A copy: what pandas holds may be read-only.
