"""torch.cond and torch's while_loop in compiled code, with containers and without, whenever Dynamo is imported."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops.while_loop import while_loop

from tensorclass import TensorClass, TensorDict


class Motion(TensorClass):
    x: Tensor
    v: Tensor
    name: str = "a"


@pytest.fixture(autouse=True)
def fresh() -> None:
    torch._dynamo.reset()


def compiled(function: Any) -> Any:
    return torch.compile(function, backend="eager", fullgraph=True)


def moved(motion: Motion) -> Motion:
    return motion.replace(x=motion.x + motion.v)


def back(motion: Motion) -> Motion:
    return motion.replace(x=motion.x - motion.v)


@pytest.mark.parametrize(("pred", "x"), [(True, 1.0), (False, -1.0)])
def test_a_branch_takes_and_gives_a_class(pred: bool, x: float) -> None:
    def branch(pred: Tensor, motion: Motion) -> Any:
        return torch.cond(pred, moved, back, (motion,))

    out = compiled(branch)(torch.tensor(pred), Motion(x=torch.zeros(3), v=torch.ones(3), batch_size=[3]))

    assert type(out) is Motion and out.x.tolist() == [x] * 3 and out.name == "a" and out.batch_size == (3,)


def test_a_branch_takes_a_nested_tensordict_and_a_tensor() -> None:
    def branch(pred: Tensor, td: TensorDict, scale: Tensor) -> Any:
        return torch.cond(pred, lambda td, s: td * s, lambda td, s: td + s, (td, scale))

    td = TensorDict({"a": {"b": torch.ones(2)}}, batch_size=[2])
    out = compiled(branch)(torch.tensor(True), td, torch.tensor(3.0))

    assert out["a", "b"].tolist() == [3, 3]


def test_a_loop_carries_a_class() -> None:
    def loop(motion: Motion) -> Any:
        return while_loop(lambda m: m.x.sum() < 10, lambda m: (m.replace(x=m.x + m.v, v=m.v.clone()),), (motion,))

    (out,) = compiled(loop)(Motion(x=torch.zeros(3), v=torch.ones(3), batch_size=[3]))

    assert type(out) is Motion and out.x.tolist() == [4] * 3


def test_gradients_come_through_a_branch() -> None:
    x = torch.ones(3, requires_grad=True)

    def branch(pred: Tensor, x: Tensor) -> Any:
        motion = Motion(x=x, v=x * 2, batch_size=[3])
        return torch.cond(pred, lambda m: m * 3, lambda m: m * 1, (motion,)).x.sum()

    torch.compile(branch, backend="aot_eager", fullgraph=True)(torch.tensor(True), x).backward()

    assert x.grad is not None and x.grad.tolist() == [3] * 3


class Gate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Any:
        def inner(x: Tensor) -> Any:
            return torch.cond(x.sum() > 5, lambda x: x.sin(), lambda x: self.layer(x), (x,))

        return torch.cond(pred=x.sum() > 0, true_fn=inner, false_fn=lambda x: x.cos(), operands=(x,))


@pytest.mark.parametrize("value", [-1.0, 1.0, 5.0])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_without_containers_a_branch_is_torchs_own(value: float, backend: str) -> None:
    gate, x = Gate(), torch.full((1, 2), value)
    wanted = x.cos() if value < 0 else gate.layer(x) if value == 1 else x.sin()

    torch.testing.assert_close(torch.compile(gate, backend=backend, fullgraph=True)(x), wanted)
    torch.testing.assert_close(torch.export.export(gate, (x,), strict=True).module()(x), wanted)


def test_without_containers_operands_may_be_nested_and_missing() -> None:
    def nested(pred: Tensor, x: Tensor) -> Any:
        both = torch.cond(pred, lambda d: {"y": d["x"][0] + 1}, lambda d: {"y": d["x"][0] - 1}, ({"x": [x]},))
        return both["y"] + torch.cond(pred, lambda: x + 1, lambda: x - 1)

    assert compiled(nested)(torch.tensor(True), torch.zeros(2)).tolist() == [2, 2]


def test_a_constant_predicate_chooses_its_branch() -> None:
    with pytest.warns(UserWarning, match="constant"):
        assert compiled(lambda x: torch.cond(True, lambda x: x + 1, lambda x: x - 1, (x,)))(torch.zeros(1)) == 1


def test_without_containers_a_loop_is_torchs_own() -> None:
    def loop(x: Tensor, pair: tuple[Tensor, dict[str, Tensor]]) -> Any:
        return while_loop(
            lambda x, pair: x.sum() < 10,
            lambda x, pair: (x + pair[0], (pair[0].clone(), {"n": pair[1]["n"] + 1})),
            (x, pair),
        )

    x, (one, counts) = compiled(loop)(torch.zeros(2), (torch.ones(2), {"n": torch.tensor(0)}))

    assert x.tolist() == [5, 5] and one.tolist() == [1, 1] and counts["n"] == 5


ORDERS = {
    "before": "import tensorclass, torch; import torch._dynamo",
    "after": "import torch._dynamo; import tensorclass, torch",
    "looked for": "import tensorclass, torch; tensorclass.TensorDict; from importlib.util import find_spec; "
    "find_spec('torch._dynamo')",
}
PROGRAM = """
import sys
td = tensorclass.TensorDict(a=torch.zeros(2))
finders = [one for one in sys.meta_path if type(one).__module__.startswith("tensorclass")]
print(len(finders), "torch._dynamo" in sys.modules)
run = lambda p, td: torch.cond(p, lambda td: td + 1, lambda td: td - 1, (td,))
print(torch.compile(run, backend="eager", fullgraph=True)(torch.tensor(True), td)["a"].tolist())
print([one for one in sys.meta_path if type(one).__module__.startswith("tensorclass")])
import inspect
print("substitute_in_graph" in inspect.getsource(torch._dynamo), type(torch._dynamo.__loader__).__name__)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("order", "seen"), [("before", "0 True"), ("after", "0 True"), ("looked for", "1 False")])
def test_dynamo_is_taught_in_any_order(order: str, seen: str) -> None:
    run = subprocess.run([sys.executable, "-c", ORDERS[order] + PROGRAM], capture_output=True, text=True)

    assert run.stdout.splitlines() == [seen, "[1.0, 1.0]", "[]", "True SourceFileLoader"], run.stderr
