"""What a function that is not followed can reach and change: the names outside of it that its body mentions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mypy.nodes import Block, CallExpr, Decorator, FuncDef, MemberExpr, NameExpr, Var

from ._tree import below
from ._values import Net, Ref, Tensor

if TYPE_CHECKING:
    from ._walk import Walk

# What is done with a module that leaves it as it is.
_LOOKS = {"parameters", "named_parameters", "state_dict", "train", "eval", "to", "zero_grad", "requires_grad_"}
# What gives a tensor another shape in place.
RESHAPING = {
    "unsqueeze_", "squeeze_", "resize_", "resize_as_", "t_", "transpose_", "swapaxes_", "swapdims_", "set_",
    "as_strided_",
}  # fmt: skip


@dataclass
class Reach:
    """Of a function, and of the functions of its file that it mentions."""

    mentions: dict[Var, int] = field(default_factory=dict)  # And how often.
    calls: dict[Var, int] = field(default_factory=dict)  # How often it is only called, or looked at.
    reshapes: bool = False

    def add(self, other: Reach) -> None:
        for mine, theirs in ((self.mentions, other.mentions), (self.calls, other.calls)):
            for var, count in theirs.items():
                mine[var] = mine.get(var, 0) + count
        self.reshapes = self.reshapes or other.reshapes


_kept: dict[int, tuple[Block, Reach, list[FuncDef]]] = {}


def of(node: FuncDef) -> Reach:
    """What a call of a function can reach."""
    total, rest, seen = Reach(), [node], {node}
    while rest and len(seen) < 50:
        reach, called = _own(rest.pop())
        total.add(reach)
        rest += [one for one in called if one not in seen]
        seen.update(called)
    return total


def _own(node: FuncDef) -> tuple[Reach, list[FuncDef]]:
    kept = _kept.get(id(node.body))
    if kept is None or kept[0] is not node.body:
        if len(_kept) > 2000:
            _kept.clear()
        kept = (node.body, *_read(node))
        _kept[id(node.body)] = kept
    return kept[1], kept[2]


def _read(node: FuncDef) -> tuple[Reach, list[FuncDef]]:
    reach, called = Reach(), []
    for one in below(node.body):
        if isinstance(one, NameExpr):
            target: Any = one.node.func if isinstance(one.node, Decorator) else one.node
            if isinstance(target, FuncDef) and target.fullname.rpartition(".")[0] == node.fullname.rpartition(".")[0]:
                called.append(target)
            elif isinstance(target, Var):
                reach.mentions[target] = reach.mentions.get(target, 0) + 1
        elif isinstance(one, MemberExpr):
            reach.reshapes = reach.reshapes or one.name in RESHAPING or one.name == "data"
        elif isinstance(one, CallExpr):
            callee = one.callee
            looked = callee.expr if isinstance(callee, MemberExpr) and callee.name in _LOOKS else callee
            if isinstance(looked, NameExpr) and isinstance(looked.node, Var):
                reach.calls[looked.node] = reach.calls.get(looked.node, 0) + 1
    return reach, called


def disturb(walk: Walk, node: FuncDef) -> None:
    """A call that is not followed: forget what it can change by the names that it mentions."""
    reach = of(node)
    names = walk.here.names
    for var, count in reach.mentions.items():
        value = names.get(var)
        if isinstance(value, Ref):
            if not isinstance(walk.here.get(value), Net) or reach.calls.get(var, 0) < count:
                walk.here.forget(value)
        elif isinstance(value, Tensor) and reach.reshapes:
            names[var] = Tensor(None, value.dtype)


__all__ = ["RESHAPING", "disturb"]
