"""What torch's DataLoader does with rows that are containers: one container a batch, of their class."""

from __future__ import annotations

from typing import Any

from torch.utils.data import get_worker_info
from torch.utils.data._utils.collate import default_collate_fn_map

from ._functions import stack
from ._tree.node import Node


def collate(rows: Any, *, collate_fn_map: Any = None) -> Any:
    """Rows stacked; what a data set fetched as one batch (`__getitems__`) is one already."""
    if isinstance(rows, Node):
        return rows
    if get_worker_info() is None:
        return stack(rows)
    from ._stored import from_io

    return from_io("_loader").stack_shared(rows)


def register(cls: type[Node]) -> None:
    """Make a class of containers, and those that derive from it, known to DataLoader."""
    default_collate_fn_map[cls] = collate
