"""tensorclass: typed batches of tensors for PyTorch, checked by mypy before they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import distributed as distributed
    from . import io as io
    from . import nn as nn
    from ._control import cond as cond
    from ._control import while_loop as while_loop
    from ._convert import merge_tensordicts as merge_tensordicts
    from ._data import MetaData as MetaData
    from ._data import NonTensorData as NonTensorData
    from ._data import NonTensorStack as NonTensorStack
    from ._data import is_non_tensor as is_non_tensor
    from ._decorator import tensorclass as tensorclass
    from ._keys import NestedKey as NestedKey
    from ._lazystack import LazyStackedTensorDict as LazyStackedTensorDict
    from ._lazystack import lazy_stack as lazy_stack
    from ._pad import pad_sequence as pad_sequence
    from ._pad import unpad as unpad
    from ._params import TensorDictParams as TensorDictParams
    from ._rules import errors as errors
    from ._settings import set_capture_non_tensor_stack as set_capture_non_tensor_stack
    from ._settings import set_list_to_stack as set_list_to_stack
    from ._tensorclass import TensorClass as TensorClass
    from ._tensorclass import field as field
    from ._tensordict import TensorDict as TensorDict
    from ._tensordict import TensorDictBase as TensorDictBase
    from ._tools import assert_allclose_td as assert_allclose_td
    from ._tools import assert_close as assert_close
    from ._tools import cat as cat
    from ._tools import expand_as_right as expand_as_right
    from ._tools import from_dict as from_dict
    from ._tools import is_tensor_collection as is_tensor_collection
    from ._tools import is_tensorclass as is_tensorclass
    from ._tools import pad as pad
    from ._tools import reveal_batch as reveal_batch
    from ._tools import stack as stack
    from ._tools import unravel_key as unravel_key
    from ._tools import unravel_key_list as unravel_key_list
    from ._tools import where as where
    from ._typedtensordict import TypedTensorDict as TypedTensorDict
    from .io import MemoryMappedTensor as MemoryMappedTensor
else:
    import importlib

    _HOME = {
        "_control": ("cond", "while_loop"),
        "_convert": ("merge_tensordicts",),
        "_data": ("MetaData", "NonTensorData", "NonTensorStack", "is_non_tensor"),
        "_keys": ("NestedKey",),
        "_lazystack": ("LazyStackedTensorDict", "lazy_stack"),
        "_pad": ("pad_sequence", "unpad"),
        "_params": ("TensorDictParams",),
        "_settings": ("set_capture_non_tensor_stack", "set_list_to_stack"),
        "io._map": ("MemoryMappedTensor",),
        "_decorator": ("tensorclass",),
        "_tensorclass": ("TensorClass", "field"),
        "_tensordict": ("TensorDict", "TensorDictBase"),
        "_typedtensordict": ("TypedTensorDict",),
        "_tools": (
            "assert_allclose_td", "assert_close", "cat", "expand_as_right", "from_dict", "is_tensor_collection",
            "is_tensorclass", "pad", "reveal_batch", "stack", "unravel_key", "unravel_key_list", "where",
        ),
    }  # fmt: skip
    _MODULES = {name: module for module, names in _HOME.items() for name in names}
    _PARTS = ("distributed", "envs", "errors", "io", "nn")
    __all__ = sorted([*_MODULES, "errors"])

    def __getattr__(name):
        if name in _MODULES:
            value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
        elif name in _PARTS:
            value = importlib.import_module(f".{name}" if name != "errors" else "._rules.errors", __name__)
        else:
            from ._rules.elsewhere import no_member

            raise AttributeError(no_member(__name__, name, __dir__()))
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *_MODULES, *_PARTS})
