"""An environment between two transforms: for transforms that step or reset what is inside of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._entries import branch, write
from ._stages import Stages

if TYPE_CHECKING:
    from ._transformed import TransformedEnv


class Inside:
    """An environment between two transforms: for those that step or reset it themselves."""

    def __init__(self, env: TransformedEnv[Any, Any], stages: Stages, outer: Stages) -> None:
        self.env, self.stages, self.outer = env, stages, outer

    def enter(self, tensordict: Any) -> Any:
        """What is given from outside, as the transforms further out hand it on."""
        inner = branch(tensordict)
        for undo in self.outer.inverses:
            inner = undo(inner)
        return inner

    def advance(self, tensordict: Any) -> Any:
        """A step."""
        kept = vars(self.env)["_kept"]
        inner = self.env._undone(tensordict, self.stages)
        mask = inner._fields.get("_step")
        if kept is not None:
            kept.put(inner)
        out = self.env._step_base(inner)
        if kept is not None:
            kept.take(out, None if mask is None else mask.unsqueeze(-1))
        for step in self.stages.steps:
            out = step(tensordict, out)
        return out

    def restart(self) -> Any:
        """A reset of everything."""
        kept = vars(self.env)["_kept"]
        out = self.env.base_env._restart(None)
        if kept is not None:
            kept.take(out)
        for reset in self.stages.resets:
            out = reset(None, out)
        return out

    def onward(self, tensordict: Any, after: Any) -> Any:
        """Where the next step starts from."""
        out = branch(tensordict)
        for key, value in after._fields.items():
            write(out, key, value)
        return out
