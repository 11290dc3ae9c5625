"""NonTensor: values that are no tensors."""

from __future__ import annotations

from typing import Any

import torch

from ..._data import NonTensorData
from .leaf import FixedSpec, checked_shape


class NonTensor(FixedSpec):
    """Anything that is no tensor: a string, an object.

    >>> NonTensor(example_data="hey").rand()
    'hey'
    >>> NonTensor().is_in(torch.zeros(3))
    False

    `rand` and `zero` give the example: one for all rows, or with `batched` one for each.
    """

    example_data: Any
    batched: bool

    def __init__(
        self,
        shape: Any = (),
        device: Any = None,
        dtype: torch.dtype | None = None,
        example_data: Any = None,
        batched: bool = False,
    ) -> None:
        if isinstance(example_data, NonTensorData):
            example_data = example_data.data
        self._set(checked_shape(shape), device, dtype, example_data=example_data, batched=batched)

    def _arguments(self) -> dict[str, Any]:
        return {**super()._arguments(), "example_data": self.example_data, "batched": self.batched}

    def _cast(self, device: torch.device | None, dtype: torch.dtype | None) -> NonTensor:
        return self if device is None else self.replace(device=device)
