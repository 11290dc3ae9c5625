"""Which keys an environment reads and writes: a plan made once from its specs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from torch import Size

from .._rules.keys import Key, path, unravel

FLAGS = ("done", "terminated", "truncated")


@dataclass
class Group:
    """The flags that sit side by side in one container: those of the whole, or of one group of agents."""

    at: tuple[str, ...]
    names: tuple[str, ...]
    shape: Size
    tail: Size  # What is left of it without the batch size of the environment.
    beside: frozenset[str] = frozenset()  # The other keys there, by the specs.
    above: Group | None = None  # The group around it, whose flags decide for it.
    trusted: bool = False  # A step without flags has been seen and found to mean it.

    def key(self, name: str) -> Key:
        """The key of a flag of this group, or of something beside it."""
        return unravel((*self.at, name))


@dataclass
class Plan:
    """The keys of an environment by what they are."""

    actions: list[Key]
    rewards: list[Key]
    dones: list[Key]
    states: list[Key]
    observations: list[Key]
    groups: list[Group]
    resets: list[Key] = field(init=False)
    flat: bool = field(init=False)
    ends: list[Key] = field(init=False)  # What says that an episode is over: the outermost flags.
    shapes: dict[Key, Size] = field(default_factory=dict)  # Of what a step gives.
    dropped: list[str] = field(init=False)  # The rewards at the root,
    inside: frozenset[tuple[str, ...]] = field(init=False)  # and those in nested containers,
    nodes: list[str] = field(init=False)  # which are these.

    def __post_init__(self) -> None:
        self.resets = [group.key("_reset") for group in self.groups]
        self.ends = [group.key("done") for group in self.groups if group.above is None]
        every = [*self.actions, *self.rewards, *self.dones, *self.states, *self.observations]
        self.flat = all(key.__class__ is str for key in every)
        self.dropped = [key for key in self.rewards if isinstance(key, str)]
        self.inside = frozenset(key for key in self.rewards if not isinstance(key, str))
        self.nodes = list(dict.fromkeys(key[0] for key in every if not isinstance(key, str)))


def leaves_of(spec: Any) -> dict[Key, Any]:
    """The leaf specs of a composite by key, in order; those without a spec are left out."""
    return {key: spec[key] for key in spec.keys(True, True) if spec[key] is not None}


def plan_of(output: Any, input_: Any) -> Plan:
    """The plan for an environment with these specs."""
    dones = leaves_of(output["full_done_spec"])
    rewards = leaves_of(output["full_reward_spec"])
    observations = leaves_of(output["full_observation_spec"])
    groups = groups_of(dones, len(output["full_done_spec"].shape), [*observations, *rewards])
    plan = Plan(
        list(leaves_of(input_["full_action_spec"])),
        list(rewards),
        sorted(dones, key=_rank),
        list(leaves_of(input_["full_state_spec"])),
        list(observations),
        # A flag that a transform has put beside no "done" is carried along; it ends no episode.
        [group for group in groups if "done" in group.names] or groups,
    )
    plan.shapes = {key: spec.shape for key, spec in {**observations, **rewards, **dones}.items()}
    return plan


def _rank(key: Key) -> tuple[int, tuple[str, ...], int]:
    at = path(key)
    return len(at), at[:-1], FLAGS.index(at[-1]) if at[-1] in FLAGS else len(FLAGS)


def groups_of(dones: dict[Key, Any], rank: int, others: Iterable[Key] = ()) -> list[Group]:
    """The flags by the container that they sit in, the outermost first."""
    found: dict[tuple[str, ...], list[str]] = {}
    for key in sorted(dones, key=_rank):
        at = path(key)
        found.setdefault(at[:-1], []).append(at[-1])
    groups: list[Group] = []
    for at, names in found.items():
        shape = dones[unravel((*at, names[0]))].shape
        beside = frozenset(path(key)[len(at)] for key in others if path(key)[: len(at)] == at)
        flags = tuple(name for name in FLAGS if name in names)
        above = next((one for one in reversed(groups) if at[: len(one.at)] == one.at), None)
        groups.append(Group(at, flags, shape, shape[rank:], beside, above))
    return groups


def is_masked(spec: Any) -> bool:
    """Whether a spec allows only what a mask says."""
    return getattr(spec, "mask", None) is not None
