"""The outline of a container: everything but the bytes of its tensors, as JSON, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Size, Tensor

from .._data import NonTensorStack
from .._lazystack import lazy_stack, with_name
from .._rules import errors
from .._tensordict import TensorDict
from .._tree.node import Node, is_tree
from . import _meta
from ._errors import DataDamaged, NotStorable
from ._load import _as_saved, _class_called
from ._plain import NotPlain, decode, encode

Outline = dict[str, Any]
At = tuple[str, ...]
Encode = Callable[[Any], Any]


def outline(node: Node, leaves: list[Tensor], form: Encode = encode) -> Outline:
    """The outline of a tree; its tensors are added to `leaves`, in the order of the outline."""
    return _outline(node, leaves, form, ())


def _outline(node: Node, leaves: list[Tensor], form: Encode, at: At) -> Outline:
    if node._items is not None:
        items = [_outline(item, leaves, form, (*at, str(number))) for number, item in enumerate(node._items)]
        return {"lazy": items, "dim": node._dim, "name": node._dim_name()}
    entries: dict[str, Any] = {}
    for key, value in node._fields.items():
        here = (*at, key)
        if isinstance(value, Tensor):
            entries[key] = {"tensor": len(leaves)} | _nested(value)
            leaf = flat(value) if value.is_nested else value
            entries[key] |= {"shape": list(leaf.shape), "dtype": str(leaf.dtype)}
            leaves.append(leaf)
        elif is_tree(value):
            entries[key] = _outline(value, leaves, form, here)
        elif isinstance(value, NonTensorStack):
            entries[key] = {"rows": list(value._batch), "values": _formed(value._values, form, here)}
            entries[key]["at"] = value._fields["positions"].flatten().tolist()
        elif value is not None or not node._none_is_unset:
            entries[key] = {"data": _formed(value, form, here)}
    out: Outline = {"batch": list(node._batch), "entries": entries}
    if node._names is not None:
        out["names"] = list(node._names)
    if node._device is not None:
        out["device"] = str(node._device)
    cls = type(node)
    if hasattr(cls, "_declared"):
        out["class"] = f"{cls.__module__}:{cls.__qualname__}"
    return out


def _nested(tensor: Tensor) -> dict[str, Any]:
    if not tensor.is_nested:
        return {}
    return {"nested": [list(row.shape) for row in tensor.unbind()], "jagged": tensor.layout is torch.jagged}


def flat(nested: Tensor) -> Tensor:
    """The numbers of a nested tensor, row by row, in one dim."""
    rows = [row.reshape(-1) for row in nested.detach().unbind()]
    return torch.cat(rows) if rows else nested.new_empty(0)


def _rows_of(entry: dict[str, Any], numbers: Tensor) -> Tensor:
    shapes = [_meta.sizes(shape, "nested") for shape in entry["nested"]]
    parts = numbers.split([Size(shape).numel() for shape in shapes])
    layout = torch.jagged if entry["jagged"] else torch.strided
    return torch.nested.as_nested_tensor([part.view(shape) for part, shape in zip(parts, shapes)], layout=layout)


def _formed(value: Any, form: Encode, at: At) -> Any:
    try:
        return form(value)
    except NotPlain as error:
        raise NotStorable(
            f"{errors.name_of(at)} is a {error}, which only a pickle could hold; .memmap() stores one"
        ) from None


def rebuilt(form: Outline, leaves: list[Tensor], read: Encode = decode, device: Any = ...) -> Any:
    """The container of an outline, with these tensors; DataDamaged where they do not fit."""
    try:
        return _rebuilt(form, leaves, read, device, ())
    except errors.RuleError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RuntimeError, RecursionError) as error:
        raise DataDamaged(f"the outline of the container is damaged: {error!r}") from error


def _rebuilt(form: Outline, leaves: list[Tensor], read: Encode, device: Any, at: At) -> Any:
    if "lazy" in form:
        items = [_rebuilt(item, leaves, read, device, (*at, str(number))) for number, item in enumerate(form["lazy"])]
        (name,) = _meta.names_of({"_names": [form.get("name")]}, 1, "name") or (None,)
        return with_name(lazy_stack(items, form["dim"]), name)
    batch = Size(_meta.sizes(form["batch"], "batch"))
    place = form.get("device") if device is ... else device
    out = TensorDict(None, batch, place)
    out._names = _meta.names_of({"_names": form.get("names")}, len(batch), "names")
    for key, entry in form["entries"].items():
        here = (*at, key)
        if "tensor" in entry:
            value: Any = leaves[entry["tensor"]]
            if list(value.shape) != entry["shape"] or str(value.dtype) != entry["dtype"]:
                raise DataDamaged(
                    f"{errors.name_of(here)} is {list(value.shape)} of {value.dtype}, not as it was saved"
                )
            out._fields[key] = out._validate(here, _rows_of(entry, value) if "nested" in entry else value)
        elif "rows" in entry:
            positions = torch.tensor(entry["at"], dtype=torch.long).reshape(entry["rows"])
            values = read(entry["values"])
            if positions.numel() and not 0 <= int(positions.min()) <= int(positions.max()) < len(values):
                raise DataDamaged(f"{errors.name_of(here)}: positions of values that are not there")
            out._fields[key] = out._validate(here, NonTensorStack._from_positions(values, positions))
        elif "data" in entry:
            out._fields[key] = read(entry["data"])
        else:
            out._fields[key] = out._validate(here, _rebuilt(entry, leaves, read, device, here))
    return _as_saved(_class_called(form.get("class")), out)
