"""To and from other forms of nested data, and entries made of others: for a TensorDict, whose keys are free."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from typing_extensions import Self

from ._container import Container
from ._keys import NestedKey
from ._rules import errors
from ._rules.keys import path, unravel
from ._tree import walk
from ._tree.node import Node, entry, is_tree, kind

if TYPE_CHECKING:
    from ._tensordict import TensorDict


class ConvertMethods(Container):
    """Conversions, and entries joined into one."""

    __slots__ = ()

    @classmethod
    def fromkeys(cls, keys: Iterable[NestedKey], value: Any = 0) -> Self:
        """A container with the same value under every key."""
        return cls(dict.fromkeys(keys, value))  # type: ignore[call-arg]  # TensorDict takes a dict.

    @classmethod
    def from_namedtuple(cls, source: Any, *, auto_batch_size: bool = False) -> Self:
        """A container from a named tuple (of named tuples) of tensors."""
        return cls.from_dict(as_mapping(source), auto_batch_size=auto_batch_size)  # type: ignore[attr-defined,no-any-return]

    @classmethod
    def from_dataclass(cls, source: Any, *, auto_batch_size: bool = False) -> Self:
        """A container from an instance of a dataclass (of dataclasses) of tensors."""
        return cls.from_dict(as_mapping(source), auto_batch_size=auto_batch_size)  # type: ignore[attr-defined,no-any-return]

    @classmethod
    def from_any(cls, source: Any, *, auto_batch_size: bool = False) -> Self:
        """A container from a dict, a named tuple, a dataclass, a structured array or another container."""
        if type(source).__module__ == "numpy" and source.dtype.names:
            return cls.from_struct_array(source)
        return cls.from_dict(as_mapping(source), auto_batch_size=auto_batch_size)  # type: ignore[attr-defined,no-any-return]

    @classmethod
    def from_struct_array(cls, source: Any) -> Self:
        """A container from a structured numpy array: its shape is the batch size."""
        fields = {name: _from_array(source[name]) for name in source.dtype.names}
        return cls(fields, source.shape)  # type: ignore[call-arg]

    def to_struct_array(self) -> Any:
        """A structured numpy array with the batch size as its shape."""
        import numpy

        columns = {key: _to_array(value, self) for key, value in self._fields.items()}
        rank = len(self._batch)
        kinds = [(key, column.dtype, column.shape[rank:]) for key, column in columns.items()]
        out = numpy.empty(tuple(self._batch), dtype=kinds)
        for key, column in columns.items():
            out[key] = column
        return out

    def to_namedtuple(self) -> Any:
        """The entries as a named tuple, nested containers as named tuples."""
        fields = {
            key: value.to_namedtuple() if isinstance(value, ConvertMethods) else value
            for key, value in self._fields.items()
        }
        return namedtuple("Entries", list(fields))(**fields)  # noqa: PYI024  # The fields are known at run time only.

    def numpy(self) -> dict[str, Any]:
        """The entries as nested dicts of numpy arrays; memory is shared where it can be."""
        return {
            key: value.numpy() if isinstance(value, (Tensor, ConvertMethods)) else value
            for key, value in self._fields.items()
        }

    # ---- entries ------------------------------------------------------------------------------------------------

    def cat_tensors(self, *keys: NestedKey, out_key: NestedKey, dim: int = 0, keep_entries: bool = False) -> Self:
        """Join some tensors along a dim, under a new key; they are taken out unless keep_entries.

        >>> td = TensorDict(a=torch.ones(3, 2), b=torch.ones(3, 1), batch_size=[3])
        >>> td.cat_tensors("a", "b", out_key="ab", dim=-1)["ab"].shape
        torch.Size([3, 3])
        """
        return self._joined_entry(torch.cat, keys, out_key, dim, keep_entries)

    def stack_tensors(self, *keys: NestedKey, out_key: NestedKey, dim: int = 0, keep_entries: bool = False) -> Self:
        """Join some tensors along a new dim, under a new key; they are taken out unless keep_entries."""
        return self._joined_entry(torch.stack, keys, out_key, dim, keep_entries)

    def _joined_entry(
        self, join: Any, keys: Sequence[NestedKey], out_key: NestedKey, dim: int, keep_entries: bool
    ) -> Self:
        self._check_open(f"set {errors.name_of(unravel(out_key))}")
        joined = join([entry(self, path(key)) for key in keys], dim)
        ready = self._validate(unravel(out_key), joined)
        if not keep_entries:
            for at in dict.fromkeys(path(key) for key in keys):
                self.del_(at)
        return self.set(out_key, ready)

    def cat_from_tensordict(self, dim: int = 0) -> Tensor:
        """All tensors joined along a dim."""
        return torch.cat(walk.gather(self, []), dim)

    def stack_from_tensordict(self, dim: int = 0) -> Tensor:
        """All tensors joined along a new dim."""
        return torch.stack(walk.gather(self, []), dim)

    def create_nested(self, key: NestedKey) -> Self:
        """An empty container under a key."""
        return self.set(key, {})

    def separates(self, *keys: NestedKey) -> TensorDict:
        """The entries under these keys, taken out of this container."""
        taken = self.select(*keys)
        for at in dict.fromkeys(path(key) for key in keys):
            self.del_(at)
        return taken  # type: ignore[return-value]  # A TensorDict is all that has these methods.

    def filter_empty_(self) -> Self:
        """Drop nested containers without entries."""
        for name, value in list(self._fields.items()):
            if isinstance(value, ConvertMethods):
                value.filter_empty_()
                if value.is_empty():
                    self.del_(name)
        return self

    def filter_non_tensor_data(self) -> Self:
        """The same container without plain data."""
        if self._items is not None:
            return self._restack([type(item).filter_non_tensor_data(item) for item in self._items])
        fields = {
            key: value.filter_non_tensor_data() if isinstance(value, ConvertMethods) else value
            for key, value in self._fields.items()
            if isinstance(value, Tensor) or is_tree(value)
        }
        return self._like(fields)

    def entry_class(self, key: NestedKey) -> type[Any]:
        """The class of the entry under a key."""
        return type(entry(self, path(key)))

    def get_item_shape(self, key: NestedKey) -> torch.Size:
        """The shape of the entry under a key."""
        shape: torch.Size = entry(self, path(key)).shape
        return shape

    @property
    def depth(self) -> int:
        """How deep containers are nested: 0 where none is."""
        return max((len(at) - 1 for at, _ in walk.paths(self, True, False)), default=0)

    @property
    def is_cuda(self) -> bool:
        """Whether the container is held on a CUDA device."""
        return self._device is not None and self._device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        """Whether the container is held on the CPU."""
        return self._device is not None and self._device.type == "cpu"

    @property
    def is_meta(self) -> bool:
        """Whether the container is held on the meta device."""
        return self._device is not None and self._device.type == "meta"

    def is_floating_point(self) -> bool:
        """Whether every tensor is of a floating dtype."""
        return all(leaf.is_floating_point() for leaf in walk.gather(self, []))

    def auto_device_(self) -> Self:
        """Set the device to that which all tensors are on, or to None where they differ."""
        devices = {leaf.device for leaf in walk.gather(self, [])}
        object.__setattr__(self, "_device", devices.pop() if len(devices) == 1 else None)
        return self


def merge_tensordicts(*containers: Any) -> TensorDict:
    """One TensorDict with the entries of several; of two entries under one key the last stays."""
    if not containers:
        raise errors.ShapeError("merge_tensordicts: no containers were given; at least one would do")
    merged = type(containers[0]).to_tensordict(containers[0])
    for other in containers[1:]:
        if other._batch != merged._batch:
            raise errors.ShapeError(
                f"merge_tensordicts: batch sizes {list(merged._batch)} and {list(other._batch)} differ; "
                "they must be equal"
            )
        merged.update(other)
    return merged  # type: ignore[no-any-return]  # to_tensordict makes one.


def as_mapping(source: Any) -> Any:
    """A dict (of dicts) out of a named tuple, a dataclass or a container."""
    if isinstance(source, Node):
        return {key: value for key, value in source._fields.items() if value is not None}
    if isinstance(source, dict):
        return {key: _nested(value) for key, value in source.items()}
    as_dict = getattr(source, "_asdict", None)
    if isinstance(source, tuple) and as_dict is not None:
        return {name: _nested(value) for name, value in as_dict().items()}
    if dataclasses.is_dataclass(source) and not isinstance(source, type):
        return {field.name: _nested(getattr(source, field.name)) for field in dataclasses.fields(source)}
    raise errors.KindError(f"from_any: {kind(source)} has no names; a dict, a named tuple or a dataclass would do")


def _nested(value: Any) -> Any:
    named = isinstance(value, dict) or (isinstance(value, tuple) and hasattr(value, "_asdict"))
    plain = isinstance(value, (Node, Tensor, type))
    if not plain and (named or dataclasses.is_dataclass(value)):
        return as_mapping(value)
    return value


def _from_array(column: Any) -> Any:
    if column.dtype.names:
        return {name: _from_array(column[name]) for name in column.dtype.names}
    return torch.as_tensor(column.copy()) if column.dtype.kind in "biufc" else column.tolist()


def _to_array(value: Any, parent: Node) -> Any:
    import numpy

    if isinstance(value, Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, ConvertMethods):
        rank = len(parent._batch)
        return value.to_struct_array() if len(value._batch) == rank else _widened(value, rank)
    if isinstance(value, Node):
        return numpy.array(value.tolist())  # type: ignore[attr-defined]  # Rows of plain values.
    return numpy.full(tuple(parent._batch), value)


def _widened(value: Any, rank: int) -> Any:
    part = value.copy()
    part.batch_size = part.batch_size[:rank]
    return part.to_struct_array()
