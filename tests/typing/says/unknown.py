"""Correct programs in which a fact must not outlive what makes it true: mypy is silent, and they run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict, cat, lazy_stack, stack
from tensorclass.nn import TensorDictModule, TensorDictSequential


class Obs(TensorClass):
    state: Tensor
    mask: Tensor | None = None


def untyped(value):  # type: ignore[no-untyped-def]
    return value


def identity(value: Any) -> Any:
    return value


def grow(td: TensorDict) -> None:
    td["late"] = torch.zeros(4)


def grow_any(td: Any) -> None:
    td["late"] = torch.zeros(4)


def resize(obs: Obs) -> None:
    obs.batch_size = [4, 3]


def made(n: int) -> Obs:
    return Obs(state=torch.zeros(n, 3), batch_size=[n])


def through_untyped() -> None:
    obs = untyped(Obs(state=torch.zeros(4, 3), batch_size=[4, 3]))  # type: ignore[no-untyped-call]
    obs[0, 0]
    other: Obs = identity(Obs(state=torch.zeros(4, 3), batch_size=[4, 3]))
    other[0, 0]


def through_branch(flag: bool) -> None:
    if flag:
        obs = Obs(state=torch.zeros(4, 3), batch_size=[4])
    else:
        obs = Obs(state=torch.zeros(4, 3), batch_size=[4, 3])
    if obs.batch_dims == 2:
        obs[0, 0]
    x = torch.zeros(4, 3) if flag else torch.zeros(12)
    if not flag:
        x.view(6, 2)
    if x.ndim == 2:
        x[0, 0]
    x = x.reshape(-1)
    x.view(3, 4)


def through_loop(count: int) -> None:
    x = torch.zeros(2, 3)
    for _ in range(count):
        x = torch.cat([x, x])
    x.view(-1, 3)
    if count == 1:
        x.view(4, 3)
    y = torch.zeros(1)
    while y.shape[0] < 16:
        y = torch.cat([y, y])
    y.view(16)
    z = torch.zeros(4)
    for place in range(3):
        if place == 2:
            z.view(2, 2, 1, 1)
        z = z.view(*z.shape, 1) if place < 2 else z
    obs = made(4)
    for _ in range(count):
        obs = obs.unsqueeze(0)
    if count == 1:
        obs[0, 0]


def through_alias() -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    same = td
    same["late"] = torch.ones(4)
    print(td["late"])
    both = [td]
    both[0]["later"] = torch.ones(4)
    print(td["later"])
    held = {"td": td}
    held["td"]["latest"] = torch.ones(4)
    print(td["latest"])
    obs = Obs(state=torch.zeros(4, 3), batch_size=[4])
    again = obs
    again.batch_size = [4, 3]
    obs[0, 0]


def through_callee() -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    grow(td)
    print(td["late"])
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    grow_any(td)
    print(td["late"])
    obs = Obs(state=torch.zeros(4, 3), batch_size=[4])
    resize(obs)
    obs[0, 0]
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    list(map(grow, [td]))
    print(td["late"])


def through_closure() -> None:
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    size = 4

    def more() -> None:
        nonlocal size
        td["late"] = torch.zeros(4)
        size = 5

    more()
    print(td["late"])
    torch.zeros(5).view(size)

    def call(function: Callable[[], object]) -> None:
        function()

    other = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    call(lambda: other.set("late", torch.zeros(4)))
    print(other["late"])


def through_del_and_rebinding() -> None:
    td = TensorDict({"x": torch.zeros(4), "y": torch.zeros(4)}, batch_size=[4])
    del td["y"]
    td["y"] = torch.ones(4)
    print(td["y"])
    x = torch.zeros(4, 3)
    x, y = torch.zeros(5), x
    x.view(5), y.view(12)
    (x := torch.zeros(6)).view(2, 3)
    x.view(3, 2)
    for x in [torch.zeros(2, 2), torch.zeros(4)]:
        x.reshape(4)
    x.view(4)
    with contextlib.nullcontext(torch.zeros(7)) as x:
        x.view(7)
    x.view(7)
    x += 1
    x.view(7)


def through_errors() -> None:
    obs = Obs(state=torch.zeros(4, 3), batch_size=[4])
    try:
        obs[0, 0]
    except IndexError:
        pass
    with contextlib.suppress(IndexError):
        obs[0, 0]
    x = torch.zeros(4)
    try:
        x = torch.zeros(5)
        raise ValueError
    except ValueError:
        x.view(5)


def through_questions(x: Tensor, obs: Obs) -> None:
    y = torch.zeros(4, 3)
    if y.shape == x.shape:
        y + x
    if y.ndim == 1:
        y.view(3)
    if len(y) == 3:
        y.view(7)
    td = TensorDict({"x": torch.zeros(4)}, batch_size=[4])
    if "late" in td.keys():
        print(td["late"])
    print(td.get("late"), td.get("late", None), td.get("late", 3))
    if "late" not in td:
        td["late"] = torch.zeros(4)
    print(td["late"])
    if obs.mask is not None and obs.batch_dims == 2:
        obs[0, 0]


def through_match(value: Tensor | Obs) -> None:
    match value:
        case Tensor():
            print(value.shape)
        case Obs(state=state):
            print(state.shape)


def batches(n: int) -> Iterator[Obs]:
    for size in range(1, n):
        yield made(size)


def through_iteration() -> None:
    for obs in batches(3):
        print(obs[0].state.shape)
    rows = [row for row in made(3)]  # noqa: C416  # a comprehension is what is tried here
    stack(rows)
    stack([made(3) for _ in range(4)])
    cat([made(3), made(4), made(5)])
    lazy_stack([made(3), made(4)])
    total = made(3)
    for obs in batches(4):
        total = cat([total, obs])
    print(total.batch_size)
    first, *others = [made(2), made(3)]
    print(first[0], others[0][2])


def through_modules() -> None:
    td = TensorDict({"x": torch.zeros(4, 3)}, batch_size=[4])
    net = TensorDictModule(lambda x, y: x if y is None else x + y, in_keys=["x", "absent"], out_keys=["z"])
    print(net(td)["z"])
    layers = [TensorDictModule(nn.LazyLinear(3), in_keys=["x"], out_keys=["x"]) for _ in range(3)]
    model = TensorDictSequential(*layers)
    print(model(td)["x"])
    custom = TensorDictSequential(lambda t: t.set("w", t["x"] + 1), TensorDictModule(nn.Tanh(), ["w"], ["v"]))
    print(custom(td)["v"])


def through_ops() -> None:
    td = TensorDict({"a": torch.zeros(4, 3), "n": {"b": torch.zeros(4)}}, batch_size=[4])
    print(td.flatten_keys(".")["n.b"], td.flatten_keys(".").unflatten_keys(".")["n", "b"])
    print(td.rename_key_("a", "c")["c"])
    print(td.select("c").update({"d": torch.zeros(4)})["d"])
    td.update({"n": {"e": torch.zeros(4)}})
    print(td["n", "e"], td["n"]["b"])
    print(td.apply(lambda x: x + 1)["c"], td.to_dict()["c"])
    print(td.exclude("c").is_empty())
    td["s"] = "text"
    print(td[0]["s"])
    td["k"] = torch.zeros(4, 1)
    print(td.view(2, 2)["k"].shape, td.unsqueeze(-1).expand(4, 2)["k"].shape)
    squeezed = TensorDict({"a": torch.zeros(1, 4)}, batch_size=[1, 4]).squeeze()
    print(squeezed[0])
    assert td.reshape(2, 2).batch_size == (2, 2)
    assert stack([td, td], 1).batch_size == (4, 2)
    obs = Obs(state=torch.zeros(6, 3), batch_size=[6])
    assert obs[1:4].batch_size == (3,)
    assert obs[::2].state.shape == (3, 3)
    assert obs[torch.tensor([0, 1])].state.shape == (2, 3)
    assert obs[obs.state[:, 0] > 1].batch_size == (0,)
    assert obs.state.sum().shape == ()
    assert obs.replace(mask=torch.ones(6)).mask is not None
    assert obs.mask is None


def through_rows() -> None:
    data = TensorDict({}, batch_size=[3])
    data[0] = TensorDict(made_by_rows=torch.zeros(2))
    print(data["made_by_rows"].shape)


def main() -> None:
    through_rows()
    through_untyped()
    for flag in (True, False):
        through_branch(flag)
    through_loop(1)
    through_alias()
    through_callee()
    through_closure()
    through_del_and_rebinding()
    through_errors()
    through_questions(torch.zeros(2), made(3))
    through_match(made(2))
    through_match(torch.zeros(2))
    through_iteration()
    through_modules()
    through_ops()


if __name__ == "__main__":
    main()
