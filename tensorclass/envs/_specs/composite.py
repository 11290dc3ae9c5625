"""Composite: a dict of specs that share leading dims, for the entries of a TensorDict."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Size
from typing_extensions import Self

from ..._keys import NestedKey
from ..._rules import errors, spec_errors
from ..._rules.keys import path, unravel
from ..._tensordict import TensorDict
from ..._tree.contract import full_device
from ..._tree.node import kind
from .base import TensorSpec
from .keyed import Entry, KeyedSpec, entry
from .leaf import checked_shape
from .node import node_of, tensors_of


class Composite(KeyedSpec):
    """Specs under keys, for a TensorDict whose entries they describe.

    >>> from tensorclass.envs import Bounded, Categorical, Unbounded
    >>> spec = Composite(obs=Unbounded((4, 3)), arm=Composite(grip=Categorical(2, (4,)), shape=(4,)), shape=(4,))
    >>> spec["arm", "grip"].n
    2
    >>> spec.rand()["obs"].shape
    torch.Size([4, 3])
    >>> spec.is_in(TensorDict(obs=torch.zeros(4, 3), batch_size=4))
    False

    Every entry starts with the shape of the Composite; an entry may be None, which says nothing. `data_cls` is the
    class of the values: `rand` and `zero` make instances of it. Keys that the spec has not are allowed in a value.
    """

    _specs: dict[str, Entry]
    _locked: bool
    _holders: list[weakref.ref[Composite]]  # The locked Composites that it is a part of.

    def __init__(
        self,
        *sources: Mapping[Any, Any] | Composite,
        shape: Sequence[int] | int | None = None,
        device: torch.device | str | int | None = None,
        data_cls: type[Any] | None = None,
        batch_size: Sequence[int] | int | None = None,
        **entries: Any,
    ) -> None:
        given = shape if shape is not None else batch_size
        if given is None:
            given = next((source.shape for source in sources if isinstance(source, Composite)), ())
        self._batch = checked_shape(given)
        self._device = full_device(device)
        self.data_cls = data_cls
        self._specs, self._locked, self._holders = {}, False, []
        for source in sources:
            self.update(source)
        self.update(entries)

    # ---- shape --------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The leading dims that all entries share."""
        return self._batch

    @shape.setter
    def shape(self, shape: Sequence[int] | int) -> None:
        self._check_open("set 'shape'")
        batch = checked_shape(shape)
        self._specs = {key: at_batch(key, spec, batch) for key, spec in self._specs.items()}
        self._batch = batch

    def _node(self) -> TensorDict:
        fields = {key: None if spec is None else spec._node() for key, spec in self._specs.items()}
        return node_of(self, fields, self._batch)

    def _moved(self, node: Any, op: str) -> Composite:
        entries = {key: None if value is None else self._of(value, op) for key, value in tensors_of(node).items()}
        return self._with(entries, node._batch)

    def _alike(self, other: TensorSpec) -> bool:
        return (
            isinstance(other, Composite)
            and (self.shape, self.device, self.data_cls) == (other.shape, other.device, other.data_cls)
            and self._specs.keys() == other._specs.keys()
            and all(entries_alike(spec, other._specs[key]) for key, spec in self._specs.items())
        )

    def _with(self, entries: dict[str, Entry], shape: Size, device: torch.device | None = None) -> Composite:
        made = Composite(shape=shape, device=self.device if device is None else device, data_cls=self.data_cls)
        made._specs = entries
        return made

    # ---- the dict -----------------------------------------------------------------------------------------------

    def _names(self) -> Iterable[str]:
        return self._specs

    def _entry(self, name: str) -> Entry:
        return self._specs[name]

    def __setitem__(self, key: NestedKey, spec: Any) -> None:
        self.set(key, spec)

    def __delitem__(self, key: NestedKey) -> None:
        names = path(key)
        owner = self if len(names) == 1 else entry(self, names[:-1])
        owner._check_open(f"delete {errors.name_of(unravel(key))}")
        entry(owner, names[-1:])
        del owner._specs[names[-1]]

    def set(self, key: NestedKey, spec: Any) -> Self:
        """Put a spec under a key; levels that are missing are made.

        >>> list(Composite().set(("arm", "grip"), Composite()).keys(True))
        ['arm', ('arm', 'grip')]
        """
        first, *rest = path(key)
        self._check_open(f"set {errors.name_of(unravel(key))}")
        if not rest:
            self._specs[first] = self._admitted(first, spec)
            return self
        below: Any = self._specs.get(first)
        if below is None:
            below = self._specs[first] = Composite(shape=self._batch, device=self.device)
        elif not isinstance(below, KeyedSpec):
            raise errors.StructureError(f"{first!r} is {below!r}: nothing can be set inside it")
        inner: Any = below
        inner.set(tuple(rest), spec)
        return self

    def _admitted(self, key: str, spec: Any) -> Entry:
        if isinstance(spec, Mapping):
            spec = Composite(spec, shape=self._batch, device=self.device)
        if not isinstance(spec, TensorSpec) and spec is not None:
            raise errors.KindError(f"Composite: {key!r} is {kind(spec)}; a spec, a dict of them or None would do")
        found = at_batch(key, spec, self._batch)
        return found if found is None or self.device in (None, found.device) else found._cast(self.device, None)

    def update(self, source: Mapping[Any, Any] | Composite) -> Self:
        """Put every spec of a dict, or of another Composite, under its key."""
        for key, spec in source.items():
            mine = self.get(key)
            if isinstance(mine, Composite) and isinstance(spec, (Mapping, Composite)) and mine is not spec:
                mine.update(spec)
            elif isinstance(source, Composite) and isinstance(spec, TensorSpec):
                self.set(key, spec.clone())  # A write to this Composite is none to the other.
            else:
                self.set(key, spec)
        return self

    def pop(self, key: NestedKey, *default: Any) -> Any:
        """Take the spec under a key out."""
        if default and key not in self:
            return default[0]
        spec = entry(self, path(key))
        del self[key]
        return spec

    def setdefault(self, key: NestedKey, spec: Any) -> Any:
        """The spec under a key, after putting the given one there if there was none."""
        if key not in self:
            self.set(key, spec)
        return self[unravel(key)]

    def select(self, *keys: NestedKey, strict: bool = True) -> Composite:
        """A Composite with only these keys."""
        out = self.empty()
        for key in keys:
            if strict or key in self:
                out.set(key, entry(self, path(key)))
        return out

    def exclude(self, *keys: NestedKey) -> Composite:
        """A Composite without these keys."""
        out = self.clone()
        for key in keys:
            out.pop(key, None)
        return out

    def empty(self) -> Composite:
        """A Composite of the same shape, device and class without keys."""
        return self._with({}, self._batch)

    # ---- locks --------------------------------------------------------------------------------------------------

    @property
    def is_locked(self) -> bool:
        """Whether entries can be added, replaced or deleted."""
        return self._locked or self._is_part()

    def _is_part(self) -> bool:
        return any(holder() is not None for holder in self._holders)

    def lock_(self) -> Self:
        """Refuse new, replaced and deleted entries, here and below."""
        if not self._locked:
            self._locked = True
            me: weakref.ref[Composite] = weakref.ref(self)
            for part in self._parts():
                part._holders.append(me)
        return self

    def unlock_(self) -> Self:
        """Allow all writes again, here and below; refused for a part of something that is locked."""
        if self._is_part():
            raise errors.Locked("cannot unlock a part of a locked Composite; call .unlock_() on the whole")
        self._locked = False
        for part in self._parts():
            part._holders = [holder for holder in part._holders if holder() is not self]
        return self

    def _parts(self) -> list[Composite]:
        return [part for spec in self._specs.values() if spec is not None for part in spec._composites()]

    def _composites(self) -> list[Composite]:
        return [self, *self._parts()]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_holders": [], "_locked": False, "locked": self._locked}

    def __setstate__(self, state: dict[str, Any]) -> None:
        locked = state.pop("locked")
        vars(self).update(state)
        if locked:
            self.lock_()

    def _check_open(self, action: str) -> None:
        if self.is_locked:
            raise errors.Locked(
                f"cannot {action}: the Composite is locked; call .unlock_() on it first, or work on a .clone()"
            )

    # ---- the rest -----------------------------------------------------------------------------------------------

    def clone(self) -> Composite:
        """A Composite of its own, unlocked; nested ones are cloned too."""
        return self._with(
            {key: None if spec is None else spec.clone() for key, spec in self._specs.items()}, self._batch
        )

    def _cast(self, device: torch.device | None, dtype: torch.dtype | None) -> Composite:
        entries = {key: None if spec is None else cast(spec, device, dtype) for key, spec in self._specs.items()}
        return self._with(entries, self._batch, device)

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, Composite)
            and (self._batch, self.device, self.data_cls) == (other._batch, other.device, other.data_cls)
            and self._specs == other._specs
        )

    def __hash__(self) -> int:
        if not self.is_locked:
            raise errors.KindError("a Composite can be hashed only while it is locked; call .lock_() on it first")
        return hash((Composite, self._batch, frozenset(self._specs)))

    def __repr__(self) -> str:
        lines = [f"{key}: {spec!r},".replace("\n", "\n    ") for key, spec in self._specs.items()]
        also = f"shape={tuple(self._batch)}, device={None if self.device is None else str(self.device)!r}"
        also += "" if self.data_cls is None else f", data_cls={self.data_cls.__name__}"
        return "Composite(\n    " + "\n    ".join([*lines, also]) + ")"


def entries_alike(one: Entry, other: Entry) -> bool:
    """Whether one entry can stand for both but for bounds and masks."""
    return one is other if one is None or other is None else one._alike(other)


def at_batch(key: str, spec: Entry, batch: Size) -> Entry:
    """An entry that starts with the shape of the Composite around it."""
    if spec is None or spec.shape[: len(batch)] == batch:
        return spec
    if isinstance(spec, Composite) and len(spec.shape) < len(batch):
        longer = spec.clone()
        longer.shape = batch
        return longer
    raise spec_errors.SpecShape(spec_errors.leaf_shape(key, tuple(spec.shape), tuple(batch)))


def cast(spec: TensorSpec, device: torch.device | None, dtype: torch.dtype | None) -> TensorSpec:
    """An entry with another device or dtype: a floating point dtype is for floating point numbers."""
    fits = dtype is None or spec.dtype is None or spec.dtype.is_floating_point == dtype.is_floating_point
    return spec._cast(device, dtype if fits else None)
