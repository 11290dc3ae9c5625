"""Making and changing an instance of a typed class: the whole check, with the sentence when something does not fit."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Size, Tensor

from ._container import checked_names, failed_property
from ._data import NonTensorData
from ._door import take
from ._fields import Field
from ._rules import elsewhere, errors
from ._rules.annotations import Bindings, Dims, check, match, vote
from ._rules.elsewhere import Later
from ._tree.contract import as_size, check_tensor, full_device, moved, rebatched
from ._tree.node import Node

if TYPE_CHECKING:
    from ._declared import Declared


class Absent(enum.Enum):
    """What stands in a signature where a default would; an enum, since torch.compile can read the members of one."""

    REQUIRED = "required"
    FACTORY = "factory"

    def __repr__(self) -> str:
        return f"<{self.value}>"


class MissingArgument(errors.KindError):
    """A constructor argument that was not given and has no default."""


class NoSuchArgument(errors.UnknownField, TypeError):
    """A constructor argument that is no field."""


class FieldUnset(errors.RuleError, AttributeError, KeyError):
    """A field that nothing has been written to yet."""


class Frozen(errors.Locked, dataclasses.FrozenInstanceError):
    """A write to an instance of a frozen class."""


def unknown_arguments(cls: type[Declared], unknown: Mapping[str, Any]) -> Exception:
    """The error for arguments that are no fields."""
    return NoSuchArgument(errors.no_field(cls.__name__, next(iter(unknown)), cls._declared))


def missing_argument(cls: type[Declared], name: str) -> Exception:
    """The error for an argument that was not given."""
    return MissingArgument(f"{cls.__name__}: no value for {name!r}, and it has no default")


def no_field(node: Declared, name: str) -> Exception:
    """The error for a key that an instance does not have."""
    declared = type(node)._declared
    if name in declared:
        return FieldUnset(errors.not_set(type(node).__name__, name))
    return errors.UnknownField(errors.no_field(type(node).__name__, name, declared))


def no_attribute(node: Declared, name: str) -> Exception:
    """The error for an attribute that an instance does not have."""
    if name in ("_batch", "_device", "_locked"):
        return AttributeError(f"{type(node).__name__} is used before super().__init__(...) has set it up")
    declared = name in type(node)._declared
    problem = None if declared else failed_property(node, name)
    if problem is not None:
        try:
            return problem
        finally:
            del problem  # Its traceback leads back to this frame: the container would live until the next collection.
    if name.startswith("_") and not declared:  # Asked for by libraries, often, to see whether it is there.
        return AttributeError(f"{type(node).__name__!r} object has no attribute {name!r}")
    if declared:
        return no_field(node, name)
    return errors.UnknownField(Later(elsewhere.no_field_or_method, type(node), name, list(type(node)._declared)))


def write(node: Declared, name: str, value: Any) -> None:
    """`node.name = value`, where it is not the simple case."""
    cls = type(node)
    if name in cls._declared:
        cls._check_open(node, f"set {name!r}")
        node._fields[name] = admitted(node, name, value)
        return
    for owner in cls.__mro__:
        if name in owner.__dict__:
            if hasattr(type(owner.__dict__[name]), "__set__"):
                object.__setattr__(node, name, value)
                return
            break
    if name.startswith("__"):
        raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}")
    raise no_field_to_set(node, name)


def no_field_to_set(node: Declared, name: str) -> Exception:
    """The error for a write to a name that is no field."""
    return errors.UnknownField(errors.no_field_to_set(type(node).__name__, name, type(node)._declared))


def frozen(node: Declared, action: str) -> Exception:
    """The error for a write to an instance of a frozen class."""
    return Frozen(errors.frozen(type(node).__name__, action))


def resize(node: Declared, batch: Size) -> None:
    """Set the batch size, where the fields with *batch have it."""
    node._check_thawed("set 'batch_size'")
    for name, dims, shape in _ballots(type(node)._declared, node._fields):
        wrong = check(name, dims, shape, {}, tuple(batch), node=isinstance(node._fields[name], Node))
        if wrong is not None:
            raise errors.ShapeError(wrong)
    node._set_batch(batch)


def set_up(node: Declared, values: Mapping[str, Any], batch_size: Any, device: Any, names: Any) -> None:
    """Check what the constructor was given and store it."""
    declared = type(node)._declared
    device = full_device(device)
    try:
        for name, value in values.items():
            if value is Absent.REQUIRED:
                raise missing_argument(type(node), name)
        taken = {name: _taken(node, declared[name], value, device) for name, value in values.items()}
    except errors.KindError as problem:
        problem.args = (f"{problem}{_meant_whole(type(node), values)}",)
        raise
    batch = _voted(declared, taken) if batch_size is None else as_size(batch_size)
    fields = fitted(node, taken, batch, device, {})
    object.__setattr__(node, "_batch", batch)
    object.__setattr__(node, "_device", device)
    object.__setattr__(node, "_names", None if names is None else checked_names(names, len(batch)))
    object.__setattr__(node, "_locked", False)
    object.__setattr__(node, "_leaves", None)
    node._fill({name: fields[name] for name in values})


def _meant_whole(cls: type[Declared], values: Mapping[str, Any]) -> str:
    """The end of a sentence where a dict or container of all fields was given for the first of them."""
    first = next(iter(values.values()), None)
    if isinstance(first, Node) and not cls._declared.keys().isdisjoint(first._fields):
        return f"; {cls.__name__}.from_tensordict(...) takes the fields out of a container"
    if isinstance(first, Mapping) and not cls._declared.keys().isdisjoint(first):
        return f"; {cls.__name__}.from_dict(...) or {cls.__name__}(**fields) takes the fields out of a dict"
    return ""


def _taken(node: Declared, at: Field, value: Any, device: torch.device | None) -> Any:
    if isinstance(value, NonTensorData):
        value = value.data
    return take(type(node).__name__, at, value, type(node)._options, device)


def _voted(declared: Mapping[str, Field], taken: Mapping[str, Any]) -> Size:
    batch, wrong = vote(_ballots(declared, taken))
    if wrong is not None:
        raise errors.ShapeError(wrong)
    return Size(batch)


def _ballots(declared: Mapping[str, Field], taken: Mapping[str, Any]) -> Iterable[tuple[str, Any, Any]]:
    for name, value in taken.items():
        dims = declared[name].dims_of(value)
        if dims is not None and dims.has_batch:
            yield name, dims, tuple(value._batch if isinstance(value, Node) else value.shape)


def fitted(
    node: Declared,
    taken: Mapping[str, Any],
    batch: Size,
    device: torch.device | None,
    bindings: Bindings,
) -> dict[str, Any]:
    """Values on the device, checked against the batch size and their annotations; binds the names of dims."""
    declared = type(node)._declared
    fields = {}
    for name, value in taken.items():
        if isinstance(value, (Tensor, Node)):
            value = moved(value, device)
            if isinstance(value, Node):
                value = rebatched(name, value, batch)
        fields[name] = value
    # Annotations such as n+1 come last, when the others have bound n.
    for sums in (False, True):
        for name, value in fields.items():
            dims = declared[name].dims_of(value)
            if (dims is not None and dims.has_sums) is sums:
                check_fits(name, value, dims, batch, bindings)
    return fields


def check_fits(name: str, value: Any, dims: Dims | None, batch: Size, bindings: Bindings) -> None:
    """Refuse a value that does not fit the batch size or the dim string."""
    if isinstance(value, Tensor):
        if value.is_nested:
            check_tensor(name, value, batch)
            return
        shape, is_node = tuple(value.shape), False
    elif isinstance(value, Node):
        shape, is_node = tuple(value._batch), True
    else:
        return
    wrong = check(name, dims, shape, bindings, tuple(batch), node=is_node)
    if wrong is not None:
        raise errors.ShapeError(wrong)


def admitted(node: Declared, name: str, value: Any) -> Any:
    """What is stored for a value that is written to a field."""
    declared = type(node)._declared
    if name not in declared:
        raise no_field_to_set(node, name)
    at = declared[name]
    value = _taken(node, at, value, node._device)
    dims = at.dims_of(value)
    before = node._fields.get(name)
    if dims is not None and not dims.has_batch and _same_shape(before, value):
        # No *batch: the annotation is about the shape at construction, and an op may have changed it since.
        dims = None
    bindings = names_bound(node, (name,), dims.names) if dims is not None and dims.names else {}
    value = moved(value, node._device)
    if isinstance(value, Node):
        value = rebatched(name, value, node._batch)
    check_fits(name, value, dims, node._batch, bindings)
    return value


def _same_shape(before: Any, value: Any) -> bool:
    return isinstance(before, Tensor) and isinstance(value, Tensor) and before.shape == value.shape


def names_bound(node: Declared, but: Iterable[str], names: frozenset[str]) -> Bindings:
    """What the names of dims stand for in an instance, going by the fields that are not about to change."""
    bindings: Bindings = {"*batch": tuple(node._batch)}
    changing = set(but)
    for name, at in type(node)._declared.items():
        value: Any = node._fields.get(name)
        dims = None if name in changing else at.dims_of(value)
        if dims is None or not (dims.names & names) or (isinstance(value, Tensor) and value.is_nested):
            continue
        tried = dict(bindings)
        # A field whose shape an op has changed says nothing.
        if match(dims, tuple(value._batch if isinstance(value, Node) else value.shape), tried) is None:
            bindings = tried
    return bindings


def fits_simply(node: Declared, name: str, value: Any) -> bool:
    """Whether a few numbers tell that a tensor fits its field; where they do not, the full check says more."""
    simple = type(node)._simple.get(name)
    if simple is None or not isinstance(value, Tensor) or value.is_nested:
        return False
    (tail, dtypes), batch = simple, node._batch
    fits = value.shape[: len(batch)] == batch if tail is None else value.shape == (*batch, *tail)
    return fits and (dtypes is None or value.dtype in dtypes)


def changed(node: Declared, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an instance with some of them replaced, checked together."""
    declared = type(node)._declared
    for name in values:
        if name not in declared:
            raise NoSuchArgument(errors.no_field(type(node).__name__, name, declared))
    if node._device is None and all(fits_simply(node, name, value) for name, value in values.items()):
        return {**node._fields, **values}
    taken = {name: _taken(node, declared[name], value, node._device) for name, value in values.items()}
    shared: frozenset[str] = frozenset()
    for name, value in taken.items():
        dims = declared[name].dims_of(value)
        shared |= dims.names if dims is not None else frozenset()
    bindings = names_bound(node, values, shared) if shared else {}
    return {**node._fields, **fitted(node, taken, node._batch, node._device, bindings)}
