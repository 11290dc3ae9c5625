"""TensorDict: a dict of tensors that share leading dims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import torch
from torch import Size, Tensor, nn
from typing_extensions import Self

from . import _collate, _dynamo
from ._container import checked_names, common_batches
from ._convert import ConvertMethods
from ._data import MetaData, NonTensorData, NonTensorStack
from ._held import entries_of
from ._keys import NestedKey
from ._rules import errors
from ._rules.errors import Key
from ._rules.keys import path
from ._settings import list_to_stack
from ._tree import pytree
from ._tree.contract import as_size, as_tensor, check_node, check_tensor, full_device, moved, rebatched
from ._tree.index import read
from ._tree.node import Names, Node, entry, is_tree, kind

if TYPE_CHECKING:
    from ._swap import Swapped


class TensorDict(ConvertMethods):
    """A dict of tensors, of nested dicts of them and of plain data, which is indexed and moved like one tensor.

    >>> td = TensorDict({"image": torch.zeros(32, 3, 8), "text": {"mask": torch.ones(32, 7)}}, batch_size=[32])
    >>> td[:8]["text", "mask"].shape
    torch.Size([8, 7])

    Every tensor has the batch size as its leading dims; a ShapeError names the key and both shapes otherwise.
    """

    __slots__ = ("__weakref__", "_batch", "_device", "_fields", "_leaves", "_locked", "_names", "_undo")

    def __init__(
        self,
        source: Mapping[Any, Any] | Node | None = None,
        batch_size: Sequence[int] | int | None = None,
        device: torch.device | str | int | None = None,
        names: Sequence[str | None] | None = None,
        non_blocking: bool | None = None,
        lock: bool = False,
        **entries: Any,
    ) -> None:
        self._fields: dict[str, Any] = {}
        self._locked = False
        self._leaves = None
        if batch_size is None and isinstance(source, Node):
            self._batch = source._batch
            self._names = source._names
        else:
            self._batch = batch_size if isinstance(batch_size, Size) else as_size(batch_size)
            self._names = None
        self._device = None if device is None else full_device(device)
        if names is not None:
            self._names = checked_names(names, len(self._batch))
        if source is not None:
            if isinstance(source, Node):
                source = source._fields
            elif not isinstance(source, Mapping):
                raise errors.KindError(f"TensorDict: {kind(source)} has no keys; a dict or another container would do")
            for key, value in source.items():
                self._enter(key, value)
        for key, value in entries.items():
            self._enter(key, value)
        if lock:
            self.lock_()

    if not TYPE_CHECKING:

        def __class_getitem__(cls, parameters):
            return cls  # TensorDict in an annotation says no more than TensorDict.

    def _enter(self, key: Any, value: Any) -> None:
        if key.__class__ is str:
            self._fields[key] = self._validate(key, value)
        else:
            names = path(key)
            self._set(names, value, names)

    # ---- the door -----------------------------------------------------------------------------------------------

    def _validate(self, key: Key, value: Any) -> Any:
        if isinstance(value, Tensor):
            batch = self._batch
            if value.is_nested or value.shape[: len(batch)] != batch:
                check_tensor(key, value, batch)
            return value if self._device is None else moved(value, self._device)
        if isinstance(value, Node):
            if isinstance(value, NonTensorStack):
                if isinstance(value, NonTensorData):
                    data = value.data  # A tensor is an entry like any other: ops would reach it all the same.
                    return self._validate(key, data) if isinstance(data, Tensor) else data
                check_node(key, value, self._batch)
                return value
            return moved(rebatched(key, value, self._batch), self._device)
        if isinstance(value, Mapping):
            return self._node_of(key, value)
        tensor = as_tensor(key, value, self._device)
        if tensor is not None:
            check_tensor(key, tensor, self._batch)
            return tensor
        if isinstance(value, list) and list_to_stack():
            rows = NonTensorStack(*value) if value or not self._batch else NonTensorStack()
            if self._batch[:1] == rows._batch[:1] or not self._batch:
                return rows
            raise errors.ShapeError(errors.batch_mismatch(key, tuple(rows._batch), tuple(self._batch), "list"))
        return value

    def _node_of(self, key: Key, source: Mapping[Any, Any]) -> TensorDict:
        node = TensorDict(None, self._batch, self._device)
        at = key if isinstance(key, tuple) else (key,)
        for name, value in source.items():
            names = path(name)
            if len(names) == 1:
                node._fields[names[0]] = node._validate((*at, names[0]), value)
            else:
                node._set(names, value, (*at, *names))
        return node

    def _fresh_node(self, name: str) -> Any:
        return TensorDict(None, self._batch, self._device)

    def _rebuild(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Self:
        new = object.__new__(type(self))
        new._fields = fields
        new._batch = batch if isinstance(batch, Size) else Size(batch)
        new._device = self._device
        new._names = names
        new._locked = False
        new._leaves = None
        return new

    def _fill(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def _untyped(self, fields: dict[str, Any], inplace: bool) -> Any:
        if not inplace:
            return self._like(fields)
        self._check_open("rename its entries")
        self._fields.clear()
        self._fields.update(fields)
        return self

    # ---- read and write -----------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, index: str) -> Any: ...
    @overload
    def __getitem__(self, index: tuple[str, ...]) -> Any: ...
    @overload
    def __getitem__(self, index: Any) -> Self: ...
    def __getitem__(self, index: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # The same overloads.
        """An entry by key, or rows by index."""
        if index.__class__ is str:
            try:
                return self._fields[index]
            except KeyError:
                raise self._missing(index) from None
        if index.__class__ is tuple and index and isinstance(index[0], (str, tuple)):
            try:
                node: Any = self
                for name in index:
                    node = node._fields[name]
                return node
            except (KeyError, TypeError, AttributeError):  # Not a plain path, or not there: the slow way knows.
                return entry(self, path(index))
        return read(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Put an entry under a key, or write rows."""
        if index.__class__ is str and not self._locked:
            self._fields[index] = self._validate(index, value)
        else:
            super().__setitem__(index, value)

    # ---- to and from other forms --------------------------------------------------------------------------------

    @classmethod
    def from_dict(
        cls,
        input_dict: Mapping[Any, Any],
        *others: Any,
        auto_batch_size: bool = False,
        batch_size: Any = None,
        device: Any = None,
        batch_dims: int | None = None,
        names: Any = None,
    ) -> Self:
        """A container from a dict (of dicts) of tensors.

        >>> TensorDict.from_dict({"a": torch.zeros(3, 2)}, auto_batch_size=True).batch_size
        torch.Size([3, 2])

        auto_batch_size: the leading dims that the entries share, nested ones each their own; batch_dims: how many.
        """
        out = cls(input_dict, batch_size, device)
        if batch_size is None and (auto_batch_size or batch_dims is not None):
            below = None if auto_batch_size else batch_dims
            for node, batch in list(common_batches(out, out._batch, batch_dims, below)):
                object.__setattr__(node, "_batch", batch)
        if names is not None:
            out.names = names
        return out

    def to_dict(self, *, retain_none: bool = True, convert_tensors: bool = False) -> dict[str, Any]:
        """The entries as a dict, nested containers as dicts."""
        return as_dict(self, retain_none)

    def to_tensordict(self, *, retain_none: bool | None = None) -> TensorDict:
        """A TensorDict with the same entries, all nested containers as TensorDicts; the tensors are shared."""
        return untyped(self)

    @classmethod
    def from_tensordict(cls, source: Node) -> Self:
        """A container of this class with the entries of another."""
        return cls(source, source._batch, source._device, source._names)

    # ---- the parameters of a module ---------------------------------------------------------------------------------

    @classmethod
    def from_module(
        cls,
        module: nn.Module,
        as_module: bool = False,
        lock: bool = False,
        use_state_dict: bool = False,
        filter_empty: bool = True,
    ) -> TensorDict:
        """The parameters and buffers of a module, the objects themselves, under the names of its submodules.

        >>> list(TensorDict.from_module(torch.nn.Linear(3, 4)).keys())
        ['weight', 'bias']

        as_module: as TensorDictParams. use_state_dict: what state_dict() gives. filter_empty=False: also submodules
        without any.
        """
        if not (as_module or lock or use_state_dict):
            return plain(entries_of(module, filter_empty, plain))
        from ._functional import from_module

        return from_module(
            module, as_module=as_module, lock=lock, use_state_dict=use_state_dict, filter_empty=filter_empty
        )

    @classmethod
    def from_modules(
        cls,
        *modules: nn.Module,
        as_module: bool = False,
        lock: bool = True,
        use_state_dict: bool = False,
        lazy_stack: bool = False,
        expand_identical: bool = False,
    ) -> TensorDict:
        """The parameters of modules of one structure, stacked: new parameters with a first batch dim.

        >>> TensorDict.from_modules(torch.nn.Linear(3, 4), torch.nn.Linear(3, 4))["weight"].shape
        torch.Size([2, 4, 3])

        expand_identical: a parameter that all modules share is expanded, not copied.
        """
        from ._functional import from_modules

        return from_modules(
            modules,
            as_module=as_module,
            lock=lock,
            use_state_dict=use_state_dict,
            lazy_stack=lazy_stack,
            expand_identical=expand_identical,
        )

    @overload
    def to_module(
        self,
        module: nn.Module,
        *,
        inplace: None = None,
        return_swap: Literal[True] = True,
        swap_dest: None = None,
        use_state_dict: Literal[False] = False,
        non_blocking: bool = False,
    ) -> Swapped: ...
    @overload
    def to_module(self, module: nn.Module, **options: Any) -> Any: ...
    def to_module(self, module: nn.Module, **options: Any) -> Any:
        """Put the entries into a module; what was there is returned, and put back at the end of a `with` block.

        >>> layer = torch.nn.Linear(3, 4)
        >>> with TensorDict.from_module(layer).data.clone().zero_().to_module(layer):
        ...     print(layer(torch.ones(3)))
        tensor([0., 0., 0., 0.])

        What the container has no entry for stays as the module has it. inplace: copy into the tensors of the module.
        swap_dest: a container for what was there.
        """
        from ._functional import to_module

        return to_module(self, module, **options)

    def __reduce__(self) -> Any:
        return _restore, (
            type(self),
            dict(self._fields),
            tuple(self._batch),
            self._device,
            self._names,
            bool(self._locked),
        )

    def __copy__(self) -> Self:
        return type(self).copy(self)

    def __or__(self, other: Any) -> Self:
        """The entries of both (of the other where both have one); with numbers or tensors: bitwise or."""
        if isinstance(other, Mapping):
            return type(self).update(self.copy(), other)
        return super().__or__(other)


TensorDictBase = TensorDict
NO_BATCH = Size(())
_collate.register(Node)
pytree.register(TensorDict)
pytree.register(NonTensorStack)
pytree.register(NonTensorData)
pytree.register(MetaData)


def as_dict(node: Node, retain_none: bool = True) -> dict[str, Any]:
    """The entries of a tree as nested dicts."""
    return {
        key: _dict_of(value, retain_none)
        if is_tree(value)
        else value.tolist()
        if isinstance(value, NonTensorStack)
        else value
        for key, value in node._fields.items()
        if value is not None or (retain_none and not node._none_is_unset)
    }


def _dict_of(node: Any, retain_none: bool) -> dict[str, Any]:
    """A nested container as a dict; the entries of a lazy stack may be lists."""
    if node._items is None:
        return as_dict(node, retain_none)
    return type(node).to_dict(node, retain_none=retain_none)  # type: ignore[no-any-return]


def plain(fields: dict[str, Any]) -> TensorDict:
    """A TensorDict without batch dims that holds these entries, which nobody checks."""
    new: TensorDict = object.__new__(TensorDict)
    new._fields = fields
    new._batch = NO_BATCH
    new._device = new._names = new._leaves = None
    new._locked = False
    return new


def untyped(node: Node) -> TensorDict:
    """A tree of TensorDicts with the same tensors; a lazy stack stays one."""
    if node._items is not None:
        return type(node).to_tensordict(node)  # type: ignore[attr-defined,no-any-return]  # Every container has it.
    new: TensorDict = TensorDict(None, node._batch, node._device, node._names)
    for key, value in node._fields.items():
        if value is not None or not node._none_is_unset:
            new._fields[key] = untyped(value) if is_tree(value) else value
    return new


def _restore(cls: Any, fields: dict[str, Any], batch: Any, device: Any, names: Any, locked: bool) -> Any:
    new = object.__new__(cls)
    new._fields = fields
    new._batch = Size(batch)
    new._device, new._names, new._locked, new._leaves = device, names, False, None
    return new.lock_() if locked else new


# They make containers out of what a file holds, and run nothing: torch.load(weights_only=True) may call them.
torch.serialization.add_safe_globals([_restore, TensorDict])

__all__ = ["NestedKey", "TensorDict", "TensorDictBase", "as_dict", "plain", "untyped"]
_dynamo.teach()
