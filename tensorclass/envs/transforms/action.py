"""Actions: continuous ones in so many steps, and those that a mask allows."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Generic, overload

import torch
from torch import Tensor
from typing_extensions import TypeVar

from ..._rules import errors
from ..._rules.keys import Key
from ..._tensorclass import TensorClass
from .._entries import beside, read
from .._layout import Layout
from .._specs.box import Bounded
from .._specs.choices import Categorical, OneHot
from .._specs.multi import MultiCategorical, MultiOneHot
from .._transform import Keeps, Transform
from ._leafwise import drop_spec

if TYPE_CHECKING:
    from .._transform import O


class SamplingStrategy(Enum):
    """Which number of an interval an action stands for."""

    LOW = "low"
    MEDIAN = "median"
    HIGH = "high"
    RANDOM = "random"


class Discrete(TensorClass):
    """A discrete action: the number of a choice, for each slot."""

    action: Tensor


D = TypeVar("D", covariant=True, default=Any)


Strategy = SamplingStrategy  # Its name in annotations of a class that has the other one as an attribute.


class ActionDiscretizer(Transform, Generic[D]):
    """A continuous action as one of so many intervals for each of its slots.

    >>> from tensorclass.envs import GymEnv, TransformedEnv
    >>> env = TransformedEnv(GymEnv("Pendulum-v1"), ActionDiscretizer(4))  # torques from -2 to 2
    >>> env.action_spec.nvec, env.transform.inv(TensorDict(action=torch.tensor([3])))["action"]
    (tensor([4]), tensor([1.5000]))

    num_intervals: one number, or one for each slot. sampling: the end or the middle (MEDIAN) of the interval, or a
    RANDOM place in it. categorical=False: one mark for each slot instead of a number. Without action_key it is the
    only action of the environment; from outside it is called "action" then, and its class is Discrete.
    """

    SamplingStrategy: ClassVar[type[Strategy]] = SamplingStrategy
    _keys_given: tuple[bool, bool]
    _slots: torch.Size = torch.Size(())  # Those of one action: its shape without the batch.
    low: Tensor | None
    width: Tensor

    @overload
    def __init__(
        self: ActionDiscretizer[Discrete],
        num_intervals: int | Sequence[int] | Tensor,
        action_key: None = None,
        out_action_key: None = None,
        sampling: Strategy | str | None = None,
        categorical: bool = True,
    ) -> None: ...
    @overload
    def __init__(
        self: ActionDiscretizer[Any],
        num_intervals: int | Sequence[int] | Tensor,
        action_key: Key | None = None,
        out_action_key: Key | None = None,
        sampling: Strategy | str | None = None,
        categorical: bool = True,
    ) -> None: ...
    def __init__(
        self,
        num_intervals: int | Sequence[int] | Tensor,
        action_key: Key | None = None,
        out_action_key: Key | None = None,
        sampling: Strategy | str | None = None,
        categorical: bool = True,
    ) -> None:
        self._keys_given = action_key is not None, out_action_key is not None
        takes: Key = "action" if action_key is None else action_key
        super().__init__([], [], [takes], [takes if out_action_key is None else out_action_key])
        counts = torch.as_tensor(num_intervals)
        if bool((counts < 1).any()):
            raise errors.OptionError(f"ActionDiscretizer: num_intervals is {num_intervals}; 1 or more would do")
        self.num_intervals = num_intervals
        self.sampling = SamplingStrategy.MEDIAN if sampling is None else SamplingStrategy(sampling)
        self.categorical = categorical
        self.register_buffer("counts", counts, persistent=False)
        self.register_buffer("low", None, persistent=False)
        self.register_buffer("width", None, persistent=False)
        self.dtype = torch.float32

    if TYPE_CHECKING:
        counts: Tensor

        def __maps__(self, obs: O, action: Any, /) -> tuple[O, D]:
            raise NotImplementedError

    def _settle(self, layout: Layout) -> None:
        found = list(layout.keys("action"))
        if not self._keys_given[0] and len(found) == 1:
            self._given[2] = found
            self._given[3] = self._given[3] if self._keys_given[1] else [beside(found[0], "action")]
            self._find_keys(None)
        super()._settle(layout)
        spec = layout.keys("action")[self._takes[0]]
        name = errors.name_of(self._takes[0])
        if not isinstance(spec, Bounded) or not spec.low.is_floating_point():
            raise errors.KindError(f"ActionDiscretizer: {name} is {type(spec).__name__}; a Bounded action would do")
        if not bool(torch.isfinite(spec.low).all() and torch.isfinite(spec.high).all()):
            raise errors.OptionError(f"ActionDiscretizer: {name} has no finite bounds, and no intervals then")
        self._slots = spec.shape[len(layout.batch) :]
        try:
            self.counts = torch.as_tensor(self.num_intervals, device=spec.device).expand(self._slots[-1:]).clone()
        except RuntimeError:
            given, slots = self.counts.numel(), self._slots[-1:].numel()
            raise errors.ShapeError(
                f"ActionDiscretizer: {given} num_intervals for {slots} slots of {name}; "
                "give one number, or one for each"
            ) from None
        self.low, self.width = spec.low, (spec.high - spec.low) / self.counts
        self.dtype = spec.dtype

    def _inv_apply_transform(self, value: Tensor) -> Tensor:
        if self.low is None:
            raise errors.StructureError("ActionDiscretizer: what an interval stands for, only the environment knows")
        place = value if self.categorical else self._from_marks(value)
        return (self.low + self.width * (place + self._inside(place))).to(self.dtype)

    def _inside(self, place: Tensor) -> float | Tensor:
        if self.sampling is SamplingStrategy.RANDOM:
            return torch.rand(place.shape, dtype=self.dtype, device=place.device)
        return {SamplingStrategy.LOW: 0.0, SamplingStrategy.MEDIAN: 0.5, SamplingStrategy.HIGH: 1.0}[self.sampling]

    def _from_marks(self, value: Tensor) -> Tensor:
        if not self._slots:
            return value.int().argmax(-1)
        return torch.stack([part.int().argmax(-1) for part in value.split(self.counts.tolist(), -1)], -1)

    def transform_action_spec(self, action_spec: Any) -> Any:
        """The spec of the intervals in place of that of the numbers."""
        spec = action_spec[self._takes[0]]
        drop_spec(action_spec, self._takes[0])
        nvec = self.counts
        if not self._slots:
            count = int(nvec)
            made = Categorical(count, spec.shape, device=spec.device)
            found: Any = made if self.categorical else OneHot(count, (*spec.shape, count), device=spec.device)
        elif self.categorical:
            found = MultiCategorical(nvec, spec.shape, device=spec.device)
        else:
            found = MultiOneHot(nvec.tolist(), (*spec.shape[:-1], int(nvec.sum())), device=spec.device)
        action_spec[self._gives[0]] = found
        return action_spec

    def _classes(self, obs: Any, action: Any) -> tuple[Any, Any]:
        return obs, (Any if any(self._keys_given) else Discrete)


class ActionMask(Keeps):
    """Actions that an observation allows: random ones are drawn among them, and others are refused.

    The mask has the shape of the action with a last dim for the choices (that of a one-hot action itself), and says
    True where a choice is allowed.
    """

    def __init__(self, action_key: Key = "action", mask_key: Key = "action_mask") -> None:
        super().__init__([mask_key], [mask_key], [action_key], [action_key])
        self._spec: Any = None
        self._mask: Tensor | None = None

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        spec = layout.keys("action")[self._takes[0]]
        if not isinstance(spec, (Categorical, OneHot)):
            raise errors.KindError(
                f"ActionMask: the action is {type(spec).__name__}; a Categorical or OneHot action would do"
            )

    def transform_action_spec(self, action_spec: Any) -> Any:
        """The spec of the action, to which each step gives its mask."""
        self._spec = action_spec[self._takes[0]] = action_spec[self._takes[0]].clone()
        return action_spec

    def _call(self, next_tensordict: Any) -> Any:
        mask = read(next_tensordict, self._reads[0])
        if mask is None:
            self._refuse_missing(self._reads[0], next_tensordict)
        self._mask = mask.bool()
        if self._spec is not None:
            self._spec.update_mask(self._mask)
        return next_tensordict

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return self._call(tensordict_reset)

    def _inv_call(self, tensordict: Any) -> Any:
        action = read(tensordict, self._gives[0])
        mask = read(tensordict, self._reads[0])
        if action is not None and mask is not None and self._spec is not None:
            self._spec.update_mask(mask.bool())
            if not self._spec.is_in(action):
                raise errors.OptionError(f"ActionMask: the action {action.tolist()} is none that is allowed")
        return tensordict
