"""CudaGraphModule: a module recorded once as a CUDA graph, then replayed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from .._rules import errors
from .._rules.keys import Key
from .._tree.node import Node
from ._base import TensorDictModuleBase
from ._keys import keys_of


class CudaGraphModule(nn.Module):
    """Calls a module `warmup` times, records the next call as a CUDA graph, and replays that from then on.

    >>> from tensorclass.nn import TensorDictModule
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     fast = CudaGraphModule(TensorDictModule(lambda x: x + 1, ["x"], ["y"]))
    ...     fast(TensorDict(x=torch.zeros(1)))["y"]
    tensor([1.])

    Inputs are copied into the memory that was recorded, outputs are copied out of it. Shapes, dtypes and devices of the
    tensors must stay as they were when recorded, and so must all else that is passed; gradients are not recorded.
    Without CUDA the module is simply called, and a warning says so once.
    """

    def __init__(
        self,
        module: Callable[..., Any],
        warmup: int = 2,
        in_keys: Key | Sequence[Key] | None = None,
        out_keys: Key | Sequence[Key] | None = None,
        device: torch.device | str | int | None = None,
    ) -> None:
        super().__init__()
        if warmup < 1:
            raise errors.OptionError(f"warmup: {warmup} calls before recording; 1 at least is needed")
        if isinstance(module, TensorDictModuleBase):
            in_keys = module.in_keys if in_keys is None else in_keys
            out_keys = module.out_keys if out_keys is None else out_keys
        self.module = module
        self.in_keys = keys_of("in_keys", [] if in_keys is None else in_keys)
        self.out_keys = keys_of("out_keys", [] if out_keys is None else out_keys)
        self.warmup = warmup
        self.device = None if device is None else torch.device(device)
        self.calls = 0
        self._recording: _Recording | None = None
        self.active = torch.cuda.is_available()
        if not self.active:
            warnings.warn("CudaGraphModule: there is no CUDA here; the module is called as it is", stacklevel=2)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call, record, or replay."""
        self.calls += 1
        if not self.active:
            return self.module(*args, **kwargs)
        tensordict = args[0] if len(args) == 1 and not kwargs and isinstance(args[0], Node) and self.in_keys else None
        if tensordict is None:
            return self._run(self._called, args, kwargs)
        read = type(tensordict).select(tensordict, *self.in_keys, strict=False)  # type: ignore[attr-defined]
        found = self._run(self._written, (read,), {})
        for key, value in found.items():
            tensordict[key] = value  # type: ignore[index]  # A container.
        return tensordict

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def _written(self, tensordict: Any) -> dict[Key, Any]:
        out = self.module(tensordict)
        return {key: out[key] for key in self.out_keys if key != "_"}

    def _run(self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._recording is not None:
            return self._recording.replay((args, kwargs))
        if self.calls <= self.warmup:
            stream = torch.cuda.Stream(self.device)
            stream.wait_stream(torch.cuda.current_stream(self.device))
            with torch.cuda.stream(stream):
                out = call(*_copied(args), **_copied(kwargs))
            torch.cuda.current_stream(self.device).wait_stream(stream)
            return out
        self._recording = _Recording(call, args, kwargs)
        return self._recording.replay((args, kwargs))

    def __repr__(self) -> str:
        return f"CudaGraphModule({self.module!r}, warmup={self.warmup})"


class _Recording:
    """A graph, the memory that it reads and the memory that it writes."""

    def __init__(self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        _refuse_gradients((args, kwargs))
        self.inputs = _copied((args, kwargs))
        leaves, self.spec = pytree.tree_flatten(self.inputs)
        # The call may replace entries of its input: it works on a shallow copy, the tensors recorded stay known here.
        self.leaves = leaves
        self.graph = torch.cuda.CUDAGraph()
        again, options = pytree.tree_unflatten(leaves, self.spec)
        with torch.cuda.graph(self.graph):
            self.outputs = call(*again, **options)

    def replay(self, inputs: Any) -> Any:
        """The outputs for other inputs."""
        leaves, spec = pytree.tree_flatten(inputs)
        if spec != self.spec:
            raise errors.StructureError(
                "CudaGraphModule: the inputs have other keys, or another form, than those recorded"
            )
        for place, (mine, given) in enumerate(zip(self.leaves, leaves)):
            _check(place, mine, given)
        for mine, given in zip(self.leaves, leaves):
            if isinstance(mine, Tensor):
                mine.copy_(given, non_blocking=True)
        self.graph.replay()
        return _copied(self.outputs)


def _copied(tree: Any) -> Any:
    return pytree.tree_map(lambda leaf: leaf.detach().clone() if isinstance(leaf, Tensor) else leaf, tree)


def _refuse_gradients(tree: Any) -> None:
    if torch.is_grad_enabled() and any(
        leaf.requires_grad for leaf in pytree.tree_leaves(tree) if isinstance(leaf, Tensor)
    ):
        raise errors.StructureError(
            "CudaGraphModule: an input requires a gradient, which a graph does not record; detach it first"
        )


def _check(place: int, mine: Any, given: Any) -> None:
    if not isinstance(mine, Tensor):
        if mine != given:
            raise errors.StructureError(
                f"CudaGraphModule: input {place} is {given!r}, it was {mine!r} when recorded and must stay"
            )
        return
    was, now = [(list(one.shape), one.dtype, one.device) for one in (mine, given)]
    if was != now:
        raise errors.ShapeError(f"CudaGraphModule: input {place} is {_words(now)}, it was {_words(was)} when recorded")


def _words(facts: Any) -> str:
    shape, dtype, device = facts
    return f"a {dtype} tensor of shape {shape} on {device}"
