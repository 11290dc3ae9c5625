"""Readers of gymnasium's info: numbers in it as entries of the observations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from .._rules import errors
from ._specs.base import TensorSpec
from ._specs.box import Unbounded
from ._specs.composite import Composite


class default_info_dict_reader:
    """Reads keys of gymnasium's info; where the info of a step lacks one, it is 0.

    >>> reader = default_info_dict_reader(["coins"], {"coins": Unbounded((), dtype=torch.int64)})
    >>> reader({"coins": 3}, TensorDict())["coins"]
    tensor(3)

    A spec for each key, by name or in order, says its shape (of one environment) and dtype: one number of float32
    where there is none. Without keys, those of the first info that hold numbers, without those that begin with "_".
    """

    def __init__(
        self,
        keys: Sequence[str] | None = None,
        spec: Mapping[str, TensorSpec] | Sequence[TensorSpec] | Composite | TensorSpec | None = None,
        ignore_private: bool = True,
    ) -> None:
        self._ignore_private = ignore_private
        self.keys = None if keys is None else [keys] if isinstance(keys, str) else list(keys)
        self.info_spec = Composite() if self.keys is None else Composite(_specs(self.keys, spec))

    def __call__(self, info: Mapping[str, Any], tensordict: Any) -> Any:
        """Put what the info holds into a container."""
        keys = self.keys
        if keys is None:
            keys = self.keys = list(numbers(info, self._ignore_private))
        for key in keys:
            tensordict[key] = self._value(key, info.get(key), info.get(f"_{key}"), tensordict.batch_size)
        return tensordict

    def _value(self, key: str, value: Any, known: Any, batch: torch.Size) -> torch.Tensor:
        spec = self.info_spec[key] if key in self.info_spec.keys() else None
        dtype = None if spec is None else spec.dtype
        if value is None:
            return torch.zeros(batch if spec is None else (*batch, *spec.shape), dtype=dtype)
        if isinstance(value, np.ndarray) and value.dtype == object:  # Of some environments of a vector, None of others.
            some = next(one for one in value if one is not None)
            value = np.stack([np.zeros_like(some) if one is None else np.asarray(one) for one in value])
        tensor = torch.as_tensor(np.array(value)).to(dtype or torch.float32)
        shape = tensor.shape if spec is None else (*batch, *spec.shape)
        try:
            return tensor.reshape(shape)
        except RuntimeError:
            raise errors.ShapeError(
                f"info: {key!r} has shape {list(tensor.shape)}; its spec has {list(shape)}"
            ) from None


def _specs(keys: Sequence[str], given: Any) -> dict[str, TensorSpec]:
    if given is None:
        return {key: Unbounded(()) for key in keys}
    if isinstance(given, TensorSpec) and not isinstance(given, Composite):
        return dict.fromkeys(keys, given)
    if isinstance(given, (Mapping, Composite)):
        missing = [key for key in keys if key not in given.keys()]
        if missing:
            raise errors.KeyMissing(f"info: no spec for {errors.some_names(missing)}")
        return {key: given[key] for key in keys}
    if len(given) != len(keys):
        raise errors.OptionError(f"info: {len(given)} specs for {len(keys)} keys")
    return dict(zip(keys, given))


def numbers(info: Mapping[str, Any], ignore_private: bool) -> dict[str, np.ndarray[Any, Any]]:
    """The entries of an info that are numbers or arrays of numbers."""
    found = {}
    for key, value in info.items():
        if (ignore_private and key.startswith("_")) or isinstance(value, (Mapping, str)) or value is None:
            continue
        try:
            array = np.asarray(value)
        except ValueError:  # A list of lists of different lengths.
            continue
        if array.dtype.kind in "biuf":
            found[key] = array
    return found


def as_reader(given: Any, ignore_private: bool) -> Any:
    """What reads an info: a function as it is; for keys (or nothing) the reader of these."""
    if callable(given):
        return given
    if given is None or isinstance(given, (str, list, tuple)):
        return default_info_dict_reader(given, None, ignore_private)
    raise errors.KindError(
        f"info reader: {type(given).__name__} will not do; a function of (info, container), or keys, would"
    )


def looked_at(infos: Sequence[Mapping[str, Any]], batch: torch.Size, ignore_private: bool) -> default_info_dict_reader:
    """A reader of all that some infos hold, with their shapes and dtypes."""
    found: dict[str, np.ndarray[Any, Any]] = {}
    for info in infos:
        found.update(numbers(info, ignore_private))
    specs = {}
    for key, array in found.items():
        shape = array.shape[len(batch) :]
        specs[key] = Unbounded(shape, dtype=torch.from_numpy(np.empty(0, array.dtype)).dtype)
    return default_info_dict_reader(list(specs), specs, ignore_private)
