"""Selections of a TensorDict whose keys are not all known, and classes that cast: nothing to complain about."""

from __future__ import annotations

import torch
from jaxtyping import Int
from torch import Tensor

from tensorclass import TensorClass, TensorDict


class Counts(TensorClass, autocast=True):
    n: Int[Tensor, "*batch"]


def of_an_argument(td: TensorDict) -> object:
    return td.select("g")["g"]


def after_a_write(td: TensorDict) -> tuple[object, object]:
    td.setdefault("a", torch.zeros(3))
    return td.select("g", "a")["g"], td.select("g", strict=False)["g"]


def of_a_dict_of_no_literal(source: dict[str, Tensor]) -> object:
    td = TensorDict.from_dict(source)
    td.setdefault("b", torch.zeros(3))
    return td.select("b")["b"], td.select("a")["a"]


def cast() -> None:
    counts = Counts(n=torch.zeros(3))
    counts.n = torch.ones(3)
    counts["n"] = torch.ones(3)
    assert counts.replace(n=torch.ones(3)).n.dtype is torch.int64


def main() -> None:
    td = TensorDict(g=torch.zeros(3))
    of_an_argument(td)
    after_a_write(td)
    of_a_dict_of_no_literal({"a": torch.zeros(3)})
    cast()


if __name__ == "__main__":
    main()
