"""Containers on disk: the methods that every container has; tensorclass.io does the work."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, Literal

import torch
from typing_extensions import Self

from ._tree import walk
from ._tree.node import Node

Path = str | os.PathLike[str]


def from_io(name: str) -> Any:
    """A module of the level above, which is loaded when it is first needed."""
    name = f"tensorclass.io.{name}"
    return sys.modules.get(name) or importlib.import_module(name)


class StoredMethods(Node):
    """Memory maps, and the whole of a container in one buffer."""

    __slots__ = ()

    def memmap(
        self,
        prefix: Path | None = None,
        copy_existing: bool = True,
        *,
        num_threads: int = 0,
        existsok: bool = True,
        progress: bool = False,
        fsync: bool = False,
    ) -> Self:
        """Save in a folder; the result maps the files, and is locked.

        >>> saved = TensorDict(a=torch.arange(4), batch_size=[4]).memmap("saved")
        >>> saved[1:3]["a"]
        MemoryMappedTensor([1, 2])
        >>> import os
        >>> sorted(os.listdir("saved"))
        ['a.memmap', 'meta.json']

        The data appear in the folder all at once; what an earlier save has put there goes, other files stay.
        Without a prefix the files are removed when this process ends. num_threads: how many files are written at a
        time. existsok=False: refuse a folder that holds data. progress: show a bar (with tqdm). fsync: return when the
        data would outlive a power failure. copy_existing=False: refuse maps of files elsewhere, which would be copied.
        """
        return from_io("_memmap").memmap(  # type: ignore[no-any-return]
            self,
            prefix,
            copy_existing,
            num_threads=num_threads,
            existsok=existsok,
            progress=progress,
            fsync=fsync,
        )

    def memmap_(
        self,
        prefix: Path | None = None,
        copy_existing: bool = True,
        *,
        num_threads: int = 0,
        existsok: bool = True,
        progress: bool = False,
        fsync: bool = False,
    ) -> Self:
        """Save in a folder, and have the tensors of this container map the files from now on; it is locked."""
        return from_io("_memmap").memmap_(  # type: ignore[no-any-return]
            self,
            prefix,
            copy_existing,
            num_threads=num_threads,
            existsok=existsok,
            progress=progress,
            fsync=fsync,
        )

    def memmap_like(self, prefix: Path | None = None, *, existsok: bool = True) -> Self:
        """Zeros on disk with the same entries, to be written later; they take no room until then."""
        return from_io("_memmap").memmap(self, prefix, existsok=existsok, like=True)  # type: ignore[no-any-return]

    @classmethod
    def load_memmap(
        cls,
        prefix: Path,
        device: torch.device | str | int | None = None,
        *,
        mode: Literal["r+", "c"] | None = None,
        allow_pickle: bool = False,
    ) -> Self:
        """What is saved in a folder, as an instance of this class; files are mapped, not read.

        >>> _ = TensorDict(a=torch.arange(4), batch_size=[4]).memmap("saved")
        >>> TensorDict.load_memmap("saved")[3]["a"]
        MemoryMappedTensor(3)

        mode: "r+" has writes reach the files, "c" keeps them in memory (the default for files that are read-only).
        device: read everything into memory there. Nothing is unpickled unless allow_pickle=True.
        """
        return from_io("_load").load(cls, os.fspath(prefix), device, mode=mode, allow_pickle=allow_pickle)  # type: ignore[no-any-return]

    def load_memmap_(self, prefix: Path, *, allow_pickle: bool = False) -> Self:
        """Copy what is saved in a folder into the tensors of this container."""
        return from_io("_memmap").load_memmap_(self, prefix, allow_pickle=allow_pickle)  # type: ignore[no-any-return]

    def consolidate(
        self,
        *,
        device: torch.device | str | int | None = None,
        share_memory: bool = False,
        pin_memory: bool = False,
    ) -> Self:
        """A copy whose tensors lie side by side in one buffer: moved and pickled as one.

        >>> import pickle
        >>> td = TensorDict({str(n): torch.zeros(1000) for n in range(100)}).consolidate()
        >>> buffers = []
        >>> text = pickle.dumps(td, protocol=5, buffer_callback=buffers.append)
        >>> len(buffers), len(pickle.loads(text, buffers=buffers).keys())
        (1, 100)

        What is written later is kept like any other entry, outside of the buffer. device: one copy takes it there.
        """
        return from_io("_pack").consolidate(  # type: ignore[no-any-return]
            self, device=device, share_memory=share_memory, pin_memory=pin_memory
        )

    def is_memmap(self) -> bool:
        """Whether the tensors are maps of files, one at least and all of them."""
        held = [leaf for leaf in walk.gather(self, []) if leaf.numel()]
        return bool(held) and all(not leaf.is_nested and leaf.untyped_storage().filename is not None for leaf in held)
