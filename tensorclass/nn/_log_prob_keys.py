"""Where a probabilistic module writes log-probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._rules import errors
from .._rules.keys import Key, unravel
from ._aggregate import composite_lp_aggregate
from ._keys import keys_of
from .distributions._composite import suffixed


class LogProbKeys:
    """The keys for the log-probability of each value, and for their sum, as the setting was when they were chosen."""

    def __init__(
        self, out_keys: Sequence[Key], composite: bool, keys: Any = None, key: Key | None = None, given: bool = True
    ) -> None:
        self.aggregate = composite_lp_aggregate()
        self.composite = composite
        if keys is not None and key is not None:
            raise errors.OptionError("give log_prob_keys, or log_prob_key, not both")
        if keys is not None and self.aggregate:
            raise errors.StructureError(
                "composite_lp_aggregate is set to True: log-probabilities are summed up, under one key; "
                "give log_prob_key instead of log_prob_keys"
            )
        if key is not None and composite and not self.aggregate:
            raise errors.StructureError(
                "composite_lp_aggregate is set to False: each value has a log-probability of its own; "
                "give log_prob_keys instead of log_prob_key"
            )
        if keys is None:
            self.each = [suffixed(out, "_log_prob") for out in out_keys if out != "_"]
            self.each = [unravel(key)] if key is not None and not composite else self.each
        else:
            self.each = keys_of("log_prob_keys", keys)
        self.total: Key = "sample_log_prob" if key is None else unravel(key)
        if given:
            self._check(out_keys)

    def _check(self, out_keys: Sequence[Key]) -> None:
        if len(self.each) != len([key for key in out_keys if key != "_"]):
            raise errors.OptionError(
                f"{errors.count(len(self.each), 'log_prob_key')} for {errors.count(len(out_keys), 'out_key')} "
                f"{list(out_keys)}; give one for each"
            )
        for key in self.written:
            if key in out_keys:
                raise errors.OptionError(
                    f"{errors.name_of(key)} is the key of a value; its log-probability needs another key"
                )

    @property
    def written(self) -> list[Key]:
        """All keys that are written."""
        if not self.aggregate:
            return self.each
        return [*self.each, self.total] if self.composite else [self.total]

    @property
    def single(self) -> Key:
        """The one key there is."""
        if self.aggregate:
            return self.total
        if len(self.each) != 1:
            raise errors.StructureError(
                f"there are {len(self.each)} log_prob_keys, {errors.some_names(self.each)}; log_prob_key is for one"
            )
        return self.each[0]

    def check_setting(self) -> None:
        """Refuse a call under another setting than the one the keys were chosen under."""
        now = composite_lp_aggregate()
        if now != self.aggregate:
            raise errors.StructureError(
                f"composite_lp_aggregate is set to {now}, the module was built when it was {self.aggregate}; "
                "choose it before modules are built, and keep it"
            )
