"""Probabilistic modules: which value is taken of a distribution, how many, and what draws it."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch import Tensor
from torch import distributions as d
from torch.distributions import constraints

from tensorclass import TensorDict
from tensorclass.nn import (
    InteractionType,
    ProbabilisticTensorDictModule,
    interaction_type,
    set_interaction_type,
)
from tests.nn.normals import normal, params

# ---- interaction types ----------------------------------------------------------------------------------------------


class Plain(d.Distribution):
    """Knows its mean and nothing else."""

    arg_constraints: Any = {}
    support: Any = constraints.real
    has_rsample = False

    def __init__(self, loc: Tensor) -> None:
        self.loc = loc
        super().__init__(loc.shape, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return self.loc + 7


class Meanless(d.Normal):
    @property
    def mean(self) -> Tensor:
        raise NotImplementedError


def test_random_draws_with_a_gradient_where_there_is_one() -> None:
    td = params(5)
    td["loc"] = td["loc"].requires_grad_()
    torch.manual_seed(0)
    drawn = normal(default_interaction_type="random")(td)["action"]
    torch.manual_seed(0)

    assert drawn.requires_grad
    assert torch.equal(drawn, d.Normal(td["loc"], td["scale"]).rsample())


@pytest.mark.parametrize("kind", ["mode", "mean", "Deterministic", InteractionType.MEAN])
def test_mode_and_mean_are_the_attributes(kind: Any) -> None:
    td = params(5)

    assert torch.equal(normal(default_interaction_type=kind)(td)["action"], td["loc"])


def test_a_mean_that_is_not_there_is_that_of_samples() -> None:
    module = ProbabilisticTensorDictModule(
        ["loc", "scale"], ["a"], distribution_class=Meanless, default_interaction_type="mean", n_empirical_estimate=7
    )
    td = params(5)
    torch.manual_seed(0)
    value = module(td)["a"]
    torch.manual_seed(0)

    assert torch.equal(value, d.Normal(td["loc"], td["scale"]).rsample((7,)).mean(0))


def test_a_mode_or_median_that_is_not_there_is_an_error() -> None:
    with pytest.raises(NotImplementedError) as error:
        normal(default_interaction_type="median")(params(5))

    assert str(error.value) == (
        "Normal has no median; another interaction type, or a class with that attribute, would do"
    )


def test_deterministic_is_the_attribute_where_there_is_one() -> None:
    class Clipped(d.Normal):
        @property
        def deterministic_sample(self) -> Tensor:
            return self.loc.clamp(-1, 1)

    module = ProbabilisticTensorDictModule(["loc", "scale"], ["a"], distribution_class=Clipped)

    assert module(TensorDict(loc=torch.tensor([3.0, -0.5]), scale=torch.ones(2)))["a"].tolist() == [1, -0.5]


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (lambda: d.Categorical(probs=torch.tensor([0.1, 0.7, 0.2])), 1),
        (lambda: d.Bernoulli(torch.tensor(0.8)), 1),
        (lambda: d.Poisson(torch.tensor(3.5)), 3.5),
        (lambda: d.Uniform(torch.tensor(0.0), torch.tensor(1.0)), 0.5),
        (lambda: d.Independent(d.Normal(torch.ones(1), 1.0), 1), 1),
        (lambda: d.Independent(d.Bernoulli(torch.tensor([0.8])), 1), 1),
    ],
)
def test_deterministic_is_the_mode_of_a_choice_and_the_mean_of_all_else(make: Any, value: float) -> None:
    module = ProbabilisticTensorDictModule([], ["a"], distribution_class=make)

    assert module(TensorDict())["a"] == value


def test_of_an_unknown_class_the_support_decides_and_a_warning_says_so() -> None:
    module = ProbabilisticTensorDictModule(["loc"], ["a"], distribution_class=Plain)
    with pytest.warns(UserWarning, match="^Plain has no deterministic_sample; its mean is taken."):
        assert module(TensorDict(loc=torch.zeros(2)))["a"].tolist() == [7, 7]


def test_a_block_is_above_the_default_of_the_module() -> None:
    td = params(5)
    with set_interaction_type("random"):
        assert not torch.equal(normal()(td)["action"], td["loc"])
        with set_interaction_type(None):
            assert torch.equal(normal()(td)["action"], td["loc"])
    assert torch.equal(normal()(td)["action"], td["loc"])


def test_the_block_works_as_a_decorator_too() -> None:
    @set_interaction_type(InteractionType.MODE)
    def act() -> Any:
        return interaction_type()

    assert act() is InteractionType.MODE and interaction_type() is None


def test_without_argument_it_is_deterministic() -> None:
    with set_interaction_type():
        assert interaction_type() is InteractionType.DETERMINISTIC


@pytest.mark.parametrize("name", ["RANDOM", "random", "Random"])
def test_a_type_has_a_name_in_any_case(name: str) -> None:
    assert InteractionType.from_str(name) is InteractionType(name) is InteractionType.RANDOM


def test_an_unknown_type_is_an_error() -> None:
    with pytest.raises(ValueError) as error:
        normal(default_interaction_type="radnom")

    assert str(error.value) == (
        "'radnom' is no interaction type; there are 'mode', 'median', 'mean', 'random', 'deterministic'"
    )


def test_each_thread_has_its_own_type() -> None:
    seen: list[Any] = []
    with set_interaction_type("mode"):
        thread = threading.Thread(target=lambda: seen.append(interaction_type()))
        thread.start()
        thread.join()

    assert seen == [None]


# ---- samples and generators -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "batch"), [(4, (4, 3)), (torch.Size([4, 2]), (4, 2, 3))])
def test_samples_are_leading_batch_dims_of_a_new_container(given: Any, batch: Any) -> None:
    td = params(3)
    out = normal(num_samples=given, default_interaction_type="random", return_log_prob=True)(td)

    assert out is not td and "action" not in td and out.batch_size == batch
    assert out["action"].shape == out["action_log_prob"].shape == out["loc"].shape == (*batch, 2)
    assert len(out["action"].reshape(-1, 3, 2)[:, 0, 0].unique()) == torch.Size(batch[:-1]).numel()


def test_a_deterministic_value_is_repeated() -> None:
    out = normal(num_samples=4)(params(3))

    assert (out["action"] == out["loc"]).all()


def test_a_generator_draws_what_it_draws_elsewhere_and_moves_on() -> None:
    td = TensorDict(loc=torch.zeros(2), scale=torch.ones(2))
    generator = torch.Generator().manual_seed(3)
    module = normal(generator=generator, default_interaction_type="random")
    before = torch.get_rng_state()
    first, second = module(td.copy())["action"], module(td.copy())["action"]
    same = torch.Generator().manual_seed(3)

    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(first, torch.normal(torch.zeros(2), torch.ones(2), generator=same))
    assert torch.equal(second, torch.normal(torch.zeros(2), torch.ones(2), generator=same))


@pytest.mark.parametrize("generator", [3, "seed", ("n", "seed")])
def test_a_seed_or_a_key_stands_for_a_generator(generator: Any) -> None:
    td = TensorDict(
        {"loc": torch.zeros(2), "scale": torch.ones(2), "seed": torch.tensor(3), "n": {"seed": torch.tensor(3)}}
    )
    out = normal(generator=generator, default_interaction_type="random")(td)

    assert torch.equal(
        out["action"], torch.normal(torch.zeros(2), torch.ones(2), generator=torch.Generator().manual_seed(3))
    )
