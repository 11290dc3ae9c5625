"""SerialEnv: environments side by side, stepped one after the other in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._many import Many
from ._operations import Description, describe
from ._rows import halted, rows_of
from ._typed import Action, Obs


class SerialEnv(Many[Obs, Action]):
    """Environments one after the other, as one environment with a first batch dim.

    >>> from tensorclass.envs import GymEnv
    >>> env = SerialEnv(3, lambda g: GymEnv("Pendulum-v1", g=g), create_env_kwargs=[{"g": g} for g in (1.0, 5.0, 9.8)])
    >>> env.rollout(10)["next", "reward"].shape
    torch.Size([3, 10, 1])

    One function for all or a list with one for each, and so for the keyword arguments. The environments are made when
    they are needed, and again after close(). An attribute that this object lacks is read from each: a list of values.
    """

    def _open(self) -> list[Description]:
        envs = [make() for make in self.__dict__["_creators"]]
        self.__dict__["_envs"], self.__dict__["_last"] = envs, [None] * len(envs)  # What each gave last.
        return [describe(env) for env in envs]

    def _shut(self) -> None:
        for env in self.__dict__.pop("_envs"):
            if not env.is_closed:
                env.close()

    def _ask(
        self, which: Sequence[int], operation: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        envs = self.__dict__["_envs"]
        return [operation(envs[at], *given) for at, given in zip(which, arguments)]

    def _restart_rows(self, which: list[int], rows: list[Any], kwargs: dict[str, Any]) -> Any:
        own = self.__dict__
        out = list(own["_last"])
        for at in which:
            out[at] = own["_envs"][at]._restart(rows[at], **kwargs)
        return self._together(self._transition, out)

    def _advance(self, tensordict: Any) -> Any:
        self._start()
        rows = rows_of(self._inside(tensordict), self.num_workers)
        return self._together(self._next, [env._advance(row) for env, row in zip(self.__dict__["_envs"], rows)])

    def _advance_rows(self, rows: list[Any], masks: list[Any]) -> Any:
        own = self.__dict__
        out = []
        for at, (env, row, mask) in enumerate(zip(own["_envs"], rows, masks)):
            if mask.all():
                out.append(env._advance(row))
            elif mask.any():
                out.append(env._advance_some(row, mask))
            else:
                out.append(halted(own["_last"][at], row, self.full_reward_spec[at]))
        return self._together(self._next, out)

    def _together(self, cls: Any, rows: list[Any]) -> Any:
        """The rows as one container, which are kept too: those of episodes that wait are repeated."""
        self.__dict__["_last"] = rows
        return self._gathered(cls, rows)
