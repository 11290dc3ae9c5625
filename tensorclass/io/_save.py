"""Saving: one file a tensor, one meta.json a container, the whole put in place at once."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch import Tensor

from .._data import NonTensorStack
from .._rules import errors
from .._tree.node import Node, is_tree
from . import _bytes, _meta
from ._errors import DataDamaged, DataExists, DataMissing, NotStorable
from ._names import META, SIZES, TENSOR, file_names
from ._plain import NotPlain, encode, is_json, lossy
from ._swap import save_in

N = TypeVar("N", bound=Node)
At = tuple[str, ...]
Job = Callable[["_bytes.Progress | None"], None]

PICKLE = "other.pickle"  # Beside the metadata of a plain value.
ROWS_PICKLE = "pickle.pkl"  # Beside that of one value a row.


def save(
    node: Node,
    path: str,
    *,
    num_threads: int = 0,
    existsok: bool = True,
    progress: bool = False,
    fsync: bool = False,
    like: bool = False,
) -> None:
    """Save a container in a folder (like=True: zeros in place of its tensors)."""
    if not existsok and os.path.exists(os.path.join(path, META)):
        raise DataExists(f"{path} holds data already; existsok=True replaces them")

    def write(folder: str) -> Iterable[str]:
        jobs: list[Job] = []
        plan(node, folder, (), jobs, like)
        total = 0 if like else sum(tensor.numel() * tensor.element_size() for tensor in _leaves(node))
        with _told(progress, total) as told:
            if num_threads > 1:
                with ThreadPoolExecutor(num_threads) as pool:
                    for done in [pool.submit(job, told) for job in jobs]:
                        done.result()
            else:
                for job in jobs:
                    job(told)
        return os.listdir(folder)

    try:
        save_in(path, write, own_names, fsync)
    except errors.RuleError:
        raise
    except OSError as error:
        raise NotStorable(f"{path}: the container cannot be saved: {error}") from error


def plan(node: Node, folder: str, at: At, jobs: list[Job], like: bool) -> None:
    """Write the metadata of a tree and list what is to do for its tensors."""
    if node._items is not None:
        _meta.put(folder, _meta.lazy_meta(node._dim, len(node._items), node._dim_name()))
        for number, item in enumerate(node._items):
            plan(item, _made(folder, str(number)), (*at, str(number)), jobs, like)
        return
    if isinstance(node, NonTensorStack):
        _save_rows(node, folder, at)
        return
    entries: dict[str, _meta.Meta] = {}
    fields = {key: value for key, value in node._fields.items() if not (value is None and node._none_is_unset)}
    names = file_names([(key, _endings(value)) for key, value in fields.items()])
    for key, value in fields.items():
        place, here = os.path.join(folder, names[key]), (*at, key)
        if isinstance(value, Tensor):
            try:
                _bytes.storable(value)
            except NotStorable as error:
                raise NotStorable(f"{errors.name_of(here)}: {error}") from None
            entries[key] = _meta.tensor_entry(value)
            jobs += _jobs(value, place, like)
        elif is_tree(value):
            entries[key] = {"type": type(value).__name__ if value._items is None else "LazyStackedTensorDict"}
            plan(value, _made(folder, names[key]), here, jobs, like)
        elif isinstance(value, NonTensorStack):
            entries[key] = {"type": "NonTensorStack"}
            _save_rows(value, _made(folder, names[key]), here)
            if any(type(one) is list for one in value._values):
                entries[key]["batch"] = list(
                    value._batch
                )  # Where the lists of rows end and those that are values begin.
            if not all(map(is_json, value._values)):
                entries[key] |= _exact(value.tolist())
        else:
            entries[key] = {"type": "NonTensorData"}
            _save_data(value, _made(folder, names[key]), here)
            if not is_json(value):
                entries[key] |= _exact(value)
    cls = type(node)
    typed = f"{cls.__module__}:{cls.__qualname__}" if hasattr(cls, "_declared") else None
    _meta.put(folder, _meta.folder_meta(node, entries, typed))


def _endings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, Tensor):
        return ("",)
    return (TENSOR, SIZES) if value.is_nested else (TENSOR,)


def _made(folder: str, name: str) -> str:
    path = os.path.join(folder, name)
    os.mkdir(path)
    return path


def _jobs(tensor: Tensor, place: str, like: bool) -> Iterator[Job]:
    path = place + TENSOR
    if tensor.is_nested:
        shapes = torch.tensor([list(row.shape) for row in tensor.unbind()], dtype=torch.long)
        yield lambda told: _bytes.write(place + SIZES, shapes)
        length = sum(row.nbytes for row in tensor.unbind())
    else:
        length = tensor.numel() * tensor.element_size()
    if length and like:
        yield lambda told: _bytes.reserve(path, length)
    elif length:
        yield lambda told: _bytes.write(path, tensor, told)


def _exact(value: Any) -> _meta.Meta:
    try:
        return {"exact": encode(value)}
    except NotPlain:
        return {}


def _save_data(value: Any, folder: str, at: At) -> None:
    try:
        encode(value)
    except NotPlain:
        _meta.put(folder, _meta.pickled_meta())
        _pickle({"data": value}, os.path.join(folder, PICKLE), at)
    else:
        _meta.put(folder, _meta.data_meta(lossy(value)))


def _save_rows(rows: NonTensorStack, folder: str, at: At) -> None:
    values = rows.tolist()
    try:
        encode(values)
    except NotPlain:
        _meta.put(folder, _meta.rows_meta(ROWS_PICKLE))
        _pickle(values, os.path.join(folder, ROWS_PICKLE), at)
    else:
        _meta.put(folder, _meta.rows_meta(lossy(values)))


def _pickle(value: Any, path: str, at: At) -> None:
    try:
        with open(path, "wb") as file:
            pickle.dump(value, file)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise NotStorable(f"{errors.name_of(at)} cannot be stored: {error}") from error


def own_names(path: str) -> list[str]:
    """The files and folders in a folder that belong to what is saved in it."""
    try:
        meta = _meta.get(path)
        entries = _meta.entries_of(meta, path)
    except (DataDamaged, DataMissing):
        return [META]
    endings = {key: (SIZES, TENSOR) if "dtype" in entry else ("",) for key, entry in entries.items()}
    names = file_names([(key, endings_of(entry)) for key, entry in entries.items()])
    own = [names[key] + ending for key in entries for ending in endings[key]]
    items = [name for name in os.listdir(path) if name.isdigit()] if "stack_dim" in meta else []
    return [META, "_tensordict", PICKLE, ROWS_PICKLE, *own, *items]


def endings_of(entry: _meta.Meta) -> tuple[str, ...]:
    """What the files of an entry end in, going by its metadata."""
    if "dtype" not in entry:
        return ("",)
    return (TENSOR, SIZES) if entry.get("is_nested") is True else (TENSOR,)


def _leaves(node: Node) -> Iterator[Tensor]:
    for child in node._items if node._items is not None else node._fields.values():
        if isinstance(child, Tensor):
            yield child
        elif is_tree(child):
            yield from _leaves(child)


@contextmanager
def _told(progress: bool, total: int) -> Iterator[_bytes.Progress | None]:
    if not progress:
        yield None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        raise errors.OptionError("progress: shown with tqdm, which is not installed; pip install tqdm") from None
    with tqdm(total=total, unit="B", unit_scale=True) as bar:
        yield bar.update
