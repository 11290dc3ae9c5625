"""The collectors of the examples: rows that are written are the ones that are sampled, and both programs end well."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

pytest.importorskip("gymnasium")

from examples import collector  # noqa: E402
from examples import collector_distributed as ranks  # noqa: E402
from tensorclass.envs import BoxAction, BoxObs, GymEnv, Transition  # noqa: E402

ROOT = Path(__file__).parents[2]


def numbered(start: int, count: int) -> Transition[BoxObs, BoxAction]:
    """Steps whose reward is their number."""
    steps = collector.make_env().rollout(count, break_when_any_done=False)
    steps["next", "reward"] = torch.arange(float(start), start + count).unsqueeze(-1)
    return steps


def test_only_steps_that_were_written_are_sampled(tmp_path: Path) -> None:
    replay = collector.Replay.create(tmp_path, collector.make_env().fake_tensordict())
    collector.Replay(tmp_path).extend(1, numbered(1, 30))
    found = replay.sample(500)

    assert len(replay) == 30 and found.shape == (500,) and replay.rows.is_memmap()
    assert set(found["next", "reward"].flatten().tolist()) <= {*range(1, 31)}


def test_the_oldest_steps_are_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "ROWS", 50)
    replay = collector.Replay.create(tmp_path, collector.make_env().fake_tensordict())
    replay.extend(0, numbered(0, 40))
    replay.extend(0, numbered(40, 40))

    assert len(replay) == 50
    assert sorted(replay.rows[0]["next", "reward"].flatten().tolist()) == [*range(30, 80)]


def test_a_collector_fills_its_rows(tmp_path: Path) -> None:
    replay = collector.Replay.create(tmp_path, collector.make_env().fake_tensordict())
    collector.collect(tmp_path, 0, steps=300)

    assert replay.written.tolist() == [300, 0]
    assert 0 < collector.falls(replay.rows[0][:300]) < 0.1


def test_the_best_try_is_the_one_that_brought_most() -> None:
    env = GymEnv("CartPole-v1", categorical_action_encoding=True)
    tries = [
        ranks.play(env, ranks.Weights(weight=torch.tensor(weight))) for weight in ([0.0, 0, 1, 1], [0.0, 0, -1, 0])
    ]

    assert ranks.best(tries, tries[1]) is tries[0]
    assert tries[0].reward == len(tries[0].steps) > 100


@pytest.mark.slow
@pytest.mark.parametrize(("name", "last"), [("collector", " 4000 steps"), ("collector_distributed", "round ")])
def test_the_programs_end_well(name: str, last: str) -> None:
    done = subprocess.run([sys.executable, "-m", f"examples.{name}"], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith(last)
