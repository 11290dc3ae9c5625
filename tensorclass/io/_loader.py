"""Data sets whose rows are containers, for torch's DataLoader: a batch is fetched at once and copied once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, get_worker_info

from .._container import Container
from .._functions import stack
from .._rules import errors
from .._tree import walk
from .._tree.node import kind
from ._pack import Buffer, PackedTensor, buffer_of, empty_buffer, places, views

C = TypeVar("C", bound=Container)


class RowDataset(Dataset[C], Generic[C]):
    """The rows of a container as a data set; from memory maps, only the rows that are asked for are read.

    >>> rows = RowDataset(TensorDict(a=torch.arange(10), batch_size=[10]).memmap())
    >>> len(rows), rows[3]["a"], rows.__getitems__([3, 1])["a"]
    (10, MemoryMappedTensor(3), tensor([3, 1]))
    """

    def __init__(self, rows: C) -> None:
        if not isinstance(rows, Container) or not rows._batch:
            raise errors.KindError(f"RowDataset: {kind(rows)} has no rows; a container with a batch dim would do")
        self.rows = rows

    def __len__(self) -> int:
        return self.rows._batch[0]

    def __getitem__(self, index: int) -> C:
        row: C = type(self.rows).__getitem__(self.rows, index)
        return row

    def __getitems__(self, indices: Sequence[int]) -> C:
        """A batch of rows, fetched at once."""
        index = torch.as_tensor(indices)
        if get_worker_info() is not None and self.rows._items is None:
            return take_shared(self.rows, index)
        batch: C = type(self.rows).__getitem__(self.rows, index)
        return batch


class RowLoader(DataLoader[C], Generic[C]):
    """torch's DataLoader over the rows of a container, whose batches have the class of the container for checkers too.

    >>> loader = RowLoader(TensorDict(a=torch.arange(10), batch_size=[10]), batch_size=4)
    >>> [batch["a"].tolist() for batch in loader]
    [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    """

    def __init__(
        self, rows: C | RowDataset[C], batch_size: int | None = 1, shuffle: bool | None = None, **options: Any
    ):
        data = rows if isinstance(rows, RowDataset) else RowDataset(rows)
        super().__init__(data, batch_size=batch_size, shuffle=shuffle, **options)

    def __iter__(self) -> Iterator[C]:  # type: ignore[override]  # DataLoader names its own class of iterators.
        return super().__iter__()


# ---- in a worker: a batch is made in the memory that the main process will see ---------------------------------------


class SentTensor(PackedTensor):
    """A tensor of a batch: it arrives as an ordinary tensor, in one buffer with the others."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _arrived, (buffer_of(self), self.dtype, self.storage_offset(), tuple(self.shape), self.stride())


def _arrived(buffer: Buffer, dtype: torch.dtype, offset: int, shape: Any, stride: Any) -> Tensor:
    return buffer.view(dtype, offset, shape, stride).as_subclass(Tensor)


def take_shared(rows: C, index: Tensor) -> C:
    """Some rows of a container, put into shared memory as they are read."""
    leaves = walk.gather(rows, [])
    if any(leaf.is_nested for leaf in leaves):
        return type(rows).__getitem__(rows, index)
    out = _shared_like([(leaf.dtype, (len(index), *leaf.shape[1:])) for leaf in leaves])
    for leaf, view in zip(leaves, out):
        torch.index_select(leaf.detach(), 0, index, out=view)
    shell = type(rows).__getitem__(_hollow(rows), index)
    return _filled(shell, out)  # type: ignore[no-any-return]


def stack_shared(rows: list[C]) -> C:
    """Containers stacked into shared memory."""
    columns = [walk.gather(rows[0], []), *[walk.match("stack", rows[0], row, []) for row in rows[1:]]]
    if any(
        leaf.is_nested or leaf.shape != first.shape for column in columns for leaf, first in zip(column, columns[0])
    ):
        return stack(rows)  # type: ignore[no-any-return]  # It knows the words for what does not fit.
    shell = stack([_hollow(row) for row in rows])
    out = _shared_like([(leaf.dtype, (len(rows), *leaf.shape)) for leaf in columns[0]])
    for view, leaves in zip(out, zip(*columns)):
        torch.stack([leaf.detach() for leaf in leaves], out=view)
    return _filled(shell, out)  # type: ignore[no-any-return]


def _shared_like(kinds: list[tuple[torch.dtype, tuple[int, ...]]]) -> list[Tensor]:
    starts, length = places(kinds)
    return views(empty_buffer(length, share=length > 0), kinds, starts)


def _hollow(node: Any) -> Any:
    """The same container with tensors that hold nothing, on which ops cost nothing."""
    rank = len(node._batch)
    return walk.each(node, lambda leaf: leaf.new_empty((*leaf.shape[:rank], 0)))


def _filled(shell: Any, leaves: list[Tensor]) -> Any:
    return walk.refill(shell, iter([leaf.as_subclass(SentTensor) for leaf in leaves]))
