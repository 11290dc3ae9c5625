"""What a module prints, and its picture."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tensorclass import TensorClass
from tensorclass.nn import (
    TensorClassModuleBase,
    TensorDictModule,
    TensorDictModuleBase,
    TensorDictSequential,
    WrapModule,
)


def model() -> TensorDictSequential:
    return TensorDictSequential(
        TensorDictModule(nn.Linear(3, 4), ["x"], [("n", "h")]),
        TensorDictSequential(TensorDictModule(torch.mul, [("n", "h"), "mask"], ["y"])),
    )


def test_a_module_prints_what_it_reads_calls_and_writes() -> None:
    module = TensorDictModule(nn.Linear(3, 4), ["x"], ["y", "_"])  # type: ignore[tensorclass-module]  # Never called.

    assert repr(module) == ("TensorDictModule([x] -> Linear(in_features=3, out_features=4, bias=True) -> [y, _])")


def test_a_sequence_prints_the_flow_of_its_modules() -> None:
    assert repr(model()) == (
        "TensorDictSequential([x, mask] -> [n.h, y]\n"
        "  (0): [x] -> Linear(in_features=3, out_features=4, bias=True) -> [n.h]\n"
        "  (1): TensorDictSequential([n.h, mask] -> [y]\n"
        "    (0): [n.h, mask] -> mul -> [y]\n"
        "  )\n"
        ")"
    )


def test_a_function_is_printed_with_its_place() -> None:
    double = lambda x: 2 * x  # noqa: E731  # Its name and place are what is tested.
    place = f"test_graph.py:{double.__code__.co_firstlineno}"

    assert repr(TensorDictModule(double, ["x"], ["y"])) == f"TensorDictModule([x] -> <lambda> ({place}) -> [y])"


def test_whatever_a_module_wraps_is_printed() -> None:
    class Word(TensorClass):
        x: Tensor

    class Same(TensorClassModuleBase[Word, Word]):
        def forward(self, x: Word) -> Word:
            return x

    class Own(TensorDictModuleBase):
        in_keys, out_keys = ["x"], ["y"]

    assert repr(WrapModule(torch.neg, in_keys=["x"], out_keys=["y"])) == "WrapModule([x] -> neg -> [y])"
    assert repr(Same().as_td_module()) == "TensorClassModuleWrapper([x] -> Same() -> [x])"
    assert repr(TensorDictModule(nn.Sequential(), ["x"], ["y"])) == "TensorDictModule([x] -> Sequential() -> [y])"
    assert repr(Own()) == "Own([x] -> Own -> [y])"
    assert [step.name for step in Own().graph().steps] == ["Own"]


def test_the_graph_lays_sequences_flat() -> None:
    assert [(step.reads, step.writes) for step in model().graph().steps] == [
        (("x",), (("n", "h"),)),
        ((("n", "h"), "mask"), ("y",)),
    ]


def test_the_graph_as_mermaid() -> None:
    assert model()[1].graph().mermaid() == (
        "flowchart LR\n"
        '    n0(["n.h"])\n    n1(["mask"])\n    n2(["y"])\n    n3["mul"]\n'
        "    n0 --> n3\n    n1 --> n3\n    n3 --> n2"
    )


def test_the_graph_as_graphviz() -> None:
    assert TensorDictModule(torch.abs, ["a"], ["b"]).graph().dot() == (
        "digraph {\n    rankdir=LR\n"
        '    "key:a" [label="a", shape=ellipse]\n    "key:b" [label="b", shape=ellipse]\n'
        '    "step:0" [label="abs", shape=box]\n'
        '    "key:a" -> "step:0"\n    "step:0" -> "key:b"\n}'
    )
