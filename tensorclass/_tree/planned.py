"""What the generated shape ops ask of a thing that carries out moves by itself: a lazy stack, a spec."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import Size
from typing_extensions import Self

from .._rules.shapes import Moves


class Planned:
    """Sizes, and three doors for ops whose arguments are canonical and whose rule has been asked."""

    __slots__ = ()

    if TYPE_CHECKING:
        _batch: Size

        def _move(self, op: str, moves: Moves, arguments: dict[str, Any]) -> Self: ...
        def _along(self, op: str, rule: Callable[[], Moves], arguments: dict[str, Any]) -> Self: ...
        def _split(self, op: str, rule: Callable[[], list[Moves]], arguments: dict[str, Any]) -> tuple[Self, ...]: ...


def spelled(op: str, arguments: dict[str, Any]) -> list[Any]:
    """Canonical arguments as the method of a container takes them."""
    starred = ("permute", "reshape", "view", "expand", "flip", "repeat")
    values = list(arguments.values())
    return list(values[0]) if op in starred else values
