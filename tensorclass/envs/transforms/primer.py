"""TensorDictPrimer: entries that a policy needs from the first step on, as the state of a recurrent network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ..._rules import errors
from ..._rules.keys import Key, path
from .._entries import read, write
from .._keys import leaves_of
from .._layout import Layout
from .._specs.base import TensorSpec
from .._specs.composite import Composite
from ._carried import Carried


class TensorDictPrimer(Carried):
    """Entries that are there from the first step of an episode on, and that a policy may write anew.

    >>> from tensorclass.envs import GymEnv, TransformedEnv, Unbounded
    >>> env = TransformedEnv(GymEnv("CartPole-v1"), TensorDictPrimer(hidden=Unbounded((3,))))
    >>> env.rollout(2)["hidden"]
    tensor([[0., 0., 0.],
            [0., 0., 0.]])

    primers: their specs, or one for each keyword; they get the batch size of the environment. At a reset each is
    default_value (a number, or a dict with one for each key), or with random=True drawn from its spec. What a policy
    writes under ("next", key) is what the next step begins with.
    """

    def __init__(
        self,
        primers: Mapping[Any, Any] | Composite | None = None,
        random: bool = False,
        default_value: float | Mapping[Key, Any] | None = None,
        reset_key: Key | None = None,
        expand_specs: bool | None = None,
        **more: TensorSpec,
    ) -> None:
        given = dict(leaves_of(primers)) if isinstance(primers, Composite) else dict(primers or {})
        given.update(more)
        if not given:
            raise errors.OptionError("TensorDictPrimer: give primers, as in TensorDictPrimer(hidden=Unbounded((64,)))")
        for key, spec in given.items():
            if not isinstance(spec, TensorSpec):
                raise errors.KindError(
                    f"TensorDictPrimer: {errors.name_of(key)} is no spec; Unbounded((64,)), say, would do"
                )
        if random and default_value is not None:
            raise errors.OptionError("TensorDictPrimer: random and default_value exclude each other; give one of them")
        super().__init__([])
        self.primers = given
        self.random, self.default_value, self.expand_specs = random, default_value, expand_specs
        self.reset_key = reset_key
        self._specs: dict[Key, Any] = dict(given)
        self._writes = tuple(given)

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        self._writes = tuple(self.primers)
        batch, device = layout.batch, layout.device
        for key, spec in self.primers.items():
            if spec.shape[: len(batch)] != batch or self.expand_specs:
                if self.expand_specs is False:
                    raise errors.ShapeError(
                        f"TensorDictPrimer: the spec of {errors.name_of(key)} has shape {list(spec.shape)}, the "
                        f"environment batch size {list(batch)}; without expand_specs=False it is expanded"
                    )
                spec = spec.expand(*batch, *spec.shape)
            self._specs[key] = spec if device is None else spec.to(device)

    def _begin(self, key: Key, spec: Any) -> Tensor:
        if self.random:
            return spec.rand()  # type: ignore[no-any-return]  # A leaf spec draws a tensor.
        default = self.default_value
        value = default.get(key, 0.0) if isinstance(default, Mapping) else default
        zero: Tensor = spec.zero()
        return zero if value is None else zero + torch.as_tensor(value, dtype=zero.dtype, device=zero.device)

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        for key, spec in self._specs.items():
            self._put_at_reset(tensordict, tensordict_reset, key, self._begin(key, spec))
        return tensordict_reset

    def _step(self, tensordict: Any, next_tensordict: Any) -> Any:
        for key in self._writes:
            if read(next_tensordict, key) is not None:
                continue
            value = read(tensordict, ("next", *path(key)))
            value = self._last(tensordict, key) if value is None else value
            if value is not None:
                self._put(next_tensordict, key, value)
        return next_tensordict

    def forward(self, tensordict: Any) -> Any:
        """Put the entries into data that lacks them."""
        for key, spec in self.primers.items():
            if read(tensordict, key) is None:
                write(tensordict, key, self._begin(key, spec.expand(*tensordict._batch, *spec.shape)))
        return tensordict

    def transform_observation_spec(self, observation_spec: Any) -> Any:
        """The specs with the primers."""
        for key, spec in self._specs.items():
            observation_spec[key] = spec
        return observation_spec

    def transform_state_spec(self, state_spec: Any) -> Any:
        """The specs with the primers."""
        return self.transform_observation_spec(state_spec)
