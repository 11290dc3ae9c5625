"""The specs of an environment without its batch dims: what a policy is built from."""

from __future__ import annotations

from typing import Any, TypeVar

from ._slots import SpecSlots
from ._specs.base import TensorSpec
from ._specs.composite import Composite

S = TypeVar("S", bound=TensorSpec)


class UnbatchedSpecs(SpecSlots):
    """The same specs, for one environment of the batch."""

    def _unbatched(self, spec: S) -> S:
        for _ in self._batch:
            spec = spec[0]
        return spec

    @property
    def observation_spec_unbatched(self) -> Composite:
        """observation_spec without the batch dims."""
        return self._unbatched(self.observation_spec)

    @property
    def full_observation_spec_unbatched(self) -> Composite:
        """full_observation_spec without the batch dims."""
        return self._unbatched(self.full_observation_spec)

    @property
    def reward_spec_unbatched(self) -> Any:
        """reward_spec without the batch dims."""
        return self._unbatched(self.reward_spec)

    @property
    def full_reward_spec_unbatched(self) -> Composite:
        """full_reward_spec without the batch dims."""
        return self._unbatched(self.full_reward_spec)

    @property
    def done_spec_unbatched(self) -> Any:
        """done_spec without the batch dims."""
        return self._unbatched(self.done_spec)

    @property
    def full_done_spec_unbatched(self) -> Composite:
        """full_done_spec without the batch dims."""
        return self._unbatched(self.full_done_spec)

    @property
    def action_spec_unbatched(self) -> Any:
        """action_spec without the batch dims."""
        return self._unbatched(self.action_spec)

    @property
    def full_action_spec_unbatched(self) -> Composite:
        """full_action_spec without the batch dims."""
        return self._unbatched(self.full_action_spec)

    @property
    def state_spec_unbatched(self) -> Composite:
        """state_spec without the batch dims."""
        return self._unbatched(self.state_spec)

    @property
    def full_state_spec_unbatched(self) -> Composite:
        """full_state_spec without the batch dims."""
        return self._unbatched(self.full_state_spec)

    @property
    def input_spec_unbatched(self) -> Composite:
        """input_spec without the batch dims."""
        return self._unbatched(self.input_spec)

    @property
    def output_spec_unbatched(self) -> Composite:
        """output_spec without the batch dims."""
        return self._unbatched(self.output_spec)
