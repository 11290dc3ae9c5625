"""Environments side by side: made when they are needed, stacked along a first dim, seeded and asked one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from typing_extensions import Self

from .._lazystack import lazy_stack
from .._rules import errors
from .._tensordict import TensorDict
from .._tree.contract import full_device
from . import _operations as operations
from . import _uneven as uneven
from ._absent import absent
from ._alike import check_alike
from ._creator import creators
from ._env import EnvBase
from ._keys import leaves_of
from ._numbers import at_least
from ._operations import Description
from ._rows import is_reset, mask_paths, rows_of, stacked, unmasked
from ._specs.asked import stack
from ._specs.composite import Composite
from ._typed import Action, Obs, Transition, view


class Once:
    """An attribute that is known once the environments have been made, and has them made when it is read."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, many: Any, owner: type) -> Any:
        if many is None:
            return self
        own = vars(many)
        if self.name not in own:
            many._start()
        return own[self.name]

    def __set__(self, many: Any, value: Any) -> None:
        vars(many)[self.name] = value


KNOWN_LATER = ("_batch", "_on", "_specs_out", "_specs_in", "_classes", "_transition", "_next")


class Many(EnvBase[Obs, Action]):
    """What SerialEnv and ParallelEnv share."""

    def __init__(
        self,
        num_workers: int,
        create_env_fn: Callable[..., EnvBase[Obs, Action]] | Sequence[Callable[..., EnvBase[Obs, Action]]],
        *,
        create_env_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None = None,
        device: torch.device | str | int | None = None,
        **options: Any,
    ) -> None:
        num_workers = at_least(1, type(self).__name__, "num_workers", num_workers)
        super().__init__(**options)
        own = vars(self)
        for name in KNOWN_LATER:
            own.pop(name, None)
        own["num_workers"] = num_workers
        own["_creators"] = creators(type(self).__name__, num_workers, create_env_fn, create_env_kwargs)
        own["_wanted"] = None if device is None else full_device(device)
        own["_runs"] = False
        own["_begun"] = False  # Whether there was a reset.

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not TYPE_CHECKING:
            for name in KNOWN_LATER:  # Also those that every class of environments has.
                setattr(cls, name, Once(name))

    # ---- starting and stopping --------------------------------------------------------------------------------------

    def _open(self) -> list[Description]:
        """Make the environments; what they are."""
        raise NotImplementedError

    def _ready(self, found: list[Description]) -> None:
        """Get ready for steps, once it is known what the environments are."""

    def _shut(self) -> None:
        """Close the environments."""
        raise NotImplementedError

    def _ask(
        self, which: Sequence[int], operation: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        """Have some environments do something, each with its own arguments; what they give."""
        raise NotImplementedError

    def _set_up_specs(self) -> None:
        """The environments say what their specs are."""

    def _declare_specs(self) -> None:
        """They know what their classes say, too."""

    def _finish(self) -> None:
        """The specs are locked when they are known."""

    def _start(self) -> None:
        """Make the environments, if there are none."""
        own = vars(self)
        if own["_runs"]:
            return
        found = self._open()
        own["_runs"], own["_is_closed"] = True, False
        try:
            self._know(found)
            self._ready(found)
        except BaseException:
            self.close()
            raise
        if not self.training:
            self.train(False)

    def _know(self, found: list[Description]) -> None:
        own = vars(self)
        check_alike(type(self).__name__, found)
        own["_batch"] = torch.Size((self.num_workers, *found[0].batch))
        devices = {one.device for one in found}
        own["_below"] = devices.pop() if len(devices) == 1 else None
        own["_on"] = own["_wanted"] or own["_below"]
        specs = [side_by_side([one.output for one in found]), side_by_side([one.input for one in found])]
        own["_specs_out"], own["_specs_in"] = [spec if self._on is None else spec.to(self._on) for spec in specs]
        own["_even"] = all(isinstance(spec, Composite) for spec in specs)
        pairs = {one.classes for one in found}
        self._see_as(pairs.pop() if len(pairs) == 1 else (Any, Any))
        self._forget()
        self._lock_specs()

    @property
    def _full_output(self) -> Any:
        return self._specs_out

    @property
    def _full_input(self) -> Any:
        return self._specs_in

    @property
    def device(self) -> torch.device | None:
        """The device of everything that the environments give, or None."""
        return vars(self)["_wanted"] or self._on  # type: ignore[no-any-return]  # Set in __init__.

    def start(self) -> None:
        """Make the environments now; else they are made when they are needed."""
        self._start()

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Close the environments; what is asked of this object later makes new ones."""
        own = vars(self)
        if own["_runs"]:
            own["_runs"], own["_begun"] = False, False
            self._shut()
        super().close(raise_if_closed=raise_if_closed)

    # ---- resets and steps, row by row -------------------------------------------------------------------------------

    def _restart_rows(self, which: list[int], rows: list[Any], kwargs: dict[str, Any]) -> Any:
        """Reset some environments; a container of all, in which the others have what they gave last."""
        raise NotImplementedError

    def _advance_rows(self, rows: list[Any], masks: list[Any]) -> Any:
        """Step where the masks are true; a container of all, in which the others stay."""
        raise NotImplementedError

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        self._start()
        rows: list[Any] = [None] * self.num_workers
        if tensordict is not None:
            rows = rows_of(self._inside(tensordict), self.num_workers)
            rows = [None if self._is_fresh(row) else unmasked(row) for row in rows]
        which = [at for at, row in enumerate(rows) if row is None or is_reset(row)]
        if len(which) < len(rows) and not vars(self)["_begun"]:
            raise errors.StructureError(
                f"{type(self).__name__}: a first reset with a mask leaves some episodes without a start; reset() first"
            )
        out = self._restart_rows(which, rows, kwargs)
        vars(self)["_begun"] = True
        return out

    def _is_fresh(self, row: Any) -> bool:
        """Whether a row is reset since its episode is over, and nothing in it has a say in how the next one begins."""
        masks = mask_paths(row)
        return bool(masks) and not self._keys.states and all(bool(row[at].all()) for at in masks)

    def _step(self, tensordict: Any) -> Any:
        return self._advance(tensordict)

    def _advance_some(self, tensordict: Any, mask: Any) -> Any:
        self._start()
        rows = rows_of(self._inside(tensordict), self.num_workers)
        for row in rows:
            row._fields.pop("_step", None)
        return self._advance_rows(rows, list(mask.reshape(self._batch).unbind(0)))

    def _inside(self, tensordict: Any) -> Any:
        """A container as the environments take it: on their device."""
        own = vars(self)
        return tensordict if own["_below"] == self._on else tensordict.to(own["_below"] or torch.device("cpu"))

    def _gathered(self, cls: Any, rows: list[Any]) -> Any:
        """Rows as one container of a class, on the device of this object."""
        if vars(self)["_even"]:
            out = stacked(cls, rows, self._batch)
        else:
            out = lazy_stack([view(TensorDict, row._fields, row._batch, row._device) for row in rows], 0)
        return out if self._on is None else out.to(self._on)

    # ---- where the entries differ in shape --------------------------------------------------------------------------

    def _is_even(self) -> bool:
        self._start()
        return vars(self)["_even"]  # type: ignore[no-any-return]  # Set when the environments were made.

    # What they give then is no Transition but a lazy stack of containers, which no type says.

    def reset(self, tensordict: TensorDict | None = None, **kwargs: Any) -> Transition[Obs, Action]:
        """Start episodes, all of them or where a mask "_reset" of shape [n, ..., 1] is true."""
        return super().reset(tensordict, **kwargs) if self._is_even() else uneven.reset(self, tensordict, kwargs)

    def step(self, tensordict: TensorDict) -> Transition[Obs, Action]:
        """Act: what comes of the action is written under "next" of the input, which is returned."""
        return super().step(tensordict) if self._is_even() else uneven.step(self, tensordict)

    def maybe_reset(self, tensordict: TensorDict) -> Transition[Obs, Action]:
        """The same entries, those of the episodes that are over reset."""
        return super().maybe_reset(tensordict) if self._is_even() else uneven.maybe_reset(self, tensordict)

    def rand_action(self, tensordict: TensorDict | None = None) -> Transition[Obs, Action]:
        """A random action, written into the input or into a new container."""
        if tensordict is None and not self._is_even():
            tensordict = uneven.blank(self)
        return super().rand_action(tensordict)

    def _draw(self, tensordict: Any) -> None:
        super()._draw(tensordict) if self._is_even() else uneven.draw(self, tensordict)

    def _onward(self, tensordict: Any) -> Any:
        return super()._onward(tensordict) if self._is_even() else uneven.onward(self, tensordict)

    def _drawn_ahead(self) -> Any:
        return super()._drawn_ahead() if self._is_even() else None

    def _at_once(self, tensordict: Any, asked: Any) -> Any:
        return None if self._is_even() else uneven.rollout(self, tensordict, asked)

    def _onward_row(self, row: Any) -> Any:
        return super()._onward(row)

    # ---- seeds, states, attributes ----------------------------------------------------------------------------------

    def set_seed(self, seed: int | None = None, static_seed: bool = False) -> int | None:
        """Seed each environment with the seed that follows from the one before (the same one with static_seed)."""
        self._start()
        following = seed
        for at in range(self.num_workers):
            (following,) = self._ask([at], operations.seed, [(following, static_seed)])
        if seed is not None:
            torch.manual_seed(seed)
        return following

    def add_truncated_keys(self) -> Self:
        """Add "truncated" beside every done of each environment."""
        found = self._all(operations.add_truncated)
        self._know(found)
        self._ready(found)
        return self

    def _all(self, operation: Callable[..., Any], *arguments: Any) -> list[Any]:
        self._start()
        return self._ask(range(self.num_workers), operation, [arguments] * self.num_workers)

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The state of each environment: "worker0", "worker1", ..."""
        return {f"worker{at}": state for at, state in enumerate(self._all(operations.state))}

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Load the state of each environment."""
        self._start()
        names = [f"worker{at}" for at in range(self.num_workers)]
        missing = [name for name in names if name not in state_dict]
        if missing:
            raise errors.KeyMissing(errors.key_missing(missing[0], list(state_dict)))
        self._ask(range(self.num_workers), operations.load, [(state_dict[name], strict) for name in names])

    def train(self, mode: bool = True) -> Self:
        """Switch the transforms of each environment to training, or (False) to evaluation."""
        self.training = mode
        if vars(self).get("_runs"):
            self._all(operations.train, mode)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Have the environments give their entries on another device; they stay where they are."""
        self._start()
        super().to(*args, **kwargs)
        vars(self)["_wanted"] = self._on
        return self

    def __getattr__(self, name: str) -> Any:
        """What is no attribute here is read from each environment: a list, or a function that gives one."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_") or "_creators" not in vars(self):
                raise
        try:
            found = self._all(operations.look, name)
        except AttributeError as error:
            raise absent(self, name) from error
        if not found[0][0]:
            return [value for _, value in found]

        def on_each(*args: Any, **kwargs: Any) -> list[Any]:
            return self._all(operations.call, name, args, kwargs)

        return on_each

    def __repr__(self) -> str:
        made = f", batch_size={list(self._batch)}" if "_batch" in vars(self) else ", not started"
        return f"{type(self).__name__}({self.num_workers} environments{made})"


# ---- specs -----------------------------------------------------------------------------------------------------------


def side_by_side(specs: list[Any]) -> Any:
    """The specs of several environments as one: a Composite, unless their keys or shapes differ."""
    first = leaves_of(specs[0])
    for spec in specs[1:]:
        leaves = leaves_of(spec)
        if leaves.keys() != first.keys() or any(leaves[key].shape != leaf.shape for key, leaf in first.items()):
            return stack(specs[0], specs, 0)
        if any(leaves[key].dtype != leaf.dtype for key, leaf in first.items()):
            return stack(specs[0], specs, 0)
    return level(specs)


def level(specs: list[Any]) -> Any:
    """Composites of the same keys and shapes as one Composite."""
    first = specs[0]
    out = Composite(shape=(len(specs), *first.shape), device=first.device)
    for key in first.keys():
        column = [spec[key] for spec in specs]
        out[key] = level(column) if isinstance(column[0], Composite) else stack(column[0], column, 0)
    return out
