"""Compose: transforms one after the other, as one transform."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, overload

import torch
from torch import nn
from typing_extensions import Self, TypeVar

from .._rules import errors
from ._layout import Layout
from ._maps import A0, A1, A2, O0, O1, O2, Maps, Unfolded
from ._transform import A, Keeps, O, Transform, as_transform

Members = TypeVar("Members", covariant=True, default=Any)
T1 = TypeVar("T1", bound=Transform)
T2 = TypeVar("T2", bound=Transform)
T3 = TypeVar("T3", bound=Transform)
T4 = TypeVar("T4", bound=Transform)


class Compose(Transform, Generic[Members]):
    """Transforms in a row: what the environment gives passes through them in order, actions in the opposite order.

    >>> from tensorclass.envs import Compose, ObservationNorm
    >>> twice = Compose(ObservationNorm(1.0, 1.0, in_keys=["a"]), ObservationNorm(0.0, 2.0, in_keys=["a"]))
    >>> twice(TensorDict(a=torch.ones(2)))["a"]
    tensor([4., 4.])

    A list of transforms will do too, and functions from container to container among them. `append`, `insert`, `pop`
    and `del` change the chain; the environment that it belongs to follows. A slice is a Compose of copies.
    """

    # Members after which the classes are the same as before (Keeps) have no place in the type: what is left is short,
    # and type checkers can put it together.
    @overload
    def __init__(self: Compose[tuple[()]], *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1]], t1: T1, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1]], k1: Keeps, t1: T1, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1]], k1: Keeps, k2: Keeps, t1: T1, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1]], k1: Keeps, k2: Keeps, k3: Keeps, t1: T1, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1, T2]], t1: T1, t2: T2, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1, T2]], t1: T1, k2: Keeps, t2: T2, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1, T2]], k1: Keeps, t1: T1, t2: T2, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1, T2]], t1: T1, k2: Keeps, k3: Keeps, t2: T2, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1, T2]], k1: Keeps, t1: T1, k3: Keeps, t2: T2, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1, T2]], k1: Keeps, k2: Keeps, t1: T1, t2: T2, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1, T2, T3]], t1: T1, t2: T2, t3: T3, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1, T2, T3]], t1: T1, t2: T2, k3: Keeps, t3: T3, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1, T2, T3]], t1: T1, k2: Keeps, t2: T2, t3: T3, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1, T2, T3]], k1: Keeps, t1: T1, t2: T2, t3: T3, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[tuple[T1, T2, T3, T4]], t1: T1, t2: T2, t3: T3, t4: T4, /, *keeps: Keeps) -> None: ...
    @overload
    def __init__(self: Compose[Unfolded], *given: Any, transforms: Iterable[Any] | None = None) -> None: ...
    def __init__(self, *given: Any, transforms: Iterable[Any] | None = None) -> None:
        super().__init__()
        if transforms is not None:
            given = (*given, *transforms)
        elif len(given) == 1 and isinstance(given[0], (list, tuple, nn.ModuleList)):
            given = tuple(given[0])
        ready = [as_transform(one) for one in given]
        if len(set(map(id, ready))) < len(ready):
            raise errors.OptionError("Compose: a transform is there twice; pass transform.clone() for the second")
        for one in ready:
            one._own(self)
        self.transforms = nn.ModuleList(ready)

    if TYPE_CHECKING:
        __alone__: None  # type: ignore[assignment]  # What says so is no member, and Alone asks for a bool.

        @overload
        def __maps__(self: Compose[tuple[()]], obs: O, action: A, /) -> tuple[O, A]: ...
        @overload
        def __maps__(self: Compose[tuple[Maps[O0, A0, O1, A1]]], obs: O0, action: A0, /) -> tuple[O1, A1]: ...
        @overload
        def __maps__(
            self: Compose[tuple[Maps[O0, A0, O1, A1], Maps[O1, A1, O2, A2]]], obs: O0, action: A0, /
        ) -> tuple[O2, A2]: ...
        @overload
        def __maps__(self, obs: Any, action: Any, /) -> tuple[Any, Any]: ...
        def __maps__(self, obs: Any, action: Any, /) -> tuple[Any, Any]:
            raise NotImplementedError

    # ---- a chain is a list ----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.transforms)

    def __iter__(self) -> Iterator[Transform]:
        return iter(self._list)

    @property
    def _list(self) -> list[Any]:
        return list(self.transforms)

    @overload
    def __getitem__(self, index: int) -> Any: ...  # Honest Any: which one it is, only the reader knows.
    @overload
    def __getitem__(self, index: slice) -> Compose: ...
    def __getitem__(self, index: int | slice) -> Any:
        """A transform, live; or for a slice a Compose of copies."""
        if isinstance(index, slice):
            return Compose(*[one.clone() for one in self._list[index]])
        return self._list[index]

    def __setitem__(self, index: int, transform: Any) -> None:
        self._replace(lambda chain: chain.__setitem__(index, transform))

    def __delitem__(self, index: int | slice) -> None:
        self._replace(lambda chain: chain.__delitem__(index))

    def append(self, transform: Any) -> Self:
        """Put a transform (or the members of a Compose) at the end, which is the outside."""
        return self.insert(len(self), transform)

    def extend(self, transforms: Iterable[Any]) -> Self:
        """Put several at the end."""
        self._replace(lambda chain: chain.extend(transforms))
        return self

    def insert(self, index: int, transform: Any) -> Self:
        """Put a transform (or the members of a Compose) before the one at an index."""
        if abs(index) > len(self):
            raise errors.OptionError(
                f"insert: index {index} is out of range for {errors.count(len(self), 'transform')}; "
                f"-{len(self)} to {len(self)} would do"
            )

        self._replace(lambda chain: chain.__setitem__(slice(index, index), taken_apart(transform)))
        return self

    def pop(self, index: int = -1) -> Transform:
        """Take a transform out, and return it without an owner."""
        taken = self._list[index]
        self._replace(lambda chain: chain.pop(index))
        return taken  # type: ignore[no-any-return]  # One of the transforms.

    def _replace(self, change: Callable[[list[Any]], Any]) -> None:
        """Change the list; if the environment refuses the new chain, the old one stays."""
        before = self._list
        chain = list(before)
        change(chain)
        after = [as_transform(one) for one in chain]
        new = [one for one in after if not any(one is old for old in before)]
        for one in new:
            one._own(self)
            one.train(self.training)
        self.transforms = nn.ModuleList(after)
        try:
            self._changed()
        except Exception:
            for one in new:
                one.reset_parent()
            self.transforms = nn.ModuleList(before)
            self._changed()
            raise
        for one in before:
            if not any(one is kept for kept in after):
                one.reset_parent()

    # ---- as one transform -----------------------------------------------------------------------------------------

    def forward(self, tensordict: Any) -> Any:
        """Transform data that is at hand, by one after the other."""
        for one in self._list:
            tensordict = one(tensordict)
        return tensordict

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Transform a container; or entries by name, as the first transform takes them and the last gives them."""
        if kwargs and "tensordict" not in kwargs and len(self):
            from .._tensordict import TensorDict

            data = self.forward(TensorDict(kwargs))
            values = tuple([data[key] for key in self._list[-1].out_keys])
            return values[0] if len(values) == 1 else values
        return nn.Module.__call__(self, *args, **kwargs)

    def _call(self, next_tensordict: Any) -> Any:
        for one in self._list:
            next_tensordict = one._call(next_tensordict)
        return next_tensordict

    def _step(self, tensordict: Any, next_tensordict: Any) -> Any:
        for one in self._list:
            next_tensordict = one._step(tensordict, next_tensordict)
        return next_tensordict

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        for one in self._list:
            tensordict_reset = one._reset(tensordict, tensordict_reset)
        return tensordict_reset

    def _inv_call(self, tensordict: Any) -> Any:
        for one in reversed(self._list):
            tensordict = one._inv_call(tensordict)
        return tensordict

    def transform_output_spec(self, output_spec: Any) -> Any:
        """The specs of all that comes out of the last transform."""
        for one in self._list:
            output_spec = one.transform_output_spec(output_spec)
        return output_spec

    def transform_input_spec(self, input_spec: Any) -> Any:
        """The specs of all that goes into the last transform."""
        for one in self._list:
            input_spec = one.transform_input_spec(input_spec)
        return input_spec

    def transform_env_device(self, device: torch.device | None) -> torch.device | None:
        """The device of what comes out of the last transform."""
        for one in self._list:
            device = one.transform_env_device(device)
        return device

    def _classes(self, obs: Any, action: Any) -> tuple[Any, Any]:
        for one in self._list:
            obs, action = one._classes(obs, action)
        return obs, action

    def _settle(self, layout: Layout) -> None:
        """Its members look for themselves."""

    def set_missing_tolerance(self, mode: bool = False) -> None:
        """Whether entries that are not there are left out (True) or refused (False), by every member."""
        super().set_missing_tolerance(mode)
        for one in self._list:
            one.set_missing_tolerance(mode)

    def clone(self) -> Self:
        """A Compose of copies."""
        made: Any = type(self)
        return made(*[one.clone() for one in self._list])  # type: ignore[no-any-return]  # One of this class.

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]  # That of a module.
        for one in self._list:
            one._own(self)

    def __repr__(self) -> str:
        rows = ",\n".join(repr(one) for one in self).replace("\n", "\n    ")
        return f"Compose(\n    {rows},\n)" if rows else "Compose()"

    def close(self) -> None:
        """Let go of what the members hold open."""
        for one in self._list:
            one.close()


def taken_apart(transform: Any) -> list[Transform]:
    """The members of a Compose, which belong to nobody then; or the transform itself."""
    if not isinstance(transform, Compose):
        return [as_transform(transform)]
    transform._check_free()
    found = transform._list
    for one in found:
        one.reset_parent()
    transform.transforms = nn.ModuleList()
    return found
