"""`with` blocks of containers: what unlock_(), lock_() and view() have done is undone at the end."""

from __future__ import annotations

from typing_extensions import Self

from ._rules import errors
from ._tree.blocks import entered
from ._tree.node import Node


class BlockMethods(Node):
    """Enter a block, leave it."""

    __slots__ = ()

    def __enter__(self) -> Self:
        """Begin a block at whose end unlock_(), lock_() or view() is undone.

        >>> td = TensorDict(a=torch.zeros(4, 3), batch_size=[4, 3])
        >>> with td.view(-1) as flat:
        ...     flat["number"] = torch.arange(12)
        >>> td["number"].shape
        torch.Size([4, 3])
        """
        undo = getattr(self, "_undo", (None, ()))[0]
        if undo is None:
            raise errors.StructureError("a container is a block only right after .unlock_(), .lock_() or .view()")
        object.__setattr__(self, "_undo", (None, (*entered(self), undo)))
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        *outer, undo = entered(self)
        undo(self, kind is not None)
        object.__setattr__(self, "_undo", (None, tuple(outer)))
