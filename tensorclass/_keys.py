"""Entries by key: get, set, update, select, rename and their kin, for every container."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

import torch
from torch import Tensor
from typing_extensions import Self

from ._rules import errors
from ._rules.errors import Key
from ._rules.keys import path, under, unravel
from ._tree import inplace as inplace_
from ._tree import walk
from ._tree.node import Node, entry, is_tree, kind
from ._update import Pair, Plan, flat, leaf_paths, pairs_of
from ._views import ItemsView, KeysView, ValuesView

if TYPE_CHECKING:
    from ._tensordict import TensorDict

NestedKey = Key
MISSING: Any = object()  # Honest Any: stands for "no default given" where any default may be given.


class KeyMethods(Node):
    """Read and write by key: a string, or a tuple of strings for what sits in nested containers."""

    __slots__ = ()

    # ---- the door -----------------------------------------------------------------------------------------------

    def _validate(self, key: Key, value: Any) -> Any:
        """What the user gave, as what is stored under the key; raises what forbids it."""
        raise NotImplementedError

    def _check_name(self, name: str) -> None:
        """Refuse a name that this container cannot have."""

    def _put(self, name: str, value: Any) -> None:
        """Store a validated value."""
        self._fields[name] = value

    def _node_for(self, name: str) -> KeyMethods:
        """The nested container under a name, made when it is not there."""
        fields = self._fields
        if name in fields and fields[name] is not None:
            node = fields[name]
            if not is_tree(node):
                raise errors.StructureError(f"{name!r} is {kind(node)}: nothing can be set inside it")
            return node  # type: ignore[return-value]  # Every nested container has these methods.
        return self._fresh_node(name)

    def _fresh_node(self, name: str) -> KeyMethods:
        raise NotImplementedError

    # ---- read ---------------------------------------------------------------------------------------------------

    def get(self, key: NestedKey, default: Any = None, **read: Any) -> Any:
        """The entry under a key, or the default.

        >>> td = TensorDict(a=torch.zeros(3), batch_size=[3])
        >>> td.get("b") is None
        True
        """
        names = path(key)
        node: Any = self
        for depth, name in enumerate(names):
            if not isinstance(node, Node):
                return default
            if read and node._items is not None:
                return type(node).get(node, names[depth:], default, **read)  # type: ignore[attr-defined]
            if name not in node._fields:
                return node._absent(name, default)
            node = node._fields[name]
        if read:
            raise errors.OptionError(f"get: {errors.some_names(read)} is for lazy stacks; this container is dense")
        return node

    def _absent(self, name: str, default: Any) -> Any:
        """What get gives for a name that is not there."""
        return default

    def _read(self, key: Any) -> Any:
        """x[key] for a nested key."""
        return entry(self, path(key))

    def __contains__(self, key: object) -> bool:
        """Whether there is an entry under the key."""
        try:
            names = path(key)
        except errors.KeyForm:
            raise errors.KindError(
                f"'in' asks for keys, strings or tuples of them, not for {kind(key)}; "
                "(x == value).any() asks for values"
            ) from None
        node: Any = self
        for depth, name in enumerate(names, 1):
            if not isinstance(node, Node) or name not in node._fields:
                return False
            none_is_unset = node._none_is_unset
            if depth == len(names) and not none_is_unset:
                return True
            node = node._fields[name]
            if node is None and none_is_unset:
                return False
        return True

    @overload
    def keys(
        self, include_nested: Literal[False] = False, leaves_only: bool = False, *, sort: bool = False
    ) -> KeysView[str]: ...
    @overload
    def keys(
        self, include_nested: bool, leaves_only: bool = False, *, sort: bool = False
    ) -> KeysView[str | tuple[str, ...]]: ...
    def keys(self, include_nested: bool = False, leaves_only: bool = False, *, sort: bool = False) -> KeysView[Any]:
        """The keys, in order of insertion; with include_nested also those below, as tuples."""
        return KeysView(self, include_nested, leaves_only, sort)

    @overload
    def items(
        self, include_nested: Literal[False] = False, leaves_only: bool = False, *, sort: bool = False
    ) -> ItemsView[str, Any]: ...
    @overload
    def items(
        self, include_nested: bool, leaves_only: bool = False, *, sort: bool = False
    ) -> ItemsView[str | tuple[str, ...], Any]: ...
    def items(
        self, include_nested: bool = False, leaves_only: bool = False, *, sort: bool = False
    ) -> ItemsView[Any, Any]:
        """Pairs of key and entry."""
        return ItemsView(self, include_nested, leaves_only, sort)

    def values(self, include_nested: bool = False, leaves_only: bool = False, *, sort: bool = False) -> ValuesView[Any]:
        """The entries."""
        return ValuesView(self, include_nested, leaves_only, sort)

    @property
    def sorted_keys(self) -> list[str]:
        """The keys in alphabetical order."""
        return sorted(key for (key,), _ in walk.paths(self, False, False))

    def non_tensor_items(self, include_nested: bool = False) -> list[tuple[Key, Any]]:
        """Pairs of key and plain value."""
        return [
            (unravel(at), value)
            for at, value in walk.paths(self, include_nested, False)
            if not isinstance(value, Tensor) and not is_tree(value)
        ]

    def is_empty(self) -> bool:
        """Whether there is no entry at all, plain data and nested containers without entries not counted as none.

        >>> TensorDict(batch_size=[2]).is_empty()
        True
        """
        values: Any = self._fields.values() if self._items is None else self._items
        return all(is_tree(value) and type(value).is_empty(value) for value in values)  # type: ignore[attr-defined]

    # ---- write --------------------------------------------------------------------------------------------------

    def set(self, key: NestedKey, value: Any, *, inplace: bool = False, non_blocking: bool = False) -> Self:
        """Put a value under a key; nested containers on the way are made.

        >>> td = TensorDict(batch_size=[3]).set(("n", "a"), torch.zeros(3))
        >>> td["n", "a"].shape
        torch.Size([3])

        inplace: copy into the tensor that is there. Raises ShapeError when leading dims are not the batch size.
        """
        names = path(key)
        if inplace and key in self:
            return type(self).set_(self, key, value)
        self._set(names, value, names)
        return self

    def _set(self, names: tuple[str, ...], value: Any, whole: tuple[str, ...]) -> None:
        name = names[0]
        if self._locked or self._is_frozen:
            self._check_open(f"set {errors.name_of(whole)}")
        self._check_name(name)
        if len(names) == 1:
            self._put(name, self._validate(whole[0] if len(whole) == 1 else whole, value))
            return
        node = self._node_for(name)
        node._set(names[1:], value, whole)
        if self._fields.get(name) is not node:  # A fresh node comes in only once what goes into it fits.
            self._put(name, node)

    def set_(self, key: NestedKey, value: Any, *, non_blocking: bool = False) -> Self:
        """Copy a value into the tensor under a key, in place."""
        names = path(key)
        stack, rest = _stack_on(self, names)
        if stack is not None:
            type(stack).set_(stack, rest, value, non_blocking=non_blocking)
            return self
        leaf = _to_write("set_", self, names)
        if isinstance(leaf, Tensor):
            new = self._validate(unravel(key), value)
            if not isinstance(new, Tensor) or new.shape != leaf.shape:
                shape = list(new.shape) if isinstance(new, Tensor) else kind(new)
                raise errors.ShapeError(
                    f"set_: {errors.name_of(unravel(key))} has shape {list(leaf.shape)}; "
                    f"a value of shape {shape} cannot be copied into it"
                )
            leaf.copy_(new, non_blocking=non_blocking)
        elif is_tree(leaf):
            type(leaf).update_(leaf, value)  # type: ignore[attr-defined]
        else:
            parent = entry(self, names[:-1])
            parent._put(names[-1], parent._validate(names[-1], value))
        return self

    def set_non_tensor(self, key: NestedKey, value: Any) -> Self:
        """Put a value under a key as plain data, even a number or a list."""
        names = path(key)
        self._check_open(f"set {errors.name_of(names)}")
        node: KeyMethods = self
        for name in names[:-1]:
            child = node._node_for(name)
            node._put(name, child)
            node = child
        node._check_name(names[-1])
        node._put(names[-1], node._validate(names, value) if isinstance(value, Tensor) else value)
        return self

    def get_non_tensor(self, key: NestedKey, default: Any = None) -> Any:
        """The plain value under a key, or the default."""
        return type(self).get(self, key, default)

    def fill_(self, key: NestedKey, value: float | bool) -> Self:
        """Fill the tensor under a key with a number, in place."""
        stack, rest = _stack_on(self, path(key))
        if stack is not None:
            type(stack).fill_(stack, rest, value)
            return self
        leaf = _to_write("fill_", self, path(key))
        if not isinstance(leaf, Tensor):
            raise errors.StructureError(f"fill_: {errors.name_of(unravel(key))} is {kind(leaf)}, no tensor")
        leaf.fill_(value)
        return self

    def setdefault(self, key: NestedKey, default: Any) -> Any:
        """The entry under a key; the default is put there first if there is none."""
        if key not in self:
            type(self).set(self, key, default)
        return entry(self, path(key))

    def update(
        self,
        source: Mapping[Any, Any] | Node | None = None,
        *,
        clone: bool = False,
        inplace: bool = False,
        keys_to_update: list[NestedKey] | None = None,
        non_blocking: bool = False,
        **entries: Any,
    ) -> Self:
        """Put the entries of another container or dict into this one; what sits in both nested is merged.

        >>> td = TensorDict(a=torch.zeros(3), batch_size=[3])
        >>> list(td.update({"b": torch.ones(3)}).keys())
        ['a', 'b']

        Every value is checked before the first is stored.
        """
        plan = Plan(clone, inplace, None if keys_to_update is None else [path(key) for key in keys_to_update])
        for given in (source, entries or None):
            if given is not None:
                self._plan_source(given, plan)
        plan.carry_out()
        return self

    def _plan_source(self, given: Any, plan: Plan, at: tuple[str, ...] = ()) -> None:
        self._plan_update(pairs_of(given), plan, at)

    def _plan_update(self, given: Iterable[Pair], plan: Plan, at: tuple[str, ...]) -> None:
        for names, value in given:
            if plan.only is not None and not plan.wants((*at, *names), value):
                continue
            name, rest = names[0], names[1:]
            here = (*at, name)
            mine = self._fields.get(name)
            if is_tree(mine) and (rest or isinstance(value, Mapping) or is_tree(value)):
                if rest:
                    mine._plan_update([(rest, value)], plan, here)  # type: ignore[attr-defined]
                else:
                    mine._plan_source(value, plan, here)  # type: ignore[attr-defined]
                continue
            if plan.inplace and is_tree(mine):
                raise errors.StructureError(
                    f"update: {errors.name_of(here)} is a container; {kind(value)} cannot be copied into it"
                )
            if plan.inplace and isinstance(mine, Tensor):
                self._check_thawed("update_()")
                ready = self._validate(here, value)
                if not isinstance(ready, Tensor) or ready.shape != mine.shape:
                    raise errors.ShapeError(
                        f"update: {errors.name_of(here)} has shape {list(mine.shape)}; "
                        f"{kind(ready)} cannot be copied into it"
                    )
                inplace_.check_leaf("update", mine)
                plan.copies.append((mine, ready))
                continue
            if self._locked or self._is_frozen:
                self._check_open(f"set {errors.name_of(here)}")
            self._check_name(name)
            if rest:
                if name in self._fields and mine is not None:
                    raise errors.StructureError(f"{errors.name_of(here)} is {kind(mine)}: nothing can be set inside it")
                node = self._fresh_node(name)
                node._set(rest, value, (*here, *rest))
                plan.calls.append(partial(_merge, self, name, node))
                continue
            ready = self._validate(here if at else name, value)
            if plan.clone and isinstance(ready, Tensor):
                ready = ready.clone()
            elif plan.clone and isinstance(ready, Node):
                ready = type(ready).clone(ready)
            plan.calls.append(partial(self._put, name, ready))

    def update_(self, source: Mapping[Any, Any] | Node, *, non_blocking: bool = False) -> Self:
        """Copy the entries of another container into the tensors of this one, in place; each key must be here."""
        if isinstance(source, Node) and inplace_.are_alike(self, source):
            leaves, values = inplace_.leaves_of("update_", self), walk.match("update_", self, source, [])
            inplace_.check("update_", leaves)
            inplace_.write(leaves, Tensor.copy_, torch._foreach_copy_, values)
            return self
        for names in leaf_paths(source):
            if names not in self:
                raise self._missing(unravel(names))
        return type(self).update(self, source, inplace=True)

    def update_at_(self, source: Mapping[Any, Any] | Node, index: Any) -> Self:
        """Copy the entries of another container into some rows of this one, in place."""
        self._write_at(index, dict(flat(source)))
        return self

    def set_at_(self, key: NestedKey, value: Any, index: Any) -> Self:
        """Copy a value into some rows of the entry under a key, in place."""
        stack, rest = _stack_on(self, path(key))
        if stack is not None:
            type(stack).set_at_(stack, rest, value, index)
        else:
            _to_write("set_at_", self, path(key))[index] = value
        return self

    def get_at(self, key: NestedKey, index: Any, default: Any = MISSING) -> Any:
        """Some rows of the entry under a key."""
        if key not in self and default is not MISSING:
            return default
        return entry(self, path(key))[index]

    def pop(self, key: NestedKey, default: Any = MISSING) -> Any:
        """Take the entry under a key out and return it.

        >>> TensorDict(a=torch.zeros(3)).pop("a").shape
        torch.Size([3])

        Raises KeyMissing when it is not there and no default is given.
        """
        self._check_open(f"pop {errors.name_of(unravel(key))}")
        names = path(key)
        if names not in self:
            if default is not MISSING:
                return default
            entry(self, names)  # Raises, with the names that are there; an unset field falls through.
        value = entry(self, names)
        self._remove(names)
        return value

    def _remove(self, names: tuple[str, ...]) -> None:
        parent = entry(self, names[:-1])
        if names[-1] not in parent._fields:
            raise parent._missing(names[-1])
        parent._check_open(f"delete {errors.name_of(names)}")
        parent._drop(names[-1])

    def _drop(self, name: str) -> None:
        """Forget the entry under a name."""
        del self._fields[name]

    def del_(self, key: NestedKey) -> Self:
        """Delete the entry under a key."""
        self._check_open(f"delete {errors.name_of(unravel(key))}")
        self._remove(path(key))
        return self

    def __delitem__(self, key: NestedKey) -> None:
        type(self).del_(self, key)

    def popitem(self) -> tuple[str, Any]:
        """Take the last entry out; return its key and value."""
        keys = [key for (key,), _ in walk.paths(self, False, False)]
        if not keys:
            raise errors.KeyMissing("popitem: the container has no entries")
        return keys[-1], type(self).pop(self, keys[-1])

    def clear(self) -> Self:
        """Delete every entry."""
        self._check_open("clear it")
        for name in list(self._fields):
            self._drop(name)
        return self

    # ---- other containers out of this one -----------------------------------------------------------------------

    def select(self, *keys: NestedKey, inplace: bool = False, strict: bool = True) -> Self:
        """Only the entries under these keys; the tensors are shared.

        >>> list(TensorDict(a=torch.zeros(3), b=torch.ones(3)).select("a").keys())
        ['a']

        Raises KeyMissing for a key that is not there, unless strict=False.
        """
        names = [path(key) for key in keys]
        if strict:
            for one in names:
                if one not in self:
                    entry(self, one)  # It says what is missing.
        chosen = self._selected(names)
        return self._replaced_by(chosen) if inplace else chosen

    def _selected(self, names: list[tuple[str, ...]]) -> Self:
        fields: dict[str, Any] = {}
        for name, rests in under(names).items():
            if name not in self._fields:
                continue
            value = self._fields[name]
            if () in rests or not is_tree(value):
                if () in rests:
                    fields[name] = value
            else:
                fields[name] = value._selected(rests)
        return self._bare(fields, self._batch, self._names)  # type: ignore[return-value]  # A typed node leaves fields unset.

    def exclude(self, *keys: NestedKey, inplace: bool = False) -> Self:
        """All entries but those under these keys; the tensors are shared."""
        left = self._excluded([path(key) for key in keys])
        return self._replaced_by(left) if inplace else left

    def _excluded(self, names: list[tuple[str, ...]]) -> Self:
        fields = dict(self._fields)
        for name, rests in under(names).items():
            self._check_name(name)
            if name not in fields:
                continue
            if () in rests:
                del fields[name]
            elif is_tree(fields[name]):
                fields[name] = fields[name]._excluded(rests)
        return self._bare(fields, self._batch, self._names)  # type: ignore[return-value]

    def _replaced_by(self, other: Any) -> Self:
        self._check_open("drop entries")
        for name in list(self._fields):
            if name not in other._fields:
                self._drop(name)
        for name, value in other._fields.items():
            self._fields[name] = value
        return self

    def split_keys(self, *key_sets: list[NestedKey], inplace: bool = False, strict: bool = True) -> tuple[Self, ...]:
        """One container for each list of keys, and a last one with all other entries."""
        parts = [type(self).select(self, *keys, strict=strict) for keys in key_sets]
        rest = type(self).exclude(self, *[key for keys in key_sets for key in keys])
        return (*parts, self._replaced_by(rest) if inplace else rest)

    def rename_key_(self, old_key: NestedKey, new_key: NestedKey, safe: bool = False) -> Self:
        """Move an entry to another key.

        safe: refuse to overwrite an entry. Raises KeyMissing when the old key is not there.
        """
        old, new = path(old_key), path(new_key)
        self._check_open(f"rename {errors.name_of(old)}")
        value = entry(self, old)
        if old == new:
            return self
        if safe and new in self:
            raise errors.KeyTaken(f"rename_key_: {errors.name_of(new)} is there already")
        if new[: len(old)] == old:
            raise errors.StructureError(f"rename_key_: {errors.name_of(old)} cannot move inside itself")
        self._set(new, value, new)
        self._remove(old)
        return self

    def flatten_keys(self, separator: str = ".", *, inplace: bool = False) -> TensorDict:
        """All entries of nested containers at the root, their path joined by the separator.

        >>> list(TensorDict({"n": {"b": torch.zeros(3)}}).flatten_keys(".").keys())
        ['n.b']
        """
        fields: dict[str, Any] = {}
        for at, value in walk.paths(self, True, False):
            if is_tree(value):
                continue
            key = separator.join(at)
            if key in fields:
                raise errors.KeyTaken(f"flatten_keys: two entries would be called {key!r}; choose another separator")
            fields[key] = value
        return self._untyped(fields, inplace)

    def unflatten_keys(self, separator: str = ".", *, inplace: bool = False) -> TensorDict:
        """Nested containers out of keys that hold the separator: the way back from flatten_keys."""
        out = self._untyped({}, False)
        for name, value in self._fields.items():
            at = tuple(name.split(separator))
            for depth in range(1, len(at)):
                if at[:depth] in out and not is_tree(entry(out, at[:depth])):
                    raise errors.KeyTaken(f"unflatten_keys: {errors.name_of(at[:depth])} is an entry and a container")
            if at in out:
                raise errors.KeyTaken(f"unflatten_keys: {errors.name_of(at)} would be there twice")
            out._set(at, value, at)
        return self._untyped(out._fields, inplace)

    def _untyped(self, fields: dict[str, Any], inplace: bool) -> TensorDict:
        """These entries as a TensorDict, or (inplace) as the entries of this one."""
        raise NotImplementedError


def _stack_on(node: Any, names: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """The lazy stack on the way to an entry, and the rest of the way: what it reads is a copy, so it writes itself."""
    for depth, name in enumerate(names[:-1], 1):
        node = node._fields.get(name)
        if not is_tree(node):
            break
        if node._items is not None:
            return node, names[depth:]
    return None, ()


def _to_write(op: str, node: Node, names: tuple[str, ...]) -> Any:
    """The entry at a path, to be written in place: an instance of a frozen class on the way refuses."""
    value = entry(node, names)
    for name in names:
        node._check_thawed(f"{op}()")
        node = node._fields[name]
    return value


def _merge(node: KeyMethods, name: str, fresh: KeyMethods) -> None:
    """Put a fresh container under a name; where another key of the same update has put one, what is in it."""
    if is_tree(node._fields.get(name)):
        node._fields[name].update(fresh)
    else:
        node._put(name, fresh)
