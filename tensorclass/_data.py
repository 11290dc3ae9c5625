"""Plain data, one value a row: NonTensorData and NonTensorStack."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Size, Tensor
from typing_extensions import Self

from ._container import Container
from ._rules import errors
from ._tree.assign import Target, broadcasts, carry_out
from ._tree.contract import as_size
from ._tree.index import Items, prepared, read_items
from ._tree.node import Names


class NonTensorStack(Container):
    """Plain values, one for each row of a batch.

    >>> rows = NonTensorStack("a", "b", "c")
    >>> rows[1], rows.tolist(), rows.batch_size
    ('b', ['a', 'b', 'c'], torch.Size([3]))

    A batch of positions in a list of values: every shape op moves the positions.  A row alone reads as its value.
    """

    __slots__ = ("__weakref__", "_batch", "_device", "_fields", "_leaves", "_locked", "_names", "_undo", "_values")
    _is_data = True
    _values: list[Any]

    def __init__(self, *values: Any, batch_size: Any = None) -> None:
        flat: list[Any] = []
        shape = _flatten(list(values), flat)
        _init(self, flat, torch.arange(len(flat)).reshape(shape))
        if batch_size is not None and as_size(batch_size) != self._batch[: len(as_size(batch_size))]:
            raise errors.ShapeError(f"NonTensorStack: values of shape {list(shape)} do not fit in {list(batch_size)}")

    @classmethod
    def from_list(cls, values: Sequence[Any]) -> NonTensorStack:
        """One value a row, from a list (nested lists: more batch dims)."""
        return NonTensorStack(*values)

    @classmethod
    def full(cls, value: Any, batch: Size) -> NonTensorStack:
        """The same value in every row."""
        new = object.__new__(NonTensorStack)
        _init(new, [value], torch.zeros(batch, dtype=torch.long))
        return new

    @classmethod
    def _from_positions(cls, values: list[Any], positions: Tensor) -> NonTensorStack:
        new = object.__new__(NonTensorStack)
        _init(new, values, positions)
        return new

    def _rebuild(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Any:
        if not batch:
            return self._value_at(fields["positions"])
        return NonTensorStack._from_positions(self._values, fields["positions"])

    def _fill(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def _value_at(self, position: Tensor) -> Any:
        return self._values[0] if len(self._values) == 1 else self._values[int(position)]

    @property
    def data(self) -> Any:
        """The values as nested lists; the value itself where there are no batch dims."""
        return self.tolist()

    def tolist(self, **_: Any) -> Any:
        """The values as nested lists."""
        return _named(self._fields["positions"].tolist(), self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[row] for row in range(len(self))])

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Put a value (or the values of another stack, or a list of them) in some rows."""
        jobs: list[Any] = []
        self._plan_write(prepared(index, self._batch), value, jobs, ())
        carry_out(jobs)

    def _plan_write(self, items: Items, value: Any, jobs: Any, under: tuple[str, ...]) -> None:
        at = items[0] if len(items) == 1 else items
        new = NonTensorStack(*value) if isinstance(value, list) else value
        if isinstance(new, NonTensorStack):
            rows = self._fields["positions"][at].shape
            if not broadcasts(new._batch, rows):
                key = f" for {errors.name_of(under)}" if under else ""
                raise errors.ShapeError(f"index: {list(new._batch)} values{key} for {list(rows)} rows")
        jobs.append((Target(self._put_rows), at, new))

    def _put_rows(self, at: Any, value: Any) -> None:
        start = len(self._values)
        if isinstance(value, NonTensorStack):
            new = value._fields["positions"] + start
            self._values = [*self._values, *value._values]
            self._fields["positions"][at] = new
        else:
            self._values = [*self._values, value]
            self._fields["positions"][at] = start

    def _read_items(self, items: Items, index: Any) -> Any:
        return read_items(self, items, index)

    def __eq__(self, other: object) -> Any:
        """Which rows hold equal values."""
        theirs = other.tolist() if isinstance(other, NonTensorStack) else other
        mine = self.tolist()
        if isinstance(other, NonTensorStack) and other._batch != self._batch:
            raise errors.ShapeError(f"eq: {list(self._batch)} rows and {list(other._batch)}")
        same = (
            [a == b for a, b in zip(_flat(mine), _flat(theirs))]
            if isinstance(theirs, list)
            else [a == theirs for a in _flat(mine)]
        )
        return torch.tensor(same, dtype=torch.bool).reshape(self._batch)

    __hash__ = None  # type: ignore[assignment]  # == is elementwise.

    def clone(self, recurse: bool = True, **options: Any) -> Self:
        """A copy whose rows can be written without changing this one."""
        return NonTensorStack._from_positions(list(self._values), self._fields["positions"].clone())  # type: ignore[return-value]

    def copy(self) -> Self:
        """A copy whose rows can be written without changing this one."""
        return type(self).clone(self)

    def __copy__(self) -> Self:
        return type(self).clone(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        values = copy.deepcopy(self._values, memo)
        return NonTensorStack._from_positions(values, self._fields["positions"].clone())  # type: ignore[return-value]

    def __reduce__(self) -> Any:
        return _restore, (self._values, self._fields["positions"])

    def contiguous(self) -> Self:
        """Itself: values have no memory layout."""
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Itself: values are on no device."""
        return self

    def to_dict(self, **_: Any) -> Any:
        """The values as nested lists."""
        return self.tolist()

    def cumsum(self, dim: int) -> Self:
        """Itself: values are no numbers."""
        return self

    cumprod = logcumsumexp = softmax = log_softmax = cumsum

    def __repr__(self) -> str:
        return f"NonTensorStack({self.tolist()!r}, batch_size={list(self._batch)})"

    @classmethod
    def _join(cls, op: str, items: list[Any], dim: int) -> Any:
        return cls._join_data(op, items, dim)

    @classmethod
    def _join_data(cls, op: str, items: list[Any], dim: int) -> Any:
        batch = next(item._batch for item in items if isinstance(item, NonTensorStack))
        stacks = [item if isinstance(item, NonTensorStack) else NonTensorStack.full(item, batch) for item in items]
        return joined(op, stacks, dim)


class NonTensorData(NonTensorStack):
    """A plain value that stands for every row of a batch.

    >>> NonTensorData("a", batch_size=[2]).tolist()
    ['a', 'a']

    Put into a container it is stored, and read, as the value itself.
    """

    __slots__ = ()
    _stands_for_value = True  # A field declared so holds any value.

    def __init__(self, data: Any, batch_size: Any = None, *, device: Any = None, names: Any = None) -> None:
        _init(self, [data], torch.zeros(as_size(batch_size), dtype=torch.long))

    @property
    def data(self) -> Any:
        """The value."""
        return self._values[0]

    def __repr__(self) -> str:
        return f"NonTensorData({self._values[0]!r}, batch_size={list(self._batch)})"


class MetaData(NonTensorData):
    """A plain value about a whole container: never stacked to one value a row."""

    __slots__ = ()


def join_values(op: str, values: list[Any], batches: list[Size], dim: int) -> NonTensorStack:
    """Plain values that differ from item to item, as one value a row."""
    stacks = [
        value if isinstance(value, NonTensorStack) else NonTensorStack.full(value, batch)
        for value, batch in zip(values, batches)
    ]
    return joined(op, stacks, dim)


def joined(op: str, stacks: list[NonTensorStack], dim: int) -> NonTensorStack:
    """stack or cat of values."""
    values: list[Any] = []
    positions = []
    for one in stacks:
        positions.append(one._fields["positions"] + len(values))
        values += one._values
    call = torch.stack if op == "stack" else torch.cat
    try:
        return NonTensorStack._from_positions(values, call(positions, dim))
    except RuntimeError as error:
        sizes = [list(one._batch) for one in stacks]
        raise errors.ShapeError(
            f"{op}: values with batch sizes {errors.some_names(map(str, sizes))} do not fit"
        ) from error


def _init(node: Any, values: list[Any], positions: Tensor) -> None:
    node._values = values
    node._fields = {"positions": positions}
    node._batch = positions.shape
    node._device = None
    node._names = None
    node._locked = False
    node._leaves = None


def _restore(values: list[Any], positions: Tensor) -> NonTensorStack:
    return NonTensorStack._from_positions(values, positions)


def _flatten(values: list[Any], into: list[Any]) -> tuple[int, ...]:
    if not values:
        return (0,)
    shapes = set()
    for value in values:
        if isinstance(value, NonTensorStack):
            nested = value.tolist()
            shapes.add(_flatten(nested, into) if isinstance(nested, list) else _add(nested, into))
        elif isinstance(value, list):
            shapes.add(_flatten(value, into))
        else:
            shapes.add(_add(value, into))
    if len(shapes) != 1:
        raise errors.ShapeError(f"NonTensorStack: rows of different lengths {sorted(shapes)}; each row has one value")
    return (len(values), *shapes.pop())


def _add(value: Any, into: list[Any]) -> tuple[int, ...]:
    into.append(value)
    return ()


def _named(positions: Any, values: list[Any]) -> Any:
    return [_named(position, values) for position in positions] if isinstance(positions, list) else values[positions]


def _flat(nested: Any) -> list[Any]:
    return [leaf for part in nested for leaf in _flat(part)] if isinstance(nested, list) else [nested]


def unwrapped(value: Any) -> Any:
    """What is stored for a value: NonTensorData stands for what it holds."""
    return value.data if isinstance(value, NonTensorData) else value


def is_non_tensor(value: object) -> bool:
    """Whether a value is plain data in a wrapper: NonTensorData or NonTensorStack."""
    return isinstance(value, NonTensorStack)


torch.serialization.add_safe_globals([_restore])  # It makes rows, and runs nothing: weights_only=True may call it.
