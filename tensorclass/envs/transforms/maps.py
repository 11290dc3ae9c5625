"""MapObs: observations through a function, from one class to another."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, get_type_hints

import torch
from torch import Tensor
from typing_extensions import TypeVar

from ..._rules import errors
from ..._rules.keys import unravel
from ..._tensordict import TensorDict
from ..._tree import walk
from ..._tree.node import Node, kind
from .._classes import flat
from .._entries import drop, read, write
from .._layout import Layout, class_fields
from .._specs.box import Unbounded
from .._specs.composite import Composite
from .._transform import Transform

if TYPE_CHECKING:
    from .._transform import A

O0 = TypeVar("O0", contravariant=True, default=Any)
O1 = TypeVar("O1", covariant=True, default=Any)


class MapObs(Transform, Generic[O0, O1]):
    """Observations through a function: what it returns is the observation from then on.

    >>> from tensorclass.envs import GymEnv, TransformedEnv
    >>> env = TransformedEnv(GymEnv("CartPole-v1"), MapObs(lambda obs: TensorDict(pos=obs["observation"][..., :2])))
    >>> env.rollout(3)["pos"].shape
    torch.Size([3, 2])

    Where the class of the observation is known, the function takes an instance of it; a TensorDict otherwise. It must
    work for any leading dims. The specs of what it returns are found by a call with zeros, or given as obs_spec.
    """

    _group = "observation"
    _paired = False
    _takes_class: Any

    def __init__(self, function: Callable[[O0], O1], *, obs_spec: Composite | None = None) -> None:
        super().__init__(None, [])
        self.function, self.obs_spec = function, obs_spec
        self._takes_class = Any

    if TYPE_CHECKING:

        def __maps__(self, obs: O0, action: A, /) -> tuple[O1, A]:
            raise NotImplementedError

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        self._takes_class = layout.obs

    def _observed(self, data: Any) -> Any:
        """The observation in some data, as the function takes it."""
        out = TensorDict(None, data._batch, data._device)
        for key in self._reads:
            value = read(data, key)
            if value is None:
                self._refuse_missing(key, data)
            write(out, key, value)
        cls = self._takes_class
        return out if class_fields(cls) is None else cls.from_tensordict(out)

    def _mapped(self, data: Any) -> dict[str, Any]:
        out: Any = self.function(self._observed(data))
        if not isinstance(out, Node):
            name = getattr(self.function, "__name__", "the function")
            raise errors.KindError(f"MapObs: {name} returned {kind(out)}; a container would do")
        if out._batch[: len(data._batch)] != data._batch and not out._batch:
            out = type(out).clone(out, False)
            out.batch_size = data._batch
        return flat(out)

    def _call(self, next_tensordict: Any) -> Any:
        fields = self._mapped(next_tensordict)
        for key in self._reads:
            drop(next_tensordict, key)
        for key, value in fields.items():
            write(next_tensordict, key, value)
        return next_tensordict

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return self._call(tensordict_reset)

    def forward(self, tensordict: Any) -> Any:
        """Transform data that is at hand, in place: all of it is the observation."""
        if self._given[0] is None and self.container is None:
            self._find_keys(list(type(tensordict).keys(tensordict, True, True)))
        return super().forward(tensordict)

    def transform_observation_spec(self, observation_spec: Any) -> Any:
        """The specs of what the function returns."""
        if self.obs_spec is not None:
            return self.obs_spec.clone()
        with torch.no_grad():
            fields = self._mapped(observation_spec.zero())
        specs = Composite(shape=observation_spec.shape, device=observation_spec.device)
        found = TensorDict(fields, observation_spec.shape)
        for at, value in walk.paths(found, True, True):
            if not isinstance(value, Tensor):
                raise errors.KindError(
                    f"MapObs: {errors.name_of(at)} is {kind(value)}; tensors have specs, all else needs obs_spec="
                )
            specs[unravel(at)] = Unbounded(value.shape, device=value.device, dtype=value.dtype)
        self._writes = tuple(specs.keys(True, True))
        return specs

    def _classes(self, obs: Any, action: Any) -> tuple[Any, Any]:
        return returned_class(self.function), action


def returned_class(function: Any) -> Any:
    """The class of containers that a function says it returns, or Any."""
    try:
        found = get_type_hints(function).get("return", Any)
    except Exception:  # An annotation that cannot be resolved here says nothing.
        found = inspect.signature(function).return_annotation
        found = vars(sys.modules[function.__module__]).get(found, Any) if isinstance(found, str) else Any
    return found if class_fields(found) is not None else Any
