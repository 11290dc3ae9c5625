"""Modules under torch.compile, in one graph, and under torch.export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.testing import CompileCounter
from torch.distributions import Normal
from torch.utils._pytree import tree_leaves

from tensorclass import TensorClass, TensorDict
from tensorclass.nn import (
    Chain,
    CompositeDistribution,
    EnsembleModule,
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorClassModuleBase,
    TensorDictModule,
    TensorDictModuleWrapper,
    TensorDictSequential,
    functional_vmap,
    set_interaction_type,
)

pytestmark = pytest.mark.slow


class Sample(TensorClass):
    a: Tensor
    h: Tensor | None = None
    v: Tensor | None = None


class Double(TensorClassModuleBase[Sample, Sample]):
    def forward(self, x: Sample) -> Sample:
        return x.replace(a=x.a * 2)


def td() -> TensorDict:
    return TensorDict({"a": torch.linspace(-1, 1, 6).reshape(2, 3)}, batch_size=[2])


def sample() -> Sample:
    return Sample(a=torch.ones(2, 3), batch_size=[2])


def seq(**options: Any) -> TensorDictSequential:
    torch.manual_seed(0)
    return TensorDictSequential(
        TensorDictModule(nn.Linear(3, 4), ["a"], ["h"]), TensorDictModule(nn.Linear(4, 1), ["h"], ["v"]), **options
    )


def prob() -> ProbabilisticTensorDictSequential:
    return ProbabilisticTensorDictSequential(
        TensorDictModule(lambda a: (a, a.exp()), ["a"], ["loc", "scale"]),
        ProbabilisticTensorDictModule(["loc", "scale"], ["act"], distribution_class=Normal, return_log_prob=True),
    )


def composite() -> ProbabilisticTensorDictModule:
    return ProbabilisticTensorDictModule(
        {"params": "n"},
        distribution_class=CompositeDistribution,
        distribution_kwargs={"distribution_map": {"act": Normal}},
        return_log_prob=True,
    )


def functional(x: TensorDict) -> Tensor:
    net = NETS[0]
    with TensorDict.from_module(net).data.to_module(net):
        out: Tensor = net(x["a"])
    return out


def random(x: TensorDict) -> TensorDict:
    with set_interaction_type("random"):
        return prob()(x)


SEQ = seq()
NETS = [nn.Linear(3, 1) for _ in range(2)]
STACKED = TensorDict.from_modules(*NETS)
PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[], Any]]] = {
    "module": (seq()[0], td),
    "sequence": (seq(), td),
    "sequence on a typed instance": (seq(), sample),
    "sequence into a new container": (seq(inplace="empty"), td),
    "selected outputs": (seq(selected_out_keys=["v"]), td),
    "wrapper": (TensorDictModuleWrapper(seq()), td),
    "tensors": (lambda x: SEQ(a=x["a"]), td),
    "typed": (Double(), sample),
    "chain": (Chain(Double(), Double()), sample),
    "typed by key": (Double().as_td_module(), td),
    "by key typed": (TensorDictModule(torch.abs, ["a"], ["h"]).typed(Sample, Sample), sample),
    "probabilistic": (prob(), td),
    "distribution": (lambda x: prob().get_dist(x).loc, td),
    "composite": (composite(), lambda: TensorDict({"n": {"act": {"loc": torch.ones(2), "scale": torch.ones(2)}}})),
    "ensemble": (EnsembleModule(seq(), num_copies=3), td),
    "parameters swapped": (functional, td),
    "functional_vmap": (lambda x: functional_vmap(NETS[0], params=STACKED, args=(x["a"],)), td),
}


@pytest.mark.parametrize(("program", "make"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_module_compiles_in_one_graph_and_gives_the_same(program: Any, make: Any) -> None:
    torch._dynamo.reset()
    expected = program(make())
    given = torch.compile(program, backend="eager", fullgraph=True)(make())  # type: ignore[no-untyped-call]

    assert type(given) is type(expected)
    for one, other in zip(tree_leaves(given), tree_leaves(expected), strict=True):
        torch.testing.assert_close(one, other)


def test_the_interaction_type_counts_in_compiled_code_and_is_checked_again() -> None:
    torch._dynamo.reset()
    model = prob()
    compiled = torch.compile(model, backend="eager", fullgraph=True)

    assert torch.equal(compiled(td())["act"], td()["a"])
    with set_interaction_type("random"):
        assert not torch.equal(compiled(td())["act"], td()["a"])
    assert torch.equal(compiled(td())["act"], td()["a"])
    assert not torch.equal(torch.compile(random, backend="eager", fullgraph=True)(td())["act"], td()["a"])


def test_other_entries_do_not_compile_again_where_the_output_is_new() -> None:
    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(TensorDictModule(nn.Linear(3, 4), ["a"], ["h"], inplace="empty"), backend=counter)
    compiled(td())
    compiled(td().set("other", torch.zeros(2)))

    assert counter.frame_count == 1


def test_gradients_of_compiled_modules_are_the_same() -> None:
    torch._dynamo.reset()
    one, other = seq(), seq()
    one(td())["v"].sum().backward()
    torch.compile(other, backend="aot_eager", fullgraph=True)(td())["v"].sum().backward()

    for mine, theirs in zip(one.parameters(), other.parameters()):
        torch.testing.assert_close(mine.grad, theirs.grad)


def test_export_with_a_dynamic_batch() -> None:
    model, x = seq(selected_out_keys=["v"]), torch.randn(2, 3)
    program = torch.export.export(model, (x,), dynamic_shapes=({0: torch.export.Dim("b")},))

    assert torch.equal(program.module()(torch.ones(5, 3)), model(a=torch.ones(5, 3)))


def test_a_soft_actor_critic_update_is_one_graph() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)
    actor = ProbabilisticTensorDictSequential(
        TensorDictModule(nn.Linear(3, 4), ["obs"], ["params"]),
        TensorDictModule(lambda p: (p[..., :2], p[..., 2:].exp()), ["params"], ["loc", "scale"]),
        ProbabilisticTensorDictModule(
            ["loc", "scale"],
            ["action"],
            distribution_class=Normal,
            return_log_prob=True,
            default_interaction_type="random",
        ),
    )
    critics = EnsembleModule(
        TensorDictModule(lambda obs, action: (obs.sum(-1) + action.sum(-1)).unsqueeze(-1), ["obs", "action"], ["q"]), 2
    )

    def loss(batch: TensorDict) -> Tensor:
        out = actor(batch)
        q = critics(out)["q"].min(0).values
        entropy: Tensor = out["action_log_prob"].sum(-1, keepdim=True)
        out_loss: Tensor = (entropy - q).mean()
        return out_loss

    batch = TensorDict({"obs": torch.randn(5, 3)}, batch_size=[5])
    torch.manual_seed(1)
    expected = loss(batch.clone())
    torch.manual_seed(1)

    torch.testing.assert_close(torch.compile(loss, backend="aot_eager", fullgraph=True)(batch.clone()), expected)
