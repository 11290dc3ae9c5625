"""Reductions: batch dims folded away."""

from __future__ import annotations

from .shapes import Keep, Moves, New
from .sizes import Batch
from .table import FLAG, SOME_DIMS, Flag, Op, Param, SomeDims, add

# Name, whether torch folds several dims in one call, and what it does (the rest of "Fold batch dims away: ...").
FOLDS = {
    "sum": (True, "their sum"),
    "mean": (True, "their mean"),
    "prod": (False, "their product"),
    "std": (True, "their standard deviation"),
    "var": (True, "their variance"),
    "amax": (True, "the largest value"),
    "amin": (True, "the smallest value"),
    "any": (True, "whether any is true"),
    "all": (True, "whether all are true"),
    "logsumexp": (True, "the log of the sum of their exponentials"),
    "nansum": (True, "their sum, nan left out"),
    "nanmean": (True, "their mean, nan left out"),
    "norm": (True, "their Euclidean norm"),
}


def fold(batch: Batch, dim: SomeDims, keepdim: Flag = False) -> Moves:
    """Fold batch dims away."""
    moves: Moves = []
    for place in range(len(batch)):
        if place not in dim:
            moves.append(Keep(place))
        elif keepdim:
            moves.append(New(1))
    return moves


for _name, (_many, _what) in FOLDS.items():
    add(
        Op(
            _name,
            "fold",
            (Param("dim", SOME_DIMS, "plain", None), Param("keepdim", FLAG, "plain", False)),
            fold,
            (_name,),
            "many" if _many else "one",
            f"Fold batch dims away: {_what}; without dim, every leaf is folded whole.",
        )
    )
