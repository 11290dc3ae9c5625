"""FiniteTensorDictCheck: an error as soon as a number is not finite."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..._rules import errors
from .._transform import Keeps


class FiniteTensorDictCheck(Keeps):
    """Refuse entries with infinite numbers or nan among them.

    >>> FiniteTensorDictCheck()(TensorDict(a=torch.tensor([0.0, torch.inf])))
    Traceback (most recent call last):
    tensorclass._rules.errors.OptionError: FiniteTensorDictCheck: 'a' has 1 number that is not finite
    """

    def _call(self, next_tensordict: Any) -> Any:
        for key, value in type(next_tensordict).items(next_tensordict, True, True):
            if isinstance(value, Tensor) and value.is_floating_point() and not torch.isfinite(value).all():
                count = int((~torch.isfinite(value)).sum())
                numbers = f"{errors.count(count, 'number')} that {'is' if count == 1 else 'are'} not finite"
                raise errors.OptionError(f"{type(self).__name__}: {errors.name_of(key)} has {numbers}")
        return next_tensordict

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return self._call(tensordict_reset)
