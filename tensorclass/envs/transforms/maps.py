"""MapObs: observations through a function, from one class to another."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, get_type_hints

import torch
from torch import Tensor
from typing_extensions import TypeVar

from ..._rules import chain, errors
from ..._rules.keys import unravel
from ..._tensordict import TensorDict
from ..._tree import walk
from ..._tree.node import Node, kind
from ...nn._ends import keys_of_class
from .._classes import flat
from .._entries import drop, read, write
from .._layout import Layout, class_fields
from .._specs.box import Unbounded
from .._specs.composite import Composite
from .._transform import Transform
from ._leafwise import drop_spec

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
    _gives_class: Any = Any  # That of what the function returned last.

    def __init__(self, function: Callable[[O0], O1], *, obs_spec: Composite | None = None) -> None:
        super().__init__(None, [])
        self.function, self.obs_spec = function, obs_spec
        self._takes_class = Any

    if TYPE_CHECKING:

        def __maps__(self, obs: O0, action: A, /) -> tuple[O1, A]:
            raise NotImplementedError

    def _settle(self, layout: Layout) -> None:
        wanted, given = annotated(self.function, 0), layout.obs
        if wanted is not Any and given is not Any and not issubclass(given, wanted):
            name = getattr(self.function, "__name__", "the function")
            raise errors.KindError(chain.takes_class("MapObs", name, wanted.__name__, given.__name__))
        self._takes_class = wanted if given is Any else given
        if class_fields(self._takes_class) is None:
            self._find_keys([key for key in layout.keys("observation") if key not in layout.added])
        else:
            self._find_keys(keys_of_class(self._takes_class))
        self._check_keys(layout)

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
        self._gives_class = Any if class_fields(type(out)) is None else type(out)
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
        """The specs of what the function returns, in place of those that it read."""
        found = self.obs_spec.clone() if self.obs_spec is not None else self._found_spec(observation_spec)
        for key in self._reads:
            if key in observation_spec.keys(True):
                drop_spec(observation_spec, key)
        for key in found.keys(True, True):
            observation_spec[key] = found[key]
        self._writes = tuple(found.keys(True, True))
        return observation_spec

    def _found_spec(self, observation_spec: Any) -> Composite:
        with torch.no_grad():
            fields = self._mapped(observation_spec.zero())
        specs = Composite(shape=observation_spec.shape, device=observation_spec.device)
        for at, value in walk.paths(TensorDict(fields, observation_spec.shape), True, True):
            if not isinstance(value, Tensor):
                raise errors.KindError(
                    f"MapObs: {errors.name_of(at)} is {kind(value)}; tensors have specs, all else needs obs_spec="
                )
            specs[unravel(at)] = Unbounded(value.shape, device=value.device, dtype=value.dtype)
        return specs

    def _classes(self, obs: Any, action: Any) -> tuple[Any, Any]:
        found = annotated(self.function, "return")
        return (self._gives_class if found is Any else found), action


def annotated(function: Any, place: int | str) -> Any:
    """The class of containers that a function says it takes, or returns ("return"), or Any."""
    try:
        hints = get_type_hints(function)
    except Exception:  # An annotation that cannot be resolved says nothing here.
        return Any
    if isinstance(place, int):
        names = list(inspect.signature(function).parameters)
        place = names[place] if place < len(names) else ""
    found = hints.get(place, Any)
    return found if class_fields(found) is not None else Any
