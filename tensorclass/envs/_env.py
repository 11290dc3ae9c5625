"""EnvBase: from what the author of an environment writes (_reset, _step) to what its user calls (step, rollout)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ForwardRef, Generic, overload

import torch
from torch import Size
from typing_extensions import Self

from .._rules import errors
from .._rules.nearest import suggest_and
from .._tensordict import TensorDict
from .._tree.contract import as_size, full_device
from .._tree.node import Node
from ..nn._ends import bound_ends, class_of, resolved
from . import _conform as conform
from ._classes import flat, has_fields, known, refuse_collisions
from ._flags import any_over, complete
from ._keys import is_masked
from ._masks import carried, is_over, merged, over_batch, reset_masks, resets_all, with_mask
from ._meta import EnvMeta
from ._policy import draws_itself
from ._specs.declared import specs_of
from ._step import NONE, joined, node_onward
from ._typed import Action, Next, Obs, Transition, of_classes, seen_as, view
from ._unbatched import UnbatchedSpecs

if TYPE_CHECKING:
    from ..nn import TensorDictModuleBase
    from ._compose import Compose
    from ._maps import A1, O1, Alone, Function
    from ._transformed import TransformedEnv

VIEWS = ("_transition", "_next", "_base_transition")
OPTIONS = ("device", "batch_size", "allow_done_after_reset", "spec_locked", "run_type_checks")


class EnvBase(UnbatchedSpecs, Generic[Obs, Action], metaclass=EnvMeta):
    """An environment: a subclass says what _reset and _step do, and sets the specs in __init__.

    >>> from tensorclass.envs import Bounded, Composite, Unbounded
    >>> class Walk(EnvBase):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.observation_spec = Composite(pos=Unbounded((1,)))
    ...         self.action_spec = Bounded(-1.0, 1.0, (1,))
    ...     def _reset(self, tensordict=None, **kwargs):
    ...         return TensorDict(pos=torch.zeros(1))
    ...     def _step(self, tensordict):
    ...         pos = tensordict["pos"] + tensordict["action"]
    ...         return TensorDict(pos=pos, reward=-pos.abs(), terminated=pos.abs() > 3)
    >>> Walk().rollout(5, break_when_any_done=False)["next", "reward"].shape
    torch.Size([5, 1])

    Every spec has the batch size as its leading dims; reward, done, terminated and truncated a last dim of size 1.
    `EnvBase[Obs, Action]` takes the specs from two classes, and then reset, step and rollout give their fields as
    `.obs`, `.action` and `.next.obs`. batch_locked = False: any batch size will do, since all state is in the entries.
    run_type_checks: compare dtypes with the specs at each step, as check_env_specs does for a few.
    """

    batch_locked: bool = True
    _reads_entries: bool = True  # Whether _step may read more than the actions.
    _steps_some: bool = False  # Whether _step itself knows what to do with a mask "_step".
    _checks_types: bool = False  # Whether dtypes are compared at each step, too.
    _pending: bool = False  # Whether a class is named by a string, and was not there when this one was made.
    _classes: tuple[Any, Any] = (Any, Any)
    _transition: type[Transition[Any, Any]] = Transition
    _next: type[Next[Any]] = Next

    def __init__(
        self,
        *,
        device: torch.device | str | int | None = None,
        batch_size: Sequence[int] | int | None = None,
        allow_done_after_reset: bool = False,
        spec_locked: bool = True,
        run_type_checks: bool = False,
        **unknown: Any,
    ) -> None:
        if unknown:
            name = next(iter(unknown))
            takes = suggest_and(name, OPTIONS, f"it takes {errors.some_names(OPTIONS)}")
            raise TypeError(f"EnvBase takes no {name!r}{takes}")
        super().__init__()
        if self._pending:
            self._bind()
        own = vars(self)
        own["_batch"] = as_size(batch_size)
        own["_on"] = None if device is None else full_device(device)
        own["_allow_done"], own["_spec_locked"], own["_is_closed"] = allow_done_after_reset, spec_locked, False
        own["_checks_types"] = run_type_checks
        self._set_up_specs()
        self._declare_specs()

    def _declare_specs(self) -> None:
        """Take the specs of observation and action from their classes."""
        for slot, cls in zip(("full_observation_spec", "full_action_spec"), self._classes):
            if has_fields(class_of(cls)):
                spec = specs_of(class_of(cls), typed=False, strict=False)
                self._put_spec(slot, spec.expand(*self._batch, *spec.shape) if self._batch else spec)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._bind()

    @classmethod
    def _bind(cls) -> None:
        """Find the classes of observation and action; those that are not there yet are looked for again."""
        ends = [resolved(end, cls.__module__) for end in bound_ends(cls, EnvBase)]
        obs, action = known(ends[0]), known(ends[1])
        refuse_collisions(cls.__name__, obs, action)
        cls._pending = any(isinstance(end, (str, ForwardRef)) for end in ends)
        cls._classes = (obs, action)
        cls._transition, cls._next = of_classes(Transition, (obs, action)), of_classes(Next, (obs,))

    def _see_as(self, classes: tuple[Any, ...]) -> None:
        """Give these classes of observation and action, which may be other ones than those of the class."""
        own = vars(self)
        own["_classes"] = classes
        own["_transition"], own["_next"] = of_classes(Transition, classes), of_classes(Next, classes[:1])

    def __getstate__(self) -> dict[str, Any]:
        """All but the views of its classes, which pickle finds under no name."""
        return {name: value for name, value in vars(self).items() if name not in VIEWS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]  # That of a module.
        if "_classes" in state:
            self._see_as(state["_classes"])

    def _finish(self) -> None:
        """What there is to do once the __init__ of the class is through."""
        if self.__dict__["_spec_locked"] and not self._specs_locked:
            self._lock_specs()

    # ---- what the author of an environment writes -------------------------------------------------------------------

    def _reset(self, *args: Any, **kwargs: Any) -> Obs | TensorDict:
        """The first entries of an episode, as a new container; rows that "_reset" leaves out may be anything."""
        raise NotImplementedError(f"{type(self).__name__} has no _reset: write def _reset(self, tensordict, **kwargs)")

    def _step(self, tensordict: Transition[Obs, Action], /) -> TensorDict:
        """What comes of an action, as a new container with observation, reward and done (or terminated)."""
        raise NotImplementedError(f"{type(self).__name__} has no _step: write def _step(self, tensordict)")

    def _set_seed(self, seed: int | None) -> None:
        """Seed what is random in the environment; by default that is torch's own generator, which is seeded."""

    # ---- the trusted layer: no checks, nothing written to ------------------------------------------------------------

    def _restart(self, tensordict: Any = None, **kwargs: Any) -> Any:
        """_reset with flags completed; where a mask "_reset" is given, other rows are those of the input."""
        plan = self._keys
        masks = {} if tensordict is None else reset_masks(tensordict, plan)
        out: Any = self._reset(tensordict, **kwargs)
        fields = self._entries("_reset", out, tensordict)
        batch = out._batch
        complete(fields, plan.groups, batch, self._on)
        if masks and tensordict is not None:
            some = {} if resets_all(masks) else masks
            fields = merged(fields, tensordict._fields, over_batch(some, batch), some, ())
        elif tensordict is not None and plan.states:
            fields = {**carried(tensordict._fields, plan.states), **fields}
        return view(self._transition, fields, batch, self._on)

    def _advance(self, tensordict: Any) -> Any:
        """_step with flags completed: what goes under "next"."""
        if tensordict.__class__ is TensorDict and self._transition is not Transition:
            tensordict = seen_as(self._transition, tensordict)
        out = self._step(tensordict)
        fields = self._entries("_step", out, tensordict)
        batch = out._batch
        complete(fields, self._keys.groups, batch, self._on, after_step=True)
        return view(self._next, fields, batch, self._on)

    def _at_once(self, tensordict: Any, asked: Any) -> Any:
        """A whole rollout, where an environment has a quicker way than step by step; else None."""
        return None

    def _entries(self, method: str, out: Any, given: Any) -> dict[str, Any]:
        """The entries of what the author's method has returned, in a dict of our own."""
        if out is given or not isinstance(out, Node):
            raise conform.not_new(type(self).__name__, method, out, given)
        if isinstance(out, TensorDict):
            return dict(out._fields)
        return flat(out)

    def _onward(self, tensordict: Any) -> Any:
        """step_mdp with the keys of this environment: reward goes, the action stays."""
        plan = self._keys
        root = tensordict._fields
        after = root["next"]._fields
        fields = {**root, **after}
        del fields["next"]
        for name in plan.dropped:
            fields.pop(name, None)
        for name in plan.nodes:
            if name in fields:
                fields[name] = node_onward(root.get(name), after.get(name), plan.inside, name)
        return view(type(tensordict), fields, tensordict._batch, tensordict._device)

    # ---- what a user calls -----------------------------------------------------------------------------------------

    def reset(self, tensordict: TensorDict | None = None, **kwargs: Any) -> Transition[Obs, Action]:
        """Start episodes: the first observation and flags that are False.

        A mask "_reset" of shape [*B, 1] in the input: only those rows start anew, the others stay as they are.
        Raises RuntimeError where an episode is over right after its reset (unless allow_done_after_reset=True).
        """
        if tensordict is not None:
            conform.check_batch(self, "reset", tensordict)
        out = self._restart(tensordict, **kwargs)
        conform.check(self, "_reset", out)
        if not self._allow_done:
            conform.check_not_over(self, out, tensordict)
        return out  # type: ignore[no-any-return]  # The classes of this environment.

    def step(self, tensordict: TensorDict) -> Transition[Obs, Action]:
        """Act: what comes of the action is written under "next" of the input, which is returned.

        An entry that "next" has already stays unless the step gives it. A mask "_step" of shape [*B]: other rows stay
        as they are.
        """
        conform.check_batch(self, "step", tensordict)
        try:
            after = self._stepped(tensordict)
            conform.check(self, "_step", after)
        except Exception as error:
            conform.explain_actions(self, tensordict, error)
            raise
        before = tensordict._fields.get("next")
        if before is not None and before._fields:
            after._fields = joined(after._fields, before._fields, NONE, NONE, ())
        if tensordict._locked:
            tensordict._check_open("set 'next'")
        if tensordict._items is None:
            tensordict._fields["next"] = after
        else:  # A lazy stack: its rows get theirs.
            tensordict["next"] = after
        return self._adopted(tensordict)  # type: ignore[no-any-return]  # The classes of this environment.

    def _stepped(self, tensordict: Any) -> Any:
        mask = None if self._steps_some else tensordict._fields.get("_step")
        return self._advance(tensordict) if mask is None else self._advance_some(tensordict, mask)

    def _advance_some(self, tensordict: Any, mask: Any) -> Any:
        """A step of some rows; the others stay, with no reward."""
        batch = tensordict._batch
        mask = mask.reshape(*batch, 1)
        fields = {key: value for key, value in tensordict._fields.items() if key not in ("_step", "next")}
        after = self._advance(tensordict._like(fields))
        stay = {key: value for key, value in fields.items() if key in after._fields}
        zero = self.full_reward_spec.zero() if self.batch_locked else None
        for key in self._keys.rewards:
            if key.__class__ is str and key not in stay:
                stay[key] = torch.zeros_like(after._fields[key]) if zero is None else zero[key]
        return after._like(merged(after._fields, stay, mask, {}, ()))

    def _adopted(self, tensordict: Any) -> Any:
        """A plain TensorDict becomes a Transition, and stays the same object."""
        if tensordict.__class__ is TensorDict and not torch.compiler.is_compiling():
            tensordict.__class__ = self._transition
        return tensordict

    def step_mdp(self, tensordict: TensorDict) -> Transition[Obs, Action]:
        """What the next step starts from: "next" without the reward, and all else of the root, the action too."""
        return self._onward(tensordict)  # type: ignore[no-any-return]  # The classes of this environment.

    def any_done(self, tensordict: TensorDict) -> bool:
        """Whether some episode is over; the masks "_reset" for maybe_reset are put into the input."""
        over = any_over([tensordict[key] for key in self._keys.ends])
        if over:
            for group in self._keys.groups:
                tensordict[group.key("_reset")] = is_over(tensordict, group).clone()
        return over

    def maybe_reset(self, tensordict: TensorDict) -> Transition[Obs, Action]:
        """The same entries, those of the episodes that are over reset."""
        if not any_over([tensordict[key] for key in self._keys.ends]):
            return self._adopted(tensordict)  # type: ignore[no-any-return]  # The classes of this environment.
        return self.reset(with_mask(tensordict, self._keys))

    def step_and_maybe_reset(self, tensordict: TensorDict) -> tuple[Transition[Obs, Action], Transition[Obs, Action]]:
        """A step, and what the next step starts from: episodes that are over have been reset there."""
        whole = self.step(tensordict)
        return whole, self.maybe_reset(self._onward(whole))

    # ---- actions ---------------------------------------------------------------------------------------------------

    def rand_action(self, tensordict: TensorDict | None = None) -> Transition[Obs, Action]:
        """A random action, written into the input or into a new container."""
        if tensordict is None:
            tensordict = view(self._transition, {}, self._batch, self._on)
        self._draw(tensordict)
        return self._adopted(tensordict)  # type: ignore[no-any-return]  # The classes of this environment.

    def _draw(self, tensordict: Any) -> None:
        """Put a random action into a container."""
        spec = self._full_input["full_action_spec"]
        shape = () if self.batch_locked or self._batch else tensordict._batch
        for key in self._keys.actions:
            conform.check_known(key, spec[key])
            tensordict[key] = spec[key].rand(shape)

    def _drawn_ahead(self) -> dict[str, Any] | None:
        """The action specs by key, if random actions may be drawn many at a time: leaves at the root, none masked."""
        specs = {key: self._full_input["full_action_spec"][key] for key in self._keys.actions}
        plain = [isinstance(key, str) and isinstance(one.dtype, torch.dtype) for key, one in specs.items()]
        if draws_itself(self) or not all(plain) or any(-1 in one.shape or is_masked(one) for one in specs.values()):
            return None
        return specs  # type: ignore[return-value]  # The keys are strings.

    def rand_step(self, tensordict: TensorDict | None = None) -> Transition[Obs, Action]:
        """A step with a random action."""
        return self.step(self.rand_action(tensordict))

    # ---- rollouts, checks ------------------------------------------------------------------------------------------

    def rollout(
        self,
        max_steps: int,
        policy: Callable[[Transition[Obs, Action]], object] | Callable[[Obs], Action] | None = None,
        callback: Callable[[Any, Transition[Obs, Action]], object] | None = None,
        *,
        auto_reset: bool = True,
        auto_cast_to_device: bool = False,
        break_when_any_done: bool | None = None,
        break_when_all_done: bool = False,
        return_contiguous: bool = False,
        tensordict: TensorDict | None = None,
        set_truncated: bool = False,
        out: TensorDict | None = None,
        trust_policy: bool = False,
        storing_device: torch.device | str | int | None = None,
    ) -> Transition[Obs, Action]:
        """Steps in a row, with a policy or at random: shape [*B, T], names [..., "time"].

        It stops where the first episode is over; with break_when_all_done=True where all are (the last step of those
        that are over is repeated); with break_when_any_done=False after max_steps, each episode that is over is reset.
        The policy reads and writes a container, or takes the observations and gives the action. callback(env, td) is
        called between steps. auto_reset=False: go on from `tensordict`, as step_mdp(td[..., -1]) gives it.
        """
        from ._rollout import Options, rollout

        options = Options(
            max_steps,
            policy,
            callback,
            auto_reset,
            auto_cast_to_device,
            break_when_any_done,
            break_when_all_done,
            tensordict,
            set_truncated,
            out,
            storing_device,
        )
        return rollout(self, options)  # type: ignore[no-any-return]  # The classes of this environment.

    def fake_tensordict(self) -> Transition[Obs, Action]:
        """Zeros with the keys, shapes and dtypes of a step."""
        from ._check import fake

        return fake(self)  # type: ignore[no-any-return]  # The classes of this environment.

    def check_env_specs(self, *args: Any, **kwargs: Any) -> None:
        """Run the environment, and compare what it gives with its specs: check_env_specs(env)."""
        from ._check import check_env_specs

        check_env_specs(self, *args, **kwargs)

    # ---- the rest --------------------------------------------------------------------------------------------------

    def set_seed(self, seed: int | None = None, static_seed: bool = False) -> int | None:
        """Seed the environment and torch; returns the seed to use next (the same one with static_seed)."""
        if seed is not None:
            torch.manual_seed(seed)
        self._set_seed(seed)
        return seed if seed is None or static_seed else next_seed(seed)

    @property
    def device(self) -> torch.device | None:
        """The device of everything that the environment gives, or None."""
        return self.__dict__["_on"]  # type: ignore[no-any-return]  # Set in __init__.

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move the environment: its specs, and the tensors that its module holds."""
        super().to(*args, **kwargs)
        device, *_ = torch._C._nn._parse_to(*args, **kwargs)  # pyright: ignore[reportAttributeAccessIssue]  # No stub has it.
        if device is not None:
            own = vars(self)
            own["_on"] = full_device(device)
            own["_specs_out"], own["_specs_in"] = own["_specs_out"].to(device), own["_specs_in"].to(device)
            if self._specs_locked:
                self._lock_specs()
            self._forget()
        return self

    @property
    def batch_dims(self) -> int:
        """The number of batch dims."""
        return len(self._batch)

    @property
    def shape(self) -> Size:
        """The batch size."""
        return self._batch

    def numel(self) -> int:
        """How many environments there are side by side."""
        return self._batch.numel()

    @property
    def is_closed(self) -> bool:
        """Whether close() was called."""
        return self.__dict__["_is_closed"]  # type: ignore[no-any-return]  # Set in __init__.

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Let go of what the environment holds."""
        vars(self)["_is_closed"] = True

    def forward(self, tensordict: TensorDict) -> Transition[Obs, Action]:
        """A step: an environment is a module too."""
        return self.step(tensordict)

    def add_truncated_keys(self) -> Self:
        """Add "truncated" beside every done, so that rollout(set_truncated=True) can say what it cut off."""
        from ._keys import leaves_of

        spec = self.full_done_spec.clone()
        found = leaves_of(spec)
        for group in self._keys.groups:
            if "truncated" not in group.names:
                spec[group.key("truncated")] = found[group.key("done")].clone()
        self.full_done_spec = spec
        return self

    @overload
    def append_transform(self, transform: Alone[Obs, Action, O1, A1]) -> TransformedEnv[O1, A1]: ...
    @overload
    def append_transform(self, transform: Compose[tuple[()]] | Function) -> TransformedEnv[Obs, Action]: ...
    @overload
    def append_transform(
        self, transform: Compose[Any] | TensorDictModuleBase | functools.partial[Any]
    ) -> TransformedEnv[Any, Any]: ...
    def append_transform(self, transform: Any) -> Any:
        """This environment seen through a transform: a new TransformedEnv (one that is there already is changed)."""
        from ._transformed import TransformedEnv

        return TransformedEnv(self, transform)

    def map_obs(self, function: Callable[[Obs], O1]) -> TransformedEnv[O1, Action]:
        """This environment with its observations through a function, as append_transform(MapObs(function))."""
        from .transforms.maps import MapObs

        mapped: Any = self.append_transform(MapObs(function))
        return mapped  # type: ignore[no-any-return]  # To a checker the function changes the action class as well.

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_size={self.batch_size}, device={self.device})"


def next_seed(seed: int) -> int:
    """A seed that follows from another one, the same every time."""
    import numpy

    return int.from_bytes(numpy.random.default_rng(seed).bytes(8), "big") % (2**32 - 1)


__all__ = ["EnvBase"]
