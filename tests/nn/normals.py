"""A module whose distribution is a Normal, and parameters for it."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributions import Normal

from tensorclass import TensorDict
from tensorclass.nn import ProbabilisticTensorDictModule


def normal(out_keys: Any = "action", **options: Any) -> ProbabilisticTensorDictModule:
    return ProbabilisticTensorDictModule(["loc", "scale"], out_keys, distribution_class=Normal, **options)


def params(*batch: int) -> TensorDict:
    return TensorDict({"loc": torch.randn(*batch, 2), "scale": torch.rand(*batch, 2) + 0.5}, batch_size=batch)
