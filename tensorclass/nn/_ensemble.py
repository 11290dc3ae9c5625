"""EnsembleModule: several copies of a module, run as one."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from .._functional import from_module
from .._params import of_module
from .._rules import errors
from .._rules.keys import Key
from .._swap import Filled
from .._tensordict import TensorDict
from .._tree import walk
from ._base import TensorDictModuleBase
from ._dispatch import dispatch
from ._module import check_keyed
from ._reset import reset_in


class EnsembleModule(TensorDictModuleBase):
    """Copies of a module with parameters of their own, all called on the input.

    >>> from tensorclass.nn import TensorDictModule
    >>> layer = TensorDictModule(torch.nn.Linear(3, 2), in_keys=["x"], out_keys=["y"])
    >>> EnsembleModule(layer, num_copies=4)(TensorDict({"x": torch.zeros(10, 3)}, batch_size=[10]))["y"].shape
    torch.Size([4, 10, 2])

    The stacked parameters are params_td, and they are all that parameters() gives: not those of the module itself,
    which are only what the copies are made after. Layers with reset_parameters are initialized again in each copy.
    expand_input=False: the input has a slice for each copy, such as the output of another ensemble. randomness: what
    dropout does, "different" in each copy, "same" in all, or "error".
    """

    def __init__(
        self, module: TensorDictModuleBase, num_copies: int, expand_input: bool = True, randomness: str = "different"
    ) -> None:
        super().__init__()
        check_keyed("EnsembleModule", module)
        if num_copies < 1:
            raise errors.OptionError(f"num_copies: {num_copies} copies; 1 at least is needed")
        # Not as a submodule: parameters() would give what no call uses.
        object.__setattr__(self, "module", module)
        copies = from_module(module).data
        stacked = type(copies).clone(copies.expand(num_copies))
        trained = from_module(module)
        reset_in(module, stacked)
        self.params_td = of_module(_as_parameters(trained, stacked))
        self.num_copies = num_copies
        self.expand_input = expand_input
        self.randomness = randomness

    module: TensorDictModuleBase

    def _flow_keys(self) -> tuple[list[Key], list[Key]]:
        return list(self.module.in_keys), list(self.module.out_keys)

    @dispatch(auto_batch_size=False)
    def forward(self, tensordict: Any) -> Any:
        """Call each copy; the outputs are stacked along a first batch dim."""
        read = type(tensordict).select(tensordict, *self.module.in_keys, strict=False)
        if not self.expand_input and (not read.batch_size or read.batch_size[0] != self.num_copies):
            raise errors.ShapeError(
                f"EnsembleModule: the input has batch size {list(read.batch_size)}; with expand_input=False its first "
                f"dim must be the {self.num_copies} copies"
            )
        filled = Filled(self.params_td, self.module)
        copies = torch.arange(self.num_copies)  # For modules without parameters: vmap needs a tensor to map over.
        dims = (0, None if self.expand_input else 0, 0)
        call = torch.vmap(lambda leaves, given, _: filled(leaves, given), dims, randomness=self.randomness)
        return call(filled.leaves, read, copies)

    def reset_parameters_recursive(self, parameters: TensorDict | None = None) -> Any:
        """Initialize each copy again."""
        return reset_in(self.module, self.params_td if parameters is None else parameters)

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        self.module._apply(fn, recurse)  # type: ignore[no-untyped-call]  # The module follows to a device.
        return super()._apply(fn, recurse)  # type: ignore[no-untyped-call]

    def train(self, mode: bool = True) -> Any:
        """Training, or not, for the module too."""
        self.module.train(mode)
        return super().train(mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.num_copies} copies of {self.module!r})"


def _as_parameters(trained: Any, stacked: Any) -> Any:
    leaves = [
        nn.Parameter(leaf, requires_grad=like.requires_grad) if isinstance(like, nn.Parameter) else leaf
        for like, leaf in zip(walk.gather(trained, []), walk.gather(stacked, []))
    ]
    return walk.refill(stacked, iter(leaves))
