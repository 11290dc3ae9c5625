"""Gymnasium: its environments are made here, and its spaces become specs; no other file imports it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial, singledispatch
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array, iterate

from .._rules import errors
from ._numbers import at_least
from ._specs.asked import stack
from ._specs.base import TensorSpec
from ._specs.box import Bounded, Unbounded
from ._specs.choices import Categorical, OneHot
from ._specs.composite import Composite
from ._specs.multi import Binary, MultiCategorical, MultiOneHot
from ._specs.plain import NonTensor

# Honest Any: what a space holds is an array, a number, a string, a dict or tuple of these, whatever its author likes.
Raw = Any


class Coding(NamedTuple):
    """How the values of a space stand in a container: a spec, and the way there and back, with any leading dims."""

    spec: TensorSpec
    encode: Callable[[Raw], Any] | None  # None: as they are.
    decode: Callable[[Any], Raw]


class Leaf(NamedTuple):
    """A part of a space that is one entry of a container."""

    key: tuple[str, ...]
    steps: tuple[Any, ...]  # The way to it in a raw value.
    coding: Coding


# ---- spaces ---------------------------------------------------------------------------------------------------------


@singledispatch
def coding(space: spaces.Space[Any], as_index: bool) -> Coding:
    """How the values of a space that is neither a dict nor a tuple of unlike parts stand in a container."""
    return Coding(NonTensor(shape=()), None, _same)


@coding.register
def _(space: spaces.Box, as_index: bool) -> Coding:
    dtype = torch.from_numpy(np.empty(0, space.dtype)).dtype
    low, high = space.low, space.high
    spec: TensorSpec
    if dtype.is_floating_point and np.isinf(low).all() and np.isinf(high).all():
        spec = Unbounded(shape=space.shape, dtype=dtype)
    else:
        spec = Bounded(torch.from_numpy(low.copy()), torch.from_numpy(high.copy()), shape=space.shape, dtype=dtype)
    return Coding(spec, None, partial(np.array, dtype=space.dtype))


@coding.register
def _(space: spaces.Discrete, as_index: bool) -> Coding:
    n, start = int(space.n), int(space.start)
    if as_index:
        return Coding(Categorical(n), partial(_less, start) if start else None, partial(_more, start))
    return Coding(OneHot(n, dtype=torch.int64), partial(_hot, np.arange(n) + start), partial(_hottest, start))


@coding.register
def _(space: spaces.MultiDiscrete, as_index: bool) -> Coding:
    numbers, start = space.nvec, space.start
    if as_index:
        return Coding(MultiCategorical(torch.from_numpy(numbers.copy())), partial(_less, start), partial(_more, start))
    sizes = numbers.ravel().tolist()
    spec = MultiOneHot(sizes, dtype=torch.int64)
    return Coding(spec, partial(_hots, sizes, start), partial(_hottests, sizes, start))


@coding.register
def _(space: spaces.MultiBinary, as_index: bool) -> Coding:
    return Coding(Binary(space.shape[-1], shape=space.shape, dtype=torch.int8), None, partial(np.array, dtype=np.int8))


@coding.register(spaces.Tuple)
def _(space: Any, as_index: bool) -> Coding:
    """A tuple of like parts is a stack of them, in its first dim; one of numbers is what a MultiDiscrete is."""
    if are_numbers(space):
        sizes, starts = ([int(getattr(part, name)) for part in space] for name in ("n", "start"))
        spec, encode, decode = coding(spaces.MultiDiscrete(sizes, start=starts), as_index)
        return Coding(spec, partial(_rows_encoded, encode), partial(_rows_decoded, decode))
    parts = [coding(part, as_index) for part in space]
    axis = -1 - len(parts[0].spec.shape)
    whole: Any = stack(parts[0].spec, [part.spec for part in parts], 0)
    return Coding(whole, partial(_stacked, parts, axis), partial(_unstacked, parts, axis))


ARRAYS = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def are_numbers(space: spaces.Tuple[Any]) -> bool:
    """Whether all parts of a tuple are numbers up to some n."""
    return all(isinstance(part, spaces.Discrete) for part in space)


def is_stack(space: spaces.Tuple[Any], as_index: bool) -> bool:
    """Whether a tuple is one tensor: of numbers, or of parts of one shape and dtype."""
    if are_numbers(space):
        return True
    if not all(isinstance(part, ARRAYS) for part in space):
        return False
    specs = [coding(part, as_index).spec for part in space]
    return len({(spec.shape, spec.dtype) for spec in specs}) == 1


# The functions below are given their first arguments once; they may be pickled, which closures may not.


def _same(raw: Raw) -> Raw:
    return raw


def _less(start: Any, raw: Raw) -> Any:
    return np.asarray(raw) - start


def _more(start: Any, index: Any) -> Raw:
    return np.add(index, start)


def _hot(values: Any, raw: Raw) -> Any:
    return np.asarray(raw)[..., None] == values


def _hottest(start: int, rows: Any) -> Raw:
    check_marks(rows)
    return rows.argmax(-1) + start


def _hots(sizes: list[int], start: Any, raw: Raw) -> Any:
    index = np.asarray(raw) - start
    index = index.reshape(*index.shape[: index.ndim - start.ndim], -1)
    return np.concatenate([_hot(np.arange(size), index[..., slot]) for slot, size in enumerate(sizes)], -1)


def _hottests(sizes: list[int], start: Any, rows: Any) -> Raw:
    slots = np.split(rows, np.cumsum(sizes)[:-1], -1)
    for slot in slots:
        check_marks(slot)
    return np.stack([slot.argmax(-1) for slot in slots], -1).reshape(*rows.shape[:-1], *start.shape) + start


def check_marks(rows: Any) -> None:
    """Refuse one-hot values without exactly one mark; of floating numbers, the highest is meant."""
    if rows.dtype.kind == "f":
        return
    if rows.ndim == 1 and np.count_nonzero(rows) == 1:  # Of one environment, which is asked at each step.
        return
    marks = np.count_nonzero(rows, -1)
    if (marks != 1).any():
        wrong = rows[marks != 1].reshape(-1, rows.shape[-1])[0].tolist()
        raise errors.OptionError(
            f"step: {wrong} is no one-hot action: exactly one of its numbers is 1; encode(index) of the action spec "
            "makes one"
        )


def _rows_encoded(encode: Any, raw: Raw) -> Any:
    return encode(np.stack(raw, -1))


def _rows_decoded(decode: Any, rows: Any) -> Raw:
    return tuple(np.moveaxis(decode(rows), -1, 0))


def _stacked(parts: list[Coding], axis: int, raw: Raw) -> Any:
    return np.stack([one if part.encode is None else part.encode(one) for part, one in zip(parts, raw)], axis)


def _unstacked(parts: list[Coding], axis: int, rows: Any) -> Raw:
    return tuple([part.decode(rows.take(at, axis)) for at, part in enumerate(parts)])


def flag_specs() -> Composite:
    """done, terminated and truncated."""
    return Composite(
        {name: Categorical(2, shape=(1,), dtype=torch.bool) for name in ("done", "terminated", "truncated")}
    )


# ---- whole spaces ---------------------------------------------------------------------------------------------------


class Codec:
    """The observations or the actions of an environment, as gymnasium has them and as entries of a container."""

    def __init__(self, space: spaces.Space[Any], name: str, as_index: bool, taken: Sequence[str] = ()) -> None:
        self.space = space
        is_open = isinstance(space, spaces.Dict) and not {*taken} & {str(key) for key in space}
        self._tree = _tree(space, () if is_open else (name,), (), as_index)
        self.leaves = list(_leaves(self._tree))
        self.as_index, self.is_number = as_index, isinstance(space, spaces.Discrete)

    @property
    def spec(self) -> Composite:
        """The specs of the leaves by their keys."""
        out = Composite()
        for leaf in self.leaves:
            out[leaf.key] = leaf.coding.spec
        return out

    def raw(self, values: Mapping[tuple[str, ...], Any]) -> Raw:
        """What gymnasium calls it, from an array (or plain value) for each leaf."""
        return _raw(self._tree, values)


Tree = Any  # A Leaf, or a dict or tuple of trees.


def _tree(space: spaces.Space[Any], key: tuple[str, ...], steps: tuple[Any, ...], as_index: bool) -> Tree:
    if isinstance(space, spaces.Dict):
        return {name: _tree(part, (*key, str(name)), (*steps, name), as_index) for name, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple) and not is_stack(space, as_index):
        return [_tree(part, (*key, str(at)), (*steps, at), as_index) for at, part in enumerate(space)]
    return Leaf(key, steps, coding(space, as_index))


def _leaves(tree: Tree) -> list[Leaf]:
    if isinstance(tree, Leaf):
        return [tree]
    return [leaf for part in (tree.values() if isinstance(tree, dict) else tree) for leaf in _leaves(part)]


def _raw(tree: Tree, values: Mapping[tuple[str, ...], Any]) -> Raw:
    if isinstance(tree, Leaf):
        return tree.coding.decode(values[tree.key])
    if isinstance(tree, dict):
        return {name: _raw(part, values) for name, part in tree.items()}
    return tuple([_raw(part, values) for part in tree])


# ---- making environments --------------------------------------------------------------------------------------------


class FrameSkip(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Repeats each action, and adds up the rewards until the episode is over."""

    def __init__(self, env: gymnasium.Env[Any, Any], frames: int) -> None:
        super().__init__(env)
        self.frames = frames

    def step(self, action: Raw) -> tuple[Raw, float, bool, bool, dict[str, Any]]:
        """Take the steps."""
        seen, reward, terminated, truncated, info = self.env.step(action)
        total = float(reward)
        for _ in range(self.frames - 1):
            if terminated or truncated:
                break
            seen, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
        return seen, total, terminated, truncated, info


def make(name: str, count: int, options: Mapping[str, Any], wrap: Callable[[Any], Any], mode: str) -> Any:
    """An environment of gymnasium by its name, or so many of them side by side that nobody resets but us."""
    if not count:
        return wrap(gymnasium.make(name, **options))
    many = gymnasium.make_vec(
        name,
        num_envs=count,
        vectorization_mode=mode,
        vector_kwargs={"autoreset_mode": AutoresetMode.DISABLED},
        wrappers=[wrap],
        **options,
    )
    if isinstance(many.unwrapped, SyncVectorEnv):
        many.unwrapped.env_fns = []  # What has made the environments: not needed again, and no pickle takes it.
    return many


def in_processes(env: Any) -> bool:
    """Whether environments of gymnasium run in processes of their own."""
    return isinstance(env.unwrapped, AsyncVectorEnv)


def wrapped(env: Any, frame_skip: int, from_pixels: bool, pixels_only: bool) -> Any:
    """The environment with repeated actions, and with pictures as observations."""
    if (frame_skip > 1 or from_pixels) and isinstance(env, VectorEnv):
        raise errors.KindError(
            "GymWrapper: frame_skip and from_pixels are for the environments in a vector environment; "
            "GymEnv(id, num_envs=n, ...) puts them there"
        )
    if at_least(1, "GymEnv", "frame_skip", frame_skip) > 1:
        env = FrameSkip(env, frame_skip)
    if from_pixels:
        env = gymnasium.wrappers.AddRenderObservation(
            env, render_only=pixels_only, render_key="pixels", obs_key="observation"
        )
    return env


# ---- one environment, or a vector of them, behind one face ----------------------------------------------------------


class Single:
    """One environment of gymnasium."""

    count: int | None = None

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self.spaces = env.observation_space, env.action_space
        self.step = env.step
        self._reset = env.reset

    def reset(self, seed: int | None, options: dict[str, Any] | None, mask: Any) -> tuple[Raw, dict[str, Any]]:
        """Begin a new episode."""
        return self._reset(seed=seed, options=options)


class Vector:
    """Environments of gymnasium side by side, none of which begins anew unless we say so."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        self.count: int | None = env.num_envs
        self.spaces = env.single_observation_space, env.single_action_space
        self.env = env
        self._over = np.zeros(env.num_envs, bool)  # Whose episode is over, and not begun anew by us.
        self._ahead: dict[int, tuple[Raw, dict[str, Any]]] = {}  # With SAME_STEP: how the next episodes begin.
        self._same_step = _checked_mode(env) is AutoresetMode.SAME_STEP

    def reset(self, seed: Any, options: dict[str, Any] | None, mask: Any) -> tuple[Raw, dict[str, Any]]:
        """Begin new episodes where the mask is true; what comes for the others is of no account."""
        if mask is None:
            mask = np.ones_like(self._over)
        seen: Raw = None
        info: dict[str, Any] = {}
        ahead: dict[int, tuple[Raw, dict[str, Any]]] = {}
        if seed is None and options is None:  # Else what gymnasium began by itself is not what is asked for.
            ahead = {row: begun for row, begun in self._ahead.items() if mask[row]}
        rest = mask.copy()
        rest[list(ahead)] = False
        if rest.all():
            seen, info = self.env.reset(seed=seed, options=options)
        elif rest.any():
            seen, info = self.env.reset(seed=seed, options={**(options or {}), "reset_mask": rest})
        self._over &= ~mask
        self._ahead = {row: begun for row, begun in self._ahead.items() if not mask[row]}
        for row, (_, told) in ahead.items():
            info = with_row(info, row, told, len(mask))
        return self._with_rows(seen, {row: raw for row, (raw, _) in ahead.items()}), info

    def step(self, action: Raw) -> tuple[Raw, Any, Any, Any, dict[str, Any]]:
        """A step of all; what comes for those whose episode was over is of no account."""
        if self._over.any() and not self._same_step:
            self.env.reset(options={"reset_mask": self._over.copy()})  # gymnasium refuses to step them.
        seen, reward, terminated, truncated, info = self.env.step(action)
        over = terminated | truncated
        self._over |= over
        if self._same_step and over.any():
            rows = np.flatnonzero(over).tolist()
            first = list(iterate(self.env.observation_space, seen))
            self._ahead.update({row: (deepcopy(first[row]), row_of(info, row)) for row in rows})
            seen = self._with_rows(seen, {row: info["final_obs"][row] for row in rows})
            for row in rows:
                info = with_row(info, row, row_of(info.get("final_info", {}), row), len(over))
        return seen, reward, terminated, truncated, info

    def _with_rows(self, seen: Raw, rows: Mapping[int, Raw]) -> Raw:
        """Observations of all, with those of some put in."""
        if not rows:
            return seen
        some = next(iter(rows.values()))
        every = [some] * len(self._over) if seen is None else list(iterate(self.env.observation_space, seen))
        for row, raw in rows.items():
            every[row] = raw
        room: Any = create_empty_array(self.spaces[0], len(every))
        return concatenate(self.spaces[0], every, room)


def _checked_mode(env: VectorEnv[Any, Any, Any]) -> AutoresetMode:
    mode = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
    if mode not in (AutoresetMode.DISABLED, AutoresetMode.SAME_STEP):
        raise errors.KindError(
            f"GymWrapper: {type(env.unwrapped).__name__} begins a new episode at the step after the last one, which "
            "hides where it began; make it with autoreset_mode=AutoresetMode.DISABLED, or with GymEnv(id, num_envs=n)"
        )
    return AutoresetMode(mode)


def row_of(info: Mapping[str, Any], row: int) -> dict[str, Any]:
    """What an info of many environments says of one."""
    arrays = {key: value for key, value in info.items() if isinstance(value, np.ndarray) and not key.startswith("_")}
    known = {key: value for key, value in arrays.items() if info.get(f"_{key}", [True] * len(value))[row]}
    return {key: value[row] for key, value in known.items() if key != "final_obs"}


def with_row(info: Mapping[str, Any], row: int, told: Mapping[str, Any], count: int) -> dict[str, Any]:
    """An info of many environments that says this of one."""
    out = dict(info)
    for key, value in told.items():
        now = out.get(key)
        kind = np.asarray(value)
        out[key] = np.zeros((count, *kind.shape), kind.dtype) if now is None else now.copy()
        out[key][row] = value
    return out


def driver(env: Any) -> Single | Vector:
    """What takes the steps of an environment, or of a vector of them."""
    if isinstance(env, VectorEnv):
        return Vector(env)
    if isinstance(env, gymnasium.Env):
        return Single(env)
    raise errors.KindError(
        f"GymWrapper: {type(env).__name__} is not an environment of gymnasium; gymnasium.make(id) gives one"
    )
