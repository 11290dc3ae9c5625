"""MemoryMappedTensor: a tensor whose data lie in a file."""

from __future__ import annotations

import atexit
import errno
import math
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Size, Tensor
from typing_extensions import Self

from .._tree.index import PICKED
from . import _bytes
from ._errors import DataDamaged, DataExists, DataMissing

Mode = Literal["r+", "c"]
Path = str | os.PathLike[str]

_item = Tensor.__getitem__


class MemoryMappedTensor(Tensor):
    """A tensor whose data lie in a file: nothing is read before it is used, and what is written reaches the file.

    >>> path = tempfile.mkdtemp() + "/numbers.memmap"
    >>> numbers = MemoryMappedTensor.from_tensor(torch.arange(4), filename=path)
    >>> numbers[1:3].add_(10)
    MemoryMappedTensor([11, 12])
    >>> MemoryMappedTensor.from_filename(path, torch.int64, [4])
    MemoryMappedTensor([ 0, 11, 12,  3])

    Its views are maps too; everything that is computed from it is an ordinary tensor. A pickle holds the name of the
    file and no data, so that other processes see the same memory.
    """

    # With torch's own dispatch for subclasses each op would cost some microseconds more.
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # pyright: ignore

    @classmethod
    def from_filename(
        cls, filename: Path, dtype: torch.dtype, shape: Sequence[int], *, mode: Mode | None = None
    ) -> Self:
        """The tensor that a file holds.

        mode: "r+" has writes reach the file; "c" keeps them in memory; by default "c" only where the file is read-only.
        """
        return mapped(os.fspath(filename), dtype, shape, mode, links=True)  # type: ignore[return-value]

    @classmethod
    def from_tensor(cls, tensor: Tensor, *, filename: Path | None = None, existsok: bool = False) -> Self:
        """A copy of a tensor in a new file; existsok: a file of that name goes.

        Without a name, the file is removed when this process ends.
        """
        path = _new_file(filename, existsok)
        _bytes.write(path, tensor)
        return mapped(path, tensor.dtype, tensor.shape, None)  # type: ignore[return-value]

    @classmethod
    def zeros(
        cls, *shape: Any, dtype: torch.dtype | None = None, filename: Path | None = None, existsok: bool = False
    ) -> Self:
        """Zeros in a file, which takes no room on disk before something is written."""
        size = Size(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
        path = _new_file(filename, existsok)
        kind = dtype or torch.get_default_dtype()
        _bytes.reserve(path, _bytes.size_of(size, kind))
        return mapped(path, kind, size, None)  # type: ignore[return-value]

    empty = zeros

    @property
    def filename(self) -> str | None:
        """The file; None where there is nothing to hold."""
        return file_of(self)

    def __getitem__(self, index: Any) -> Any:
        kind = index.__class__
        if kind is Tensor and index.ndim:  # A copy, and no map.
            if index.ndim == 1 and index.dtype is torch.int64 and self.ndim:
                try:
                    return torch.index_select(self, 0, index)  # Up to ten times as fast as the same by index.
                except (IndexError, RuntimeError):  # It counts no rows from the end, and has other words for errors.
                    pass
            return _item(self, index)
        out = _item(self, index)
        return out.as_subclass(MemoryMappedTensor) if kind is int or kind is slice else _as_map(self, out)

    def __format__(self, spec: str) -> str:  # That of a subclass would print 0-d tensors, which print by formatting.
        return format(self.as_subclass(Tensor), spec)

    def __iter__(self) -> Any:
        return iter(self.unbind(0))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return memo.setdefault(id(self), self.clone())

    def __reduce_ex__(self, protocol: Any) -> Any:
        path = file_of(self)
        if path is None:
            return _nothing, (tuple(self.shape), self.dtype)
        storage = self.untyped_storage()
        place = (storage.nbytes(), self.storage_offset(), tuple(self.shape), self.stride())
        return _reopened, (path, self.dtype, *place, storage._mode)  # type: ignore[attr-defined]  # Set by mapped.


def file_of(tensor: Tensor) -> str | None:
    """The file that a tensor is a map of."""
    return getattr(tensor.untyped_storage(), "_file", None)


_BY_DESCRIPTOR = os.path.isdir("/dev/fd")
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # A pipe would block.
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)


def mapped(
    path: str, dtype: torch.dtype, shape: Sequence[int], mode: Mode | None, *, exact: bool = False, links: bool = False
) -> Tensor:
    """A map of a file, which must be long enough (exact: and no longer); links: whether it may be a link."""
    count = math.prod(shape)
    if count == 0:
        return _nothing(shape, dtype)
    descriptor, writable = _open(path, mode, links)
    try:
        found, needed = os.fstat(descriptor), count * dtype.itemsize
        if not stat.S_ISREG(found.st_mode):
            raise DataDamaged(f"{path} is no file")
        if found.st_size < needed or (exact and found.st_size != needed):
            raise DataDamaged(f"{path} has {found.st_size} bytes; shape {list(shape)} of {dtype} takes {needed}")
        # By descriptor: a file that has just taken the place of this one might be shorter, and torch would extend it.
        place = f"/dev/fd/{descriptor}" if _BY_DESCRIPTOR else path
        flat = torch.from_file(place, shared=writable, size=count, dtype=dtype)
    finally:
        os.close(descriptor)
    storage: Any = flat.untyped_storage()
    storage._file, storage._mode = path, "r+" if writable else "c"  # Kept as long as the storage.
    return (flat.view(*shape) if len(shape) > 1 else flat.view(shape)).as_subclass(MemoryMappedTensor)


def _open(path: str, mode: Mode | None, links: bool) -> tuple[int, bool]:
    flags = _FLAGS if links else _FLAGS | _NO_LINKS
    try:
        if mode != "c":
            try:
                return os.open(path, os.O_RDWR | flags), True
            except OSError as error:
                if mode == "r+" or error.errno not in (errno.EACCES, errno.EROFS, errno.EPERM):
                    raise
        return os.open(path, os.O_RDONLY | flags), False
    except (FileNotFoundError, NotADirectoryError, UnicodeEncodeError):
        raise DataMissing(f"{path} is missing") from None
    except (OSError, ValueError) as error:
        what = "a link, which is not followed" if getattr(error, "errno", 0) == errno.ELOOP else f"no file: {error}"
        raise DataDamaged(f"{path} is {what}") from error


def _nothing(shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    return torch.empty(shape, dtype=dtype).as_subclass(MemoryMappedTensor)


def _reopened(
    path: str, dtype: torch.dtype, length: int, offset: int, shape: Any, stride: Any, mode: Mode | None
) -> Tensor:
    whole = MemoryMappedTensor.from_filename(path, dtype, [length // dtype.itemsize], mode=mode)
    return Tensor.as_strided(whole, shape, stride, offset).as_subclass(MemoryMappedTensor)


def _new_file(filename: Path | None, existsok: bool) -> str:
    if filename is None:
        return os.path.join(own_folder(), "data.memmap")
    path = os.fspath(filename)
    if os.path.exists(path):
        if not existsok:
            raise DataExists(f"{path} is there already; existsok=True overwrites it")
        os.unlink(path)  # Maps of the old file keep their data.
    return path


def own_folder() -> str:
    """A new folder that is removed when this process ends."""
    folder = tempfile.mkdtemp(prefix="tensorclass-")
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # A forked worker has a copy of this list of things to do.
        shutil.rmtree(folder, ignore_errors=True)


# ---- views stay maps ----------------------------------------------------------------------------------------------

_VIEWS = """
    as_strided chunk detach diagonal expand expand_as flatten moveaxis movedim narrow permute ravel reshape reshape_as
    select split split_with_sizes squeeze swapaxes swapdims t tensor_split transpose unbind unflatten unfold unsqueeze
    view view_as
""".split()


def _as_map(source: Tensor, out: Any) -> Any:
    if torch.compiler.is_compiling():  # A graph has no storages to compare; what it gives is a map where it is a view.
        return out
    if isinstance(out, (tuple, list)):
        return type(out)([_as_map(source, one) for one in out])
    # Some of these copy where no view would do; a copy is no map.
    if out.untyped_storage().data_ptr() != source.untyped_storage().data_ptr():
        return out
    return out.as_subclass(MemoryMappedTensor)


def _keeping(name: str) -> Callable[..., Any]:
    # Tensor.unflatten calls super(), which a trace cannot follow in a subclass.
    call = torch.unflatten if name == "unflatten" else getattr(Tensor, name)

    def view(self: Tensor, *args: Any, **options: Any) -> Any:
        return _as_map(self, call(self, *args, **options))

    view.__name__, view.__doc__ = name, call.__doc__
    return view


for _name in _VIEWS:
    setattr(MemoryMappedTensor, _name, _keeping(_name))
PICKED.add(MemoryMappedTensor)


__all__ = ["MemoryMappedTensor", "Mode", "Path", "file_of", "mapped", "own_folder"]
