"""Transform: one step of the way between an environment and who uses it."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

import torch
from typing_extensions import Self

from .._rules import chain, errors
from .._rules.keys import Key
from .._tensordict import TensorDict
from .._tree.node import Node, kind
from ..nn._dispatch import _packed, _results
from ..nn._keys import keys_of
from ._absent import Suggesting
from ._classes import classes_by
from ._entries import branch, read, write
from ._layout import GROUPS, INPUTS, OUTPUTS, Layout

if TYPE_CHECKING:
    from ._transformed import TransformedEnv

O = TypeVar("O")  # noqa: E741  # The class of an observation,
A = TypeVar("A")  # and that of an action.
Pairs = tuple[tuple[Key, Key], ...]
Keys = Key | Sequence[Key] | None
SIDES = ("in_keys", "out_keys", "in_keys_inv", "out_keys_inv")


class Transform(Suggesting):
    """What an environment gives, changed on its way out; and what it takes, on its way in.

    >>> from tensorclass.envs import Transform
    >>> class Double(Transform):
    ...     def _apply_transform(self, value):
    ...         return 2 * value
    >>> Double(in_keys=["speed"])(TensorDict(speed=torch.ones(2)))["speed"]
    tensor([2., 2.])

    It reads `in_keys` and writes `out_keys` (the same where none are given), at each reset and each step; actions and
    states go the other way, from `out_keys_inv` to `in_keys_inv`. Override `_apply_transform(value)` for one entry at
    a time, `_call(tensordict)` for all of them, `_step(tensordict, next_tensordict)` and `_reset(tensordict,
    tensordict_reset)` where a step and a reset differ, and `transform_observation_spec(spec)` or its kin where shapes,
    dtypes, domains or keys change. The annotations of `__maps__(self, obs, action, /)` name the classes after it.
    """

    _group: ClassVar[str | None] = None  # What is read where no in_keys are given: "reward", "observation", ...
    _usual: ClassVar[tuple[Key, ...]] = ()  # The same, outside of an environment.
    _paired: ClassVar[bool] = True  # An out_key for each in_key.
    missing_tolerance = False

    def __init__(
        self, in_keys: Keys = None, out_keys: Keys = None, in_keys_inv: Keys = None, out_keys_inv: Keys = None
    ) -> None:
        super().__init__()
        given = (in_keys, out_keys, in_keys_inv, out_keys_inv)
        self._given = [None if keys is None else keys_of(name, keys) for name, keys in zip(SIDES, given)]
        self._owner: weakref.ref[Any] | None = None
        self._step_only: tuple[Key, ...] = ("reward",)
        self._find_keys(None)

    if TYPE_CHECKING:
        __alone__: bool

        def __maps__(self, obs: Any, action: Any, /) -> tuple[Any, Any]:
            """The classes of observation and action after the transform, for those before it; never called."""
            raise NotImplementedError

    # ---- keys ---------------------------------------------------------------------------------------------------

    def _find_keys(self, found: Sequence[Key] | None) -> None:
        """Decide which keys are read and written: those given, those found in the environment, or the usual ones."""
        reads, writes, takes, gives = self._given
        self._reads = tuple(reads if reads is not None else self._usual if found is None else found)
        self._writes = tuple(self._named(self._reads) if writes is None else writes)
        self._takes = tuple(takes or ())
        self._gives = tuple(self._takes if gives is None else gives)
        self._pairs: Pairs = tuple(zip(self._reads, self._writes))
        self._inverse: Pairs = tuple(zip(self._takes, self._gives))
        name = type(self).__name__
        if self._paired and len(self._reads) != len(self._writes):
            raise errors.OptionError(chain.keys_unpaired(name, "out_keys", self._reads, self._writes))
        if len(self._takes) != len(self._gives):
            raise errors.OptionError(chain.keys_unpaired(name, "out_keys_inv", self._takes, self._gives))

    def _named(self, reads: tuple[Key, ...]) -> Sequence[Key]:
        """The out_keys for some in_keys, where none are given."""
        return reads

    def _give(self, changes: dict[int, Keys]) -> None:
        """Take other keys; if they, or the environment, will not have them, those before stay."""
        before = list(self._given)
        try:
            for place, keys in changes.items():
                self._given[place] = None if keys is None else keys_of(SIDES[place], keys)
            self._find_keys(None)
            self._changed()
        except Exception:
            self._given = before
            self._find_keys(None)
            self._changed()
            raise

    @property
    def in_keys(self) -> list[Key]:
        """The entries that are read."""
        return list(self._reads)

    @in_keys.setter
    def in_keys(self, keys: Keys) -> None:
        follow = self._given[1] is not None and keys is not None and self._given[1] == self._given[0]
        self._give({0: keys, 1: None} if follow else {0: keys})

    @property
    def out_keys(self) -> list[Key]:
        """The entries that are written."""
        return list(self._writes)

    @out_keys.setter
    def out_keys(self, keys: Keys) -> None:
        self._give({1: keys})

    @property
    def in_keys_inv(self) -> list[Key]:
        """The entries that the environment takes: actions, states."""
        return list(self._takes)

    @in_keys_inv.setter
    def in_keys_inv(self, keys: Keys) -> None:
        self._give({2: keys})

    @property
    def out_keys_inv(self) -> list[Key]:
        """The same entries as they are called outside."""
        return list(self._gives)

    @out_keys_inv.setter
    def out_keys_inv(self, keys: Keys) -> None:
        self._give({3: keys})

    # ---- the data -----------------------------------------------------------------------------------------------

    def _apply_transform(self, value: Any, /) -> Any:
        """The entry to write, for the entry that was read."""
        return value

    def _inv_apply_transform(self, value: Any, /) -> Any:
        """The entry that the environment takes, for that given from outside."""
        return value

    def _call(self, next_tensordict: Any, /) -> Any:
        """What an environment gives, transformed in place."""
        for in_key, out_key in self._pairs:
            value = read(next_tensordict, in_key)
            if value is not None:
                write(next_tensordict, out_key, self._apply_transform(value))
            elif not self.missing_tolerance:
                self._refuse_missing(in_key, next_tensordict)
        return next_tensordict

    def _step(self, tensordict: Any, next_tensordict: Any, /) -> Any:
        """The outcome of a step, transformed in place; `tensordict` is where the step began."""
        return self._call(next_tensordict)

    def _reset(self, tensordict: Any, tensordict_reset: Any, /) -> Any:
        """The outcome of a reset, transformed in place: as that of a step, but for what only steps give."""
        if type(self)._call is not Transform._call:
            return self._call_without_reward(tensordict_reset)
        for in_key, out_key in self._pairs:
            value = read(tensordict_reset, in_key)
            if value is not None:
                write(tensordict_reset, out_key, self._apply_transform(value))
        return tensordict_reset

    def _call_without_reward(self, tensordict_reset: Any) -> Any:
        """A `_call` that reads the reward is for steps only: a reset has none."""
        try:
            return self._call(branch(tensordict_reset))
        except KeyError as error:
            if any(repr(key) in str(error) and key not in tensordict_reset for key in self._step_only):
                return tensordict_reset
            raise

    def _inv_call(self, tensordict: Any, /) -> Any:
        """What an environment takes, transformed in place."""
        for in_key, out_key in self._inverse:
            value = read(tensordict, out_key)
            if value is not None:
                write(tensordict, in_key, self._inv_apply_transform(value))
            elif not self.missing_tolerance:
                self._refuse_missing(out_key, tensordict)
        return tensordict

    def _most_at_once(self, steps: int, stop: bool) -> int:
        """How many steps of a rollout can be transformed together; 0 where each must be by itself.

        stop: the rollout ends with its first episode.
        """
        return 0

    def _transform_rollout(self, root: Any, after: Any, first: Any) -> None:
        """Transform a rollout as a whole: what is at the root, and under "next"; first: where episodes begin, [T]."""
        self._reset(None, root)
        self._call(after)

    def _refuse_missing(self, key: Key, tensordict: Any) -> NoReturn:
        here = list(type(tensordict).keys(tensordict, True, True))
        raise chain.ChainKeyMissing(chain.in_key_missing(type(self).__name__, key, here))

    def forward(self, tensordict: Any, /) -> Any:
        """Transform data that is at hand, in place; each entry keeps the batch size as its leading dims."""
        out = self._call(tensordict)
        type(out)._set_batch(out, out._batch)
        return out

    def inv(self, tensordict: Any) -> Any:
        """What an environment would be given for this: a new container."""
        return self._inv_call(branch(tensordict))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Transform a container; or entries, by position or under the names of their keys."""
        if args and isinstance(args[0], Node) or "tensordict" in kwargs:
            return super().__call__(*args, **kwargs)
        data, more, _ = _packed(self._reads, args, kwargs, "_")
        if more or kwargs:
            given = errors.some_names(kwargs) if kwargs else f"{len(args)} values"
            raise errors.KindError(
                f"{type(self).__name__} takes a container, or its in_keys ({errors.some_names(self._reads)}) by name; "
                f"not {given}"
            )
        return _results(super().__call__(data), self._writes)

    # ---- the specs ----------------------------------------------------------------------------------------------

    def transform_observation_spec(self, observation_spec: Any, /) -> Any:
        """The spec of the observations after the transform; the Composite given may be changed."""
        return observation_spec

    def transform_reward_spec(self, reward_spec: Any, /) -> Any:
        """The spec of the rewards after the transform."""
        return reward_spec

    def transform_done_spec(self, done_spec: Any, /) -> Any:
        """The spec of the flags after the transform."""
        return done_spec

    def transform_action_spec(self, action_spec: Any, /) -> Any:
        """The spec of the actions as they are given from outside."""
        return action_spec

    def transform_state_spec(self, state_spec: Any, /) -> Any:
        """The spec of the states as they are given from outside."""
        return state_spec

    def transform_output_spec(self, output_spec: Any, /) -> Any:
        """The specs of all that an environment gives."""
        return self._each_group(output_spec, OUTPUTS)

    def transform_input_spec(self, input_spec: Any, /) -> Any:
        """The specs of all that an environment takes."""
        return self._each_group(input_spec, INPUTS)

    def _each_group(self, specs: Any, names: tuple[str, ...]) -> Any:
        for name in names:
            specs[GROUPS[name]] = getattr(self, f"transform_{name}_spec")(specs[GROUPS[name]])
        return specs

    def transform_env_device(self, device: torch.device | None) -> torch.device | None:
        """The device of what comes out."""
        return device

    def transform_env_batch_size(self, batch_size: torch.Size) -> torch.Size:
        """The batch size of what comes out."""
        return batch_size

    def _classes(self, obs: Any, action: Any) -> tuple[Any, Any]:
        """The classes of observation and action after the transform: Any where nobody named one in __maps__."""
        maps = getattr(type(self), "__maps__", None)
        return (Any, Any) if maps is None else classes_by(maps, type(self).__name__, obs, action)

    # ---- in an environment --------------------------------------------------------------------------------------

    def _settle(self, layout: Layout) -> None:
        """Look at the environment that the transform is put into, and refuse what it does not have."""
        if self._given[0] is None:
            self._find_keys(list(layout.keys(self._group)) if self._group else None)
        self._classes(layout.obs, layout.action)  # Refuses classes that the transform is not for.
        self._check_keys(layout)

    def _check_keys(self, layout: Layout) -> None:
        self._step_only = tuple(layout.keys("reward"))
        if not self.missing_tolerance:
            name = type(self).__name__
            layout.check_reads(name, self._reads)
            layout.check_takes(name, self._takes)

    def _check_specs(self, before: Layout, layout: Layout) -> None:
        """Refuse out_keys that are taken, and those that the specs after the transform do not tell of."""
        name = type(self).__name__
        if not self._opaque:  # A hook of somebody else's may read what it writes.
            before.check_new(name, self._reads, self._writes, OUTPUTS)
            before.check_new(name, self._takes, self._gives, INPUTS)
        if not self.missing_tolerance:
            layout.check_writes(name, self._writes)
            layout.check_class(name)

    def _adds(self) -> tuple[Key, ...]:
        """Observations that are no part of the class of the observation, as a count of steps."""
        return ()

    def _seen_at_the_end(self, layout: Layout, written_later: set[tuple[str, ...]]) -> None:
        """Look at what becomes of the transform's entries further out."""

    @property
    def _renames(self) -> bool:
        """Whether entries are written under another key than they are read from."""
        return self._reads != self._writes

    @property
    def _foreign(self) -> bool:
        """Whether the class is somebody else's."""
        return not type(self).__module__.startswith("tensorclass.envs.")

    @property
    def _opaque(self) -> bool:
        """Whether nobody knows which entries are written: hooks of a class of somebody else's."""
        hooks = ("_call", "_step", "_reset")
        return self._foreign and any(getattr(type(self), hook) is not getattr(Transform, hook) for hook in hooks)

    def _own(self, owner: Any) -> None:
        self._check_free()
        self._owner = weakref.ref(owner)

    def _check_free(self) -> None:
        """Refuse a transform that somebody has already."""
        if self._owner is not None and self._owner() is not None:
            raise AttributeError(chain.has_owner(type(self).__name__))

    def _changed(self) -> None:
        """Tell the environment that specs or keys are other ones now."""
        owner = None if self._owner is None else self._owner()
        if owner is not None:
            owner._chain_changed()

    _chain_changed = _changed  # A Compose hands on what its members say.

    @property
    def container(self) -> TransformedEnv[Any, Any] | None:
        """The environment that the transform is in, or None."""
        owner = None if self._owner is None else self._owner()
        return owner.container if isinstance(owner, Transform) else owner

    @property
    def parent(self) -> TransformedEnv[Any, Any] | None:
        """The environment as the transform sees it: with copies of the transforms before it, and none after it."""
        container = self.container
        return None if container is None else container._up_to(self)

    def _env(self, action: str) -> TransformedEnv[Any, Any]:
        container = self.container
        if container is None:
            raise errors.StructureError(chain.no_parent(type(self).__name__, action, self._is_orphan()))
        return container

    def _is_orphan(self) -> bool:
        """Whether there was an environment, of which nobody has kept hold."""
        owner = None if self._owner is None else self._owner()
        return self._owner is not None and (owner is None or (isinstance(owner, Transform) and owner._is_orphan()))

    def reset_parent(self) -> None:
        """Leave the owner: the transform can be put elsewhere then."""
        self._owner = None

    def clone(self) -> Self:
        """A copy with tensors of its own, and without an owner."""
        return copy.deepcopy(self)

    def set_missing_tolerance(self, mode: bool = False) -> None:
        """Whether entries that are not there are left out (True) or refused (False)."""
        self.missing_tolerance = mode

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_owner": None}  # A weak reference cannot be pickled, nor copied.

    def close(self) -> None:
        """Let go of what the transform holds open."""

    def extra_repr(self) -> str:
        """The keys."""
        said = [("keys", self._reads), ("out_keys", self._writes if self._writes != self._reads else ())]
        said += [("in_keys_inv", self._takes), ("out_keys_inv", self._gives if self._gives != self._takes else ())]
        return ", ".join(f"{name}={list(keys)}" for name, keys in said if keys)


class Keeps(Transform):
    """A transform after which observations and actions are of the classes that they were of before."""

    if TYPE_CHECKING:

        def __maps__(self, obs: O, action: A, /) -> tuple[O, A]:
            raise NotImplementedError

    def _classes(self, obs: Any, action: Any) -> tuple[Any, Any]:
        return obs, action


class FunctionTransform(Keeps):
    """A function from container to container as a transform, at reset and at step."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    @property
    def _opaque(self) -> bool:
        return True

    def _call(self, next_tensordict: Any) -> Any:
        out = self.function(next_tensordict)
        if not isinstance(out, Node):
            name = getattr(self.function, "__name__", type(self.function).__name__)
            raise errors.KindError(f"the transform {name} returned {kind(out)}; return the tensordict")
        return out

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return self._call(tensordict_reset)

    def extra_repr(self) -> str:
        """The function."""
        return getattr(self.function, "__name__", repr(self.function))


def as_transform(given: Any) -> Transform:
    """A transform, or a callable as one."""
    if isinstance(given, Transform):
        return given
    if callable(given) and not isinstance(given, type):
        return FunctionTransform(given)
    raise errors.OptionError(chain.no_transform(kind(given)))


__all__ = ["Keeps", "TensorDict", "Transform", "as_transform"]
