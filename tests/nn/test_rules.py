"""Sentences of the reference about modules that no other file here is about."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Normal

from tensorclass import TensorClass, TensorDict
from tensorclass.nn import (
    ProbabilisticTensorDictModule,
    TensorClassModuleBase,
    TensorDictModule,
    TensorDictSequential,
    composite_lp_aggregate,
    set_composite_lp_aggregate,
)


class Word(TensorClass):
    letters: Tensor


class Count(TensorClass):
    count: Tensor


class Sum(TensorClassModuleBase[Word, Count]):
    def forward(self, x: Word) -> Count:
        return Count(count=x.letters.sum(-1), batch_size=x.batch_size)


def test_a_sequence_that_ends_with_a_typed_module_gives_its_outputs_alone() -> None:
    td = TensorDict(x=torch.ones(2, 3), batch_size=[2])
    model = TensorDictSequential(TensorDictModule(torch.neg, ["x"], ["letters"]), Sum().as_td_module())

    assert list(model(td).keys()) == ["count"]
    assert list(td.keys()) == ["x", "letters"]


def test_nn_sequential_has_no_keys() -> None:
    model: Any = nn.Sequential(TensorDictModule(torch.neg, ["x"], ["y"]))

    assert not hasattr(model, "in_keys")
    with pytest.raises(TypeError):
        model(x=torch.ones(2))


def test_a_sequence_runs_on_a_shallow_copy_where_it_writes_elsewhere() -> None:
    seen: list[Any] = []

    def look(given: Any) -> Any:
        seen.append(given)
        return given

    td = TensorDict(x=torch.ones(2))
    TensorDictSequential(look, inplace=False)(td)

    assert seen[0] is not td
    assert seen[0]["x"] is td["x"]


def test_a_generator_leaves_the_global_random_state_alone() -> None:
    head = ProbabilisticTensorDictModule(
        ["loc", "scale"],
        ["a"],
        distribution_class=Normal,
        default_interaction_type="random",
        generator=torch.Generator().manual_seed(0),
    )
    before = torch.get_rng_state()
    head(TensorDict(loc=torch.zeros(2), scale=torch.ones(2)))

    assert torch.equal(torch.get_rng_state(), before)


def test_compiled_code_ignores_a_generator() -> None:
    generator = torch.Generator().manual_seed(0)
    options: dict[str, Any] = {"distribution_class": Normal, "default_interaction_type": "random"}
    with_one = ProbabilisticTensorDictModule(["loc", "scale"], ["a"], generator=generator, **options)
    without = ProbabilisticTensorDictModule(["loc", "scale"], ["a"], **options)
    drawn = []
    for head in (with_one, without):
        torch.manual_seed(1)
        drawn.append(torch.compile(head, backend="eager")(TensorDict(loc=torch.zeros(2), scale=torch.ones(2)))["a"])

    assert torch.equal(*drawn)


@pytest.mark.parametrize(("value", "said"), [("True", "True"), ("0", "False")])
def test_a_variable_of_the_environment_sets_whether_log_probabilities_are_summed_up(value: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "from tensorclass.nn import *\nprint(composite_lp_aggregate())"],
        env={"COMPOSITE_LP_AGGREGATE": value, "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split() == [said]


def test_without_it_they_are_not() -> None:
    assert composite_lp_aggregate() is False
    with set_composite_lp_aggregate(True):
        assert composite_lp_aggregate() is True
