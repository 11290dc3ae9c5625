"""What is known at one place of a program: the values of names and the heap of things that can change."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from mypy.nodes import Var

from tensorclass._rules.sizes import UNKNOWN

from ._values import (
    Box,
    Function,
    Items,
    Lambda,
    Many,
    Mapped,
    Method,
    Net,
    Ref,
    Shape,
    Tensor,
    Value,
    equal,
    same_shape,
)

_ids = itertools.count()


class State:
    """Names and heap; copied where the program branches, joined where the branches meet."""

    __slots__ = ("heap", "names")

    def __init__(self, names: dict[Var, Value] | None = None, heap: dict[int, Any] | None = None) -> None:
        self.names: dict[Var, Value] = {} if names is None else names
        self.heap: dict[int, Any] = {} if heap is None else heap

    def copy(self) -> State:
        return State(dict(self.names), dict(self.heap))

    def new(self, thing: Any) -> Ref:
        """Put a thing on the heap."""
        ref = Ref(next(_ids))
        self.heap[ref.id] = thing
        return ref

    def get(self, value: Value) -> Any:
        """What is known of the thing, or of the value itself."""
        return self.heap.get(value.id, UNKNOWN) if isinstance(value, Ref) else value

    def put(self, ref: Value, thing: Any) -> None:
        if isinstance(ref, Ref):
            self.heap[ref.id] = thing
            if isinstance(thing, Box) and thing.linked:
                self.heap[ref.id] = replace(thing, linked=())
                self.forget(thing.linked, {ref.id})

    def linked(self, one: Value, others: Value) -> Value:
        """The others: what is written to one of them is in a lazy stack too, and in its items."""
        box = self.get(one)
        if not isinstance(box, Box) or not box.lazy:
            return others
        refs = others if isinstance(others, tuple) else (others.each if isinstance(others, Many) else others,)
        for ref, more in ((one, refs), *((ref, (one,)) for ref in refs)):
            thing = self.get(ref)
            if isinstance(ref, Ref) and isinstance(thing, Box):
                self.heap[ref.id] = replace(thing, linked=(*thing.linked, *more))
        return others

    def forget(self, value: Value, seen: set[int] | None = None) -> None:
        """Code that cannot be followed has the value: drop all that it could change."""
        seen = set() if seen is None else seen
        if isinstance(value, (tuple, list)):
            for item in value:
                self.forget(item, seen)
            return
        if isinstance(value, Many):
            self.forget(value.each, seen)
        elif isinstance(value, Method):
            self.forget(value.owner, seen)
        elif isinstance(value, Function):
            self.forget(value.self, seen)
        if not isinstance(value, Ref) or value.id in seen:
            return
        seen.add(value.id)
        thing = self.heap.get(value.id)
        if isinstance(thing, Box):
            self.forget((*thing.fields.values(), *thing.linked), seen)
            self.heap[value.id] = Box(thing.info, thing.type, thing.exact)
        elif isinstance(thing, Items):
            self.forget(thing.items or (), seen)
            self.heap[value.id] = Items(None)
        elif isinstance(thing, Mapped):
            self.forget(tuple((thing.items or {}).values()), seen)
            self.heap[value.id] = Mapped(None)
        elif isinstance(thing, Net):
            self.forget(tuple(thing.settings.values()), seen)
            # What the class of a user's module says of it stays.
            touched = thing.kind != "user"
            self.heap[value.id] = replace(thing, exact=False, settings={}, touched=touched)

    def expose(self, value: Value) -> None:
        """Some part of the value, nobody knows which, now has a name that is not followed."""
        thing = self.get(value)
        inner: Iterable[Value] = thing if isinstance(thing, tuple) else ()
        if isinstance(thing, Many):
            inner = (thing.each,)
        elif isinstance(thing, Items):
            inner = thing.items or ()
        elif isinstance(thing, Mapped):
            inner = (thing.items or {}).values()
        elif isinstance(thing, Box):
            inner = thing.fields.values()
        self.forget(tuple(inner))

    def forget_shapes(self) -> None:
        """A tensor has got another shape in place, and so have all names of it."""
        tables: list[Any] = [self.names, self.heap]
        for names in tables:
            for name, value in list(names.items()):
                loose = _without_shapes(value)
                if loose is not value:
                    names[name] = loose

    def reachable(self, value: Value, seen: set[int]) -> None:
        """Collect the ids of everything that hangs on a value."""
        if isinstance(value, tuple):
            for item in value:
                self.reachable(item, seen)
        elif isinstance(value, Ref) and value.id not in seen:
            seen.add(value.id)
            thing = self.heap.get(value.id)
            inner: Iterable[Value] = ()
            if isinstance(thing, Box):
                inner = thing.fields.values()
            elif isinstance(thing, Items):
                inner = thing.items or ()
            elif isinstance(thing, Mapped):
                inner = (thing.items or {}).values()
            elif isinstance(thing, Net):
                inner = thing.settings.values()
            for item in inner:
                self.reachable(item, seen)


def _without_shapes(value: Value) -> Value:
    if isinstance(value, Tensor):
        return replace(value, shape=None)
    if isinstance(value, tuple):
        return tuple(_without_shapes(item) for item in value)
    if isinstance(value, Many):
        return Many(_without_shapes(value.each))
    if isinstance(value, Items):
        return Items(None if value.items is None else _without_shapes(value.items))
    if isinstance(value, Mapped):
        return Mapped(value.items and {key: _without_shapes(item) for key, item in value.items.items()})
    if isinstance(value, Box):
        return replace(value, fields={key: _without_shapes(item) for key, item in value.fields.items()})
    if isinstance(value, Net):
        return replace(value, settings={key: _without_shapes(item) for key, item in value.settings.items()})
    return value


def join(one: State | None, other: State | None) -> State | None:
    """What is known whichever way the program came; None: there is no such way."""
    if one is None or other is None:
        return other if one is None else one
    joined = State()
    meet = _Meet(one, other, joined)
    for ident, thing in one.heap.items():
        if ident in other.heap:
            joined.heap[ident] = thing if thing is other.heap[ident] else None
        else:
            joined.heap[ident] = thing
    for ident, thing in other.heap.items():
        if ident not in one.heap:
            joined.heap[ident] = thing
        elif joined.heap[ident] is None:
            joined.heap[ident] = meet.things(one.heap[ident], thing)
    theirs = other.names
    for var, value in one.names.items():
        if var in theirs:
            also = theirs[var]
            joined.names[var] = value if value is also else meet.values(value, also)
        else:
            joined.names[var] = UNKNOWN  # Perhaps unbound: nothing is said about it.
    for var in other.names:
        if var not in one.names:
            joined.names[var] = UNKNOWN
    return joined


def join_values(state: State, one: Value, other: Value) -> Value:
    """One of two values of one state, nobody knows which."""
    return _Meet(state, state, state).values(one, other)


class _Meet:
    """Joins values of two states into a third."""

    def __init__(self, one: State, other: State, into: State) -> None:
        self.one, self.other, self.into = one, other, into
        self.made: dict[tuple[int, int], Ref] = {}

    def values(self, a: Value, b: Value) -> Value:
        if a is b:
            return a
        if a is UNKNOWN or b is UNKNOWN:
            return self._lose(a, b)
        if isinstance(a, Ref) and isinstance(b, Ref):
            return a if a.id == b.id else self._refs(a, b)
        if equal(a, b):
            return a
        if isinstance(a, Tensor) and isinstance(b, Tensor):
            return Tensor(join_shapes(a.shape, b.shape), a.dtype if a.dtype == b.dtype else None)
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return tuple(self.values(x, y) for x, y in zip(a, b))
        if isinstance(a, Many) and isinstance(b, Many):
            return Many(self.values(a.each, b.each))
        return self._lose(a, b)

    def _lose(self, a: Value, b: Value) -> Value:
        """Things that now have a name nobody follows."""
        for value in (a, b):
            if isinstance(value, (Ref, tuple)):
                self.into.forget(value)
        return UNKNOWN

    def _refs(self, a: Ref, b: Ref) -> Value:
        """Two things under one name: what they share; each alone may change through that name."""
        known = self.made.get((a.id, b.id))
        if known is not None:
            return known
        x, y = self.one.heap.get(a.id), self.other.heap.get(b.id)
        thing = self.things(x, y)
        if thing is UNKNOWN:
            self.into.forget(a)
            self.into.forget(b)
            return UNKNOWN
        ref = self.into.new(thing)
        self.made[a.id, b.id] = ref
        self.into.forget(a)
        self.into.forget(b)
        return ref

    def things(self, x: Any, y: Any) -> Any:
        if x is y:
            return x
        if isinstance(x, Box) and isinstance(y, Box):
            if x.info is not y.info:
                return UNKNOWN
            keys = [key for key in x.fields if key in y.fields]
            fields = {key: self.values(x.fields[key], y.fields[key]) for key in keys}
            return replace(
                x,
                exact=x.exact and y.exact,
                batch=join_shapes(x.batch, y.batch),
                fields=fields,
                open=x.open or y.open or len(keys) != len(x.fields) or len(keys) != len(y.fields),
                locked=x.locked if x.locked == y.locked else None,
                no_batch_size=x.no_batch_size and y.no_batch_size,
            )
        if isinstance(x, Items) and isinstance(y, Items):
            if x.items is None or y.items is None or len(x.items) != len(y.items):
                self.into.forget((*(x.items or ()), *(y.items or ())))
                return Items(None)
            return Items(tuple(self.values(a, b) for a, b in zip(x.items, y.items)))
        if isinstance(x, Mapped) and isinstance(y, Mapped):
            if x.items is None or y.items is None or list(x.items) != list(y.items):
                self.into.forget((*(x.items or {}).values(), *(y.items or {}).values()))
                return Mapped(None)
            return Mapped({key: self.values(value, y.items[key]) for key, value in x.items.items()})
        if isinstance(x, Net) and isinstance(y, Net) and x.kind == y.kind and x.info is y.info:
            if x.settings.keys() == y.settings.keys():
                settings = {key: self.values(value, y.settings[key]) for key, value in x.settings.items()}
                return replace(x, settings=settings, touched=x.touched or y.touched)
        return UNKNOWN


def join_shapes(one: Shape, other: Shape) -> Shape:
    """What two shapes share."""
    if one is None or other is None or len(one) != len(other):
        return None
    if same_shape(one, other):
        return one
    joined = []
    for a, b in zip(one, other):
        if type(a).__name__ == "Star" or type(b).__name__ == "Star":
            if a != b:
                return None
            joined.append(a)
        else:
            joined.append(a if equal(a, b) else UNKNOWN)
    return tuple(joined)


def unlike(one: State, other: State) -> bool:
    """Whether two states know different things of the names and things they share."""
    if one.names.keys() != other.names.keys():
        return True
    for var, value in one.names.items():
        if not (value is other.names[var] or _alike(value, other.names[var])):
            return True
    for ident, thing in one.heap.items():
        if ident in other.heap and thing is not other.heap[ident] and not _things_alike(thing, other.heap[ident]):
            return True
    return False


def _alike(a: Value, b: Value) -> bool:
    return (a is UNKNOWN and b is UNKNOWN) or equal(a, b)


def _things_alike(x: Any, y: Any) -> bool:
    if isinstance(x, Box) and isinstance(y, Box):
        return (
            x.info is y.info
            and same_shape(x.batch, y.batch)
            and list(x.fields) == list(y.fields)
            and all(_alike(x.fields[key], y.fields[key]) for key in x.fields)
            and x.open == y.open
            and x.locked == y.locked
        )
    if isinstance(x, Items) and isinstance(y, Items):
        if x.items is None or y.items is None:
            return x.items is y.items
        return len(x.items) == len(y.items) and all(_alike(a, b) for a, b in zip(x.items, y.items))
    if isinstance(x, Mapped) and isinstance(y, Mapped):
        if x.items is None or y.items is None:
            return x.items is y.items
        return list(x.items) == list(y.items) and all(_alike(x.items[key], y.items[key]) for key in x.items)
    if isinstance(x, Net) and isinstance(y, Net):
        return x.kind == y.kind and x.settings.keys() == y.settings.keys()
    return bool(x is y)


__all__ = ["Lambda", "State", "join", "join_shapes", "join_values", "unlike"]
