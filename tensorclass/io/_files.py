"""One file for a whole container: torch.save without pickled code, and safetensors."""

from __future__ import annotations

import json
import os
from typing import Any, BinaryIO, TypeVar, overload

import torch
from torch import Tensor

from .._container import Container
from .._tensordict import TensorDict
from .._tree.contract import full_device
from .._tree.node import Node
from ._bytes import storable
from ._errors import DataDamaged
from ._load import typed_as
from ._map import Path
from ._outline import outline, rebuilt

C = TypeVar("C", bound=Container)
_FORM = "tensorclass"


def save(container: Container, file: Path | BinaryIO) -> None:
    """Write a container to one file with torch.save, in a form that needs no unpickling of classes.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/data.pt"
    >>> save(TensorDict(a=torch.arange(3), batch_size=[3]), path)
    >>> load(path)["a"], list(torch.load(path, weights_only=True))
    (tensor([0, 1, 2]), ['tensorclass', 'tensors'])
    """
    leaves: list[Tensor] = []
    form = outline(container, leaves)
    torch.save({_FORM: json.dumps(form), "tensors": [_own(leaf) for leaf in leaves]}, file)


def _own(leaf: Tensor) -> Tensor:
    leaf = storable(leaf).as_subclass(Tensor)
    # torch.save writes the whole storage of a view.
    return (
        leaf if leaf.untyped_storage().nbytes() == leaf.nbytes and leaf.is_contiguous() else leaf.contiguous().clone()
    )


@overload
def load(file: Path | BinaryIO, cls: type[C], *, device: Any = None, mmap: bool = False) -> C: ...
@overload
def load(file: Path | BinaryIO, cls: None = None, *, device: Any = None, mmap: bool = False) -> Any: ...
def load(file: Path | BinaryIO, cls: Any = None, *, device: Any = None, mmap: bool = False) -> Any:
    """The container that `save` wrote, as an instance of a class, or as what it was.

    mmap: tensors are read when they are used. Nothing but tensors and JSON is ever read.
    """
    what = getattr(file, "name", file)
    try:
        held = torch.load(file, map_location=full_device(device), weights_only=True, mmap=mmap or None)
    except OSError:
        raise
    except Exception as error:  # torch raises what it likes, UnpicklingError and RuntimeError among it.
        raise DataDamaged(f"{what} cannot be read: {error}") from error
    if type(held) is not dict or type(held.get(_FORM)) is not str or type(held.get("tensors")) is not list:
        raise DataDamaged(f"{what} was not written by tensorclass.io.save")
    if not all(isinstance(leaf, Tensor) for leaf in held["tensors"]):
        raise DataDamaged(f"{what} holds something else than tensors")
    return _as(cls, _rebuilt(held[_FORM], held["tensors"], device, what))


def _rebuilt(text: str, leaves: list[Tensor], device: Any, what: object) -> Any:
    try:
        form = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataDamaged(f"{what}: the outline is no JSON: {error}") from error
    return rebuilt(form, leaves, device=... if device is None else device)


def _as(cls: Any, node: Any) -> Any:
    return node if cls is None else typed_as(cls, node)


# ---- safetensors --------------------------------------------------------------------------------------------------


def save_safetensors(container: Container, path: Path) -> None:
    """Write a container to a safetensors file: its tensors under dotted keys, the rest as metadata.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/data.safetensors"
    >>> save_safetensors(TensorDict({"n": {"a": torch.arange(3)}}, batch_size=[3]), path)
    >>> load_safetensors(path)["n", "a"]
    tensor([0, 1, 2])
    """
    from safetensors.torch import save_file

    leaves: list[Tensor] = []
    form = outline(container, leaves)
    keys = [".".join(at) for at in _paths(container, ())]
    if len(set(keys)) != len(keys):
        keys = [f"{number}.{key}" for number, key in enumerate(keys)]
    ready = {key: _own(leaf).contiguous() for key, leaf in zip(keys, leaves)}
    metadata = {_FORM: json.dumps({"outline": form, "keys": keys})}
    aside = f"{os.fspath(path)}.{os.getpid()}.saving"
    try:
        save_file(_apart(ready), aside, metadata=metadata)
        os.replace(aside, path)
    finally:
        if os.path.exists(aside):
            os.unlink(aside)


def _apart(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Tensors no two of which share memory: safetensors has no way to say so."""
    seen: set[int] = set()
    out = {}
    for key, leaf in tensors.items():
        place = leaf.untyped_storage().data_ptr()
        out[key] = leaf.clone() if place in seen and place else leaf
        seen.add(place)
    return out


def _paths(node: Node, at: tuple[str, ...]) -> list[tuple[str, ...]]:
    pairs = node._fields.items() if node._items is None else [(str(n), item) for n, item in enumerate(node._items)]
    out: list[tuple[str, ...]] = []
    for key, value in pairs:
        if isinstance(value, Tensor):
            out.append((*at, key))
        elif isinstance(value, Node) and not value._is_data:
            out += _paths(value, (*at, key))
    return out


@overload
def load_safetensors(path: Path, cls: type[C], *, device: Any = None) -> C: ...
@overload
def load_safetensors(path: Path, cls: None = None, *, device: Any = None) -> Any: ...
def load_safetensors(path: Path, cls: Any = None, *, device: Any = None) -> Any:
    """The container of a safetensors file; one from elsewhere gives its tensors under its keys, batch size []."""
    from safetensors import SafetensorError, safe_open

    target = full_device(device)
    try:
        with safe_open(os.fspath(path), "pt", device="cpu" if target is None else str(target)) as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}
    except SafetensorError as error:
        raise DataDamaged(f"{path} cannot be read: {error}") from error
    if _FORM not in metadata:
        return _as(cls, TensorDict(tensors))
    try:
        held = json.loads(metadata[_FORM])
        leaves = [tensors[key] for key in held["keys"]]
        form = held["outline"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataDamaged(f"{path}: the metadata are damaged: {error!r}") from error
    return _as(cls, rebuilt(form, leaves, device=... if device is None else device))
