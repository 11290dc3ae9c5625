"""Entries cast to another dtype, or moved to another device."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..._rules import errors
from ..._tree.contract import full_device
from .._layout import Layout
from .._transform import Keeps, Keys
from ._leafwise import Leafwise


class DTypeCastTransform(Leafwise):
    """Entries of one dtype cast to another; actions and states, by in_keys_inv, cast back.

    >>> cast = DTypeCastTransform(torch.float64, torch.float32)
    >>> cast(TensorDict(a=torch.zeros(2, dtype=torch.float64), b=torch.zeros(2, dtype=torch.int64)))["a"].dtype
    torch.float32

    Where no in_keys are given: all observations and rewards of that dtype.
    """

    def __init__(
        self,
        dtype_in: torch.dtype,
        dtype_out: torch.dtype,
        in_keys: Keys = None,
        out_keys: Keys = None,
        in_keys_inv: Keys = None,
        out_keys_inv: Keys = None,
    ) -> None:
        super().__init__(in_keys, out_keys, in_keys_inv, out_keys_inv)
        self.dtype_in, self.dtype_out = dtype_in, dtype_out

    def _settle(self, layout: Layout) -> None:
        if self._given[0] is None:
            found = layout.keys("observation", "reward").items()
            self._find_keys([key for key, spec in found if spec.dtype is self.dtype_in])
        self._check_keys(layout)

    def forward(self, tensordict: Any) -> Any:
        """Cast data that is at hand, in place."""
        if self._given[0] is None:
            found = type(tensordict).items(tensordict, True, True)
            self._find_keys([key for key, value in found if getattr(value, "dtype", None) is self.dtype_in])
        return super().forward(tensordict)

    def _apply_transform(self, value: Tensor) -> Tensor:
        return value.to(self.dtype_out)

    def _inv_apply_transform(self, value: Tensor) -> Tensor:
        return value.to(self.dtype_in)

    def _leaf_spec(self, spec: Any) -> Any:
        return spec.to(self.dtype_out)

    def extra_repr(self) -> str:
        """The dtypes and the keys."""
        return ", ".join(part for part in (f"{self.dtype_in} -> {self.dtype_out}", super().extra_repr()) if part)


class DoubleToFloat(DTypeCastTransform):
    """Entries of float64 cast to float32; actions and states, by in_keys_inv, cast to float64 on their way in.

    >>> DoubleToFloat()(TensorDict(a=torch.zeros(2, dtype=torch.float64)))["a"].dtype
    torch.float32
    """

    def __init__(
        self, in_keys: Keys = None, out_keys: Keys = None, in_keys_inv: Keys = None, out_keys_inv: Keys = None
    ) -> None:
        super().__init__(torch.float64, torch.float32, in_keys, out_keys, in_keys_inv, out_keys_inv)


class DeviceCastTransform(Keeps):
    """Everything on another device: what comes out on `device`, what goes in on that of the environment.

    >>> DeviceCastTransform("cpu")(TensorDict(a=torch.zeros(2))).device
    device(type='cpu')
    """

    def __init__(self, device: torch.device | str | int, orig_device: torch.device | str | int | None = None) -> None:
        super().__init__()
        self.device = full_device(device)
        self.orig_device = None if orig_device is None else full_device(orig_device)

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        if self.orig_device is None:
            self.orig_device = layout.device

    def _call(self, next_tensordict: Any) -> Any:
        return next_tensordict.to(self.device)

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return tensordict_reset.to(self.device)

    def _inv_call(self, tensordict: Any) -> Any:
        return tensordict if self.orig_device is None else tensordict.to(self.orig_device)

    def transform_output_spec(self, output_spec: Any) -> Any:
        """The same specs on the device."""
        return output_spec.to(self.device)

    def transform_input_spec(self, input_spec: Any) -> Any:
        """The same specs on the device."""
        return input_spec.to(self.device)

    def transform_env_device(self, device: torch.device | None) -> torch.device | None:
        """The device that everything comes out on."""
        return self.device


class PinMemoryTransform(Keeps):
    """Everything that comes out in pinned memory, from which copies to an accelerator are quick.

    A RuntimeError at the first use where there is no accelerator.
    """

    def _call(self, next_tensordict: Any) -> Any:
        if not torch.accelerator.is_available():
            raise errors.StructureError("PinMemoryTransform: there is no accelerator to pin memory for; leave it out")
        return next_tensordict.pin_memory()

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return self._call(tensordict_reset)
