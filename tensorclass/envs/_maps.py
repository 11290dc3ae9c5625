"""What a transform does to the classes of observation and action, as type checkers read it."""

from __future__ import annotations

from typing import Any, Protocol

from typing_extensions import TypeVar

ObsIn = TypeVar("ObsIn", contravariant=True)
ActionIn = TypeVar("ActionIn", contravariant=True)
ObsOut = TypeVar("ObsOut", covariant=True)
ActionOut = TypeVar("ActionOut", covariant=True)

# The classes between the transforms of a chain: O0 and A0 those of the environment, O1 and A1 after the first one, ...
O0 = TypeVar("O0")
A0 = TypeVar("A0")
O1 = TypeVar("O1")
A1 = TypeVar("A1")
O2 = TypeVar("O2")
A2 = TypeVar("A2")
O3 = TypeVar("O3")
A3 = TypeVar("A3")
O4 = TypeVar("O4")
A4 = TypeVar("A4")


class Maps(Protocol[ObsIn, ActionIn, ObsOut, ActionOut]):
    """A transform for observations and actions of some classes, which makes them ones of others."""

    def __maps__(self, obs: ObsIn, action: ActionIn, /) -> tuple[ObsOut, ActionOut]:
        """The classes after the transform, for those before it; never called."""
        ...


class Alone(Maps[ObsIn, ActionIn, ObsOut, ActionOut], Protocol[ObsIn, ActionIn, ObsOut, ActionOut]):
    """A transform that is no Compose: those are read member by member."""

    __alone__: bool


class Function(Protocol):
    """A function from container to container. A transform is callable too, and must not be taken for one."""

    __name__: str

    def __call__(self, tensordict: Any, /) -> Any:
        """What the environment gives, changed."""
        ...


class Unfolded:
    """Stands for the members of a Compose that nobody can tell: a list of them, or functions among them."""
