"""Specs as containers and back: a shape op on a spec is that op on the tensors it is made of (bounds, masks)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Size

from ..._rules import errors
from ..._tensordict import TensorDict

if TYPE_CHECKING:
    from .base import TensorSpec

MARK = "\0spec"  # No key of a user's: plain data, which every op passes through.


class Mark:
    """Which spec the tensors of a container are of; two marks are equal if one spec can stand for both."""

    __slots__ = ("spec",)

    def __init__(self, spec: TensorSpec) -> None:
        self.spec = spec

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mark) and self.spec._alike(other.spec)

    def __hash__(self) -> int:
        return hash(type(self.spec))


def node_of(spec: TensorSpec, fields: dict[str, Any], batch: Size) -> TensorDict:
    """A container for the tensors of a spec, which remembers the spec."""
    node: TensorDict = TensorDict(None, ())
    node._fields, node._batch = {MARK: Mark(spec), **fields}, batch
    return node


def spec_of(node: TensorDict, op: str) -> Any:
    """The spec whose tensors a container has, after an op."""
    mark = node._fields[MARK]
    if not isinstance(mark, Mark):
        raise errors.StructureError(
            f"{op}: the specs of the stack differ, so that their dim must stay whole; index it to have one of them"
        )
    return mark.spec


def tensors_of(node: TensorDict) -> dict[str, Any]:
    """What else is in such a container."""
    return {name: value for name, value in node._fields.items() if name != MARK}
