"""What a call of a module comes to: more than its forward, or just that."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.autograd import profiler
from torch.nn.modules.module import (
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_forward_hooks,
    _global_forward_pre_hooks,
)

_CALL: Any = nn.Module.__call__  # As it is before a tracer puts its own in its place.


def straight(module: Any) -> Any:
    """The forward of a module whose call would do nothing else, which saves two calls; any other module itself."""
    if type(module).__call__ is not _CALL or is_hooked(module) or profiler._is_profiler_enabled:
        return module  # A profiler names modules by their calls.
    return module.forward


def is_hooked(module: nn.Module) -> bool:
    """Whether nn.Module.__call__ has something to do: hooks, or a compiled call; else forward alone will do."""
    own: dict[str, Any] = module.__dict__  # nn.Module.__getattr__ makes reading any attribute slow.
    try:
        return bool(
            own["_forward_hooks"]
            or own["_forward_pre_hooks"]
            or own["_backward_hooks"]
            or own["_backward_pre_hooks"]
            or _global_forward_hooks
            or _global_forward_pre_hooks
            or _global_backward_hooks
            or _global_backward_pre_hooks
            or "_compiled_call_impl" in own
        )
    except KeyError:
        return True  # super().__init__() was not called, and nn.Module says so.
