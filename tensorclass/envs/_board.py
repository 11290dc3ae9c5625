"""The board: what goes to the workers and what comes from them, as containers in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from .._tensordict import TensorDict
from .._tree import walk
from .._tree.node import is_tree
from ._conform import value_at
from ._operations import Description
from ._shared import Block, Slot, arrange
from ._worker import Layout, Path

GIVEN = ("full_action_spec", "full_state_spec")
GIVES = ("full_observation_spec", "full_done_spec", "full_state_spec", "full_reward_spec")


class Board:
    """A container for each worker; where they are alike, one whose rows are theirs."""

    def __init__(self, found: Sequence[Description], even: bool) -> None:
        self.even = even
        trees = [(zeros(one, GIVEN), zeros(one, GIVES)) for one in (found[:1] if even else found)]
        if even:
            trees = [(spread(given, len(found)), spread(gives, len(found))) for given, gives in trees]
        pairs = [[list(walk.tensors_with_paths(tree)) for tree in pair] for pair in trees]
        slots, length = arrange(
            [(leaf.dtype, tuple(leaf.shape)) for pair in pairs for tree in pair for _, leaf in tree]
        )
        self.block = Block(length)
        place = iter(slots)
        placed = [[[(at, next(place)) for at, _ in tree] for tree in pair] for pair in pairs]
        self.given = [[(at, self.block.tensor(slot)) for at, slot in given] for given, _ in placed]
        self.gives = [
            walk.refill(tree, iter([self.block.tensor(slot) for _, slot in gives]))
            for (_, gives), (_, tree) in zip(placed, trees)
        ]
        rewards = [{at for at, _ in walk.tensors_with_paths(zeros(one, GIVES[-1:]))} for one in found]
        rows = [[row_slots(tree, at) for tree in placed[0]] for at in range(len(found))] if even else placed
        self.layouts = [Layout(given, gives, reward) for (given, gives), reward in zip(rows, rewards)]

    def write(self, containers: Sequence[Any]) -> list[list[Path]]:
        """Put what the workers read into the memory; what was not there."""
        return [put_into(given, container) for given, container in zip(self.given, containers)]

    def write_row(self, index: int, row: Any) -> list[Path]:
        """Put what one worker reads into the memory; what was not there."""
        if not self.even:
            return put_into(self.given[index], row)
        return put_into([(at, tensor[index]) for at, tensor in self.given[0]], row)

    def read(self) -> list[Any]:
        """A copy of what the workers gave."""
        return [walk.each(tree, Tensor.clone) for tree in self.gives]


def put_into(places: Sequence[tuple[Path, Tensor]], container: Any) -> list[Path]:
    """Copy entries of a container into tensors; the paths of those that it lacks."""
    absent = []
    for at, tensor in places:
        value = value_at(container._fields, at)
        if value is None:
            absent.append(at)
        else:
            tensor.copy_(value.detach())
    return absent


def zeros(one: Description, slots: Sequence[str]) -> TensorDict:
    """Zeros for the tensors of some specs, in one container."""
    out = TensorDict(None, one.batch)
    for slot in slots:
        graft(out, (one.output if slot in one.output.keys() else one.input)[slot].zero())
    return out


def graft(onto: Any, other: Any) -> None:
    """Put the tensors of another container into one; what is no tensor, or lies in a lazy stack, is left out."""
    for key, value in other._fields.items():
        if isinstance(value, Tensor):
            onto._fields[key] = value
        elif is_tree(value) and value._items is None:
            if key not in onto._fields:
                onto._fields[key] = TensorDict(None, value._batch)
            graft(onto._fields[key], value)


def spread(tree: Any, count: int) -> Any:
    """A container with so many rows like this one."""
    return type(tree).expand(tree, count, *tree._batch)


def row_slots(slots: Sequence[tuple[Path, Slot]], index: int) -> list[tuple[Path, Slot]]:
    """Where one row of each lies."""
    return [(at, slot.row(index)) for at, slot in slots]
