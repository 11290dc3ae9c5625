"""TransformedEnv: an environment seen through a chain of transforms."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any, overload

import torch
from torch import Size, nn
from typing_extensions import Self

from .._rules import errors
from .._tensordict import TensorDict
from .._tree.contract import full_device
from .._tree.node import kind
from ._absent import absent
from ._compose import Compose
from ._entries import branch, first
from ._env import EnvBase
from ._inside import Inside
from ._inward import Remembered, changed_keys
from ._layout import Layout
from ._maps import A0, A1, A2, A3, A4, O0, O1, O2, O3, O4, Alone, Function, Maps, Unfolded
from ._masks import Masks, merged, over_batch, reset_masks, resets_all
from ._policy import draws_itself
from ._stages import Stages, of_members, stages
from ._together import together
from ._transform import Transform, as_transform
from ._typed import Action, Obs, view
from ._unwrap import auto_unwrap_transformed_env

if TYPE_CHECKING:
    from ..nn import TensorDictModuleBase


class TransformedEnv(EnvBase[Obs, Action]):
    """An environment whose outputs pass through transforms, and whose inputs pass through them the other way.

    >>> from tensorclass.envs import Compose, GymEnv, ObservationNorm, StepCounter, TransformedEnv
    >>> env = TransformedEnv(GymEnv("CartPole-v1"), Compose(ObservationNorm(in_keys=["observation"]), StepCounter(50)))
    >>> env.transform[0].init_stats(100)
    >>> env.rollout(3)["step_count"].flatten()
    tensor([0, 1, 2])

    The chain and its specs are checked at once: a KeyError names the transform and the key that is not there.
    `transform` may be a function from container to container; it is called at each reset (when there is no reward yet)
    and each step. A TransformedEnv around a TransformedEnv has copies of the transforms of both (auto_unwrap=False
    keeps the inner one). cache_specs=False: output_spec and input_spec are computed at each access.
    """

    @overload
    def __init__(
        self: TransformedEnv[O0, A0],
        base_env: EnvBase[O0, A0],
        transform: None = None,
        cache_specs: bool = True,
        *,
        auto_unwrap: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: TransformedEnv[O1, A1],
        base_env: EnvBase[O0, A0],
        transform: Alone[O0, A0, O1, A1],
        cache_specs: bool = True,
        *,
        auto_unwrap: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: TransformedEnv[O0, A0],
        base_env: EnvBase[O0, A0],
        transform: Compose[tuple[()]],
        cache_specs: bool = True,
        *,
        auto_unwrap: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: TransformedEnv[O1, A1],
        base_env: EnvBase[O0, A0],
        transform: Compose[tuple[Maps[O0, A0, O1, A1]]],
        cache_specs: bool = True,
        *,
        auto_unwrap: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: TransformedEnv[O2, A2],
        base_env: EnvBase[O0, A0],
        transform: Compose[tuple[Maps[O0, A0, O1, A1], Maps[O1, A1, O2, A2]]],
        cache_specs: bool = True,
        *,
        auto_unwrap: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: TransformedEnv[O3, A3],
        base_env: EnvBase[O0, A0],
        transform: Compose[tuple[Maps[O0, A0, O1, A1], Maps[O1, A1, O2, A2], Maps[O2, A2, O3, A3]]],
        cache_specs: bool = True,
        *,
        auto_unwrap: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: TransformedEnv[O4, A4],
        base_env: EnvBase[O0, A0],
        transform: Compose[
            tuple[Maps[O0, A0, O1, A1], Maps[O1, A1, O2, A2], Maps[O2, A2, O3, A3], Maps[O3, A3, O4, A4]]
        ],
        cache_specs: bool = True,
        *,
        auto_unwrap: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: TransformedEnv[Any, Any],
        base_env: EnvBase[O0, A0],
        transform: Compose[Unfolded],
        cache_specs: bool = True,
        *,
        auto_unwrap: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: TransformedEnv[O0, A0],
        base_env: EnvBase[O0, A0],
        transform: Function,
        cache_specs: bool = True,
        *,
        auto_unwrap: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: TransformedEnv[Any, Any],
        base_env: EnvBase[O0, A0],
        transform: TensorDictModuleBase | functools.partial[Any],
        cache_specs: bool = True,
        *,
        auto_unwrap: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: TransformedEnv[Any, Any],
        *,
        env: EnvBase[Any, Any],
        transform: Any = None,
        cache_specs: bool = True,
        auto_unwrap: bool | None = None,
    ) -> None: ...
    def __init__(
        self,
        base_env: EnvBase[Any, Any] | None = None,
        transform: Any = None,
        cache_specs: bool = True,
        *,
        auto_unwrap: bool | None = None,
        env: EnvBase[Any, Any] | None = None,
    ) -> None:
        base_env = the_base(base_env, env)
        nn.Module.__init__(self)
        unwrap = auto_unwrap_transformed_env() if auto_unwrap is None else auto_unwrap
        chain = Compose() if transform is None else as_transform(transform)
        if type(base_env) is TransformedEnv and unwrap:
            inner = base_env.transform.clone()
            chain._check_free()
            chain = inner.append(chain) if isinstance(inner, Compose) else Compose(inner).append(chain)
            base_env = base_env.base_env
        self._fill_in(base_env, cache_specs)
        self.transform = chain

    def _fill_in(self, base_env: EnvBase[Any, Any], cache_specs: bool) -> None:
        self.base_env = base_env
        self.cache_specs = cache_specs
        own = vars(self)
        own["_allow_done"], own["_spec_locked"] = base_env._allow_done, base_env._spec_locked

    def _finish(self) -> None:
        """The specs were locked when they were made."""

    # ---- the chain --------------------------------------------------------------------------------------------------

    @property
    def transform(self) -> Any:
        """The chain; assigning replaces it."""
        return self._modules["_chain"]

    @transform.setter
    def transform(self, transform: Any) -> None:
        self._set_transform(transform)

    def _set_transform(self, transform: Any) -> None:
        chain = Compose() if transform is None else as_transform(transform)
        before = self._modules.get("_chain")
        if chain is before:
            return
        chain._own(self)
        self._modules["_chain"] = chain
        try:
            self._build()
        except Exception:
            chain.reset_parent()
            self._modules["_chain"] = before
            raise
        if isinstance(before, Transform):
            before.reset_parent()
        chain.to(self.device) if self.device is not None else None
        self.train(False)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "transform":  # A module would be registered under that name, and the property be passed by.
            self._set_transform(value)
        else:
            super().__setattr__(name, value)

    @overload
    def append_transform(self, transform: Alone[Obs, Action, O1, A1]) -> TransformedEnv[O1, A1]: ...
    @overload
    def append_transform(self, transform: Compose[tuple[()]] | Function) -> TransformedEnv[Obs, Action]: ...
    @overload
    def append_transform(
        self, transform: Compose[Any] | TensorDictModuleBase | functools.partial[Any]
    ) -> TransformedEnv[Any, Any]: ...
    def append_transform(self, transform: Any) -> Any:
        """Put a transform (or the members of a Compose) at the end of the chain; returns this environment."""
        return self._inserted(len(self._as_compose()), transform)

    def insert_transform(self, index: int, transform: Any) -> Self:
        """Put a transform into the chain before the one at an index; returns this environment."""
        chain = self._as_compose()
        if abs(index) > len(chain):
            raise errors.OptionError(
                f"insert_transform: index {index} is out of range for {errors.count(len(chain), 'transform')}; "
                f"-{len(chain)} to {len(chain)} would do"
            )
        return self._inserted(index, transform)

    def _as_compose(self) -> list[Any]:
        chain = self.transform
        return list(chain) if isinstance(chain, Compose) else [chain]

    def _inserted(self, index: int, transform: Any) -> Self:
        transform = as_transform(transform)
        if not isinstance(self.transform, Compose):
            self.transform = Compose(self.transform.clone())
        self.transform.insert(index, transform)
        if self.device is not None:
            self.transform.to(self.device)
        return self

    def _chain_changed(self) -> None:
        self._build()

    def _build(self) -> None:
        """Put the chain on the environment: the functions of a step and a reset, the specs, the classes."""
        base, own = self.base_env, vars(self)
        classes = base._classes
        layout = Layout(
            base._full_output.clone(), base._full_input.clone(), base.batch_size, base.device, classes[0], classes[1]
        )
        found = stages(self.transform, layout)
        layout = found.layout
        own["_stages"] = found
        self._see_as((layout.obs, layout.action))
        own["_batch"], own["_on"] = layout.batch, layout.device
        own["_specs_out"], own["_specs_in"] = layout.output, layout.input
        self._forget()
        self._lock_specs()
        own["_inner_names"] = self._names_for_base()
        changed = changed_keys(found.members, base._keys, layout) if base._reads_entries else ()
        own["_kept"] = Remembered(changed) if changed else None
        own["_base_transition"] = base._transition
        own["_direct"] = not changed and not found.inverses and base._transition is own["_transition"]
        own["_has_whole"] = hasattr(type(base), "_is_quick")  # One that has a quick way, not one that has no other.
        own["_fresh"] = (None, None)

    def _up_to(self, transform: Transform) -> TransformedEnv[Any, Any]:
        before = self.__dict__["_stages"].before(transform)
        chain = Compose(*[one.clone() for one in before.members])
        return TransformedEnv(self.base_env, chain, auto_unwrap=False)

    def _inside(self, transform: Transform) -> Inside:
        """The environment as it is between two transforms: inside of one, outside of those before it."""
        whole: Stages = self.__dict__["_stages"]
        place = whole.members.index(transform)
        outer = of_members(whole.members[place + 1 :], whole.layout)
        return Inside(self, whole.before(transform), outer)

    # ---- the hot path -----------------------------------------------------------------------------------------------

    def _advance(self, tensordict: Any) -> Any:
        own = self.__dict__
        found, kept = own["_stages"], own["_kept"]
        inner = tensordict if own["_direct"] else self._inner(tensordict)
        out = own["_modules"]["base_env"]._advance(inner)
        if kept is not None:
            kept.take(out)
        for step in found.steps:
            out = step(tensordict, out)
        if kept is not None:
            kept.show(out)
        if out.__class__ is not own["_next"]:
            out.__class__ = own["_next"]
        return out

    def _inner(self, tensordict: Any) -> Any:
        """What the environment is given at a step: actions through the chain, its own entries, its own classes."""
        own = self.__dict__
        inner = self._undone(tensordict, own["_stages"])
        if own["_kept"] is not None:
            own["_kept"].give_back(tensordict, inner)
        return inner

    def _undone(self, tensordict: Any, part: Stages) -> Any:
        """Actions and states as a part of the chain hands them on, in a container of the environment's classes."""
        inner = branch(tensordict)
        if inner.__class__ is not self.__dict__["_base_transition"]:
            inner.__class__ = self.__dict__["_base_transition"]
        for undo in part.inverses:
            inner = undo(inner)
        return inner

    def _restart(self, tensordict: Any = None, **kwargs: Any) -> Any:
        own = vars(self)
        found, kept = own["_stages"], own["_kept"]
        masks = {} if tensordict is None else reset_masks(tensordict, self._keys)
        some = {} if resets_all(masks) else masks
        inner = self._masks_for_base(tensordict, masks, some) if masks else tensordict
        out = own["_modules"]["base_env"]._restart(inner, **kwargs)
        mask = over_batch(some, out._batch)
        if kept is not None:
            kept.take(out, mask)
        fresh = None if masks or not own["_has_whole"] else view(type(out), dict(out._fields), out._batch, out._device)
        for reset in found.resets:
            out = reset(tensordict, out)
        own["_fresh"] = (out, fresh)
        if masks and tensordict is not None:
            out._fields = merged(out._fields, tensordict._fields, mask, some, ())
        if kept is not None:
            kept.show(out)
        if out.__class__ is not own["_transition"]:
            out.__class__ = own["_transition"]
        return out

    def _at_once(self, tensordict: Any, asked: Any) -> Any:
        out, fresh = self.__dict__["_fresh"]
        if fresh is None or out is not tensordict or not asked.auto_reset or asked.tensordict is not None:
            return None
        return together(self, fresh, asked)

    def _names_for_base(self) -> set[str]:
        """The entries at the root that a partial reset hands to the environment: states that no transform touches."""
        base = self.base_env._keys
        found: Stages = self.__dict__["_stages"]
        touched = {key for one in found.members for key in (*one._writes, *one._takes, *one._gives)}
        groups = [*base.observations, *base.rewards, *base.dones, *self._keys.observations, *self._keys.dones]
        groups += self._keys.rewards
        given = {first(key) for key in groups if key not in base.states}
        return given | {first(key) for key in touched}

    def _masks_for_base(self, tensordict: Any, masks: Masks, some: Masks) -> Any:
        """What the environment is reset with: not what came out of the chain, which it would put beside its own."""
        drop = self.__dict__["_inner_names"]
        fields = {key: value for key, value in tensordict._fields.items() if key not in drop and key != "_reset"}
        inner = view(TensorDict, fields, tensordict._batch, tensordict._device)
        if not some:  # One environment, which is reset: nothing has to stay.
            return inner
        whole = over_batch(masks, tensordict._batch)
        for group in self.base_env._keys.groups:
            inner[group.key("_reset")] = masks.get(group.at, whole)
        return inner

    def _advance_some(self, tensordict: Any, mask: Any) -> Any:
        """A step of some rows, which the environment is told of; the others stay, with no reward."""
        mask = mask.reshape(*tensordict._batch, 1)
        found, kept = self.__dict__["_stages"], self.__dict__["_kept"]
        out = self._step_base(self._inner(tensordict))
        if kept is not None:
            kept.take(out, mask)
        for step in found.steps:
            out = step(tensordict, out)
        stay = {key: value for key, value in tensordict._fields.items() if key in out._fields}
        for key in self._keys.rewards:
            if key.__class__ is str:
                stay.setdefault(key, torch.zeros_like(out._fields[key]))
        out = view(self._next, merged(out._fields, stay, mask, {}, ()), out._batch, out._device)
        if kept is not None:
            kept.show(out)
        return out

    def _step_base(self, inner: Any) -> Any:
        """A step of the environment; of some rows, if "_step" says so: then without what came out of the chain."""
        if "_step" in inner._fields and not self.base_env._reads_entries:
            for name in self.__dict__["_inner_names"]:
                inner._fields.pop(name, None)
        return self.base_env._stepped(inner)

    # ---- what the environment below decides -------------------------------------------------------------------------

    def _draw(self, tensordict: Any) -> None:
        base = self.base_env
        if self._takes_actions_as_they_are():
            base.rand_action(tensordict) if draws_itself(base) else base._draw(tensordict)
        elif draws_itself(base):
            raise errors.StructureError(
                f"rand_action: {type(base).__name__} draws its own actions, and the transforms change what an action "
                "is; draw one with env.action_spec.rand()"
            )
        else:
            super()._draw(tensordict)

    def _takes_actions_as_they_are(self) -> bool:
        inside, outside = self.base_env._full_input["full_action_spec"], self._specs_in["full_action_spec"]
        return bool(inside == outside)

    def _drawn_ahead(self) -> Any:
        if self._takes_actions_as_they_are():
            return self.base_env._drawn_ahead()
        return None if draws_itself(self.base_env) else super()._drawn_ahead()

    def set_seed(self, seed: int | None = None, static_seed: bool = False) -> int | None:
        """Seed the environment; returns the seed to use next (the same one with static_seed)."""
        return self.base_env.set_seed(seed, static_seed)

    def _set_seed(self, seed: int | None) -> None:
        self.base_env._set_seed(seed)

    @property
    def batch_locked(self) -> bool:
        """Whether the batch size of the environment is the only one that will do."""
        return self.base_env.batch_locked

    @batch_locked.setter
    def batch_locked(self, value: bool) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]  # Read below.
        raise fixed("batch_locked")

    @property
    def _reads_entries(self) -> bool:  # type: ignore[override]  # Read from below.
        return self.base_env._reads_entries

    @property
    def batch_size(self) -> Size:
        """The leading dims of everything that comes out of the chain."""
        return self.__dict__["_batch"]  # type: ignore[no-any-return]  # Set when the chain is built.

    @batch_size.setter
    def batch_size(self, value: Any) -> None:
        raise fixed("batch_size")

    @property
    def device(self) -> torch.device | None:
        """The device of everything that comes out of the chain, or None."""
        return self.__dict__.get("_on")

    @device.setter
    def device(self, value: Any) -> None:
        raise fixed("device")

    def _refresh(self) -> None:
        if not self.cache_specs:
            self._build()

    def _put_spec(self, slot: str, value: Any) -> None:
        raise errors.StructureError(
            f"{slot}: the specs of a TransformedEnv are those of its environment after the transforms; "
            "set them on env.base_env and call env.empty_cache(), or change the transforms"
        )

    def empty_cache(self) -> None:
        """Read the specs of the environment again, and put the chain on them."""
        self.base_env.empty_cache()
        self._build()

    def add_truncated_keys(self) -> Self:
        """Add "truncated" beside every done of the environment."""
        self.base_env.add_truncated_keys()
        self._build()
        return self

    def set_missing_tolerance(self, mode: bool = False) -> None:
        """Whether a transform leaves out entries that are not there (True) or refuses them (False)."""
        self.transform.set_missing_tolerance(mode)
        self._build()

    # ---- as a module ------------------------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Switch the transforms to training, or (False) to evaluation."""
        self.training = mode
        self.transform.train(mode)
        return self

    def eval(self) -> Self:
        """Switch the transforms to evaluation."""
        return self.train(False)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move the environment and the transforms to a device; cast the floating tensors of the transforms to a dtype.

        As for a module: to(device), to(dtype), to(device, dtype), to(tensor). Returns this environment.
        """
        parse: Any = torch._C  # Its part for modules has no types.
        device, *_ = parse._nn._parse_to(*args, **kwargs)
        if device is not None:
            self.base_env.to(full_device(device))
        self.transform.to(*args, **kwargs)
        self._build()
        return self

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The state of the transforms."""
        return self.transform.state_dict(*args, **kwargs)

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Load the state of the transforms; returns missing_keys and unexpected_keys."""
        loaded = self.transform.load_state_dict(state_dict, strict=strict, assign=assign)
        self._build()
        return loaded

    def close(self, **options: Any) -> None:
        """Close the environment and the transforms."""
        self.base_env.close(**options)
        self.transform.close()

    @property
    def is_closed(self) -> bool:
        """Whether the environment was closed."""
        return self.base_env.is_closed

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            base = self.__dict__.get("_modules", {}).get("base_env")
            if base is None or (name.startswith("__") and name.endswith("__")):
                raise
            try:
                return getattr(base, name)
            except AttributeError as error:
                raise absent(self, name) from error

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.transform._own(self)
        self._build()

    def __repr__(self) -> str:
        inner = f"env={self.base_env!r},\ntransform={self.transform!r}".replace("\n", "\n    ")
        return f"{type(self).__name__}(\n    {inner})"


def the_base(base_env: Any, env: Any) -> EnvBase[Any, Any]:
    """The environment to wrap, under either of its names."""
    if env is not None:
        warnings.warn(
            "TransformedEnv(env=...) is the old name of the argument; write TransformedEnv(base_env=...)",
            DeprecationWarning,
            stacklevel=3,
        )
        if base_env is not None:
            raise TypeError("TransformedEnv: base_env and env are the same argument; give base_env alone")
        base_env = env
    if base_env is None:
        raise TypeError("TransformedEnv: there is no base_env; give the environment to transform")
    if not isinstance(base_env, EnvBase):
        raise errors.KindError(f"TransformedEnv: base_env is {kind(base_env)}; an EnvBase would do")
    return base_env


def fixed(name: str) -> Exception:
    """The error for a write to what the environment below decides."""
    return errors.StructureError(f"{name} of a TransformedEnv is that of its environment; it cannot be set")


__all__ = ["TransformedEnv"]
