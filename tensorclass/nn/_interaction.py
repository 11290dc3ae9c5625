"""Which value a probabilistic module takes from its distribution."""

from __future__ import annotations

from enum import Enum
from typing import Any

from .._rules import errors
from .._settings import FLAGS, Setting


class InteractionType(str, Enum):
    """The rule by which a value is taken from a distribution.

    >>> InteractionType("Random"), InteractionType.from_str("MODE")
    (<InteractionType.RANDOM: 'random'>, <InteractionType.MODE: 'mode'>)
    """

    MODE = "mode"
    MEDIAN = "median"
    MEAN = "mean"
    RANDOM = "random"
    DETERMINISTIC = "deterministic"

    @classmethod
    def _missing_(cls, value: object) -> InteractionType | None:
        if isinstance(value, str):
            for member in cls:
                if member.value == value.lower():
                    return member
        return None

    @classmethod
    def from_str(cls, name: str) -> InteractionType:
        """The type with a name, in any case."""
        return interaction_of(name)


def interaction_of(given: Any) -> InteractionType:
    """An interaction type, or the one that a string names."""
    try:
        return InteractionType(given)
    except ValueError:
        raise errors.OptionError(
            f"{given!r} is no interaction type; there are {errors.some_names([one.value for one in InteractionType])}"
        ) from None


def interaction_type() -> InteractionType | None:
    """The interaction type of the block around, or None outside of one."""
    kind: InteractionType | None = FLAGS.interaction
    return kind


class set_interaction_type(Setting):
    """The interaction type of all modules, in a `with` block or a decorated function, in this thread.

    >>> with set_interaction_type("random"):
    ...     interaction_type()
    <InteractionType.RANDOM: 'random'>

    None: each module takes its own default again.
    """

    _flag = "interaction"

    def __init__(self, type: InteractionType | str | None = InteractionType.DETERMINISTIC) -> None:
        super().__init__(None if type is None else interaction_of(type))
