"""What the plugin can know of a value: a constant, a shape, a container, a module; or nothing (UNKNOWN)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeGuard

from mypy.nodes import Expression, FuncDef, LambdaExpr, TypeInfo, Var
from mypy.types import ProperType

from tensorclass._rules import algebra
from tensorclass._rules.sizes import UNKNOWN, same

Value: TypeAlias = Any  # One of the classes below, a Python constant, a tuple of values, a size, or UNKNOWN.
Shape: TypeAlias = "tuple[Any, ...] | None"  # None: not even the rank is known.

INT_PARAMETER = "?"  # Before the name of a size that stands for an int argument: two of them may be equal.


@dataclass(frozen=True, slots=True)
class Star:
    """A run of dims of unknown length, such as *batch; `dropped` of its first and `cut` of its last dims are gone."""

    name: str
    dropped: int = 0
    cut: int = 0
    owner: int = 0  # Whose run it is: of the function or class at hand (0), or of one container alone.

    def __repr__(self) -> str:
        if self.name == "?":
            return "..."
        ends = f"[{self.dropped or ''}:{-self.cut if self.cut else ''}]" if self.gone else ""
        return f"*{self.name}{ends}"

    @property
    def gone(self) -> int:
        """How many of its dims are."""
        return self.dropped + self.cut


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor: its shape and its dtype, as far as they are known."""

    shape: Shape = None
    dtype: str | None = None  # See _dtypes: "float32", or a kind such as "float".
    parameter: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """A number of which the kind alone is known, "float"; a size that is not known is UNKNOWN."""

    kind: str


@dataclass(frozen=True, slots=True)
class Perhaps:
    """None, or a tensor; a test says which."""

    value: Tensor


@dataclass(frozen=True, slots=True)
class Ref:
    """A thing that can be changed; what is known of it is in the heap of the state."""

    id: int


@dataclass(frozen=True, slots=True)
class Items:
    """A Python list; None: what is in it is not known."""

    items: tuple[Value, ...] | None


@dataclass(frozen=True, slots=True)
class Mapped:
    """A Python dict with constant keys."""

    items: Mapping[Any, Value] | None
    closed: bool = False  # Made from a container, and not changed since: a key that is not there is a mistake.

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A container: TensorDict or an instance of a TensorClass."""

    info: TypeInfo | None  # The TensorClass; None is a plain TensorDict.
    type: ProperType | None = None
    exact: bool = False  # Made here: no subclass.
    batch: Shape = None
    fields: Mapping[str, Value] = field(default_factory=dict)
    open: bool = True  # There may be keys besides those of `fields`.
    locked: bool | None = None
    no_batch_size: bool = False  # Built without a batch_size, which is therefore empty.
    lazy: bool = False
    ragged: bool = False  # The sizes of the batch that are unknown surely differ from item to item.
    ensemble: bool = False
    linked: tuple[Value, ...] = ()  # What changes with it: the items of a lazy stack, the stacks of an item.

    def facts(self) -> tuple[Any, ...]:
        return (self.info, self.batch, tuple(self.fields.items()), self.open, self.locked, self.lazy)


@dataclass(frozen=True, slots=True, eq=False)
class Net:
    """A module: its class, the arguments it was made with and the attributes that are known."""

    kind: str  # The name of a class of torch.nn or tensorclass.nn, or "user".
    info: TypeInfo | None = None
    exact: bool = False
    settings: Mapping[str, Value] = field(default_factory=dict)
    touched: bool = False  # Changed by code that could not be followed.


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function or a bound method that is defined in this program."""

    node: FuncDef
    self: Value = None
    bound: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Lambda:
    """A lambda written in the code at hand."""

    node: LambdaExpr


@dataclass(frozen=True, slots=True)
class Library:
    """A function, class or submodule of a package, by the name that users write: torch.zeros."""

    name: str


@dataclass(frozen=True, slots=True)
class Class:
    """A class of this program, or of a package; `perhaps`: or one of its subclasses, as cls is."""

    info: TypeInfo
    perhaps: bool = False


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a value, not called yet."""

    owner: Value
    name: str


@dataclass(frozen=True, slots=True)
class Typed:
    """A value of which the type alone is known."""

    type: ProperType


@dataclass(frozen=True, slots=True)
class Cut:
    """A slice in an index."""

    start: Value
    stop: Value
    step: Value


@dataclass(frozen=True, slots=True)
class Plain:
    """Data in a container that is no tensor, by its kind; an op may have made a stack of it."""

    kind: str


@dataclass(frozen=True, slots=True)
class Unset:
    """A field of a typed class that is surely not set: it was not selected."""


@dataclass(frozen=True, slots=True)
class Uneven:
    """An entry of a lazy stack whose items have it in different shapes."""

    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Many:
    """Some values of one kind, nobody knows how many."""

    each: Value


@dataclass(frozen=True, slots=True)
class Dtype:
    """A torch dtype, by its name."""

    kind: str


def is_known(value: Value) -> bool:
    """Whether anything is known."""
    return value is not UNKNOWN


def is_int(value: Value) -> TypeGuard[int]:
    """An int that is known as a number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_size(value: Value) -> bool:
    """A number or a name for one."""
    return is_int(value) or isinstance(value, algebra.Dim)


def equal(one: Value, other: Value) -> bool:
    """The same knowledge (1 and True differ)."""
    if one is other:
        return True
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(equal(a, b) for a, b in zip(one, other))
    if type(one) is not type(other) or one is UNKNOWN or other is UNKNOWN:
        return False
    if isinstance(one, Tensor):
        return one.dtype == other.dtype and same_shape(one.shape, other.shape)
    if isinstance(one, Sizes):
        return equal(one.row, other.row)
    return bool(one == other)


def same_shape(one: Shape, other: Shape) -> bool:
    """Whether the same is known of two shapes."""
    if one is None or other is None:
        return one is other
    return len(one) == len(other) and all(a is b or equal(a, b) for a, b in zip(one, other))


def differ(one: Value, other: Value, strict: bool = False) -> bool | None:
    """Whether two sizes differ: True, False or None (cannot be known).

    Two declared names differ, because a caller may choose them apart; a name and a number only when `strict`.
    """
    if isinstance(one, Star) or isinstance(other, Star):
        return None if one != other else False
    if not (is_size(one) and is_size(other)):
        return None
    answer = same(one, other)
    if answer is not None:
        return not answer
    made = _names(one) and _names(other) and not _names(one) & _names(other)
    if made and (_is_sum(one) or _is_sum(other)):
        return None  # A name of its own may well be for a sum of others: bins and edges.
    if (
        _is_plain(one)
        and _is_plain(other)
        and _names(one) | _names(other)
        and not any(name.startswith(INT_PARAMETER) for name in _names(one) | _names(other))
    ):
        both = isinstance(one, algebra.Dim) and isinstance(other, algebra.Dim)
        return True if both or strict else None
    return None


def _is_sum(size: Value) -> bool:
    """More than a name alone."""
    return isinstance(size, algebra.Dim) and size not in [algebra.name(one) for one in size.names]


def _is_plain(size: Value) -> bool:
    """A number, or sums and products of names: no quotient that may or may not come out even."""
    return not isinstance(size, algebra.Dim) or all(isinstance(atom, str) for term in size.terms for atom in term)


def _names(size: Value) -> frozenset[str]:
    return size.names if isinstance(size, algebra.Dim) else frozenset()


_owners = itertools.count(1)


def own_run() -> tuple[Star, ...]:
    """A batch size of which nothing is known, but that it is the one of this container."""
    return (Star("batch", owner=next(_owners)),)


def some_run() -> Star:
    """A run of dims without a name, as ... is: it is the same as no other."""
    return Star("?", owner=next(_owners))


def has_star(shape: Shape) -> bool:
    """Whether a shape holds a run of dims."""
    return shape is not None and any(isinstance(size, Star) for size in shape)


def known(tensor: Tensor) -> tuple[Any, ...] | None:
    """The shape, when its rank is known."""
    return None if tensor.shape is None or has_star(tensor.shape) else tensor.shape


def show_shape(shape: Shape) -> str:
    """A shape as messages print it."""
    if shape is None:
        return "?"
    return "[" + ", ".join(show_size(size) for size in shape) + "]"


def show_size(size: Value) -> str:
    """A size as messages print it."""
    return str(size).replace(INT_PARAMETER, "") if isinstance(size, algebra.Dim) else str(size)


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a shape in which there is a run of dims: their number is not known."""

    row: tuple[Any, ...]


class Named(tuple[Any, ...]):
    """Results that torch gives names."""

    names: tuple[str, ...]

    def __new__(cls, values: Iterable[Value], names: Iterable[str]) -> Named:
        made = super().__new__(cls, values)
        made.names = tuple(names)
        return made


class Pieces(tuple[Any, ...]):
    """Results whose number a shape tells, and no type does: chunks, the sizes of a shape."""


def sizes_value(shape: Shape) -> Value:
    """What `x.shape` is."""
    if shape is None:
        return UNKNOWN
    return Sizes(tuple(shape)) if has_star(shape) else Pieces(shape)


class Outputs(Pieces):
    """Results of a module that was called with plain tensors: one for each out_key."""


class Results(Pieces):
    """The tuple that a module gives, for which mypy has no type."""


Names: TypeAlias = "dict[Var, Value]"
Node: TypeAlias = Expression
