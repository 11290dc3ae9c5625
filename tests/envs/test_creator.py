"""EnvCreator: what it makes here, it makes in another process too."""

from __future__ import annotations

import builtins
import pickle
import threading
from typing import Any

import pytest

from tensorclass.envs import EnvCreator, GymEnv
from tests.envs.worlds import Counter


def test_it_calls_the_function_with_its_arguments() -> None:
    make = EnvCreator(Counter, {"limit": 3.0})

    assert make().limit == 3 and make(limit=4.0).limit == 4
    assert repr(make) == f"EnvCreator({Counter!r}, {{'limit': 3.0}})"


@pytest.mark.parametrize("function", [Counter, lambda limit: Counter(limit)], ids=["by name", "lambda"])
def test_it_survives_a_pickle(function: Any) -> None:
    make = pickle.loads(pickle.dumps(EnvCreator(function, {"limit": 3.0})))

    assert isinstance(make(), Counter) and make().limit == 3


def test_a_closure_takes_along_what_it_uses() -> None:
    gravity = 3.5
    make = pickle.loads(pickle.dumps(EnvCreator(lambda: GymEnv("Pendulum-v1", g=gravity))))

    assert make().unwrapped.g == 3.5


def test_what_cannot_be_sent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lock, imports = threading.Lock(), builtins.__import__
    with pytest.raises(TypeError, match="cannot pickle '_thread.lock' object"):
        pickle.dumps(EnvCreator(lambda: Counter(lock)))

    def without_cloudpickle(name: str, *args: Any) -> Any:
        if name == "cloudpickle":
            raise ImportError(name)
        return imports(name, *args)

    monkeypatch.setattr(builtins, "__import__", without_cloudpickle)
    with pytest.raises(TypeError, match="define it at the top of a module, or install cloudpickle$"):
        pickle.dumps(EnvCreator(lambda: Counter()))
