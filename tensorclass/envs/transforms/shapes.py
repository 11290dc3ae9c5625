"""Dims of entries added, removed, merged, permuted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from ..._rules import errors
from .._layout import Layout
from .._transform import Keys
from ._leafwise import Leafwise, moved


class MovesDims(Leafwise):
    """A transform that moves dims of an entry, and of its spec in the same way."""

    def _leaf_spec(self, spec: Any) -> Any:
        return moved(spec, self._apply_transform)


class OneDim(MovesDims):
    """A transform of one dim, counted from the end; a positive one, if it is allowed, counts after the batch dims."""

    def __init__(
        self,
        dim: int,
        allow_positive_dim: bool = False,
        in_keys: Keys = None,
        out_keys: Keys = None,
        in_keys_inv: Keys = None,
        out_keys_inv: Keys = None,
    ) -> None:
        super().__init__(in_keys, out_keys, in_keys_inv, out_keys_inv)
        check_dim(type(self).__name__, dim, allow_positive_dim)
        self.dim, self.allow_positive_dim = dim, allow_positive_dim
        self._batch_dims = 0

    @property
    def _asks(self) -> tuple[int, str]:
        return dims_up_to(self.dim), ""

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        self._batch_dims = len(layout.batch)

    def _most_at_once(self, steps: int, stop: bool) -> int:
        return steps if self.dim < 0 else 0

    @property
    def _place(self) -> int:
        return self.dim if self.dim < 0 else self.dim + self._batch_dims

    def forward(self, tensordict: Any) -> Any:
        """Transform data that is at hand, in place."""
        self._batch_dims = len(tensordict._batch)
        return super().forward(tensordict)


class UnsqueezeTransform(OneDim):
    """Entries with a new dim of size 1; actions and states, by in_keys_inv, lose it on their way in.

    >>> UnsqueezeTransform(-1, in_keys=["a"])(a=torch.zeros(3)).shape
    torch.Size([3, 1])
    """

    @property
    def _asks(self) -> tuple[int, str]:
        return dims_up_to(self.dim) - 1, ""  # The new one is not there yet.

    def _apply_transform(self, value: Any) -> Any:
        return value.unsqueeze(self._place)

    def _inv_apply_transform(self, value: Tensor) -> Tensor:
        return value.squeeze(self._place)


class SqueezeTransform(OneDim):
    """Entries without a dim of size 1; actions and states, by in_keys_inv, get it on their way in.

    >>> SqueezeTransform(-1, in_keys=["a"])(a=torch.zeros(3, 1)).shape
    torch.Size([3])
    """

    def _apply_transform(self, value: Any) -> Any:
        return value.squeeze(self._place)

    def _inv_apply_transform(self, value: Tensor) -> Tensor:
        return value.unsqueeze(self._place)


class FlattenObservation(MovesDims):
    """Dims of observations merged into one, from first_dim to last_dim.

    >>> FlattenObservation(-2, -1, in_keys=["a"])(a=torch.zeros(5, 2, 3)).shape
    torch.Size([5, 6])
    """

    _usual = ("pixels",)

    def __init__(
        self,
        first_dim: int = -3,
        last_dim: int = -1,
        allow_positive_dim: bool = False,
        in_keys: Keys = None,
        out_keys: Keys = None,
    ) -> None:
        super().__init__("pixels" if in_keys is None else in_keys, out_keys)
        for dim in (first_dim, last_dim):
            check_dim(type(self).__name__, dim, allow_positive_dim)
        self.first_dim, self.last_dim = first_dim, last_dim
        self._batch_dims = 0

    @property
    def _asks(self) -> tuple[int, str]:
        return max(dims_up_to(self.first_dim), dims_up_to(self.last_dim)), ""

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        self._batch_dims = len(layout.batch)

    def _most_at_once(self, steps: int, stop: bool) -> int:
        return steps if self.first_dim < 0 and self.last_dim < 0 else 0

    def _apply_transform(self, value: Any) -> Any:
        first, last = [dim if dim < 0 else dim + self._batch_dims for dim in (self.first_dim, self.last_dim)]
        return value.flatten(first, last)


class PermuteTransform(MovesDims):
    """The last dims of entries in another order; actions and states, by in_keys_inv, are put back on their way in.

    >>> PermuteTransform((-1, -3, -2), in_keys=["a"])(a=torch.zeros(5, 6, 8, 3)).shape
    torch.Size([5, 3, 6, 8])

    dims: a permutation of -n to -1, for the last n dims.
    """

    def __init__(
        self,
        dims: Sequence[int],
        in_keys: Keys = None,
        out_keys: Keys = None,
        in_keys_inv: Keys = None,
        out_keys_inv: Keys = None,
    ) -> None:
        super().__init__(in_keys, out_keys, in_keys_inv, out_keys_inv)
        count = len(dims)
        if sorted(dims) != list(range(-count, 0)):
            raise errors.OptionError(
                f"PermuteTransform: {tuple(dims)} is no permutation of {tuple(range(-count, 0))}; "
                "dims are counted from the end, since the batch dims stand in front"
            )
        self.dims = tuple(dims)
        self._back = tuple([list(dims).index(dim) - count for dim in range(-count, 0)])

    @property
    def _asks(self) -> tuple[int, str]:
        return len(self.dims), ""

    def _apply_transform(self, value: Any) -> Any:
        return permuted(value, self.dims)

    def _inv_apply_transform(self, value: Tensor) -> Tensor:
        return permuted(value, self._back)  # type: ignore[no-any-return]  # A tensor gives a tensor.


def permuted(value: Any, dims: Sequence[int]) -> Any:
    """A tensor or spec with its last dims in another order."""
    front = value.ndim - len(dims)
    return value.permute(*range(front), *[value.ndim + dim for dim in dims])


def dims_up_to(dim: int) -> int:
    """How many dims an entry has at least, if it has this one."""
    return -dim if dim < 0 else dim + 1


def check_dim(transform: str, dim: int, allow_positive: bool) -> None:
    """Refuse a dim counted from the front, where nobody said that it is meant."""
    if dim >= 0 and not allow_positive:
        raise errors.OptionError(
            f"{transform}: dim is {dim}; count it from the end (-1 is the last), "
            "or pass allow_positive_dim=True to count after the batch dims"
        )


__all__ = ["FlattenObservation", "PermuteTransform", "SqueezeTransform", "UnsqueezeTransform"]
