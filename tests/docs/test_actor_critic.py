"""The soft actor-critic example: its update is one graph, changes what it should, and the points come to rest."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from examples import actor_critic

ROOT = Path(__file__).parents[2]


def steps() -> actor_critic.Step:
    return actor_critic.move(actor_critic.start(), 2 * torch.rand(actor_critic.POINTS, 1) - 1)


def parameters(agent: actor_critic.Agent) -> list[Tensor]:
    return tree_leaves([agent.policy_learned, agent.critics_learned, agent.target])


def test_an_update_compiles_in_one_graph_and_is_the_eager_one() -> None:
    torch._dynamo.reset()
    agent = actor_critic.Agent()
    twin, batch = copy.deepcopy(agent), steps()
    update = torch.compile(twin.update, fullgraph=True, backend="eager")
    for seed in range(3):
        torch.manual_seed(seed)
        agent.update(batch)
        torch.manual_seed(seed)
        update(batch)

    for one, other in zip(parameters(agent), parameters(twin), strict=True):
        torch.testing.assert_close(one, other)


def test_an_update_moves_every_parameter_and_the_target_least() -> None:
    agent = actor_critic.Agent()
    before = copy.deepcopy(agent)
    agent.update(steps())
    moved, target = (
        [(one - other).abs().amax() for one, other in zip(tree_leaves(new), tree_leaves(old), strict=True)]
        for new, old in (
            (agent.critics_learned.now, before.critics_learned.now),
            (agent.target, before.target),
        )
    )

    assert all(0 < slow < fast for slow, fast in zip(target, moved))


def test_the_modules_hold_what_is_learned() -> None:
    agent = actor_critic.Agent()
    agent.update(steps())

    assert torch.equal(next(agent.policy.parameters()), tree_leaves(agent.policy_learned.now)[0])
    assert [tuple(one.shape)[0] for one in agent.critics.parameters()] == [2, 2, 2, 2]


@pytest.mark.slow
def test_the_points_come_to_rest() -> None:
    done = subprocess.run([sys.executable, "examples/actor_critic.py"], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
