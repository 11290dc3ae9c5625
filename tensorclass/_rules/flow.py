"""Which keys modules read and write, and what a sequence of them needs and gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .keys import Key

DISCARD = "_"  # An out-key that says: drop this output.


class Flow(NamedTuple):
    """The keys that a module reads and the keys that it writes."""

    reads: tuple[Key, ...]
    writes: tuple[Key, ...]
    tracked: bool = True  # A plain callable is not: nobody knows what it reads and writes.


def written(keys: Iterable[Key]) -> list[Key]:
    """Out-keys that are written: all but the discarded ones.

    >>> written(["a", "_"])
    ['a']
    """
    return [key for key in keys if key != DISCARD]


def provided(key: Key, keys: Iterable[Key]) -> bool:
    """Whether a key is among others, or sits inside one of them.

    >>> provided(("params", "loc"), ["params"])
    True
    """
    parts = (key,) if isinstance(key, str) else key
    return any(parts[: len(other)] == other for other in [(each,) if isinstance(each, str) else each for each in keys])


def sequence(flows: Sequence[Flow]) -> Flow:
    """What modules that run one after the other read from outside, and what they write.

    >>> sequence([Flow(("x",), ("h",)), Flow(("h", "mask"), ("y",)), Flow(("y",), ("h",))])
    Flow(reads=('x', 'mask'), writes=('y', 'h'), tracked=True)

    A key that two modules write stands where it is written last.
    """
    reads: dict[Key, None] = {}
    writes: dict[Key, None] = {}
    for flow in flows:
        for key in flow.reads:
            if not provided(key, writes):
                reads[key] = None
        for key in written(flow.writes):
            writes.pop(key, None)
            writes[key] = None
    return Flow(tuple(reads), tuple(writes))


def subsequence(
    flows: Sequence[Flow], in_keys: Sequence[Key] | None = None, out_keys: Sequence[Key] | None = None
) -> list[int]:
    """Which modules it takes to compute some keys from others.

    >>> subsequence([Flow(("x",), ("h",)), Flow(("h",), ("y",)), Flow(("x",), ("z",))], None, ["y"])
    [0, 1]

    A callable whose keys are not known is always kept.
    """
    kept = list(range(len(flows)))
    if in_keys is not None:
        kept = _computable(flows, kept, in_keys)
    if out_keys is not None:
        kept = _needed(flows, kept, out_keys)
    return kept if any(flows[at].tracked for at in kept) else []


def _computable(flows: Sequence[Flow], kept: list[int], in_keys: Sequence[Key]) -> list[int]:
    known = list(in_keys)
    found = []
    for at in kept:
        if all(provided(key, known) for key in flows[at].reads):
            found.append(at)
            known += flows[at].writes
    return found


def _needed(flows: Sequence[Flow], kept: list[int], out_keys: Sequence[Key]) -> list[int]:
    needed = set(out_keys)
    found = []
    for at in reversed(kept):
        flow = flows[at]
        if not flow.tracked:
            found.append(at)
        elif any(_touches(key, needed) for key in written(flow.writes)):
            found.append(at)
            needed = (needed - set(flow.writes)) | set(flow.reads)
    return found[::-1]


def _touches(key: Key, needed: Iterable[Key]) -> bool:
    return provided(key, needed) or any(provided(other, [key]) for other in needed)
