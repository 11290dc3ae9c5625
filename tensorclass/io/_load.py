"""Loading: files are mapped, not read; everything that the metadata say is checked against the files."""

from __future__ import annotations

import os
import pickle
import stat
import sys
from typing import Any

import torch
from torch import Size, Tensor

from .._build import restore
from .._data import NonTensorStack
from .._declare import finish_late
from .._fields import Field
from .._lazystack import lazy_stack, with_name
from .._rules import errors
from .._tensordict import TensorDict
from .._tree.contract import full_device
from .._tree.node import Node
from . import _meta
from ._errors import DataDamaged, DataMissing, PickleRefused, StorageError
from ._map import Mode, mapped
from ._names import META, SIZES, TENSOR, file_names
from ._plain import decode
from ._save import PICKLE, ROWS_PICKLE, endings_of

At = tuple[str, ...]
ATTEMPTS = 50  # How often a folder is read that others keep replacing.


class Reader:
    """How a folder is to be read."""

    def __init__(self, mode: Mode | None, allow_pickle: bool, device: torch.device | None) -> None:
        self.mode: Mode | None = mode
        self.allow_pickle = allow_pickle
        self.device = device

    def load(self, path: str) -> Any:
        """What a folder holds; read again if another process has put new data there meanwhile."""
        attempt, before = 1, _identity(path)
        while True:
            try:
                node = self.node(path, (), None)
            except StorageError:
                if attempt == ATTEMPTS or _identity(path) == before:
                    raise
            else:
                if attempt == ATTEMPTS or _identity(path) == before:
                    return node
            attempt, before = attempt + 1, _identity(path)

    # ---- containers ---------------------------------------------------------------------------------------------

    def node(self, folder: str, at: At, rows: int | None) -> Any:
        """The container that a folder holds; rows: how many count, where it is known to grow."""
        meta = _meta.get(folder)
        if "shape" in meta and "_type" in meta:
            return self.dense(meta, folder, at, rows)
        if "stack_dim" in meta and "data" not in meta:
            return self.lazy(meta, folder, at)
        if "data" in meta or meta.get("_is_non_tensor"):
            return self.plain(meta, folder, at, {})
        if "_type" in meta and os.path.isfile(f"{folder}/_tensordict/{META}"):
            return _as_saved(_class_named(meta["_type"]), self.node(f"{folder}/_tensordict", at, rows))
        raise DataDamaged(f"{folder}/{META} describes nothing that can be loaded")

    def dense(self, meta: _meta.Meta, folder: str, at: At, rows: int | None) -> Any:
        batch = _meta.sizes(meta["shape"], folder)
        if "_rows" in meta:
            (rows,) = _meta.sizes([meta["_rows"]], folder)
        if rows is not None:
            batch = _clipped(batch, rows, folder)
        device = self.device
        if device is None and meta.get("_device", "cpu") is not None:
            device = _CPU
        out = TensorDict(None, Size(batch), device)
        if "_names" in meta:
            out._names = _meta.names_of(meta, len(batch), folder)
        fields, entries = out._fields, _meta.entries_of(meta, folder)
        names = _files_of(entries)
        for key, entry in entries.items():
            place = f"{folder}/{key if names is None else names[key]}"
            if "dtype" in entry:
                fields[key] = self.tensor(entry, place, rows, batch, at, key)
            elif "type" in entry:
                value = self.child(entry, place, (*at, key), rows)
                if isinstance(value, Node) and list(value._batch[: len(batch)]) != batch:
                    said = errors.node_mismatch((*at, key), tuple(value._batch), tuple(batch))
                    raise DataDamaged(f"{folder}: {said}")
                fields[key] = value
            else:
                raise DataDamaged(f"{folder}/{META}: {errors.name_of((*at, key))} has neither a dtype nor a type")
        return _as_saved(_class_called(meta["_typed"]), out) if "_typed" in meta else out

    def child(self, entry: _meta.Meta, place: str, at: At, rows: int | None) -> Any:
        self.check(place, stat.S_ISDIR, "folder")
        if entry["type"] in ("NonTensorData", "NonTensorStack"):
            meta = _meta.get(place)
            if "data" in meta or "stack_dim" not in meta:
                return self.plain(meta, place, at, entry)
        return self.node(place, at, rows)  # Rows of values may be a stack of folders, too: older data are.

    def lazy(self, meta: _meta.Meta, folder: str, at: At) -> Any:
        count = meta.get("_items")
        if count is None:
            count = sum(1 for name in os.listdir(folder) if name.isdigit())
        (dim, count) = _meta.sizes([meta["stack_dim"], count], folder)
        if not count:
            raise DataDamaged(f"{folder}: a lazy stack without items")
        items = []
        for number in range(count):
            self.check(f"{folder}/{number}", stat.S_ISDIR, "folder")
            items.append(self.node(f"{folder}/{number}", (*at, str(number)), None))
        if not all(isinstance(item, Node) and not item._is_data for item in items):
            return NonTensorStack(*items)  # An older layout of one value a row.
        (name,) = _meta.names_of({"_names": [meta.get("stack_dim_name")]}, 1, folder) or (None,)
        try:
            return with_name(lazy_stack(items, dim), name)
        except errors.RuleError as error:
            raise DataDamaged(f"{folder}: {error}") from error

    # ---- tensors ------------------------------------------------------------------------------------------------

    def tensor(self, entry: _meta.Meta, place: str, rows: int | None, batch: list[int], at: At, key: str) -> Tensor:
        path = place + TENSOR
        shape, dtype = _meta.sizes(entry.get("shape"), path), _meta.dtype_of(entry, path)
        if "is_nested" in entry and entry["is_nested"]:
            out = self.nested(entry, shape, dtype, place)
            shape = shape[:1]
        else:
            if rows is not None:
                shape = _clipped(shape, rows, path)
            out = self.mapped(path, dtype, shape, rows is None)
        if shape[: len(batch)] != batch:
            said = errors.batch_mismatch((*at, key), tuple(shape), tuple(batch))
            raise DataDamaged(f"{place.rpartition('/')[0]}: {said}")
        return out

    def mapped(self, path: str, dtype: torch.dtype, shape: list[int], exact: bool) -> Tensor:
        try:
            out = mapped(path, dtype, shape, self.mode, exact=exact)
        except StorageError:
            raise
        except (RuntimeError, ValueError, OverflowError, TypeError, MemoryError) as error:
            raise DataDamaged(f"{path}: {error}") from error
        return out if self.device is None else out.to(self.device)

    def nested(self, entry: _meta.Meta, shape: list[int], dtype: torch.dtype, place: str) -> Tensor:
        table = self.mapped(place + SIZES, torch.int64, shape, True).tolist()
        if len(shape) != 2 or any(size < 0 for row in table for size in row):
            raise DataDamaged(f"{place}{SIZES} is no table of shapes")
        lengths = [Size(row).numel() for row in table]
        flat = self.mapped(place + TENSOR, dtype, [sum(lengths)], True)
        parts = [part.view(row) for part, row in zip(flat.as_subclass(Tensor).split(lengths), table)]
        layout = torch.jagged if entry.get("layout") == "jagged" else torch.strided
        return _attempt(place, torch.nested.as_nested_tensor, parts, layout=layout)  # type: ignore[no-any-return]

    # ---- plain data ---------------------------------------------------------------------------------------------

    def plain(self, meta: _meta.Meta, folder: str, at: At, entry: _meta.Meta) -> Any:
        if "stack_dim" in meta:
            return self.rows(meta, folder, at, entry)
        if "exact" in entry:
            return _exact(entry, folder)
        if "data" in meta:
            return meta["data"]
        held = self.unpickled(f"{folder}/{PICKLE}", at)
        return held.get("data") if type(held) is dict else held

    def rows(self, meta: _meta.Meta, folder: str, at: At, entry: _meta.Meta) -> Any:
        values = meta.get("data")
        if "exact" in entry:
            values = _exact(entry, folder)
        elif values == ROWS_PICKLE:
            values = self.unpickled(f"{folder}/{ROWS_PICKLE}", at)
        if type(values) is not list:
            raise DataDamaged(f"{folder}: {values!r:.60} is no list of rows")
        if "batch" in entry:
            return _attempt(folder, _rows_of, values, _meta.sizes(entry["batch"], folder))
        return _attempt(folder, NonTensorStack.from_list, values)

    def unpickled(self, path: str, at: At) -> Any:
        if not self.allow_pickle:
            raise PickleRefused(
                f"{errors.name_of(at) if at else 'the value'} is stored as a pickle ({path}), and loading one can run "
                "any code; allow_pickle=True loads it"
            )
        self.check(path, stat.S_ISREG, "file")
        with open(path, "rb") as file:
            return pickle.load(file)

    # ---- files --------------------------------------------------------------------------------------------------

    def check(self, path: str, kind: Any, word: str) -> None:
        try:
            found = os.lstat(path)
        except (OSError, ValueError):
            raise DataMissing(f"{path} is missing") from None
        if not kind(found.st_mode):
            what = "a link, which is not followed" if stat.S_ISLNK(found.st_mode) else f"no {word}"
            raise DataDamaged(f"{path} is {what}")


_CPU = torch.device("cpu")


def load(cls: type[Any], path: str, device: Any = None, *, mode: Mode | None = None, allow_pickle: bool = False) -> Any:
    """What is saved in a folder, as an instance of a class (TensorDict: as what was saved)."""
    if mode not in (None, "r+", "c"):
        raise errors.OptionError(f"mode: {mode!r} is neither 'r+' nor 'c'")
    target = full_device(device)
    node = Reader(mode, allow_pickle, target).load(path)
    if not isinstance(node, Node):
        raise DataDamaged(f"{path} holds a plain value, no container")
    out = node if isinstance(node, cls) else typed_as(cls, node)
    return type(out).lock_(out) if target is None else out


def _as_saved(cls: Any, node: Any) -> Any:
    return node if cls is None else typed_as(cls, node, checked=False)


def typed_as(cls: Any, node: Any, checked: bool = True) -> Any:
    """A container as an instance of another class; checked=False: it was one when it was saved."""
    if isinstance(node, cls):
        return node
    if node._items is not None:
        return node._restack([typed_as(cls, item, checked) for item in node._items])
    if not hasattr(cls, "_declared"):
        made = cls if cls.__init__ is TensorDict.__init__ else TensorDict
        out: TensorDict = made(None, node._batch, node._device, node._names)
        out._fields.update({key: value for key, value in node._fields.items() if value is not None})
        return out
    finish_late(cls)
    fields, declared = node._fields, cls._declared
    # Annotations tell the shapes at construction; an op may have changed them before the data were saved.
    if checked or not all(key in declared and _fits(declared[key], value) for key, value in fields.items()):
        return cls.from_tensordict(node)
    if not all(key in fields or at.optional for key, at in declared.items()):
        return cls.from_tensordict(node)
    ordered = {key: fields.get(key) for key in declared}
    return restore(cls, ordered, node._batch, node._device, node._names, False)


def _fits(at: Field, value: Any) -> bool:
    return not isinstance(value, Node) or value._is_data or any(isinstance(value, one.type) for one in at.nodes)


def _class_called(name: Any) -> Any:
    """The class of a name 'module:Name', if it has been imported: a name in a file never imports anything."""
    if type(name) is not str:
        return None
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    return found if isinstance(found, type) and hasattr(found, "_declared") else None


def _class_named(text: Any) -> Any:
    """The class of "<class 'module.Name'>", if it has been imported."""
    if type(text) is not str or not text.startswith("<class '"):
        return None
    parts = text[8:-2].split(".")
    for cut in range(len(parts) - 1, 0, -1):
        found = _class_called(".".join(parts[:cut]) + ":" + ".".join(parts[cut:]))
        if found is not None:
            return found
    return None


def _exact(entry: _meta.Meta, folder: str) -> Any:
    try:
        return decode(entry["exact"])
    except (ValueError, RecursionError) as error:
        raise DataDamaged(f"{folder}: {error}") from error


def _rows_of(values: list[Any], batch: list[int]) -> NonTensorStack:
    for _ in batch[1:]:
        values = [one for row in values for one in row]
    return NonTensorStack._from_positions(values, torch.arange(len(values)).reshape(batch))


def _files_of(entries: dict[str, _meta.Meta]) -> dict[str, str] | None:
    """The base names of files by key; None where they are the keys."""
    for key, entry in entries.items():
        if not key.isidentifier() or "is_nested" in entry and entry["is_nested"]:
            return file_names([(key, endings_of(entry)) for key, entry in entries.items()])
    return None


def _clipped(shape: list[int], rows: int, what: str) -> list[int]:
    if not shape or shape[0] < rows:
        raise DataDamaged(f"{what}: shape {shape} has no {rows} rows")
    return [rows, *shape[1:]]


def _identity(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime_ns  # A number of a removed folder is used again.


def _attempt(what: str, call: Any, *args: Any, **options: Any) -> Any:
    """A call with numbers out of a file: what torch says about them becomes DataDamaged."""
    try:
        return call(*args, **options)
    except errors.RuleError as error:
        if isinstance(error, StorageError):
            raise
        raise DataDamaged(f"{what}: {error}") from error
    except (RuntimeError, ValueError, OverflowError, TypeError, MemoryError) as error:
        raise DataDamaged(f"{what}: {error}") from error


__all__ = ["Reader", "load", "typed_as"]
