"""What a chain of transforms does, decided once: the functions of a step and a reset, and the specs at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .._rules import errors
from .._rules.keys import Key, path
from ._compose import Compose
from ._layout import Layout
from ._transform import Transform

FORWARD = ("_call", "_apply_transform")
Forward = Callable[[Any, Any], Any]
Backward = Callable[[Any], Any]


@dataclass
class Stages:
    """The way out of an environment and into it, a function for each transform that has a part in it."""

    members: list[Transform]
    steps: list[Forward]
    resets: list[Forward]
    inverses: list[Backward]
    layout: Layout

    def before(self, transform: Transform) -> Stages:
        """The part of the way between the environment and a transform."""
        first = next(members(transform), None)  # Of a Compose: the first that is in it.
        return of_members(self.members[: self.members.index(first)] if first else self.members, self.layout)


def members(transform: Transform) -> Iterator[Transform]:
    """The transforms of a chain, those of a Compose inside it too, from the environment outwards."""
    if type(transform) is Compose:
        for one in transform:
            yield from members(one)
    else:
        yield transform


def of_members(chain: list[Transform], layout: Layout) -> Stages:
    """The functions of some transforms; those that do nothing on a way are left out of it."""
    steps: list[Forward] = [one._step for one in chain if one._renames or has(one, "_step", *FORWARD)]
    resets: list[Forward] = [one._reset for one in chain if one._renames or has(one, "_reset", *FORWARD)]
    inverses: list[Backward] = [one._inv_call for one in reversed(chain) if one._inverse or has(one, "_inv_call")]
    return Stages(chain, steps, resets, inverses, layout)


def has(transform: Transform, *hooks: str) -> bool:
    """Whether a transform has one of these hooks to itself."""
    cls = type(transform)
    return any(getattr(cls, hook) is not getattr(Transform, hook) for hook in hooks)


def stages(transform: Transform, layout: Layout) -> Stages:
    """Put a chain on an environment: each transform looks at what comes to it, and says what leaves it."""
    chain = list(members(transform))
    for one in chain:
        before = layout
        one._settle(layout)
        output = named(one, one.transform_output_spec, layout.output.clone())
        input_ = named(one, one.transform_input_spec, layout.input.clone())
        obs, action = one._classes(layout.obs, layout.action)
        layout = Layout(
            output,
            input_,
            one.transform_env_batch_size(layout.batch),
            one.transform_env_device(layout.device),
            obs,
            action,
            layout.added.union(one._adds()),
        )
        layout.keep_classes(before)
        layout.check_apart(type(one).__name__)
        one._check_specs(before, layout)
    for place, one in enumerate(chain):
        one._seen_at_the_end(layout, {path(key) for later in chain[place + 1 :] for key in later._writes})
    return of_members(chain, layout)


def named(one: Transform, hook: Callable[[Any], Any], specs: Any) -> Any:
    """What a hook makes of specs; an error about them begins with the name of the transform."""
    try:
        return hook(specs)
    except errors.RuleError as error:
        name = type(one).__name__
        if name in str(error):
            raise
        raise type(error)(f"{name}: {error}") from error


def survives(key: Key, layout: Layout, written: set[tuple[str, ...]]) -> bool:
    """Whether an entry comes out at the end of a chain as it was put in."""
    at = path(key)
    return key in layout.keys("observation") and not any(at[: len(one)] == one for one in written)
