"""TensorDictParams: a container whose entries are the parameters and buffers of a module."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import register_pytree_node
from typing_extensions import Self

from ._rules import errors
from ._tensordict import TensorDict
from ._tree import pytree
from ._tree.node import Names, Node, is_tree
from ._tree.walk import paths

TRAINED = (torch.float16, torch.float32, torch.float64)


class Held(dict[str, Any]):
    """Parameters, or buffers, by flat name: what torch puts in the place of one is the entry from then on."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, tuple[Node, str]] = {}

    def __setitem__(self, key: str, leaf: Any) -> None:
        super().__setitem__(key, leaf)
        if key in self.places:
            node, name = self.places[key]
            node._fields[name] = leaf


class TensorDictParams(TensorDict, nn.Module):  # pyright: ignore[reportIncompatibleMethodOverride]
    """A TensorDict that is a module too: its entries are parameters and buffers of whatever module holds it.

    >>> params = TensorDictParams(TensorDict(weight=torch.zeros(2), steps=torch.tensor(0)))
    >>> [name for name, _ in params.named_parameters()], [name for name, _ in params.named_buffers()]
    (['weight'], ['steps'])

    Tensors of float16, float32 and float64 become parameters, others buffers; with no_convert=True only what is a
    parameter already is one. The given container is not copied: its leaves are converted in place. Write through
    this object, or parameters() does not see it. `to`, `float` and their kin work in place, as on a module; other
    operations give plain TensorDicts.
    """

    def __init__(
        self,
        parameters: Node | Mapping[Any, Any] | None = None,
        *,
        no_convert: bool = False,
        lock: bool = False,
        **entries: Any,
    ) -> None:
        nn.Module.__init__(self)
        source = parameters if is_tree(parameters) else TensorDict(parameters, **entries)
        TensorDict.__init__(self, None, source._batch, source._device, source._names)
        self._fields = source._fields  # Shared: what is later put into the source is seen here.
        self.no_convert = no_convert
        self._register()
        if lock:
            type(self).lock_(self)

    # ---- the entries as parameters and buffers ----------------------------------------------------------------------

    def _register(self) -> None:
        before, parameters, buffers = self._buffers, Held(), Held()
        for at, node, name, leaf in _leaves(self):
            key = ".".join(at)
            if key in parameters or key in buffers:
                raise errors.StructureError(
                    f"TensorDictParams: two entries have the flat name {key!r}; rename one of them"
                )
            if before.get(key) is not leaf:  # What has been a buffer stays one.
                leaf = self._converted(leaf)
            store = parameters if isinstance(leaf, nn.Parameter) else buffers
            store.places[key] = node, name
            store[key] = leaf
        self._parameters, self._buffers = parameters, buffers

    def _converted(self, leaf: Tensor) -> Tensor:
        if isinstance(leaf, (nn.Parameter, nn.Buffer)):
            return leaf
        if self.no_convert or leaf.dtype not in TRAINED:
            return leaf.detach() if leaf.requires_grad and leaf.grad_fn is None else leaf
        return nn.Parameter(leaf.detach() if leaf.grad_fn is not None else leaf)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        nn.Module._apply(self, fn, recurse)
        devices = {leaf.device for _, _, _, leaf in _leaves(self)}
        if self._device is not None and len(devices) == 1:
            self._device = devices.pop()
        return self

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: Any,
        unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:
        known: dict[str, Any] = {**self._parameters, **self._buffers}
        for key, leaf in known.items():
            given = state_dict.get(prefix + key)
            if given is None:
                missing_keys.append(prefix + key)
            elif given.shape != leaf.shape:
                error_msgs.append(
                    f"size mismatch for {prefix + key}: {list(given.shape)} in the checkpoint, {list(leaf.shape)} here"
                )
            else:
                with torch.no_grad():
                    leaf.copy_(given)
        unexpected_keys += [key for key in state_dict if key.startswith(prefix) and key[len(prefix) :] not in known]

    # ---- writes -----------------------------------------------------------------------------------------------------

    def __setitem__(self, index: Any, value: Any) -> None:
        """Put an entry under a key, or write rows."""
        if isinstance(index, str) or (isinstance(index, tuple) and index and isinstance(index[0], (str, tuple))):
            self.set(index, value)
        else:
            with torch.no_grad():
                super().__setitem__(index, value)

    def _put(self, name: str, value: Any) -> None:
        with self._registering():
            super()._put(name, value)

    def _set(self, names: tuple[str, ...], value: Any, whole: tuple[str, ...]) -> None:
        with self._registering():
            super()._set(names, value, whole)

    def update(self, *args: Any, **kwargs: Any) -> Self:
        """Put the entries of another container into this one."""
        with self._registering():
            super().update(*args, **kwargs)
        return self

    @contextlib.contextmanager
    def _registering(self) -> Iterator[None]:
        """Register what a write has put here; where that is refused, the entries are what they were before."""
        nodes = [self, *[value for _, value in paths(self, True, False) if isinstance(value, Node)]]
        before = [(node._fields, dict(node._fields)) for node in nodes]
        held = self._parameters, self._buffers
        try:
            yield
            self._register()
        except errors.StructureError:
            for fields, kept in before:
                fields.clear()
                fields.update(kept)
            self._parameters, self._buffers = held
            raise

    def _drop(self, name: str) -> None:
        super()._drop(name)
        self._register()

    def _remove(self, names: tuple[str, ...]) -> None:
        super()._remove(names)
        self._register()

    def __getattr__(self, name: str) -> Any:
        nested = None if name == "_fields" else self._fields.get(name)  # The slot may not be filled yet.
        return of_module(nested) if is_tree(nested) else nn.Module.__getattr__(self, name)

    # ---- where both parents have a method ---------------------------------------------------------------------------

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """To a device or dtype, in place, as a module does it."""
        nn.Module.to(self, *args, **kwargs)
        return self

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Self:
        """To a CUDA device, in place, as a module does it."""
        nn.Module.cuda(self, device)
        return self

    def cpu(self) -> Self:
        """To the CPU, in place, as a module does it."""
        nn.Module.cpu(self)
        return self

    def float(self) -> Self:
        """Floating entries as float32, in place, as a module does it."""
        nn.Module.float(self)
        return self

    def double(self) -> Self:
        """Floating entries as float64, in place, as a module does it."""
        nn.Module.double(self)
        return self

    def half(self) -> Self:
        """Floating entries as float16, in place, as a module does it."""
        nn.Module.half(self)
        return self

    def bfloat16(self) -> Self:
        """Floating entries as bfloat16, in place, as a module does it."""
        nn.Module.bfloat16(self)
        return self

    def type(self, dtype: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        """All entries as a dtype, in place, as a module does it."""
        nn.Module.type(self, dtype)
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Have every parameter require a gradient; buffers do not."""
        nn.Module.requires_grad_(self, requires_grad)
        return self

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The entries by flat names, as any module has them in a checkpoint."""
        return nn.Module.state_dict(self, *args, **kwargs)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:  # pyright: ignore
        """Take the values of a checkpoint."""
        return nn.Module.load_state_dict(self, state_dict, strict, assign)

    def zero_grad(self, set_to_none: bool = True) -> Any:
        """Forget the gradients."""
        nn.Module.zero_grad(self, set_to_none)
        return self

    def _rebuild(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Any:
        new: TensorDict = TensorDict(None, batch, self._device)
        new._fields, new._names = fields, names
        return new

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        new = _made(_copied(self, memo), self.no_convert, bool(self._locked))
        new.training = self.training
        memo[id(self)] = new
        return new

    def __reduce__(self) -> Any:
        return _made, (self._rebuild(self._fields, self._batch, self._names), self.no_convert, bool(self._locked))

    def __hash__(self) -> int:  # type: ignore[override]  # Containers have none.
        return id(self)  # A module is a key in sets of modules.


def _leaves(node: Node, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node, str, Tensor]]:
    for name, value in list(node._fields.items()):
        if isinstance(value, Tensor):
            yield (*at, name), node, name, value
        elif is_tree(value):
            yield from _leaves(value, (*at, name))


def _copied(node: Any, memo: dict[int, Any]) -> Any:
    fields = {
        name: _copied(value, memo) if is_tree(value) else copy.deepcopy(value, memo)
        for name, value in node._fields.items()
    }
    return node._rebuild(fields, node._batch, node._names)


def of_module(tree: Node) -> TensorDictParams:
    """The parameters of a module, whose buffers stay buffers."""
    params = TensorDictParams(tree, no_convert=True)
    params.no_convert = False
    return params


def _made(tree: Any, no_convert: bool, lock: bool) -> TensorDictParams:
    params = of_module(tree)  # What is no parameter by now was not one before.
    params.no_convert = no_convert
    return params.lock_() if lock else params


def _as_plain(node: TensorDictParams) -> tuple[list[Any], Any]:
    leaves, context = pytree.flatten(node)
    return leaves, (TensorDict, *context[1:])


register_pytree_node(TensorDictParams, _as_plain, pytree.unflatten, serialized_type_name="tensorclass.TensorDictParams")
