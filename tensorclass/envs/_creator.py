"""EnvCreator: a function that makes environments, in a form that can be sent to another process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

from .._rules import errors
from ._env import EnvBase
from ._typed import Action, Obs


class EnvCreator(Generic[Obs, Action]):
    """A function that makes environments, with arguments for it.

    >>> from tensorclass.envs import GymEnv
    >>> make = EnvCreator(GymEnv, {"env_name": "Pendulum-v1", "g": 5.0})
    >>> make().unwrapped.g, make(g=2.0).unwrapped.g
    (5.0, 2.0)

    Functions that pickle knows by no name (a lambda) are sent with cloudpickle, which comes with gymnasium.
    """

    def __init__(
        self, create_env_fn: Callable[..., EnvBase[Obs, Action]], create_env_kwargs: Mapping[str, Any] | None = None
    ) -> None:
        if isinstance(create_env_fn, EnvBase) or not callable(create_env_fn):
            raise errors.KindError(
                f"EnvCreator: {type(create_env_fn).__name__} is no function; one that makes an environment would do, "
                "such as lambda: GymEnv(id)"
            )
        self.create_env_fn = create_env_fn
        self.create_env_kwargs = dict(create_env_kwargs or {})

    def __call__(self, **kwargs: Any) -> EnvBase[Obs, Action]:
        """A new environment."""
        env = self.create_env_fn(**{**self.create_env_kwargs, **kwargs})
        if not isinstance(env, EnvBase):
            raise errors.KindError(f"the function that makes environments returned {type(env).__name__}, no EnvBase")
        return env

    def __reduce__(self) -> Any:
        return _unpacked, (_packed((self.create_env_fn, self.create_env_kwargs)),)

    def __repr__(self) -> str:
        return f"EnvCreator({self.create_env_fn!r}, {self.create_env_kwargs!r})"


def _packed(made_of: Any) -> bytes:
    try:
        return pickle.dumps(made_of)
    except Exception as error:  # Whatever the pickle of some object raises: pickle raises all kinds.
        try:
            import cloudpickle  # type: ignore[import-untyped]  # It has no annotations.
        except ImportError:
            raise errors.KindError(
                f"{made_of[0]!r} cannot be sent to another process ({error}); define it at the top of a module, or "
                "install cloudpickle"
            ) from error
        return cloudpickle.dumps(made_of)  # type: ignore[no-any-return]  # The same.


def _unpacked(data: bytes) -> EnvCreator[Any, Any]:
    return EnvCreator(*pickle.loads(data))


def creators(owner: str, count: int, functions: Any, kwargs: Any) -> list[EnvCreator[Any, Any]]:
    """A creator for each environment, from one function or one for each, and the same of keyword arguments."""
    several = list(functions) if isinstance(functions, Sequence) else [functions] * count
    given = list(kwargs) if isinstance(kwargs, Sequence) else [kwargs] * count
    for what, found in (("functions", several), ("dicts of keyword arguments", given)):
        if len(found) != count:
            raise errors.OptionError(f"{owner}: {len(found)} {what} for {errors.count(count, 'environment')}")
    return [
        EnvCreator(one.create_env_fn, {**one.create_env_kwargs, **(more or {})})
        if isinstance(one, EnvCreator)
        else EnvCreator(one, more)
        for one, more in zip(several, given)
    ]
