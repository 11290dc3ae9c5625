"""Lazy stacks: containers side by side, read together, never copied together until something asks for it."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
from torch import Tensor
from typing_extensions import Self

from ._construct import no_attribute, write
from ._container import Container, names_of
from ._data import NonTensorStack, join_values
from ._lazyentries import Entries
from ._lazyitems import ItemMethods
from ._lazyrows import are_apart, column_of, is_flag, no_rows, picked, row_of
from ._lazywrite import rows_for, writes
from ._methods.planned import PlannedMoves
from ._rules import errors
from ._rules.dims import new_dim_in
from ._rules.errors import Key
from ._rules.indexing import check_int
from ._rules.keys import path
from ._rules.reserved import IN_PLACE
from ._tensordict import TensorDict
from ._tree import pytree
from ._tree.assign import Jobs, carry_out
from ._tree.index import Items, prepared
from ._tree.join import equal, kin
from ._tree.lazy import LazyNode, alike, stacked_batch
from ._tree.node import Names, Node, entry, is_tree, kind
from ._update import Pair, Plan

C = TypeVar("C", bound=Container)


class LazyStack(PlannedMoves, LazyNode, ItemMethods):
    """What lazy stacks of TensorDicts and of typed classes share."""

    __slots__ = ()

    if TYPE_CHECKING:
        _around: tuple[Any, str] | None  # The stack that this one was read out of, and the key there.

    @classmethod
    def _of(cls, items: list[Any], dim: int) -> Any:
        new = object.__new__(cls)
        object.__setattr__(new, "_items", items)
        object.__setattr__(new, "_dim", dim)
        object.__setattr__(new, "_batch", stacked_batch(items, dim))
        devices = [item._device for item in items]
        object.__setattr__(new, "_device", devices[0] if alike(devices) else None)
        names = items[0]._names
        object.__setattr__(new, "_names", None if names is None else (*names[:dim], None, *names[dim:]))
        object.__setattr__(new, "_locked", False)
        object.__setattr__(new, "_leaves", None)
        object.__setattr__(new, "_around", None)
        return new

    def _restack(self, items: Sequence[Any], dim: int | None = None) -> Any:  # A plain list of plain values, too.
        at = self._dim if dim is None else dim
        if not items:
            return no_rows(self._items[0], at)
        if isinstance(items[0], NonTensorStack) or not isinstance(items[0], Node):
            return list(items)
        return with_name(lazy_stack(items, at), self._dim_name())

    def _dim_name(self) -> str | None:
        """The name of the stack dim, which no item has."""
        return None if self._names is None else self._names[self._dim]

    def _set_names(self, names: Names | None) -> None:
        super()._set_names(names)
        rest = None if names is None else (*names[: self._dim], *names[self._dim + 1 :])
        for item in self._items:
            item._set_names(None if rest is None or not any(rest) else rest)

    # ---- dense, when asked for ----------------------------------------------------------------------------------

    @property
    def _fields(self) -> Any:  # type: ignore[override]  # A mapping whose values are stacked when they are read.
        return Entries(self)

    def _keys(self) -> list[str]:
        rest = [item._fields for item in self._items[1:]]
        unset = self._none_is_unset
        return [key for key, value in self._items[0]._fields.items() if unset or all(key in fields for fields in rest)]

    def _first_and_keys(self) -> tuple[Node, list[str]]:
        return self._items[0], self._keys()

    def _nested(self, key: str) -> Node:
        return self._entry(key)  # type: ignore[no-any-return]

    def _entry(self, key: str) -> Any:
        column = []
        for item in self._items:
            if key not in item._fields:
                raise self._missing(key)
            column.append(item._fields[key])
        return self._joined(key, column)

    def _joined(self, key: str, column: list[Any]) -> Any:
        first = column[0]
        if all(isinstance(value, Tensor) for value in column):
            if any(value.is_nested for value in column):
                raise errors.RaggedError(f"{errors.name_of(key)} is {kind(first)} in each item, and cannot be stacked")
            if any(value.shape != first.shape for value in column):
                raise errors.RaggedError(errors.shapes_differ(key, [tuple(value.shape) for value in column]))
            return torch.stack(column, self._dim)
        if all(is_tree(value) for value in column):
            nested = lazy_stack(column, self._dim)
            object.__setattr__(nested, "_around", (self, key))
            return nested
        if all(value is None for value in column):
            return None
        if any(isinstance(value, Tensor) or is_tree(value) for value in column):
            kinds = errors.some_names([kind(value) for value in column])
            raise errors.StructureError(f"{errors.name_of(key)} is of another kind in each item ({kinds})")
        alike = all(equal(value, first) for value in column) and not isinstance(first, NonTensorStack)
        if alike and self._stacks_to_one_value():
            return first
        return join_values("stack", column, [item._batch for item in self._items], self._dim)

    def _rebuild(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Any:
        return self._items[0]._rebuild(fields, batch, names)

    def _like(self, fields: dict[str, Any]) -> Any:
        return self._rebuild(fields, self._batch)

    def _bare(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Any:
        return self._items[0]._bare(fields, batch, names)

    def _missing(self, key: Key) -> Exception:
        missing = self._items[0]._missing(key)
        if isinstance(missing, errors.KeyMissing):
            return errors.KeyMissing(errors.key_missing(key, self._keys()))
        return missing  # type: ignore[no-any-return]  # The typed class words it.

    def _dense(self, op: str) -> Any:
        ragged = [dim for dim, size in enumerate(self._batch) if size == -1]
        if ragged:
            raise errors.RaggedError(errors.ragged(op, ragged[0]))
        return self._rebuild(self._fields_dense(), self._batch, self._names)

    def _fields_dense(self) -> dict[str, Any]:
        return {
            key: value._dense("stack") if isinstance(value, LazyStack) else value for key, value in self._fields.items()
        }

    def contiguous(self) -> Any:
        """The same entries in one dense container."""
        return self._dense("contiguous")

    def densify(self, pad: float = 0, mask: str | None = None) -> Any:
        """One dense container: entries of different sizes are filled up with `pad`.

        mask: the key to put a bool tensor under that is true where there was something.
        """
        from ._pad import densified

        return densified(self, pad, mask)

    # ---- read ---------------------------------------------------------------------------------------------------

    def get(
        self,
        key: Any,
        default: Any = None,
        *,
        as_list: bool = False,
        as_padded_tensor: bool = False,
        as_nested_tensor: bool = False,
        padding_side: str = "right",
        padding_value: float = 0.0,
        layout: Any = None,
        **read: Any,
    ) -> Any:
        """The entry under a key; one of different sizes as a list, padded, or as a nested tensor."""
        names = path(key)
        if not (as_list or as_padded_tensor or as_nested_tensor):
            if names[0] not in self._keys():
                return self._absent(names[0], default)
            return super().get(key, default)
        form = {"as_padded_tensor": True, "padding_side": padding_side, "padding_value": padding_value}
        column = column_of(self._items, names, form if as_padded_tensor else {"as_list": True})
        if any(value is None for value in column):
            return default
        if as_list:
            return column
        if as_nested_tensor:
            if any(isinstance(value, list) for value in column):
                raise errors.RaggedError(errors.ragged_twice(names))
            return torch.nested.as_nested_tensor(column, layout=layout or torch.jagged)
        from ._pad import padded

        return padded(column, self._dim, padding_value, padding_side)

    def _read(self, key: Any) -> Any:
        names = path(key)
        value: Any = self._entry(names[0])
        for name in names[1:]:
            if not isinstance(value, Container):
                raise errors.KeyMissing(
                    f"no key {names!r}: {errors.name_of(names[:1])} is no container but {kind(value)}"
                )
            value = value[name]
        return value

    def __getitem__(self, index: Any) -> Any:
        """An entry by key, or rows by index: rows of the stack dim are the items themselves."""
        if index.__class__ is int and self._dim == 0:
            try:
                return self._items[index]
            except IndexError:
                check_int(index, self._batch, 0)  # Raises, and says what there is.
        if isinstance(index, str) or (isinstance(index, tuple) and index and isinstance(index[0], (str, tuple))):
            return self._read(index)
        return self._rows(prepared(index, self._batch, spread_masks=False))

    def _rows(self, items: Items) -> Any:
        if any(isinstance(item, bool) or (isinstance(item, Tensor) and is_flag(item)) for item in items):
            return self._dense("index")[items]
        dim, at, place, out_dim = 0, self._dim, None, 0
        for number, item in enumerate(items):
            if item is None:
                out_dim += place is None
                continue
            width = item.ndim if isinstance(item, Tensor) and item.dtype is torch.bool else 1
            if dim <= at < dim + width:
                if width > 1:
                    return self._dense("index")[items]
                place = number
            elif place is None and isinstance(item, Tensor):
                return self._dense("index")[items]
            elif place is None and isinstance(item, slice):
                out_dim += 1
            dim += width
        if place is None:
            return self._restack([row_of(item, items) for item in self._items], out_dim + at - dim)
        mine, rest = items[place], (*items[:place], *items[place + 1 :])
        if isinstance(mine, Tensor) and (any(isinstance(item, Tensor) for item in rest) or mine.ndim != 1):
            if mine.ndim == 0:
                return row_of(self._items[int(mine)], rest)
            return self._dense("index")[items]
        if isinstance(mine, int):
            check_int(mine, self._batch, at)
            return row_of(self._items[mine], rest)
        if are_apart(items) or (torch.compiler.is_compiling() and isinstance(mine, Tensor)):  # The rows would be data.
            return self._dense("index")[items]
        chosen = picked(self._items, mine, self._batch, at)
        if not chosen:
            return no_rows(row_of(self._items[0], rest), out_dim)
        return self._restack([row_of(item, rest) for item in chosen], out_dim)

    def _read_items(self, items: Items, index: Any) -> Any:
        return self._rows(items)

    def __iter__(self) -> Iterator[Any]:
        """The rows along the first batch dim."""
        return iter(self._items) if self._dim == 0 else super().__iter__()

    # ---- write --------------------------------------------------------------------------------------------------

    def __setitem__(self, index: Any, value: Any) -> None:
        """Put an entry under a key, or replace rows: a row of the stack dim may have another shape."""
        if isinstance(index, str) or (isinstance(index, tuple) and index and isinstance(index[0], (str, tuple))):
            type(self).set(self, index, value)
            return
        if self._dim == 0 and index.__class__ is int and isinstance(value, Node):
            self._check_open("replace a row")
            place: Any = index  # An int.
            row = self._items[place]
            if len(value._batch) != len(row._batch):
                raise errors.ShapeError(
                    f"index: a row has {len(row._batch)} batch dims, the value has {len(value._batch)}"
                )
            if type(value) is not type(row):
                raise errors.KindError(f"index: a row is a {type(row).__name__}, the value {kind(value)}")
            self._replace(place, value)
            return
        carry_out(self._planned(prepared(index, self._batch, spread_masks=False), value))

    def _replace(self, place: int, value: Any) -> None:
        """Put another item in place of one; a stack that was read out of others has them take it in, too."""
        if self._around is not None:
            stack, key = self._around
            type(stack._items[place]).set(stack._items[place], key, value)
        self._items[place] = value
        object.__setattr__(self, "_batch", stacked_batch(self._items, 0))

    def _planned(self, items: Items, value: Any) -> Jobs:
        jobs: Jobs = []
        self._plan_write(items, value, jobs, ())
        return jobs

    def _plan_write(self, items: Items, value: Any, jobs: Jobs, under: tuple[str, ...]) -> None:
        for item, at, part in writes(self, items, value):
            type(item)._plan_write(item, prepared(at, item._batch), part, jobs, under)

    def set(self, key: Any, value: Any, *, inplace: bool = False, non_blocking: bool = False) -> Self:
        """Put a value under a key: its rows along the stack dim go to the items, all checked before the first."""
        self._check_open(f"set {errors.name_of(path(key))}")
        rows = rows_for(self, path(key), value)
        if inplace and all(key in item for item in self._items):
            return type(self).set_(self, key, value)
        trial = [type(item).copy(item) for item in self._items]
        for item, row in zip(trial, rows):
            type(item).set(item, key, row)
        for item, row in zip(self._items, rows):
            type(item).set(item, key, row)
        return self

    def set_(self, key: Any, value: Any, *, non_blocking: bool = False) -> Self:
        """Copy a value into the tensors under a key, in place, once all its rows have been found to fit."""
        names = path(key)
        for item in self._items:
            entry(item, names)
        plan = Plan(clone=False, inplace=True, only=None)
        self._plan_update([(names, value)], plan, ())
        plan.carry_out()
        return self

    def fill_(self, key: Any, value: float | bool) -> Self:
        """Fill the tensors under a key with a number, in place."""
        names = path(key)
        for item in self._items:
            entry(item, names)
        for item in self._items:
            type(item).fill_(item, key, value)
        return self

    def set_at_(self, key: Any, value: Any, index: Any) -> Self:
        """Copy a value into some rows of the entry under a key, in place."""
        type(self).__setitem__(self, index, {key: value})
        return self

    def _put(self, name: str, value: Any) -> None:
        for item, row in zip(self._items, rows_for(self, (name,), value)):
            item._put(name, row)

    def _validate(self, key: Key, value: Any) -> Any:
        for item, row in zip(self._items, rows_for(self, path(key), value)):
            item._validate(key, row)
        return value

    def _drop(self, name: str) -> None:
        for item in self._items:
            item._drop(name)

    def _plan_source(self, given: Any, plan: Plan, at: tuple[str, ...] = ()) -> None:
        if isinstance(given, LazyStack) and given._dim == self._dim and len(given._items) == len(self._items):
            for item, other in zip(self._items, given._items):
                item._plan_source(other, plan, at)
        else:
            super()._plan_source(given, plan, at)

    def _plan_update(self, given: Iterable[Pair], plan: Plan, at: tuple[str, ...]) -> None:
        for names, value in given:
            for item, row in zip(self._items, rows_for(self, (*at, *names), value)):
                item._plan_update([(names, row)], plan, at)

    def __reduce__(self) -> Any:
        return _restore, (list(self._items), self._dim, self._dim_name(), bool(self._locked))

    def __repr__(self) -> str:
        ragged = "".join(f" {index}: {item!r}\n" for index, item in enumerate(self._items[:3]))
        return f"lazy stack of {len(self._items)} along dim {self._dim}, batch_size={list(self._batch)}:\n{ragged}"

    @classmethod
    def _join(cls, op: str, items: list[Any], dim: int) -> Any:
        return join_lazy(op, items, dim)

    _join_rank = 1

    def _fill(self, fields: dict[str, Any]) -> None:
        raise NotImplementedError  # pytree keeps the items, not the entries.


class LazyStackedTensorDict(LazyStack, TensorDict):  # type: ignore[override]  # Entries are made when read.
    """TensorDicts side by side along a dim.

    >>> episodes = [TensorDict(obs=torch.zeros(n, 4), batch_size=[n]) for n in (3, 5, 2)]
    >>> batch = lazy_stack(episodes)
    >>> batch.batch_size, batch[1]["obs"].shape, batch[:, :2]["obs"].shape
    (torch.Size([3, -1]), torch.Size([5, 4]), torch.Size([3, 2, 4]))
    """

    __slots__ = ("_around", "_dim", "_items")

    def __init__(self, *items: Any, stack_dim: int = 0) -> None:
        _become(self, lazy_stack(list(items), stack_dim))

    @property
    def tensordicts(self) -> list[Any]:
        """The items."""
        return list(self._items)

    @property
    def stack_dim(self) -> int:
        """The dim that the items stand along."""
        return self._dim

    @classmethod
    def lazy_stack(cls, items: Sequence[Any], dim: int = 0) -> Any:
        """Stack containers without copying them."""
        return lazy_stack(items, dim)


def lazy_stack(items: Sequence[C], dim: int = 0) -> C:
    """Stack containers without copying them.

    >>> lazy_stack([TensorDict(a=torch.ones(3), batch_size=3)] * 2).batch_size
    torch.Size([2, 3])

    Sizes that differ read -1; such a dim can be moved, not merged.  The stack of a TensorClass is an instance of it.
    """
    items = list(items)
    if not items:
        raise errors.ShapeError("lazy_stack: no containers were given; at least one would do")
    first = items[0]
    classes = {*map(type, items)}
    base = _base(first) if classes == {type(first)} and isinstance(first, Container) else _one_base(items)
    at = new_dim_in("lazy_stack", dim, len(first._batch))
    out: C = lazy_class(base)._of(items, at)
    return out


def with_name(stack: C, name: str | None) -> C:
    """A new lazy stack, its stack dim under a name."""
    if name is not None and isinstance(stack, LazyStack):
        names = list(names_of(stack))
        names[stack._dim] = name
        object.__setattr__(stack, "_names", tuple(names))
    return stack


def _restore(items: list[Any], dim: int, name: str | None, locked: bool) -> Any:
    stack: Any = with_name(lazy_stack(items, dim), name)
    return stack.lock_() if locked else stack


def _one_base(items: list[Any]) -> type[Any]:
    """The class that all items have, lazy stacks of it included, or the error that names one that has not."""
    for number, item in enumerate(items):
        if not isinstance(item, Container):
            raise errors.KindError(f"lazy_stack: item {number} is {kind(item)}, no container")
    base = _base(items[0])
    for number, item in enumerate(items[1:], 1):
        if _base(item) is not base and kin(_base(item)) is kin(base):
            base = kin(base)
        elif _base(item) is not base:
            raise errors.KindError(
                f"lazy_stack: item 0 is a {base.__name__}, item {number} a {_base(item).__name__}; "
                "items must have one class"
            )
    return base


def _base(item: Any) -> type[Any]:
    if not isinstance(item, LazyStack):
        return type(item)
    return TensorDict if isinstance(item, LazyStackedTensorDict) else type(item).__bases__[1]


def lazy_class(base: type[Any]) -> Any:
    """The class of lazy stacks of a class: a subclass of it, which is made when it is first needed."""
    if base is TensorDict:
        return LazyStackedTensorDict
    _make_lazy_class(base)
    return base._lazy


def _make_lazy_class(base: Any) -> None:
    if "_lazy" in base.__dict__:
        return
    space: dict[str, Any] = {
        "__slots__": ("_around", "_dim", "_items"),
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
    }
    if not issubclass(base, TensorDict):
        space["__getattr__"] = _field
        space["__setattr__"] = _set_field
        space["__delattr__"] = _delete_field
        space["__init__"] = _init_of(base)
        if base._is_frozen:  # Its refusals come before what a lazy stack does in place.
            space.update({name: getattr(base, name) for name in IN_PLACE})
    meta = ABCMeta if issubclass(type(base), ABCMeta) else type  # Not TensorClass's own, which reads annotations.
    base._lazy = meta.__new__(type(base), base.__name__, (LazyStack, base), space)
    register_lazy(base._lazy)


# To the compiler this is a constant: it runs once, while tracing, and leaves nothing in the graph.
_make_lazy_class._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _init_of(base: type[Any]) -> Any:
    """A constructor that takes fields, as dataclasses.replace gives them: rows of the first batch dim are the items."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        dense = base(*args, **kwargs)
        _become(self, lazy_stack(list(type(dense).unbind(dense, 0)), 0))

    return __init__


def _become(new: Any, made: Any) -> None:
    for name in ("_items", "_dim", "_batch", "_device", "_names", "_locked", "_leaves", "_around"):
        object.__setattr__(new, name, getattr(made, name))


def _field(self: Any, name: str) -> Any:
    if name not in type(self)._declared:
        raise no_attribute(self, name)
    return self._entry(name)


def _set_field(self: Any, name: str, value: Any) -> None:
    if name in type(self)._declared:
        type(self).set(self, name, value)
    else:
        write(self, name, value)  # A property with a setter; nothing else is there to be set.


def _delete_field(self: Any, name: str) -> None:
    if name not in type(self)._declared:
        raise no_attribute(self, name)
    type(self).del_(self, name)


def register_lazy(cls: Any) -> None:
    """Make a class of lazy stacks known to pytree.

    A transform such as vmap counts dims from that of the whole stack, so its children are its entries, stacked; those
    of a ragged stack are its items.
    """
    pytree.register_items(cls, _children, _from_children)


def _children(stack: Any) -> tuple[list[Any], Any]:
    dense = _dense_or_none(stack)
    # Where grad is about to wrap the tensors that come in, stacked copies of them would not do.
    if dense is None or (pytree.is_wrapped(dense) and not pytree.is_wrapped(stack)):
        return list(stack._items), Along(stack._dim, stack._dim_name())
    return pytree.flatten(dense)


class Along(NamedTuple):
    """Where the children of a ragged stack stand."""

    dim: int
    name: str | None


def _from_children(children: Any, context: Any) -> Any:
    if not isinstance(context, Along):
        return pytree.unflatten(children, context)
    stack: Any = with_name(lazy_stack(list(children), context.dim), context.name)
    dense = _dense_or_none(stack) if pytree.is_wrapped(stack) else None
    return stack if dense is None else dense


def _dense_or_none(stack: Any) -> Any:
    try:
        return stack._dense("pytree")
    except (errors.RaggedError, errors.StructureError):
        return None


def join_lazy(op: str, items: list[Any], dim: int) -> Any:
    """stack or cat where some item is a lazy stack."""
    if op == "stack":
        return lazy_stack(items, dim)
    lead = next(item for item in items if isinstance(item, LazyStack))
    at = dim + len(lead._batch) if dim < 0 else dim
    if at == lead._dim:
        parts = [part for item in items for part in type(item).unbind(item, at)]
        return with_name(lazy_stack(parts, at), lead._dim_name())
    columns = zip(*[type(item).unbind(item, lead._dim) for item in items])
    inner = at - (at > lead._dim)
    joined = [type(column[0])._join("cat", list(column), inner) for column in columns]
    return with_name(lazy_stack(joined, lead._dim), lead._dim_name())


register_lazy(LazyStackedTensorDict)
torch.serialization.add_safe_globals([lazy_stack, _restore])  # They only put containers side by side.
