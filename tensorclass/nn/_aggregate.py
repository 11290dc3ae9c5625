"""Whether log-probabilities of several values are summed up."""

from __future__ import annotations

import os

from .._settings import FLAGS, Setting


class _Process:
    """What holds where no block says otherwise."""

    aggregate = os.environ.get("COMPOSITE_LP_AGGREGATE", "0").lower() in ("1", "true", "yes", "on")


def composite_lp_aggregate() -> bool:
    """Whether a composite log-probability is one tensor, the sum, rather than one entry for each value."""
    return _Process.aggregate if FLAGS.aggregate is None else FLAGS.aggregate


class set_composite_lp_aggregate(Setting):
    """Sum log-probabilities up, or not: in a `with` block or decorated function, or with .set() for good.

    >>> with set_composite_lp_aggregate(True):
    ...     composite_lp_aggregate()
    True
    """

    _flag = "aggregate"

    def __init__(self, mode: bool = True) -> None:
        super().__init__(bool(mode))

    def set(self) -> None:
        """From now on, everywhere in the process."""
        self._before.append(_Process.aggregate)
        _Process.aggregate = self._value

    def unset(self) -> None:
        """As it was before .set()."""
        _Process.aggregate = self._before.pop()
