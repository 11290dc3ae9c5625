"""NonTensor: values that are no tensors."""

from __future__ import annotations

from typing import Any

import torch

from .leaf import LeafSpec, checked_shape


class NonTensor(LeafSpec):
    """Anything that is no tensor: a string, an object.

    >>> NonTensor(example_data="hey").rand()
    'hey'
    >>> NonTensor().is_in(torch.zeros(3))
    False
    """

    dtype: torch.dtype | None  # type: ignore[assignment]  # It has none.
    example_data: Any

    def __init__(
        self,
        shape: Any = (),
        device: Any = None,
        dtype: torch.dtype | None = None,
        example_data: Any = None,
        batched: bool = False,
    ) -> None:
        self._set(checked_shape(shape), device, dtype, example_data=example_data)  # type: ignore[arg-type]

    def _arguments(self) -> dict[str, Any]:
        return {**super()._arguments(), "example_data": self.example_data}

    def _cast(self, device: torch.device | None, dtype: torch.dtype | None) -> NonTensor:
        return self if device is None else self.replace(device=device)
