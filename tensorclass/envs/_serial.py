"""SerialEnv: environments side by side, stepped one after the other in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._many import Many
from ._operations import Description, describe
from ._rows import halted, rows_of
from ._typed import Action, Obs, view


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
        envs = [make() for make in vars(self)["_creators"]]
        own = vars(self)
        own["_envs"], own["_last"], own["_lanes"] = envs, None, lanes_of(envs)
        return [describe(env) for env in envs]

    def _shut(self) -> None:
        for env in vars(self).pop("_envs"):
            if not env.is_closed:
                env.close()

    def _ask(
        self, which: Sequence[int], operation: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        envs = vars(self)["_envs"]
        return [operation(envs[at], *given) for at, given in zip(which, arguments)]

    def _restart_rows(self, which: list[int], rows: list[Any], kwargs: dict[str, Any]) -> Any:
        own = vars(self)
        out = self._rows_before()
        for at in which:
            out[at] = own["_envs"][at]._restart(rows[at], **kwargs)
        return self._together(self._transition, out)

    def _advance(self, tensordict: Any) -> Any:
        self._start()
        own, inside = vars(self), self._inside(tensordict)
        if own["_lanes"] is not None:
            out = own["_last"] = own["_lanes"](self._next, own["_envs"], inside)
            return view(self._next, dict(out._fields), out._batch) if self._on is None else out.to(self._on)
        rows = rows_of(inside, self.num_workers)
        return self._together(self._next, [env._advance(row) for env, row in zip(own["_envs"], rows)])

    def _advance_rows(self, rows: list[Any], masks: list[Any]) -> Any:
        own = vars(self)
        before, out = self._rows_before(), []
        for at, (env, row, mask) in enumerate(zip(own["_envs"], rows, masks)):
            if mask.all():
                out.append(env._advance(row))
            elif mask.any():
                out.append(env._advance_some(row, mask))
            else:
                out.append(halted(before[at], row, self.full_reward_spec[at]))
        return self._together(self._next, out)

    def _rows_before(self) -> list[Any]:
        """What each gave last."""
        last = vars(self)["_last"]
        if last is None:
            return [None] * self.num_workers
        return list(last) if isinstance(last, list) else rows_of(last, self.num_workers)

    def _together(self, cls: Any, rows: list[Any]) -> Any:
        """The rows as one container, which are kept too: those of episodes that wait are repeated."""
        vars(self)["_last"] = rows
        return self._gathered(cls, rows)


def lanes_of(envs: Sequence[Any]) -> Callable[..., Any] | None:
    """How environments of gymnasium of one kind take a step together; None for others."""
    if not any(hasattr(type(env), "_raw_actions") for env in envs):  # Gymnasium need not be there.
        return None
    from ._lanes import advance, are_lanes

    return advance if are_lanes(envs) else None
