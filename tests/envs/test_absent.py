"""Names that there are not: the error gives the nearest right one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tensorclass.envs import GymEnv, SerialEnv, StepCounter, TransformedEnv
from tests.envs.worlds import Counter


class Lamp(Counter):
    """Has a property that fails."""

    @property
    def light(self) -> Any:
        return self.bulb

    @property
    def bulp(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("make", "name", "says"),
    [
        (Counter, "rolout", "Counter has no attribute 'rolout'; did you mean 'rollout'?"),
        (Counter, "limt", "Counter has no attribute 'limt'; did you mean 'limit'?"),
        (Counter, "zebra", "Counter has no attribute 'zebra'"),
        (lambda: GymEnv("CartPole-v1"), "rolout", "GymEnv has no attribute 'rolout'; did you mean 'rollout'?"),
        (lambda: SerialEnv(2, Counter), "rolout", "SerialEnv has no attribute 'rolout'; did you mean 'rollout'?"),
        (
            lambda: TransformedEnv(Counter()),
            "insert_transfrom",
            "TransformedEnv has no attribute 'insert_transfrom'; did you mean 'insert_transform'?",
        ),
        (lambda: StepCounter(3), "max_step", "StepCounter has no attribute 'max_step'; did you mean 'max_steps'?"),
        (Lamp, "light", "Lamp has no attribute 'bulb'; did you mean 'bulp'?"),
    ],
)
def test_the_nearest_name_is_given(make: Callable[[], Any], name: str, says: str) -> None:
    there = make()
    with pytest.raises(AttributeError) as missing:
        getattr(there, name)

    assert str(missing.value) == says


PROGRAM = """
from tensorclass.envs import GymEnv
GymEnv("CartPole-v1").rollout(2).next.rewrd
"""


def test_of_what_a_rollout_gives_too_by_python_itself() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)

    assert ran.stderr.rstrip().endswith("has no attribute 'rewrd'. Did you mean: 'reward'?")
