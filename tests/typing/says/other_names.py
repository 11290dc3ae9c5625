"""What is changed under a name that nobody follows is no longer known: the programs run, and nothing is said."""

from __future__ import annotations

import copy
from contextlib import nullcontext
from functools import partial
from itertools import chain

import torch
from jaxtyping import Float
from torch import Tensor

from tensorclass import TensorClass, TensorDict
from tensorclass.nn import TensorDictModule, TensorDictSequential


class Cloud(TensorClass):
    pos: Float[Tensor, "*batch n 3"]
    w: Float[Tensor, "*batch n"]


ONES = torch.ones(4)


def made() -> TensorDict:
    return TensorDict({"x": torch.zeros(4)}, batch_size=[4])


def rows(place: int, more: list[TensorDict]) -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    [td][place]["a"] = ONES
    (td, td)[place]["b"] = ONES
    ([td] + more)[place]["c"] = ONES
    [td][place:][0]["d"] = ONES
    [td, *more].pop(0)["e"] = ONES
    max([td, *more], key=len)["f"] = ONES
    copy.copy([td])[0]["g"] = ONES
    next(iter([td]))["h"] = ONES
    print(td["a"], td["b"], td["c"], td["d"], td["e"], td["f"], td["g"], td["h"])


def one_row(place: int) -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    both = [td]
    both[place]["late"] = ONES
    print(td["late"])


def one_table(key: str) -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    both = {"a": td}
    both[key]["late"] = ONES
    print(td["late"])


def one_of_two(key: str) -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    tables = {"b": made(), "a": td}
    got = tables.get(key)
    assert got is not None
    got["late"] = ONES
    print(td["late"])


def spread(tables: dict[str, TensorDict]) -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    both = {"b": td, **tables}
    both["b"]["late"] = ONES
    print(td["late"])


def longer(more: bool) -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    both = [made()]
    if more:
        both.append(td)
    both[-1]["late"] = ONES
    print(td["late"])


def counted(start: int, more: list[TensorDict]) -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    for place, each in enumerate([td], start):
        each["a"] = ONES * place
    for each, other in zip([td], more):
        each["b"] = other["x"]
    for each in chain([td], more):
        each["c"] = ONES
    print(td["a"], td["b"], td["c"])


def paired(more: list[TensorDict]) -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    for each, _ in zip([td], more):
        each["b"] = ONES
    print(td["b"])


def matched() -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    match td:
        case TensorDict() as same:
            same["a"] = ONES
    print(td["a"])


def handed_over() -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    with nullcontext(td) as same:
        same["a"] = ONES
    partial(td.set, "b")(ONES)
    print(td["a"], td["b"])


def left_out(cloud: Cloud) -> None:
    chosen = cloud.select("pos")
    if "w" in chosen:
        print(chosen.w)
    print(Cloud(pos=torch.zeros(4, 3), w=torch.zeros(4), batch_size=[]).select("pos"))


def in_place() -> None:
    x = torch.zeros(4)
    same = x
    same.unsqueeze_(0)
    print(x[0, 0])
    x = torch.zeros(2, 3)
    x.t_()
    print(x[2, 1])
    x = torch.zeros(2)
    x.resize_(3, 2)
    print(x[2, 1])
    x.data = torch.zeros(5, 5)
    print(x[4, 4])
    y = torch.zeros(0)
    torch.cat([torch.zeros(3), torch.zeros(2)], out=y)
    print(y[4])
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    td["x"].unsqueeze_(1)
    print(td["x"][0, 0])
    held = [torch.zeros(4)]
    held[0].unsqueeze_(0)
    print(held[0][0, 0])


def modules() -> dict[str, TensorDictModule]:
    names = ["first", "second"]
    return {name: TensorDictModule(torch.neg, in_keys=["x"], out_keys=["x"]) for name in names}


def sequences() -> None:
    print(TensorDictSequential(modules())["first"], TensorDictSequential(modules())[1])


if __name__ == "__main__":
    sequences()
    rows(0, [made()])
    one_row(0)
    one_table("a")
    one_of_two("a")
    spread({})
    longer(True)
    counted(1, [made()])
    paired([made()])
    matched()
    handed_over()
    left_out(Cloud(pos=torch.zeros(4, 3), w=torch.zeros(4), batch_size=[]))
    in_place()
