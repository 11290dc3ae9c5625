"""CatTensors: several entries side by side in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic

import torch
from torch import Tensor
from typing_extensions import TypeVar

from ..._rules import errors
from ..._rules.keys import Key, path
from .._entries import drop, read, write
from .._layout import Layout, class_fields
from .._transform import Keys, Transform
from ._leafwise import drop_spec, like

if TYPE_CHECKING:
    from .._transform import A

V = TypeVar("V", covariant=True, default=Any)


class CatTensors(Transform, Generic[V]):
    """Entries concatenated along a dim into one, in the order of their names; they are left out then.

    >>> CatTensors(["b", "a"], "both")(TensorDict(a=torch.zeros(1), b=torch.ones(1)))["both"]
    tensor([0., 1.])

    Where no in_keys are given: all observations. sort=False keeps the order given, del_keys=False the entries. Entries
    that lack the dim (numbers, one for each row) get one of size 1; unsqueeze_if_oor=False refuses them. obs: the class
    of the observation then; its one field is the out_key, if no other is given.
    """

    _group = "observation"
    _paired = False
    sort: bool

    def __init__(
        self,
        in_keys: Keys = None,
        out_key: Key | None = None,
        dim: int = -1,
        *,
        del_keys: bool = True,
        unsqueeze_if_oor: bool = True,
        sort: bool = True,
        obs: type[V] | None = None,
        out_keys: Sequence[Key] | None = None,
    ) -> None:
        if dim >= 0:
            raise errors.OptionError(f"CatTensors: dim is {dim}; count it from the end (-1 is the last), since the "
                                     "batch dims stand in front")  # fmt: skip
        self.sort = sort
        if out_key is None:
            out_key = out_keys[0] if out_keys else the_field(obs)
        super().__init__(in_keys, [out_key])
        self.dim, self.del_keys, self.unsqueeze_if_oor, self.sort, self.obs = dim, del_keys, unsqueeze_if_oor, sort, obs

    if TYPE_CHECKING:

        def __maps__(self, obs: Any, action: A, /) -> tuple[V, A]:
            raise NotImplementedError

    def _find_keys(self, found: Sequence[Key] | None) -> None:
        super()._find_keys(found)
        if self.sort:
            self._reads = tuple(sorted(self._reads, key=lambda key: ".".join(path(key))))

    def _most_at_once(self, steps: int, stop: bool) -> int:
        return steps

    def _call(self, next_tensordict: Any) -> Any:
        values = [read(next_tensordict, key) for key in self._reads]
        for key, value in zip(self._reads, values):
            if value is None:
                if self.missing_tolerance:
                    return next_tensordict
                self._refuse_missing(key, next_tensordict)
        joined = self._joined(values, len(next_tensordict._batch))
        if self.del_keys:
            for key in self._reads:
                drop(next_tensordict, key)
        write(next_tensordict, self._writes[0], joined)
        return next_tensordict

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return self._call(tensordict_reset)

    def _joined(self, values: Sequence[Tensor], batch_dims: int) -> Tensor:
        if self.unsqueeze_if_oor:
            most = batch_dims - self.dim
            values = [value if value.ndim >= most else value.unsqueeze(self.dim) for value in values]
        return torch.cat(list(values), self.dim)

    def transform_observation_spec(self, observation_spec: Any) -> Any:
        """The spec of the entries side by side in place of theirs."""
        from .._specs.box import Bounded

        specs = [observation_spec[key] for key in self._reads]
        batch = tuple(observation_spec.shape)
        try:
            joined = like(specs[0], self._joined([spec.zero() for spec in specs], len(batch)))
            if tuple(joined.shape[: len(batch)]) != batch:
                raise IndexError("a batch dim")
        except (RuntimeError, IndexError) as error:
            shapes = ", ".join(f"{errors.name_of(key)} {list(spec.shape)}" for key, spec in zip(self._reads, specs))
            raise errors.ShapeError(
                f"CatTensors: {shapes} cannot be concatenated along dim {self.dim}; it must come after the batch "
                f"dims {list(batch)}, and all other dims must agree"
            ) from error
        if all(isinstance(spec, Bounded) for spec in specs):
            low, high = [self._joined([getattr(spec, end) for spec in specs], len(batch)) for end in ("low", "high")]
            joined = Bounded(low, high, joined.shape, device=joined.device, dtype=joined.dtype)
        if self.del_keys:
            for key in self._reads:
                drop_spec(observation_spec, key)
        observation_spec[self._writes[0]] = joined
        return observation_spec

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        if not self._reads:
            raise errors.OptionError("CatTensors: there are no observations to concatenate; give in_keys")
        if not self.missing_tolerance:
            for key in self._reads:
                if key not in layout.keys("observation"):
                    layout.refuse(type(self).__name__, key, "observation")

    def _classes(self, obs: Any, action: Any) -> tuple[Any, Any]:
        return (Any if self.obs is None else self.obs), action


def the_field(cls: Any) -> Key:
    """The only field of a class of observations; the usual key where there is no class."""
    fields = class_fields(cls)
    if fields is None:
        return "observation_vector"
    if len(fields) != 1:
        raise errors.OptionError(
            f"CatTensors: {cls.__name__} has {errors.count(len(fields), 'field')} ({errors.some_names(fields)}); "
            "say with out_key which of them is the vector"
        )
    return fields[0]
