"""meta.json: what it says about a folder, written as tensordict writes it, read with suspicion.

Some things that tensordict has no place for stand beside its own, under names that it passes over: the class
(`_typed`), entries whose key is a word of the format (`_entries`), a device of None (`_device`), how many rows count
while a folder grows (`_rows`), what JSON alone would change (`exact`).
"""

from __future__ import annotations

import json
import os
from typing import Any

import torch
from torch import Tensor

from .._tree.node import Node
from ._disk import sync_one
from ._errors import DataDamaged, DataMissing
from ._names import META

Meta = dict[str, Any]

WORDS = frozenset("shape device _type _format_version _class _names _typed _device _entries _rows".split())
DTYPES = {
    str(dtype): dtype
    for dtype in vars(torch).values()
    if isinstance(dtype, torch.dtype) and not str(dtype).startswith(("torch.q", "torch.bits"))
}
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)  # A pipe would block.
_HEAD = {"_format_version": 1}
PLAIN = "<class 'tensordict.tensorclass.NonTensorData'>"


# ---- written ------------------------------------------------------------------------------------------------------


def tensor_entry(tensor: Tensor) -> Meta:
    """What stands under the key of a tensor."""
    nested = tensor.is_nested
    # tensordict keeps the shape of the table of shapes here.
    shape = [tensor.size(0), tensor.dim() - 1] if nested else list(tensor.shape)
    entry = {"device": "cpu", "shape": shape, "dtype": str(tensor.dtype), "is_nested": nested}
    if nested and tensor.layout is torch.jagged:
        entry["layout"] = "jagged"
    return entry


def folder_meta(node: Node, entries: dict[str, Meta], typed: str | None) -> Meta:
    """The metadata of a container with these entries."""
    meta: Meta = {key: entry for key, entry in entries.items() if key not in WORDS}
    hidden = {key: entry for key, entry in entries.items() if key in WORDS}
    meta |= {"shape": list(node._batch), "device": "cpu", "_type": "<class 'tensordict._td.TensorDict'>", **_HEAD}
    meta["_class"] = "tensordict:TensorDict"
    if node._names is not None:
        meta["_names"] = list(node._names)
    if typed is not None:
        meta["_typed"] = typed
    if node._device is None:
        meta["_device"] = None
    if hidden:
        meta["_entries"] = hidden
    return meta


def lazy_meta(dim: int, count: int, dim_name: str | None) -> Meta:
    """The metadata of a lazy stack, whose items stand in folders 0, 1, ..."""
    name = "LazyStackedTensorDict"
    meta: Meta = {"_type": f"<class 'tensordict._lazy.{name}'>", **_HEAD, "_class": f"tensordict:{name}"}
    return meta | {"stack_dim": dim, "stack_dim_name": dim_name, "_items": count}


def rows_meta(values: Any) -> Meta:
    """The metadata of one plain value a row."""
    name = "NonTensorStack"
    meta: Meta = {"_type": f"<class 'tensordict.tensorclass.{name}'>", **_HEAD, "_class": f"tensordict:{name}"}
    return meta | {"stack_dim": 0, "device": None, "data": values}


def data_meta(value: Any) -> Meta:
    """The metadata of one plain value."""
    return {"_type": PLAIN, "data": value, "_metadata": None, "_is_non_tensor": True}


def pickled_meta() -> Meta:
    """The metadata of one plain value that lies in a pickle beside it."""
    return {"_type": PLAIN, "_metadata": None, "_is_non_tensor": True}


def put(folder: str, meta: Meta, fsync: bool = False) -> None:
    """Write the metadata of a folder, all or nothing."""
    path = os.path.join(folder, META)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(meta, file)
        if fsync:
            file.flush()
            os.fsync(file.fileno())
    os.replace(path + ".new", path)
    if fsync:
        sync_one(folder)


# ---- read ---------------------------------------------------------------------------------------------------------


def get(folder: str) -> Meta:
    """The metadata of a folder."""
    path = f"{folder}/{META}"
    try:
        file = os.open(path, _FLAGS)
        try:
            text = os.read(file, os.fstat(file).st_size)
        finally:
            os.close(file)
        meta = json.loads(text)
    except FileNotFoundError:
        raise DataMissing(f"nothing is stored in {folder}: it has no {META}") from None
    except OSError as error:
        raise DataDamaged(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise DataDamaged(f"{path} is no JSON: {error}") from error
    if type(meta) is not dict:
        raise DataDamaged(f"{path} holds {_said(meta)}, no object")
    return meta


def sizes(value: Any, what: str) -> list[int]:
    """A list of sizes, or DataDamaged."""
    if type(value) is list:
        for size in value:
            if type(size) is not int or not 0 <= size < 1 << 62:
                break
        else:
            if len(value) <= 64:
                return value
    raise DataDamaged(f"{what}: {_said(value)} is no list of sizes")


def dtype_of(entry: Meta, what: str) -> torch.dtype:
    """The dtype of an entry, or DataDamaged."""
    name = entry.get("dtype")
    found = DTYPES.get(name) if type(name) is str else None
    if found is None:
        raise DataDamaged(f"{what}: {_said(name)} is no dtype")
    return found


def names_of(meta: Meta, rank: int, what: str) -> tuple[str | None, ...] | None:
    """The names of the batch dims, or DataDamaged."""
    names = meta.get("_names")
    if names is None:
        return None
    known = type(names) is list and len(names) == rank and all(name is None or type(name) is str for name in names)
    given = [name for name in names if name is not None] if known else []
    if not known or len(set(given)) != len(given):
        raise DataDamaged(f"{what}: {_said(names)} are no names for {rank} dims")
    return tuple(names) if given else None


def entries_of(meta: Meta, what: str) -> dict[str, Meta]:
    """The entries of a folder, by key."""
    entries = {key: entry for key, entry in meta.items() if type(entry) is dict and key != "_entries"}
    hidden = meta.get("_entries", {})
    if type(hidden) is not dict or not all(type(entry) is dict for entry in hidden.values()):
        raise DataDamaged(f"{what}: {_said(hidden)} are no entries")
    return {**entries, **hidden} if hidden else entries


def _said(value: Any) -> str:
    said = repr(value)
    return said if len(said) < 60 else said[:57] + "..."
