"""What every container is: entries with a shared batch size, indexed, moved, locked and printed as one."""

from __future__ import annotations

import copy as _copy
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar, overload

import torch
from torch import Size, Tensor
from typing_extensions import Self

from ._blocks import BlockMethods
from ._casts import CastMethods
from ._create import CreateMethods
from ._functions import call_torch
from ._keys import KeyMethods, NestedKey
from ._locks import LockMethods
from ._methods.folds import FoldMethods
from ._methods.moves import MoveMethods
from ._methods.pointwise import PointwiseMethods
from ._repr import show
from ._rules import elsewhere, errors
from ._rules.dims import dim_in
from ._settings import FLAGS
from ._stored import StoredMethods
from ._ternary import TernaryMethods
from ._tree import assign, fold, join, pair
from ._tree import index as _index
from ._tree.contract import as_size, check_node, check_tensor
from ._tree.join import as_mask
from ._tree.node import Names, Node, is_tree, kind

N = TypeVar("N", bound=Node)


class Extremes(NamedTuple):
    """What min and max give for a dim."""

    values: Any
    indices: Any


class Container(
    MoveMethods,
    FoldMethods,
    PointwiseMethods,
    KeyMethods,
    CastMethods,
    CreateMethods,
    TernaryMethods,
    LockMethods,
    BlockMethods,
    StoredMethods,
):
    """Entries that share leading dims: the base of TensorDict, TensorClass and lazy stacks."""

    __slots__ = ()
    _lazy: ClassVar[Any] = None  # The class of lazy stacks of a class, once there is one.
    __array_ufunc__ = None  # array + container is for the container to answer, not for each element of the array.

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return call_torch(func, args, kwargs or {})

    # ---- batch size and names -----------------------------------------------------------------------------------

    @property
    def batch_size(self) -> Size:
        """The leading dims that all entries share."""
        return self._batch

    @batch_size.setter
    def batch_size(self, batch: Sequence[int] | int | None) -> None:
        self._set_batch(as_size(batch))

    def _set_batch(self, batch: Size) -> None:
        for key, value in self._fields.items():
            if isinstance(value, Tensor):
                check_tensor(key, value, batch)
            elif is_tree(value) and value._batch[: len(batch)] != batch:
                value._check_batch(batch, key)
            elif isinstance(value, Node) and not is_tree(value):
                check_node(key, value, batch)
        for value in self._fields.values():
            if is_tree(value) and value._batch[: len(batch)] != batch:
                value._set_batch(batch)
        if self._names is not None:
            names = (*self._names, *[None] * len(batch))[: len(batch)]
            object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_batch", batch)

    def _check_batch(self, batch: Size, at: str) -> None:
        for key, value in self._fields.items():
            if isinstance(value, Tensor):
                check_tensor((at, key), value, batch)
            elif is_tree(value):
                value._check_batch(batch, key)

    @property
    def shape(self) -> Size:
        """The batch size, under torch's name for it."""
        return self._batch

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> Size | int:
        """The batch size, or the size of one batch dim."""
        return self._batch if dim is None else self._batch[dim_in("size", dim, len(self._batch))]

    @property
    def batch_dims(self) -> int:
        """The number of batch dims."""
        return len(self._batch)

    @property
    def ndim(self) -> int:
        """The number of batch dims."""
        return len(self._batch)

    def dim(self) -> int:
        """The number of batch dims."""
        return len(self._batch)

    def ndimension(self) -> int:
        """The number of batch dims."""
        return len(self._batch)

    @property
    def device(self) -> torch.device | None:
        """The device that all entries are held on, or None where each keeps its own."""
        return self._device

    @property
    def names(self) -> list[str | None]:
        """The names of the batch dims, None where a dim has none."""
        return names_of(self)

    @names.setter
    def names(self, names: Sequence[str | None] | None) -> None:
        self._check_thawed("set 'names'")
        self._set_names(checked_names(names, len(self._batch)))

    def _set_names(self, names: Names | None) -> None:
        object.__setattr__(self, "_names", names)

    def refine_names(self, *names: Any) -> Self:
        """Name dims that have no name, in place; '...' stands for the dims in between.

        >>> TensorDict(batch_size=[3, 4]).refine_names(..., "time").names
        [None, 'time']
        """
        if Ellipsis in names:
            at = names.index(Ellipsis)
            names = (*names[:at], *[None] * (len(self._batch) - len(names) + 1), *names[at + 1 :])
        self._check_thawed("refine_names()")
        ready = checked_names(names, len(self._batch)) or (None,) * len(names)
        before = names_of(self)
        for old, new in zip(before, ready):
            if old is not None and new is not None and old != new:
                raise errors.StructureError(f"refine_names: dim {old!r} has a name; rename({old}={new!r}) changes it")
        self._set_names(tuple([old if new is None else new for old, new in zip(before, ready)]))
        return self

    def rename(self, *names: str | None, **changes: str) -> Self:
        """The same container with other dim names."""
        ready = renamed(self, names, changes)
        out = type(self).copy(self)
        out._set_names(ready)
        return out

    def rename_(self, *names: str | None, **changes: str) -> Self:
        """Other dim names, in place: all of them in order, or old=new."""
        self._set_names(renamed(self, names, changes))
        return self

    def auto_batch_size_(self, batch_dims: int | None = None) -> Self:
        """Set the batch size to the leading dims that all entries share, at most batch_dims of them."""
        for node, batch in list(common_batches(self, self._batch, batch_dims, batch_dims)):
            object.__setattr__(node, "_names", None)
            object.__setattr__(node, "_batch", batch)
        return self

    # ---- index --------------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, index: str) -> Any: ...
    @overload
    def __getitem__(self, index: tuple[str, ...]) -> Any: ...
    @overload
    def __getitem__(self, index: Any) -> Self: ...
    def __getitem__(self, index: Any) -> Any:
        """An entry by key, or rows by index."""
        if index.__class__ is str:
            return self._read(index)
        if index.__class__ is tuple and index and isinstance(index[0], (str, tuple)):
            return self._read(index)
        return read(self, index)

    def __getitems__(self, rows: Sequence[int]) -> Self:
        """A batch of rows, fetched at once: torch's DataLoader asks for it."""
        batch: Self = type(self).__getitem__(self, torch.as_tensor(rows, dtype=torch.long))
        return batch

    def __setitem__(self, index: Any, value: Any) -> None:
        """Put an entry under a key, or write rows."""
        if isinstance(index, str) or (isinstance(index, tuple) and index and isinstance(index[0], (str, tuple))):
            type(self).set(self, index, value)
        else:
            assign.write(self, index, value)

    def _write_at(self, index: Any, value: Any) -> None:
        type(self).__setitem__(self, index, value)

    def _read_items(self, items: _index.Items, index: Any) -> Any:
        return _index.read_items(self, items, index)

    def _plan_write(self, items: _index.Items, value: Any, jobs: assign.Jobs, under: tuple[str, ...]) -> None:
        assign.plan(self, items, value, jobs, under)

    def __iter__(self) -> Iterator[Self]:
        """The rows along the first batch dim."""
        if not self._batch:
            raise errors.KindError(
                "a container with batch size [] has no rows to iterate over; .keys() and .items() do"
                + self._batch_hint()
            )
        return iter(type(self).unbind(self, 0))

    def __len__(self) -> int:
        """The size of the first batch dim; 0 where there is none."""
        return self._batch[0] if self._batch else 0

    def __bool__(self) -> bool:
        raise errors.StructureError(errors.no_truth())

    # ---- extremes, joins ----------------------------------------------------------------------------------------

    def min(self, dim: int | None = None, keepdim: bool = False) -> Any:
        """The smallest values: of each leaf, or along a batch dim with their indices."""
        return extremes("min", self, dim, keepdim)

    def max(self, dim: int | None = None, keepdim: bool = False) -> Any:
        """The largest values: of each leaf, or along a batch dim with their indices."""
        return extremes("max", self, dim, keepdim)

    def where(self, condition: Tensor, other: Any, *, out: Any = None) -> Self:
        """Rows of this container where a batch-shaped condition is true, of the other (or a number) elsewhere.

        out: a container that the rows are copied into, and that is returned; what it does not have is put there.
        """
        from ._where import join_where

        made = join_where(condition, self, other)
        return made if out is None else type(out).update(out, made, inplace=True)

    def masked_select(self, mask: Tensor) -> Self:
        """The rows where a batch-shaped mask is true."""
        return type(self).__getitem__(self, as_mask("masked_select", mask))

    def tensor_split(self, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0) -> tuple[Self, ...]:
        """Cut a batch dim at places, or into so many pieces that differ by 1 at most."""
        dim = dim_in("tensor_split", dim, len(self._batch))
        size, given = self._batch[dim], indices_or_sections
        cuts: Any = given.tolist() if isinstance(given, Tensor) else given
        if isinstance(cuts, int):
            if cuts < 1:
                raise errors.ShapeError(f"tensor_split: {cuts} pieces; at least 1 would do")
            step, more = divmod(size, cuts)
            cuts = [piece * step + min(piece, more) for piece in range(1, cuts)]
        bounds = [slice(start, stop).indices(size) for start, stop in zip([0, *cuts], [*cuts, size])]
        return tuple([type(self).narrow(self, dim, start, max(stop - start, 0)) for start, stop, _ in bounds])

    def expand_as(self, other: Any) -> Self:
        """Expanded to the batch size of another container (or the shape of a tensor)."""
        return type(self).expand(self, *shape_of(other))

    def view_as(self, other: Any) -> Self:
        """Viewed with the batch size of another container."""
        return type(self).view(self, *shape_of(other))

    def reshape_as(self, other: Any) -> Self:
        """Reshaped to the batch size of another container."""
        return type(self).reshape(self, *shape_of(other))

    _join_rank = 0  # Which class does the join where items differ in kind: the lazy ones.

    def _reflected(self, name: str, other: Any) -> Self:
        return pair.reflected(name, self, other, getattr(torch, name))

    @classmethod
    def _join(cls, op: str, items: list[Any], dim: int) -> Any:
        return join.stack(items, dim) if op == "stack" else join.cat(items, dim)

    @classmethod
    def _join_plain(cls, op: str, values: list[Any], batches: list[Size], dim: int) -> Any:
        from ._data import join_values

        return join_values(op, values, batches, dim)

    def _stacks_to_one_value(self) -> bool:
        return FLAGS.one_value

    def _spread_data(self, name: str) -> None:
        from ._data import NonTensorStack

        value = self._fields[name]
        self._fields[name] = NonTensorStack.full(value, self._batch)

    # ---- the rest -----------------------------------------------------------------------------------------------

    def replace(self, *args: Any, **changes: Any) -> Self:
        """A copy with some entries replaced; batch size, device, names and the other entries stay.

        >>> td = TensorDict(a=torch.zeros(3), b=torch.ones(3), batch_size=[3])
        >>> td.replace(a=torch.ones(3))["a"]
        tensor([1., 1., 1.])
        """
        out = type(self).copy(self)
        for given in (*args, changes):
            if given is not None:
                type(out).update(out, given)
        return out

    def densify(self, pad: float = 0, mask: str | None = None) -> Self:
        """The same entries with every lazy stack made dense; entries of different sizes are filled up with `pad`.

        >>> from tensorclass import lazy_stack
        >>> lazy_stack([TensorDict(a=torch.ones(2)), TensorDict(a=torch.ones(3))]).densify()["a"]
        tensor([[1., 1., 0.],
                [1., 1., 1.]])

        mask: the key to put a bool tensor under that is true where there was something.
        """
        fields = {
            key: type(value).densify(value, pad) if is_tree(value) else value  # type: ignore[attr-defined]
            for key, value in self._fields.items()
        }
        out = self._like(fields)
        if mask is not None:
            type(out).set(out, mask, torch.ones(self._batch, dtype=torch.bool))
        return out

    def clear_device_(self) -> Self:
        """Let every entry keep a device of its own."""
        object.__setattr__(self, "_device", None)
        for value in self._fields.values():
            if is_tree(value):
                type(value).clear_device_(value)  # type: ignore[attr-defined]  # Every container has it.
        return self

    def tolist(self) -> list[Any]:
        """The rows as nested lists of dicts."""
        if not self._batch:
            return type(self).to_dict(self)  # type: ignore[attr-defined,no-any-return]  # Every container has it.
        return [type(row).tolist(row) for row in self]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        fields = {key: _copy.deepcopy(value, memo) for key, value in self._fields.items()}
        out = self._like(fields)
        memo[id(self)] = out
        return out

    def __repr__(self) -> str:
        return show(self)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self)})


read = _index.read


class Elsewhere:
    """Stands for a name that another library has: not there, and whoever reads it is told what is.

    A `__getattr__` that knew all names would make every attribute that is there slower to read.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        raise AttributeError(elsewhere.no_attribute(owner, self.name))


for _name in elsewhere.METHODS:
    setattr(Container, _name, Elsewhere(_name))


def failed_property(node: Any, name: str) -> Exception | None:
    """The AttributeError of a property that is there and failed with one of its own: that is what the user must see."""
    if any(name in owner.__dict__ for owner in type(node).__mro__):
        try:
            object.__getattribute__(node, name)
        except AttributeError as problem:
            return problem
    return None


def checked_names(names: Sequence[str | None] | None, rank: int) -> Names | None:
    """Dim names, one for each batch dim, each once."""
    if names is None:
        return None
    ready = tuple(names)
    if len(ready) != rank:
        raise errors.OptionError(
            f"names: {errors.count(len(ready), 'name')} for {errors.count(rank, 'batch dim')}; give one a dim, or None"
        )
    given = [name for name in ready if name is not None]
    for name in given:
        if not isinstance(name, str):
            raise errors.KindError(f"names: {kind(name)} names no dim; a string or None would do")
    if len(set(given)) != len(given):
        raise errors.OptionError(f"names: {ready} has a name twice")
    return None if not given else ready


def common_batch(node: Node, around: Size, most: int | None) -> Size:
    """The leading dims that all entries of a tree share; those around it if it has no entries."""
    shapes = [tuple(shape) for shape in shapes_of(node)]
    if not shapes:
        return around if most is None else around[:most]
    shared: list[int] = []
    for sizes in zip(*shapes):
        if len(set(sizes)) != 1 or (most is not None and len(shared) == most):
            break
        shared.append(sizes[0])
    if most is not None and len(shared) < most:
        raise errors.ShapeError(
            f"auto_batch_size_: the entries share {errors.count(len(shared), 'leading dim')} {shared}, not {most}"
        )
    return Size(shared)


def shape_of(value: Any) -> Any:
    """The batch size of a container (which may have a field called shape), the shape of a tensor."""
    return value._batch if isinstance(value, Node) else value.shape


def names_of(node: Node) -> list[str | None]:
    """The names of the batch dims, None where a dim has none."""
    return [None] * len(node._batch) if node._names is None else list(node._names)


def renamed(node: Node, names: tuple[str | None, ...], changes: dict[str, str]) -> Names | None:
    """The dim names of a container after rename: all in order, or old=new."""
    if changes:
        before = names_of(node)
        unknown = [old for old in changes if old not in before]
        if unknown:
            raise errors.DimError(f"rename: no dim is called {unknown[0]!r}; the names are {before}")
        names = tuple([changes.get(old, old) if old is not None else None for old in before])
    return checked_names(None if names == (None,) else names, len(node._batch))


def shapes_of(node: Node) -> Iterator[Size]:
    """The shape of every entry of a tree; rows of data and lazy stacks have that of their batch."""
    for value in node._fields.values():
        if isinstance(value, Tensor):
            yield value.shape
        elif isinstance(value, Node) and (value._is_data or value._items is not None):
            yield value._batch
        elif is_tree(value):
            yield from shapes_of(value)


def common_batches(node: Any, around: Size, most: int | None, below: int | None) -> Iterator[tuple[Any, Size]]:
    """A container and those in it, each with the leading dims that its entries share (at most so many below)."""
    batch = common_batch(node, around, most)
    yield node, batch
    for value in node._fields.values():
        if is_tree(value) and value._items is None:  # A lazy stack has the batch size of its items.
            yield from common_batches(value, batch, below, below)


def extremes(op: str, node: Any, dim: int | None, keepdim: bool) -> Any:
    """min or max: the values of whole leaves, or values and indices along a batch dim."""
    call = getattr(torch, op)
    if dim is None:
        return fold.leafwise(node, call, ())
    at = dim_in(op, dim, len(node._batch))
    found: list[Tensor] = []

    def values(leaf: Tensor, **_: Any) -> Tensor:
        best, places = call(leaf, at, keepdim=keepdim)
        found.append(places)
        return best  # type: ignore[no-any-return]  # torch.min and torch.max, looked up by name.

    highest = fold.along(op, node, at, keepdim, True, {}, values)
    indices = iter(found)
    return Extremes(highest, fold.along(op, node, at, keepdim, True, {}, lambda leaf, **_: next(indices)))


__all__ = ["Container", "NestedKey", "checked_names"]
