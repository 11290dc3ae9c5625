"""What a field may hold: its annotation, read once a class."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from ._resolve import Scope, Unresolved, alternatives, arguments
from ._rules import errors
from ._rules.annotations import AnnotationError, Dims, mistake, parse
from ._tree.node import Node


@dataclass(frozen=True)
class Options:
    """The options of a class, as given in its header."""

    frozen: bool = False
    autocast: bool = False
    nocast: bool = False
    tensor_only: bool = False
    shadow: bool = False

    def __post_init__(self) -> None:
        if self.autocast and self.nocast:
            raise errors.OptionError("autocast and nocast exclude each other; choose one of them")


@dataclass(frozen=True)
class Held:
    """One kind of value that a field may hold; `type` is Tensor, a container class, or the class of plain data."""

    type: Any
    dims: Dims | None = None
    dtypes: frozenset[torch.dtype] | None = None
    word: str = ""  # the annotation, for messages
    bound: tuple[tuple[Any, Any], ...] = ()  # what the type variables of a generic container class stand for
    spec: Any = field(default=None, compare=False)  # what Annotated[..., spec] says of the values

    @property
    def is_tensor(self) -> bool:
        return self.type is Tensor

    @property
    def is_node(self) -> bool:
        return isinstance(self.type, type) and issubclass(self.type, Node)


# The sizes that follow the batch size (None for any), and the dtypes that will do (None for all).
Simple = tuple["tuple[int, ...] | None", "frozenset[torch.dtype] | None"]


@dataclass(frozen=True)
class Field:
    """A declared field: the kinds it may hold, whether it may be unset, whether it may hold anything."""

    name: str
    held: tuple[Held, ...] = ()
    optional: bool = False
    anything: bool = False
    tensor: Held | None = field(init=False, default=None)
    nodes: tuple[Held, ...] = field(init=False, default=())
    data: tuple[Held, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        tensors = [one for one in self.held if one.is_tensor]
        sole = len(tensors) == 1
        set_once = object.__setattr__  # The class is frozen; these three follow from `held`.
        set_once(self, "tensor", (tensors[0] if sole else Held(Tensor, word="Tensor")) if tensors else None)
        set_once(self, "nodes", tuple(one for one in self.held if one.is_node))
        set_once(self, "data", tuple(one for one in self.held if not one.is_tensor and not one.is_node))

    @property
    def words(self) -> str:
        """The annotation as a message shows it."""
        return " | ".join([one.word for one in self.held] + ["None"] * self.optional)

    @property
    def votes(self) -> bool:
        """Whether the batch size can be read off a value."""
        return any(one.dims is not None and one.dims.has_batch for one in self.held)

    @property
    def simple(self) -> Simple | None:
        """What a tensor for the field must fulfil, where that is told by a few numbers; None where it is not."""
        if self.tensor is None or len(self.held) != 1:
            return None
        dims, dtypes = self.tensor.dims, self.tensor.dtypes
        if dims is None:
            return None, dtypes
        return (dims.fixed, dtypes) if dims.has_batch and dims.fixed is not None else None

    def dims_of(self, value: object) -> Dims | None:
        """The dim string that a value must fit."""
        if isinstance(value, Tensor):
            return self.tensor.dims if self.tensor is not None else None
        if isinstance(value, Node):
            return next((one.dims for one in self.nodes if isinstance(value, one.type)), None)
        return None


def read(name: str, annotation: Any, scope: Scope, bound: Mapping[Any, Any]) -> Field:
    """The field that an annotation declares; Unresolved if it names something that is not there."""
    held: list[Held] = []
    optional = anything = False
    for one in alternatives(annotation, scope, bound):
        if one is None or one is type(None):
            optional = True
        elif one is Any or one is object or getattr(one, "_stands_for_value", False):
            anything = True
        else:
            kinds = _held(name, one, scope, bound)
            optional = optional or any(one.type is type(None) for one in kinds)
            held += [one for one in kinds if one.type is not type(None)]
    return Field(name, tuple(held), optional or anything, anything)


def _held(name: str, one: Any, scope: Scope, bound: Mapping[Any, Any]) -> list[Held]:
    origin = typing.get_origin(one)
    if origin is typing.Annotated:
        return [_with_spec(held, one.__metadata__) for held in _annotated(name, one.__origin__, scope, bound)]
    if hasattr(one, "dim_str") and hasattr(one, "dtypes") and hasattr(one, "array_type"):
        return [_shaped(name, one, held) for held in _annotated(name, one.array_type, scope, bound)]
    if isinstance(origin, type) and issubclass(origin, Node):
        return [Held(origin, word=_word(one), bound=tuple(arguments(one, bound).items()))]
    if isinstance(one, type) and issubclass(one, Tensor):
        return [Held(Tensor, word=one.__name__)]
    if type(one).__name__ == "tensortype":  # torch.LongTensor and the like; the dtype is a habit, not a promise
        return [Held(Tensor, word=one.__name__)]
    if isinstance(one, type):
        return [Held(one, word=one.__name__)]
    return [Held(origin if isinstance(origin, type) else object, word=_word(one))]


def _annotated(name: str, inner: Any, scope: Scope, bound: Mapping[Any, Any]) -> list[Held]:
    return [held for one in alternatives(inner, scope, bound) for held in _held(name, one, scope, bound)]


def _with_spec(held: Held, metadata: Iterable[Any]) -> Held:
    """Annotated[Tensor, spec] is *batch and the shape of the spec; other metadata says nothing.

    A spec is whatever has a torch.Size as its shape: those of environments are not known here.
    """
    for spec in metadata:
        shape = getattr(spec, "shape", None)
        if isinstance(shape, torch.Size) and not isinstance(spec, (Tensor, Node)):
            row = parse(" ".join(["*batch", *["_" if size < 0 else str(size) for size in shape]]))
            return replace(held, dims=row if held.is_tensor and held.dims is None else held.dims, spec=spec)
    return held


def _shaped(name: str, one: Any, inner: Held) -> Held:
    wrong = mistake(one.dim_str)
    if wrong is not None:
        raise AnnotationError(f"field {name!r}: {wrong}")
    dtypes = one.dtypes if isinstance(one.dtypes, (tuple, list)) else None
    known = None if dtypes is None else [getattr(torch, dtype, None) for dtype in dtypes]
    return Held(
        inner.type,
        parse(one.dim_str),
        None if known is None else frozenset(dtype for dtype in known if isinstance(dtype, torch.dtype)),
        f'{one.dtype.__name__}[{inner.word}, "{one.dim_str}"]',
        inner.bound,
        inner.spec,
    )


def _word(one: Any) -> str:
    return str(one).replace("typing.", "")


def read_all(
    named: Mapping[str, type], scope_of: Mapping[type, Scope], bound: Mapping[type, Mapping[Any, Any]]
) -> tuple[dict[str, Field], list[str]]:
    """The fields of a class by name, and the names of those that cannot be resolved (now they may hold anything).

    `named` says which class declares each field.
    """
    found: dict[str, Field] = {}
    unresolved: list[str] = []
    for name, owner in named.items():
        try:
            found[name] = read(name, owner.__annotations__[name], scope_of[owner], bound.get(owner, {}))
        except Unresolved:
            unresolved.append(name)
            found[name] = Field(name, optional=True, anything=True)
    return found, unresolved
