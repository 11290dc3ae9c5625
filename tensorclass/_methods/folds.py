"""Reductions.

Written by python -m tensorclass._rules.write; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

import torch
from torch import Tensor
from typing_extensions import Self

from .._tree.fold import reduce as _reduce
from .._tree.fold import truth, whole
from .._tree.node import Node


class FoldMethods(Node):
    """Reductions over batch dims, feature dims or everything."""

    __slots__ = ()

    @overload
    def sum(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[False] = False, dtype: torch.dtype | None = None) -> Self: ...
    @overload
    def sum(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[True], dtype: torch.dtype | None = None) -> Tensor: ...
    def sum(
        self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: bool = False, dtype: torch.dtype | None = None
    ) -> Self | Tensor:
        """Fold batch dims away: their sum; without dim, every leaf is folded whole.

        reduce=True folds everything to one tensor; dim="feature" folds the feature dims.
        """
        if reduce:
            return whole("sum", self, {} if dtype is None else {'dtype': dtype})
        return _reduce("sum", self, dim, keepdim, True, {} if dtype is None else {'dtype': dtype})

    @overload
    def mean(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[False] = False, dtype: torch.dtype | None = None) -> Self: ...
    @overload
    def mean(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[True], dtype: torch.dtype | None = None) -> Tensor: ...
    def mean(
        self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: bool = False, dtype: torch.dtype | None = None
    ) -> Self | Tensor:
        """Fold batch dims away: their mean; without dim, every leaf is folded whole.

        reduce=True folds everything to one tensor; dim="feature" folds the feature dims.
        """
        if reduce:
            return whole("mean", self, {} if dtype is None else {'dtype': dtype})
        return _reduce("mean", self, dim, keepdim, True, {} if dtype is None else {'dtype': dtype})

    @overload
    def prod(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[False] = False, dtype: torch.dtype | None = None) -> Self: ...
    @overload
    def prod(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[True], dtype: torch.dtype | None = None) -> Tensor: ...
    def prod(
        self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: bool = False, dtype: torch.dtype | None = None
    ) -> Self | Tensor:
        """Fold batch dims away: their product; without dim, every leaf is folded whole.

        reduce=True folds everything to one tensor; dim="feature" folds the feature dims.
        """
        if reduce:
            return whole("prod", self, {} if dtype is None else {'dtype': dtype})
        return _reduce("prod", self, dim, keepdim, False, {} if dtype is None else {'dtype': dtype})

    @overload
    def std(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[False] = False, correction: int = 1) -> Self: ...
    @overload
    def std(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[True], correction: int = 1) -> Tensor: ...
    def std(
        self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: bool = False, correction: int = 1
    ) -> Self | Tensor:
        """Fold batch dims away: their standard deviation; without dim, every leaf is folded whole.

        reduce=True folds everything to one tensor; dim="feature" folds the feature dims.
        """
        if reduce:
            return whole("std", self, {'correction': correction})
        return _reduce("std", self, dim, keepdim, True, {'correction': correction})

    @overload
    def var(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[False] = False, correction: int = 1) -> Self: ...
    @overload
    def var(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[True], correction: int = 1) -> Tensor: ...
    def var(
        self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: bool = False, correction: int = 1
    ) -> Self | Tensor:
        """Fold batch dims away: their variance; without dim, every leaf is folded whole.

        reduce=True folds everything to one tensor; dim="feature" folds the feature dims.
        """
        if reduce:
            return whole("var", self, {'correction': correction})
        return _reduce("var", self, dim, keepdim, True, {'correction': correction})

    @overload
    def amax(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[False] = False) -> Self: ...
    @overload
    def amax(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[True]) -> Tensor: ...
    def amax(
        self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: bool = False
    ) -> Self | Tensor:
        """Fold batch dims away: the largest value; without dim, every leaf is folded whole.

        reduce=True folds everything to one tensor; dim="feature" folds the feature dims.
        """
        if reduce:
            return whole("amax", self, {})
        return _reduce("amax", self, dim, keepdim, True, {})

    @overload
    def amin(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[False] = False) -> Self: ...
    @overload
    def amin(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[True]) -> Tensor: ...
    def amin(
        self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: bool = False
    ) -> Self | Tensor:
        """Fold batch dims away: the smallest value; without dim, every leaf is folded whole.

        reduce=True folds everything to one tensor; dim="feature" folds the feature dims.
        """
        if reduce:
            return whole("amin", self, {})
        return _reduce("amin", self, dim, keepdim, True, {})

    @overload
    def any(self, dim: None = None) -> bool: ...
    @overload
    def any(self, dim: int | str | Sequence[int | str], keepdim: bool = False) -> Self: ...
    def any(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False) -> Self | bool:
        """Fold batch dims away: whether any is true; without dim, the answer is one bool."""
        if dim is None and not keepdim:
            return truth("any", self)
        return _reduce("any", self, dim, keepdim, True, {})

    @overload
    def all(self, dim: None = None) -> bool: ...
    @overload
    def all(self, dim: int | str | Sequence[int | str], keepdim: bool = False) -> Self: ...
    def all(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False) -> Self | bool:
        """Fold batch dims away: whether all are true; without dim, the answer is one bool."""
        if dim is None and not keepdim:
            return truth("all", self)
        return _reduce("all", self, dim, keepdim, True, {})

    @overload
    def logsumexp(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[False] = False) -> Self: ...
    @overload
    def logsumexp(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[True]) -> Tensor: ...
    def logsumexp(
        self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: bool = False
    ) -> Self | Tensor:
        """Fold batch dims away: the log of the sum of their exponentials; without dim, every leaf is folded whole.

        reduce=True folds everything to one tensor; dim="feature" folds the feature dims.
        """
        if reduce:
            return whole("logsumexp", self, {})
        return _reduce("logsumexp", self, dim, keepdim, True, {})

    @overload
    def nansum(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[False] = False, dtype: torch.dtype | None = None) -> Self: ...
    @overload
    def nansum(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[True], dtype: torch.dtype | None = None) -> Tensor: ...
    def nansum(
        self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: bool = False, dtype: torch.dtype | None = None
    ) -> Self | Tensor:
        """Fold batch dims away: their sum, nan left out; without dim, every leaf is folded whole.

        reduce=True folds everything to one tensor; dim="feature" folds the feature dims.
        """
        if reduce:
            return whole("nansum", self, {} if dtype is None else {'dtype': dtype})
        return _reduce("nansum", self, dim, keepdim, True, {} if dtype is None else {'dtype': dtype})

    @overload
    def nanmean(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[False] = False, dtype: torch.dtype | None = None) -> Self: ...
    @overload
    def nanmean(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[True], dtype: torch.dtype | None = None) -> Tensor: ...
    def nanmean(
        self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: bool = False, dtype: torch.dtype | None = None
    ) -> Self | Tensor:
        """Fold batch dims away: their mean, nan left out; without dim, every leaf is folded whole.

        reduce=True folds everything to one tensor; dim="feature" folds the feature dims.
        """
        if reduce:
            return whole("nanmean", self, {} if dtype is None else {'dtype': dtype})
        return _reduce("nanmean", self, dim, keepdim, True, {} if dtype is None else {'dtype': dtype})

    @overload
    def norm(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[False] = False) -> Self: ...
    @overload
    def norm(self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: Literal[True]) -> Tensor: ...
    def norm(
        self, dim: int | str | Sequence[int | str] | None = None, keepdim: bool = False, *, reduce: bool = False
    ) -> Self | Tensor:
        """Fold batch dims away: their Euclidean norm; without dim, every leaf is folded whole.

        reduce=True folds everything to one tensor; dim="feature" folds the feature dims.
        """
        if reduce:
            return whole("norm", self, {})
        return _reduce("norm", self, dim, keepdim, True, {})
