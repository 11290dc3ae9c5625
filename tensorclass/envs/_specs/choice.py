"""Choice: a value of one of several domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Size
from typing_extensions import Self

from ..._rules import errors
from ..._tensordict import TensorDict
from .asked import cardinality, fault, full, misfit, project, rand
from .base import TensorSpec
from .node import node_of, tensors_of


class Choice(TensorSpec):
    """A value of one of several domains of one shape and dtype.

    >>> from tensorclass.envs import Bounded
    >>> spec = Choice([Bounded(0.0, 1.0, (2,)), Bounded(3.0, 4.0, (2,))])
    >>> spec.is_in(torch.tensor([0.5, 0.5])), spec.is_in(torch.tensor([0.5, 3.5]))
    (True, False)
    """

    choices: tuple[Any, ...]

    def __init__(self, choices: Sequence[TensorSpec]) -> None:
        if not choices:
            raise errors.OptionError("Choice: no specs were given; at least one would do")
        first = choices[0]
        for number, spec in enumerate(choices):
            if (spec.shape, spec.dtype) != (first.shape, first.dtype):
                raise errors.StructureError(
                    f"Choice: spec 0 has shape {list(first.shape)} and {first.dtype}, spec {number} "
                    f"{list(spec.shape)} and {spec.dtype}; they must be the same"
                )
        self.choices, self._batch, self._dtype, self._device = tuple(choices), first.shape, first.dtype, first.device

    def _node(self) -> TensorDict:
        return node_of(self, {str(number): spec._node() for number, spec in enumerate(self.choices)}, self._batch)

    def _moved(self, node: Any, op: str) -> Choice:
        return Choice([self._of(part, op) for part in tensors_of(node).values()])

    def _alike(self, other: TensorSpec) -> bool:
        return (
            isinstance(other, Choice)
            and len(self.choices) == len(other.choices)
            and all(one._alike(another) for one, another in zip(self.choices, other.choices))
        )

    def _cast(self, device: torch.device | None, dtype: torch.dtype | None) -> Self:
        return type(self)([spec._cast(device, dtype) for spec in self.choices])

    def clone(self) -> Self:
        """A spec of its own that is equal to this one."""
        return type(self)([spec.clone() for spec in self.choices])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and self.choices == other.choices

    def __hash__(self) -> int:
        return hash((Choice, self.choices))

    def __repr__(self) -> str:
        return f"Choice({list(self.choices)!r})"


@rand.register
def _(spec: Choice, size: Size) -> Any:
    return rand(spec.choices[int(torch.randint(len(spec.choices), ()))], size)


@full.register
def _(spec: Choice, size: Size, number: int) -> Any:
    return full(spec.choices[0], size, number)


@misfit.register
def _(spec: Choice, value: Any) -> str | None:
    return misfit(spec.choices[0], value)


@fault.register
def _(spec: Choice, value: Any) -> str | None:
    faults = [fault(one, value) for one in spec.choices]
    return None if None in faults else f"none of {len(faults)} choices has it: {faults[0]}"


@project.register
def _(spec: Choice, value: Any) -> Any:
    near = [project(one, value) for one in spec.choices]
    away = [float((one.double() - value.double()).abs().sum()) for one in near]
    return near[away.index(min(away))]


@cardinality.register
def _(spec: Choice) -> float:
    return sum(cardinality(one) for one in spec.choices)
