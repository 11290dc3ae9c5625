"""Data that grow on disk row by row, however large they get."""

from __future__ import annotations

import os
from typing import BinaryIO

from torch import Tensor
from typing_extensions import Self

from .._rules import errors
from .._tree.index import read
from .._tree.node import Node, is_tree, kind
from . import _bytes, _meta
from ._disk import only_writer
from ._errors import DataDamaged, DataMissing, NotStorable
from ._map import Path
from ._names import TENSOR, file_names
from ._save import endings_of, save

At = tuple[str, ...]


class RowWriter:
    """Appends rows to what a folder holds, or starts with the first ones; memory stays flat.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with RowWriter(folder) as rows:
    ...     for start in range(0, 6, 2):
    ...         rows.append(TensorDict(a=torch.arange(start, start + 2), batch_size=[2]))
    >>> TensorDict.load_memmap(folder)["a"]
    MemoryMappedTensor([0, 1, 2, 3, 4, 5])

    Rows count from `flush()` on, or from the end of the `with` block: who loads the folder meanwhile, or after a crash,
    finds those that counted before. fsync: so it is after a power failure, too.
    """

    def __init__(self, path: Path, *, fsync: bool = False) -> None:
        self._path = os.fspath(path)
        self._fsync = fsync
        self._metas: list[tuple[str, _meta.Meta]] = []
        self._leaves: dict[At, tuple[BinaryIO, _meta.Meta]] = {}
        self._count = 0
        self._open = True
        self._own: int | None = None
        try:
            meta = _meta.get(self._path)
        except DataMissing:
            return
        try:
            self._begin(meta)
        except BaseException:
            self._let_go()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        """How many rows there are, those that do not count yet included."""
        return self._count

    def append(self, rows: Node) -> None:
        """Add rows: a container of the structure that is stored, with any number of rows in its first dim."""
        if not self._open:
            raise errors.StructureError(f"{self._path}: this writer is closed")
        if not is_tree(rows) or rows._items is not None or not rows._batch:
            raise errors.KindError(
                f"append: {kind(rows)} has no rows; a dense container with a first batch dim would do"
            )
        if not self._metas:
            first: Node = read(rows, slice(0, 0))
            save(first, self._path, fsync=self._fsync)
            self._begin(_meta.get(self._path))
        found: dict[At, Tensor] = {}
        self._check(rows, self._path, (), found)
        try:
            for at, (file, _) in self._leaves.items():
                _bytes.append(file, found[at])
        except BaseException:
            self._cut()
            raise
        self._count += rows._batch[0]

    def flush(self) -> None:
        """Have the rows so far count."""
        self._publish(growing=True)

    def close(self) -> None:
        """Have all rows count, and end."""
        if not self._open:
            return
        self._open = False
        try:
            if self._metas:
                self._publish(growing=False)
        finally:
            self._let_go()

    def _let_go(self) -> None:
        if self._own is not None:
            os.close(self._own)
            self._own = None
        for file, _ in self._leaves.values():
            file.close()

    # ---- inside -------------------------------------------------------------------------------------------------

    def _begin(self, meta: _meta.Meta) -> None:
        self._own = only_writer(self._path)
        batch = _meta.sizes(meta.get("shape"), self._path)
        if not batch:
            raise NotStorable(f"{self._path}: data of batch size [] have no rows to add to")
        (self._count,) = _meta.sizes([meta.get("_rows", batch[0])], self._path)
        self._walk(self._path, meta, ())
        self._cut()
        # From here on the root says how many rows count, and what lies behind them is passed over.
        _meta.put(self._path, {**meta, "_rows": self._count})

    def _walk(self, folder: str, meta: _meta.Meta, at: At) -> None:
        self._metas.append((folder, meta))
        entries = _meta.entries_of(meta, folder)
        names = file_names([(key, endings_of(entry)) for key, entry in entries.items()])
        for key, entry in entries.items():
            here, place = (*at, key), os.path.join(folder, names[key])
            if "dtype" in entry and not entry.get("is_nested"):
                file = open(place + TENSOR, "ab", buffering=0)
                self._leaves[here] = (file, entry)
            elif entry.get("type") == "NonTensorData":
                continue
            else:
                inner = _meta.get(place) if "type" in entry else {}
                if "shape" not in inner:
                    raise NotStorable(
                        f"{errors.name_of(here)}: neither lazy stacks, nested tensors nor plain rows can grow"
                    )
                self._walk(place, inner, here)

    def _cut(self) -> None:
        for file, entry in self._leaves.values():
            shape = _meta.sizes(entry["shape"], self._path)
            length = _bytes.size_of([self._count, *shape[1:]], _meta.dtype_of(entry, self._path))
            if os.fstat(file.fileno()).st_size < length:
                raise DataDamaged(f"{self._path}: a file is shorter than {self._count} rows")
            file.truncate(length)

    def _check(self, node: Node, folder: str, at: At, found: dict[At, Tensor]) -> None:
        meta = next(meta for place, meta in self._metas if place == folder)
        if list(node._batch[1:]) != meta["shape"][1:]:
            stored = ", ".join(["rows", *map(str, meta["shape"][1:])])
            raise errors.ShapeError(f"append: batch size {list(node._batch)} is added to data of [{stored}]")
        entries = _meta.entries_of(meta, folder)
        fields = {key: value for key, value in node._fields.items() if not (value is None and node._none_is_unset)}
        if fields.keys() != entries.keys():
            raise errors.KeyMissing(
                errors.keys_differ("append", sorted(fields.keys() ^ entries.keys()), "one of the two")
            )
        names = file_names([(key, endings_of(entry)) for key, entry in entries.items()])
        for key, value in fields.items():
            here, entry = (*at, key), entries[key]
            if isinstance(value, Tensor) is not ("dtype" in entry) or (
                is_tree(value) and entry["type"] == "NonTensorData"
            ):
                raise errors.StructureError(
                    f"append: {errors.name_of(here)} is {kind(value)}, and is stored as another kind"
                )
            if is_tree(value):
                self._check(value, os.path.join(folder, names[key]), here, found)
            elif isinstance(value, Tensor):
                if str(value.dtype) != entry["dtype"] or list(value.shape[1:]) != entry["shape"][1:]:
                    stored = ", ".join(["rows", *map(str, entry["shape"][1:])])
                    raise errors.ShapeError(
                        f"append: {errors.name_of(here)} has shape {list(value.shape)} of {value.dtype}; "
                        f"stored are [{stored}] of {entry['dtype']}"
                    )
                found[here] = value

    def _publish(self, growing: bool) -> None:
        for file, _ in self._leaves.values() if self._fsync else ():
            os.fsync(file.fileno())
        for folder, meta in reversed(self._metas):  # The root is last: from then on the rows count.
            meta.pop("_rows", None)
            meta["shape"][0] = self._count
            for entry in _meta.entries_of(meta, folder).values():
                if "dtype" in entry:
                    entry["shape"][0] = self._count
            root = folder == self._path
            _meta.put(folder, {**meta, "_rows": self._count} if growing and root else meta, self._fsync)
