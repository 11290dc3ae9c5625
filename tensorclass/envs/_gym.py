"""GymEnv and GymWrapper: an environment of gymnasium as one of ours, with exactly its numbers."""

from __future__ import annotations

import types
import typing
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from typing_extensions import Self, TypeVar

from .._rules import errors
from .._tensorclass import TensorClass
from ..nn._ends import declared
from ._absent import absent
from ._columns import column, given, put
from ._env import OPTIONS, EnvBase
from ._specs.box import Unbounded
from ._specs.composite import Composite
from ._sprint import sprint
from ._typed import view

if TYPE_CHECKING:
    import gymnasium

    from ._rollout import Options
    from .gymnasium import Codec, Raw

TAKEN = ("reward", "done", "terminated", "truncated", "next", "_reset", "_step")


CPU = torch.device("cpu")
HOT = ("_step", "_reset", "_restart", "_draw", "rand_action")  # Who overrides one of these wants it called.


class BoxObs(TensorClass):
    """What is seen in an environment whose observations are no dict."""

    observation: Tensor


class BoxAction(TensorClass):
    """What is done in an environment whose actions are no dict."""

    action: Tensor


Seen = TypeVar("Seen", default=BoxObs)
Done = TypeVar("Done", default=BoxAction)


class GymWrapper(EnvBase[Seen, Done]):
    """An environment of gymnasium that was made already, or a vector of them.

    >>> import gymnasium
    >>> env = GymWrapper(gymnasium.make("CartPole-v1"), categorical_action_encoding=True)
    >>> env.set_seed(0)
    795726461
    >>> env.rollout(3)["observation"].shape, env.action_spec
    (torch.Size([3, 4]), Categorical(n=2, shape=(), device='cpu', dtype=torch.int64))

    Box gives Bounded (Unbounded without bounds), Discrete OneHot or with categorical_action_encoding=True Categorical,
    MultiDiscrete MultiOneHot or MultiCategorical, MultiBinary Binary, Text NonTensor. The parts of a Dict are entries,
    other observations are "observation" and other actions "action"; a Tuple of like parts is a stack of them, and one
    of unlike parts has them as entries "0", "1", ... A vector must not begin episodes at the step after the last one.
    """

    _reads_entries = False  # Its state is in gymnasium.

    def __init__(
        self,
        env: gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any],
        *,
        obs: type[Seen] | None = None,
        action: type[Done] | None = None,
        categorical_action_encoding: bool = False,
        frame_skip: int = 1,
        from_pixels: bool = False,
        pixels_only: bool = True,
        device: torch.device | str | int | None = None,
        **options: Any,
    ) -> None:
        from .gymnasium import wrapped

        env = wrapped(env, frame_skip, from_pixels, pixels_only)
        name = "pixels" if from_pixels and pixels_only else "observation"
        self._take(env, name, categorical_action_encoding, device, options)
        self._declare(obs, action)

    def _take(self, env: Any, name: str, as_index: bool, device: Any, options: dict[str, Any]) -> None:
        """Stand for an environment of gymnasium."""
        from .gymnasium import Codec, driver

        runs = driver(env)
        super().__init__(device=device, batch_size=() if runs.count is None else runs.count, **options)
        seen = Codec(runs.spaces[0], name, as_index, TAKEN)
        done = Codec(runs.spaces[1], "action", as_index, [*TAKEN, *[leaf.key[0] for leaf in seen.leaves]])
        own = vars(self)
        own["_env"], own["_driver"], own["_seed"], own["_readers"], own["_last"] = env, runs, None, [], {}
        own["_action"], own["_columns"] = done, [column(leaf, self._batch) for leaf in seen.leaves]
        own["_shapes"] = [(leaf.key, (*self._batch, *leaf.coding.spec.shape)) for leaf in done.leaves]
        own["_single"] = own["_shapes"][0] if len(done.leaves) == 1 and len(done.leaves[0].key) == 1 else None
        own["_plain"] = type(self)._step is GymWrapper._step
        self._set_specs(seen, done)

    if not TYPE_CHECKING:

        def __class_getitem__(cls, classes):
            """A class of its own, so that an environment knows its classes when it is made."""
            alias = super().__class_getitem__(classes)
            if any(isinstance(one, TypeVar) for one in typing.get_args(alias)):
                return alias
            return types.new_class(cls.__name__, (alias,), {}, lambda body: body.update(__module__=cls.__module__))

    def _declare(self, obs: Any, action: Any) -> None:
        """Have obs and action read as these classes; without them as BoxObs and BoxAction where these fit."""
        obs, action = [own if own is not Any else given for own, given in zip(type(self)._classes, (obs, action))]
        if obs is None and is_tensor(self.full_observation_spec, "observation"):
            obs = BoxObs
        if action is None and is_tensor(self.full_action_spec, "action"):
            action = BoxAction
        declare(self, obs, action)

    def _declare_specs(self) -> None:
        """The spaces say what the specs are; classes are compared with them."""

    def _set_specs(self, seen: Codec, done: Codec) -> None:
        from .gymnasium import flag_specs

        for slot, spec in (
            ("full_observation_spec", seen.spec),
            ("full_action_spec", done.spec),
            ("full_reward_spec", Composite(reward=Unbounded((1,)))),
            ("full_done_spec", flag_specs()),
        ):
            spec = spec.expand(*self._batch, *spec.shape) if self._batch else spec
            setattr(self, slot, spec if self.device is None else spec.to(self.device))

    # ---- steps ------------------------------------------------------------------------------------------------------

    def _set_seed(self, seed: int | None) -> None:
        vars(self)["_seed"] = seed  # For the next reset, which then is gymnasium's first one with that seed.

    def _restart(self, tensordict: Any = None, **kwargs: Any) -> Any:
        mask = None if tensordict is None else tensordict._fields.get("_reset")
        if tensordict is not None and mask is not None and not mask.any():
            kept = {**vars(self)["_last"], **tensordict._fields}
            for name in ("_reset", "reward"):
                kept.pop(name, None)
            return view(self._transition, kept, self._batch, self._on)
        return super()._restart(tensordict, **kwargs)

    def _reset(
        self, tensordict: Any = None, *, seed: Any = None, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> Any:
        if kwargs:
            raise TypeError(f"reset takes seed= and options= of gymnasium, not {errors.some_names(list(kwargs))}")
        own = vars(self)
        if seed is None:
            seed = own["_seed"]
        own["_seed"] = None
        mask = None if tensordict is None else tensordict._fields.get("_reset")
        if mask is not None:
            mask = mask.reshape(-1).numpy(force=True)
        raw, info = own["_driver"].reset(seed, options, mask)
        fields = self._seen(raw)
        for name in ("done", "terminated", "truncated"):
            fields[name] = torch.zeros(*self._batch, 1, dtype=torch.bool)
        return self._given(fields, info)

    def _step(self, tensordict: Any) -> Any:
        own = vars(self)
        raw, reward, terminated, truncated, info = own["_driver"].step(self._raw_action(tensordict))
        fields = self._seen(raw)
        if self._batch:
            fields["reward"] = torch.from_numpy(np.array(reward, np.float32)).unsqueeze(-1)
            ends = np.array([terminated | truncated, terminated, truncated], bool)
            fields["done"], fields["terminated"], fields["truncated"] = torch.from_numpy(ends).unsqueeze(-1).unbind()
        else:
            fields["reward"] = torch.from_numpy(np.array((reward,), np.float32))
            fields["done"] = torch.from_numpy(np.array((terminated or truncated,), bool))
            fields["terminated"] = torch.from_numpy(np.array((terminated,), bool))
            fields["truncated"] = torch.from_numpy(np.array((truncated,), bool))
        return self._given(fields, info)

    def _advance(self, tensordict: Any) -> Any:
        if not vars(self)["_plain"]:  # A subclass has a _step of its own.
            return super()._advance(tensordict)
        return self._step(tensordict)

    def _raw_action(self, tensordict: Any) -> Raw:
        fields = tensordict._fields
        own = vars(self)
        if own["_single"] is not None:  # The same, without a walk.
            key, shape = own["_single"]
            return own["_action"].leaves[0].coding.decode(given(fields, key, shape))
        return own["_action"].raw({key: given(fields, key, shape) for key, shape in own["_shapes"]})

    def _raw_actions(self, actions: Any) -> list[Raw]:
        """The actions of many steps of one environment."""
        own, steps = vars(self), len(actions)
        codec: Codec = own["_action"]
        shapes = {key: (steps, *shape) for key, shape in own["_shapes"]}
        values = {key: given(actions._fields, key, shape) for key, shape in shapes.items()}
        if codec.is_number:  # All at once.
            return list(codec.raw(values))
        return [codec.raw({key: value[step] for key, value in values.items()}) for step in range(steps)]

    def _at_once(self, tensordict: Any, asked: Options) -> Any:
        if not self._is_quick(tensordict, asked):
            return None
        return sprint(self, tensordict, asked, asked.break_when_any_done is not False or asked.break_when_all_done)

    def _is_quick(self, first: Any, asked: Options) -> bool:
        """Whether nobody looks at single steps."""
        own = vars(self)
        if any(getattr(type(self), name) is not getattr(GymWrapper, name) for name in HOT):
            return False
        if own["_readers"] or own["_driver"].count is not None or (self.device or CPU).type != "cpu":
            return False
        if any(getattr(asked, name) for name in ("policy", "callback", "auto_cast_to_device", "set_truncated")):
            return False
        if asked.out is not None or asked.storing_device is not None:
            return False
        known = {*self._keys.dones, *self._keys.observations}
        return {*first.keys(True, True)} == known and all(leaf.coding.spec.dtype for leaf in own["_action"].leaves)

    def _seen(self, raw: Raw) -> dict[str, Any]:
        """The entries of an observation, which is copied: gymnasium may write to it later."""
        fields: dict[str, Any] = {}
        for one in vars(self)["_columns"]:
            key = one.key
            if len(key) == 1:
                fields[key[0]] = one.tensor(raw)
            else:
                put(fields, key, one.tensor(raw), self._batch)
        return fields

    def _given(self, fields: dict[str, Any], info: dict[str, Any]) -> Any:
        own = vars(self)
        out = view(self._next, fields, self._batch)
        for reader in own["_readers"]:
            out = reader(info, out)
        if own["_on"] is not None:
            out = out.to(own["_on"])
        own["_last"] = dict(out._fields)
        return out

    # ---- info -------------------------------------------------------------------------------------------------------

    def set_info_dict_reader(self, info_dict_reader: Any = None, ignore_private: bool = True) -> Self:
        """Read entries of gymnasium's info into the observations: a function of (info, container) to the container.

        Its attribute info_spec, a Composite, is added to the specs. Without a reader, or with keys in place of one:
        default_info_dict_reader.
        """
        from ._info import as_reader

        reader = as_reader(info_dict_reader, ignore_private)
        vars(self)["_readers"].append(reader)
        self._add_info_spec(reader)
        return self

    def auto_register_info_dict(self, ignore_private: bool = True, *, info_dict_reader: Any = None) -> Self:
        """Have a look at what gymnasium's info holds, in one reset and step, and read its numbers from now on."""
        from ._info import looked_at

        if info_dict_reader is not None:
            return self.set_info_dict_reader(info_dict_reader, ignore_private)
        own = vars(self)
        _, first = own["_driver"].reset(own["_seed"], None, None)
        action = self.full_action_spec.rand()
        *_, later = own["_driver"].step(self._raw_action(action))
        return self.set_info_dict_reader(looked_at([first, later], self._batch, ignore_private))

    def _add_info_spec(self, reader: Any) -> None:
        spec = getattr(reader, "info_spec", None)
        if spec is None:
            return
        whole = self.full_observation_spec.clone()
        for key, leaf in spec.items():
            inside = leaf.shape[: len(self._batch)] == self._batch
            whole[key] = leaf if inside else leaf.expand(*self._batch, *leaf.shape)
        self.full_observation_spec = whole

    # ---- the environment of gymnasium -------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """What is no attribute here is read from gymnasium's environment."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            env = vars(self).get("_env")
            if env is None or name.startswith("_"):
                raise
        look = getattr(env, "get_wrapper_attr", None)
        try:
            return getattr(env, name) if look is None or name in ("render", "unwrapped") else look(name)
        except AttributeError as error:
            raise absent(self, name) from error

    def __getstate__(self) -> dict[str, Any]:
        from .gymnasium import in_processes

        if in_processes(vars(self)["_env"]):
            raise errors.KindError(
                f"{type(self).__name__}: environments in processes of their own can be neither copied nor pickled; "
                'make others, or pass vectorization_mode="sync"'
            )
        return super().__getstate__()

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Close gymnasium's environment."""
        if not self.is_closed:
            vars(self)["_env"].close()
        super().close(raise_if_closed=raise_if_closed)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)['_env']}, batch_size={list(self._batch)})"


class GymEnv(GymWrapper[Seen, Done]):
    """An environment of gymnasium by its name; what gymnasium.make takes is passed on.

    >>> env = GymEnv("Pendulum-v1", g=5.0, frame_skip=4)
    >>> steps = env.rollout(300)
    >>> steps.shape, steps.next.truncated[-1], steps.obs.observation.shape
    (torch.Size([50]), tensor([True]), torch.Size([50, 3]))

    frame_skip: each action so many times, the rewards added up. from_pixels: pictures as "pixels", in place of the
    observations or, with pixels_only=False, beside them. num_envs: so many side by side, [num_envs] being the batch
    size; vectorization_mode="async" has each in a process. obs, action: classes for their entries, which are compared
    with the spaces. How spaces become specs: GymWrapper.
    """

    def __init__(
        self,
        env_name: str,
        *,
        obs: type[Seen] | None = None,
        action: type[Done] | None = None,
        categorical_action_encoding: bool = False,
        num_envs: int = 0,
        vectorization_mode: str = "sync",
        frame_skip: int = 1,
        from_pixels: bool = False,
        pixels_only: bool = True,
        device: torch.device | str | int | None = None,
        **options: Any,
    ) -> None:
        from .gymnasium import make, wrapped

        ours = {name: options.pop(name) for name in OPTIONS if name in options}
        if from_pixels:
            options.setdefault("render_mode", "rgb_array")
        wrap = partial(wrapped, frame_skip=frame_skip, from_pixels=from_pixels, pixels_only=pixels_only)
        env = make(env_name, num_envs, options, wrap, vectorization_mode)
        name = "pixels" if from_pixels and pixels_only else "observation"
        self._take(env, name, categorical_action_encoding, device, ours)
        self._declare(obs, action)


def is_tensor(spec: Composite, key: str) -> bool:
    """Whether a tensor under this key is all that there is."""
    return list(spec.keys()) == [key] and not isinstance(spec[key], Composite) and spec[key].dtype is not None


def declare(env: Any, obs: Any, action: Any) -> None:
    """Have an environment give these classes, which are compared with its specs."""
    classes = [
        Any if cls is None else fitting(cls, spec, type(env).__name__)
        for cls, spec in ((obs, env.full_observation_spec_unbatched), (action, env.full_action_spec_unbatched))
    ]
    env._see_as(tuple(classes))


def fitting(cls: Any, spec: Composite, owner: str) -> Any:
    """The class, if every field of it has a spec, of the shape and dtype that its annotation says."""
    for name, one in declared(cls).items():
        if name not in spec.keys() and not one.optional:
            have = list(spec.keys())
            raise errors.KeyMissing(f"{owner}: {cls.__name__} has a field {name!r}; {errors.key_missing(name, have)}")
    cls.from_tensordict(spec.zero())
    return cls
