"""What the storage methods of containers do."""

from __future__ import annotations

import os
from typing import Any, TypeVar

from torch import Tensor

from .._rules import errors
from .._tree import walk
from .._tree.node import Node, is_tree
from ._errors import DataExists
from ._load import load
from ._map import Mode, Path, file_of, own_folder
from ._save import save

N = TypeVar("N", bound=Node)


def memmap(
    node: N,
    prefix: Path | None = None,
    copy_existing: bool = True,
    *,
    num_threads: int = 0,
    existsok: bool = True,
    progress: bool = False,
    fsync: bool = False,
    like: bool = False,
) -> N:
    """A container of maps of the files that a container is saved in."""
    path = os.path.join(own_folder(), "data") if prefix is None else os.fspath(prefix)
    if not copy_existing:
        _check_no_maps_elsewhere(node, os.path.realpath(path))
    save(node, path, num_threads=num_threads, existsok=existsok, progress=progress, fsync=fsync, like=like)
    # What was just written may be unpickled; and it is read as the class that it was written from.
    out: N = load(_own_class(node), path, allow_pickle=True)
    return out


def _own_class(node: Node) -> type[Any]:
    return type(node) if node._items is None else type(node._items[0])


def _check_no_maps_elsewhere(node: Node, path: str) -> None:
    for at, leaf in walk.tensors_with_paths(node):
        file = file_of(leaf) if not leaf.is_nested else None
        if file is not None and not os.path.realpath(file).startswith(path + os.sep):
            raise DataExists(
                f"memmap: {errors.name_of(at)} is a map of {file} already; copy_existing=True copies it to {path}"
            )


def memmap_(node: N, prefix: Path | None = None, copy_existing: bool = True, **options: Any) -> N:
    """Have the tensors of a container lie in files from now on."""
    adopt(node, memmap(node, prefix, copy_existing, **options))
    return type(node).lock_(node)


def adopt(node: Node, other: Node) -> None:
    """Put the tensors of another container with the same structure into one, locked or not: the values are equal."""
    if node._items is not None:
        for mine, theirs in zip(node._items, other._items):
            adopt(mine, theirs)
        return
    for key, value in node._fields.items():
        if isinstance(value, Tensor):
            node._fields[key] = other._fields[key]
        elif is_tree(value):
            adopt(value, other._fields[key])


def load_memmap_(node: N, prefix: Path, *, mode: Mode | None = None, allow_pickle: bool = False) -> N:
    """Fill the tensors of a container with what is saved in a folder."""
    source = load(_own_class(node), os.fspath(prefix), mode=mode, allow_pickle=allow_pickle)
    mine, theirs = walk.gather(node, []), walk.match("load_memmap_", node, source, [])
    for leaf, new in zip(mine, theirs):
        if leaf.shape != new.shape:
            raise errors.ShapeError(
                f"load_memmap_: shape {list(new.shape)} is stored for one of shape {list(leaf.shape)}"
            )
    for leaf, new in zip(mine, theirs):
        leaf.detach().copy_(new)
    return node
