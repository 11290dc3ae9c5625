"""Specs as containers and back: a shape op on a spec is that op on the tensors it is made of (bounds, masks)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Size
from typing_extensions import Self

from ..._tensordict import TensorDict
from ..._tree.node import Names

if TYPE_CHECKING:
    from .base import TensorSpec


class SpecNode(TensorDict):
    """The tensors of a spec, with the spec's shape as batch size; it remembers the spec they are of."""

    __slots__ = ("_spec",)
    _spec: TensorSpec

    @classmethod
    def of(cls, spec: TensorSpec, fields: dict[str, Any], batch: Size) -> SpecNode:
        """A node for a spec."""
        node = cls(None, ())
        node._fields, node._batch, node._spec = fields, batch, spec
        return node

    def _rebuild(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Self:
        new = super()._rebuild(fields, batch, names)
        new._spec = self._spec
        return new
