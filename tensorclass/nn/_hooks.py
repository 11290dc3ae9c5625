"""Whether a call of a module does more than its forward."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.nn.modules.module import (
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_forward_hooks,
    _global_forward_pre_hooks,
)


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
