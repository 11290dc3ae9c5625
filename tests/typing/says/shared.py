"""Containers that share entries: lazy stacks and their items, nodes under two parents. mypy is silent, and all runs."""

from __future__ import annotations

import torch

from tensorclass import TensorDict, lazy_stack


def by_an_item() -> None:
    a = TensorDict({"x": torch.zeros(3)}, batch_size=[])
    b = TensorDict({"x": torch.zeros(3)}, batch_size=[])
    rows = lazy_stack([a, b])
    a["q"] = torch.zeros(1)
    rows[0]["q"]


def by_the_stack() -> None:
    a = TensorDict({"x": torch.zeros(3)}, batch_size=[])
    b = TensorDict({"x": torch.zeros(3)}, batch_size=[])
    rows = lazy_stack([a, b])
    rows["q"] = torch.zeros(2)
    a["q"]
    rows[0]["q"]


def by_a_row() -> None:
    a = TensorDict({"x": torch.zeros(3)}, batch_size=[])
    b = TensorDict({"x": torch.zeros(3)}, batch_size=[])
    rows = lazy_stack([a, b])
    rows[0]["q"] = torch.zeros(2)
    rows[0]["q"]
    a["q"]


def by_a_loop() -> None:
    rows = lazy_stack([TensorDict({"x": torch.zeros(3)}, batch_size=[]) for _ in range(2)])
    for row in rows:
        row["q"] = torch.zeros(2)
    rows["q"]
    for row in rows.unbind(0):
        row["p"] = torch.zeros(2)
    rows["p"]


def by_a_node() -> None:
    td = TensorDict({"x": torch.zeros(2, 3), "n": {"y": torch.zeros(2)}}, batch_size=[2])
    rest = td.exclude("x")
    rest["n"]["z"] = torch.zeros(2)
    td["n", "z"]
    split = td.unflatten_keys(".")
    split["n"]["k"] = torch.zeros(2)
    td["n", "k"]
    outer = TensorDict({"inner": td}, batch_size=[2])
    outer["inner"]["w"] = torch.zeros(2)
    td["w"]


def by_itself() -> None:
    td = TensorDict({"x": torch.zeros(2, 3)}, batch_size=[2])
    same = td.requires_grad_()
    same["w"] = torch.zeros(2)
    td["w"]
    pinned = TensorDict({"x": torch.zeros(2, 3)}, batch_size=[2])
    other = pinned.pin_memory()
    other["w"] = torch.zeros(2)
    if not torch.cuda.is_available():
        pinned["w"]


by_an_item()
by_the_stack()
by_a_row()
by_a_loop()
by_a_node()
by_itself()
