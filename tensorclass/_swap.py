"""Other parameters in a module, for a while or for good, one thread at a time."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._pytree import register_pytree_node
from typing_extensions import Self

from ._rules import errors
from ._rules.keys import unravel
from ._tensordict import TensorDict
from ._tree import pytree
from ._tree.node import Names, Node, is_tree


class Place(NamedTuple):
    """A place in a module, what was there and what is there now."""

    store: dict[str, Any]
    name: str
    old: Any
    new: Any


class Guard:
    """Lets one thread at a time run a module with parameters that are not its own."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.swaps: list[weakref.ref[Swapped]] = []

    def others(self, but: Swapped) -> Iterator[Swapped]:
        """The swaps that somebody still holds, but one; forgets the rest."""
        found = [swap for ref in self.swaps if (swap := ref()) is not None]
        self.swaps = [weakref.ref(swap) for swap in found]
        return iter([swap for swap in found if swap is not but])


_GUARDS: weakref.WeakKeyDictionary[nn.Module, Guard] = weakref.WeakKeyDictionary()
_MAKING = threading.Lock()


def guard_of(module: nn.Module) -> Guard:
    """The guard of a module, made when it is first asked for."""
    guard = _GUARDS.get(module)
    if guard is None:
        with _MAKING:
            guard = _GUARDS.setdefault(module, Guard())
    return guard


class Swapped(TensorDict):
    """The parameters that a module had; as a `with` block, it has them again at its end."""

    __slots__ = ("_before", "_guard", "_places")

    _guard: Guard | None
    _places: list[Place]
    _before: list[Any] | None

    def __enter__(self) -> Self:
        self._before = None
        if self._guard is None:
            return self
        self._guard.lock.acquire()
        if any(place.store.get(place.name) is not place.new for place in self._places):
            # Another thread has put its parameters in since; it waits for this block to end.
            self._before = [place.store.get(place.name) for place in self._places]
            for place in self._places:
                place.store[place.name] = place.new
        return self

    def __exit__(self, *error: object) -> None:
        for place in reversed(self._places):
            place.store[place.name] = place.old
        if self._guard is None:
            return
        if self._before is not None:
            for place, value in zip(reversed(self._places), reversed(self._before)):
                place.store[place.name] = value
        self._forget_mine(self._guard)
        self._guard.lock.release()

    def _forget_mine(self, guard: Guard) -> None:
        """What another thread found in the module while this swap had been made: it was what this one found."""
        mine = {(id(place.store), place.name): place for place in self._places}
        for swap in guard.others(self):
            for at, place in enumerate(swap._places):
                own = mine.get((id(place.store), place.name))
                if own is not None and place.old is own.new:
                    swap._places[at] = place._replace(old=own.old)

    def _rebuild(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Any:
        new = TensorDict(None, batch)  # What is made of it has no way back.
        new._fields, new._names = fields, names
        return new

    def __reduce__(self) -> Any:
        return TensorDict, (dict(self._fields),)


def _as_plain(node: Swapped) -> tuple[list[Any], Any]:
    leaves, context = pytree.flatten(node)
    return leaves, (TensorDict, *context[1:])


register_pytree_node(Swapped, _as_plain, pytree.unflatten, serialized_type_name="tensorclass.Swapped")


def swap(params: Node, module: nn.Module) -> Swapped:
    """Put the leaves of a container into a module; what was there comes back."""
    if torch.compiler.is_compiling():
        return _swap(params, module, None)
    guard = guard_of(module)
    with guard.lock:
        swapped = _swap(params, module, guard)
        guard.swaps.append(weakref.ref(swapped))
        return swapped


def _swap(params: Node, module: nn.Module, guard: Guard | None) -> Swapped:
    swapped = Swapped()
    swapped._guard, swapped._places, swapped._before = guard, [], None
    try:
        swapped._fields = _put_in(params, module, swapped._places, {}, ())
    except errors.RuleError:
        for place in reversed(swapped._places):
            place.store[place.name] = place.old
        raise
    return swapped


def _put_in(
    params: Node, module: Any, places: list[Place], seen: dict[tuple[int, str], int], at: tuple[str, ...]
) -> dict[str, Any]:
    old: dict[str, Any] = {}
    for name, value in params._fields.items():
        if is_tree(value):
            child = child_of(module, name, at)
            node: TensorDict = TensorDict()
            node._fields = _put_in(value, child, places, seen, (*at, name))
            old[name] = node
        elif isinstance(value, Tensor):
            store = store_of(module, name, at)
            known = seen.setdefault((id(store), name), len(places))
            if known == len(places):
                places.append(Place(store, name, store[name], value))
            else:  # The same module under two names: the last value counts, the first one goes back.
                places[known] = places[known]._replace(new=value)
            old[name] = places[known].old
            store[name] = value
    return old


class Filled:
    """A module that can be called with tensors in the places of the entries of a container."""

    def __init__(self, params: Node, module: nn.Module) -> None:
        self.module = module
        self.leaves: list[Tensor] = []
        self.places: list[tuple[dict[str, Any], str]] = []
        self._look(params, module, ())

    def _look(self, params: Node, module: Any, at: tuple[str, ...]) -> None:
        for name, value in params._fields.items():
            if is_tree(value):
                self._look(value, child_of(module, name, at), (*at, name))
            elif isinstance(value, Tensor):
                self.places.append((store_of(module, name, at), name))
                self.leaves.append(value)

    def __call__(self, leaves: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        """Call the module with these tensors in place of its own."""
        if torch.compiler.is_compiling():
            return self._call(leaves, args, kwargs)
        with guard_of(self.module).lock:
            return self._call(leaves, args, kwargs)

    def _call(self, leaves: Iterable[Any], args: Any, kwargs: Any) -> Any:
        before = [store[name] for store, name in self.places]
        try:
            for (store, name), leaf in zip(self.places, leaves):
                store[name] = leaf
            return self.module(*args, **kwargs)
        finally:
            for (store, name), leaf in zip(self.places, before):
                store[name] = leaf


def child_of(module: Any, name: str, at: tuple[str, ...]) -> Any:
    """The submodule of a name; parameters in a container are a tree of them."""
    modules = module._fields if isinstance(module, Node) else module._modules
    child = modules.get(name)
    if child is None or isinstance(child, Tensor):
        raise errors.KeyMissing(no_place(module, (*at, name), [key for key in modules if modules[key] is not None]))
    return child


def store_of(module: Any, name: str, at: tuple[str, ...]) -> dict[str, Any]:
    """Where a module keeps the parameter or buffer of a name."""
    if isinstance(module, Node):
        if name in module._fields:
            return module._fields
        raise errors.KeyMissing(no_place(module, (*at, name), list(module._fields)))
    own = module.__dict__
    parameters, buffers = own["_parameters"], own["_buffers"]
    if name in parameters:
        return parameters  # type: ignore[no-any-return]  # As every module has it.
    if name in buffers:
        return buffers  # type: ignore[no-any-return]
    raise errors.KeyMissing(no_place(module, (*at, name), [*parameters, *buffers]))


def no_place(module: Any, at: tuple[str, ...], names: Any) -> str:
    """A key that stands for nothing in a module."""
    return f"to_module: {type(module).__name__} has nothing for {errors.name_of(unravel(at))}" + (
        f"; it has {errors.some_names(names)}" if names else ""
    )
