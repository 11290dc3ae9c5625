"""A stack node: nodes side by side along a dim, never copied together unless an op needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Size
from typing_extensions import Self

from .._rules import errors
from .._rules.shapes import Grow, Keep, Merge, Move, Moves, Part, Sized, is_whole, sources
from .._rules.sizes import RAGGED
from .node import Node
from .plan import apply
from .planned import spelled

DIM_ARGUMENTS = ("dim", "dims", "source", "destination", "dim0", "dim1", "start_dim", "end_dim")


class LazyNode(Node):
    """Items along a stack dim; sizes of other dims that differ from item to item read -1."""

    __slots__ = ()

    if TYPE_CHECKING:
        _items: list[Any]  # Honest Any: containers of one class.
        _dim: int

    def _restack(self, items: Sequence[Any], dim: int | None = None) -> Self:
        """A lazy stack of other items."""
        raise NotImplementedError

    def _dense(self, op: str) -> Any:
        """The same entries in a dense container, or an error that names the ragged dim and the op."""
        raise NotImplementedError

    def _densely(self, op: str, arguments: dict[str, Any]) -> Self:
        """An op that needs one dense container."""
        dense = self._dense(op)
        out: Self = getattr(type(dense), op)(dense, *spelled(op, arguments))
        return out

    def _move(self, op: str, moves: Moves, arguments: dict[str, Any]) -> Self:
        """A shape op: what leaves the stack dim whole goes to the items, the rest needs one dense container."""
        at = self._dim
        if not is_whole(moves, at):
            return self._densely(op, arguments)
        check_ragged(op, self._batch, moves)
        place = next((i for i, move in enumerate(moves) if isinstance(move, Keep) and move.dim == at), None)
        rest = [without(move, at) for i, move in enumerate(moves) if i != place]
        items = [apply(item, rest) for item in self._items]
        if place is None:
            only: Self = items[0]
            return only
        return self._restack(items, place)

    def _along(self, op: str, rule: Callable[[], Moves], arguments: dict[str, Any]) -> Self:
        """An op along some dims: to the items where the stack dim is not among them."""
        rule()
        dims = arguments.get("dim", arguments.get("dims"))
        at = self._dim
        if dims is None or op in ("gather", "repeat"):
            return self._densely(op, arguments)
        several = (dims,) if isinstance(dims, int) else tuple(dims)
        if at in several:
            chosen = along_items(op, self._items, arguments) if len(several) == 1 else None
            if chosen is not None:
                return self._restack(chosen)
            return self._densely(op, arguments)
        name = "dim" if "dim" in arguments else "dims"
        moved = tuple([dim - (dim > at) for dim in several])
        inner = {**arguments, name: moved[0] if isinstance(dims, int) else moved}
        return self._restack([getattr(type(item), op)(item, *spelled(op, inner)) for item in self._items])

    def _split(self, op: str, rule: Callable[[], list[Moves]], arguments: dict[str, Any]) -> tuple[Self, ...]:
        """Several results: pieces of the list of items, or the items' own pieces side by side."""
        dim, at = arguments["dim"], self._dim
        parts = rule()
        if dim == at:
            if op == "unbind":
                return tuple(self._items)
            out, start = [], 0
            for part in parts:
                move = part[at]
                stop = start + (move.size if isinstance(move, Sized) else len(self._items))
                out.append(self._restack(self._items[start:stop]))
                start = stop
            return tuple(out)
        inner = {**arguments, "dim": dim - (dim > at)}
        rows = [getattr(type(item), op)(item, *spelled(op, inner)) for item in self._items]
        stack_at = at - (op == "unbind" and dim < at)
        return tuple([self._restack(list(row), stack_at) for row in zip(*rows)])


def along_items(op: str, items: list[Any], arguments: dict[str, Any]) -> list[Any] | None:
    """The items after an op along the stack dim that only picks or reorders them; None for other ops."""
    if op == "flip":
        return items[::-1]
    if op == "narrow":
        start = arguments["start"] + (len(items) if arguments["start"] < 0 else 0)
        return items[start : start + arguments["length"]]
    if op == "index_select" and not torch.compiler.is_compiling():  # In a graph the rows would be data.
        return [items[row] for row in arguments["index"].reshape(-1).tolist()]
    if op == "roll":
        shifts = arguments["shifts"]
        shift = (shifts if isinstance(shifts, int) else shifts[0]) % max(len(items), 1)
        return items[-shift:] + items[:-shift] if shift else list(items)
    if op == "repeat_interleave" and isinstance(arguments["repeats"], int):
        return [item for item in items for _ in range(arguments["repeats"])]
    return None


def without(move: Move, dim: int) -> Move:
    """A move as the items see it, which have not got the stack dim."""
    if isinstance(move, Keep):
        return Keep(move.dim - (move.dim > dim))
    if isinstance(move, (Grow, Sized)):
        return move._replace(dim=move.dim - (move.dim > dim))
    if isinstance(move, (Merge, Part)):
        return move._replace(dims=tuple([one - (one > dim) for one in move.dims]))
    return move


def check_ragged(op: str, batch: Size, moves: Moves) -> None:
    """Refuse moves that need one size of a dim that has several."""
    for move in moves:
        for dim in sources(move):
            if batch[dim] == RAGGED and not isinstance(move, Keep):
                raise errors.RaggedError(errors.ragged(op, dim))


def alike(values: Sequence[Any]) -> bool:
    """Whether all values equal the first."""
    first = values[0]
    if torch.compiler.is_compiling():  # Symbolic sizes cannot be counted.
        return all(value == first for value in values)
    return values.count(first) == len(values)


def stacked_batch(items: Sequence[Node], dim: int) -> Size:
    """The batch size of a lazy stack: -1 where the items differ."""
    batches = [item._batch for item in items]
    first, count = batches[0], len(batches)
    # Most items have one of a few batch sizes, and only these are compared; symbolic ones have no hash.
    different = batches if torch.compiler.is_compiling() else list({*batches})
    if alike(different):
        return Size((*first[:dim], count, *first[dim:]))
    try:
        columns = list(zip(*different, strict=True))
    except ValueError:
        number, batch = next(pair for pair in enumerate(batches) if len(pair[1]) != len(first))
        raise errors.ShapeError(
            f"lazy_stack: item 0 has batch size {list(first)}, item {number} has {list(batch)}; "
            "they must have the same number of batch dims"
        ) from None
    sizes = [column[0] if alike(column) else RAGGED for column in columns]
    return Size((*sizes[:dim], count, *sizes[dim:]))
