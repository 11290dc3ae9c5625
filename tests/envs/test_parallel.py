"""ParallelEnv: the numbers of SerialEnv from processes that end well, whatever happens to them."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.envs import (
    CatTensors,
    EnvCreator,
    GymEnv,
    ParallelEnv,
    SerialEnv,
    StepCounter,
    TransformedEnv,
    WorkerDied,
    WorkerError,
    _crew,
    check_env_specs,
    step_mdp,
)
from tensorclass.envs._worker import STEP
from tests.envs.processes import Careless, Hidden, Odd, Talker, Trouble, cart_pole, transformed
from tests.envs.test_serial import Sized
from tests.envs.worlds import Agents, Counter, Pendulum

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def quick_starts() -> None:
    """Processes that are forked from one that has torch already; a test or two spawn them, as the default is."""
    multiprocessing.set_forkserver_preload(["torch", "tensorclass.envs", "gymnasium", "tests.envs.processes"])


Start = Callable[..., ParallelEnv[Any, Any]]


@pytest.fixture
def start() -> Iterator[Start]:
    started = []

    def make(*args: Any, **kwargs: Any) -> ParallelEnv[Any, Any]:
        started.append(ParallelEnv(*args, **{"mp_start_method": "forkserver", **kwargs}))
        return started[-1]

    yield make
    for env in started:
        env.close()


def workers(env: ParallelEnv[Any, Any]) -> list[Any]:
    return [worker.process.pid for worker in env.__dict__["_crew"].workers]


def is_gone(process: int) -> bool:
    """Whether a process has ended, or does within some seconds; one that nobody has asked for yet counts too."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
            if ") Z " in Path(f"/proc/{process}/stat").read_text():
                return True
        except ProcessLookupError:
            return True
        except FileNotFoundError:  # No such folder on this system, or the process has just gone.
            pass
        time.sleep(0.01)
    return False


def trouble(*kinds: int) -> Any:
    """Actions that have each environment get into some trouble."""
    return TensorDict(action=torch.tensor([[kind / 4] for kind in kinds]), batch_size=len(kinds))


def assert_same(one: Any, other: Any) -> None:
    assert set(one.keys(True, True)) == set(other.keys(True, True))
    for key in one.keys(True, True):
        mine, theirs = one[key], other[key]
        if isinstance(mine, torch.Tensor):
            assert mine.dtype is theirs.dtype and torch.equal(mine, theirs), key
        else:
            assert mine.tolist() == theirs.tolist(), key


# ---- the numbers of SerialEnv ---------------------------------------------------------------------------------------

MAKES: dict[str, Any] = {
    "counter": Counter,
    "batch": lambda: Counter(3, batch_size=(2,)),
    "agents": Agents,
    "transformed": transformed,
    "dropped keys": lambda: TransformedEnv(Counter(3), CatTensors(["observation"], "vector")),
    "hidden state": Hidden,
    "words": Talker,
    "cart pole": cart_pole,
    "pendulum": lambda: GymEnv("Pendulum-v1"),
    "blackjack": lambda: GymEnv("Blackjack-v1"),
}
STOPS: list[dict[str, Any]] = [
    {},
    {"break_when_any_done": False},
    {"break_when_any_done": False, "break_when_all_done": True},
]


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES.keys())
def test_the_numbers_are_those_of_a_serial_one(make: Any, start: Start) -> None:
    parallel, serial = start(2, make), SerialEnv(2, make)
    assert parallel.batch_size == serial.batch_size
    assert parallel.full_action_spec == serial.full_action_spec
    for stops in STOPS:
        found = [(env.set_seed(7), env.rollout(12, **stops)) for env in (parallel, serial)]
        assert found[0][0] == found[1][0]
        assert_same(found[0][1], found[1][1])


def test_entries_that_are_not_as_the_specs_say_are_what_they_are(start: Start) -> None:
    envs = start(2, Careless, create_env_kwargs={"limit": 9}), SerialEnv(2, Careless, create_env_kwargs={"limit": 9})
    for env in envs:
        td = env.reset()
        for _ in range(3):
            td = step_mdp(env.rand_step(td))
        assert td["observation"].dtype is torch.float64 and td["observation"].flatten().tolist() == [3, 3]
        with pytest.raises(RuntimeError, match=r"'reward' has shape \[2\]; its spec has \[2, 1\]"):
            env.rand_step(td)


def test_masks_of_resets_and_steps(start: Start) -> None:
    for make in (lambda: Counter(9), lambda: Counter(9, batch_size=(2,))):
        envs = start(2, make), SerialEnv(2, make)
        found = []
        for env in envs:
            td = env.step_mdp(env.step(env.reset().set("action", torch.zeros(*env.batch_size, 1))))
            first = torch.zeros_like(td["done"])
            first[0].view(-1)[0] = True
            td["_reset"] = first
            td = env.reset(td)
            td["_step"] = first.squeeze(-1)
            found.append(env.step(td))
            found.append(env.reset(TensorDict({"_reset": first}, env.batch_size)))
        assert_same(found[0], found[2])
        assert_same(found[1], found[3])


def test_specs_hold(start: Start) -> None:
    check_env_specs(start(2, cart_pole))
    check_env_specs(start(2, Agents))


def test_transforms_inside_are_transforms_outside(start: Start) -> None:
    inside = start(2, transformed, create_env_kwargs=[{"limit": 2}, {"limit": 4}])
    outside = SerialEnv(2, transformed, create_env_kwargs=[{"limit": 2}, {"limit": 4}])
    base = start(2, [EnvCreator(Counter, {"limit": 2}), EnvCreator(Counter, {"limit": 4})])
    for stops in STOPS:
        torch.manual_seed(0)
        one = inside.rollout(7, **stops)
        torch.manual_seed(0)
        assert_same(one, outside.rollout(7, **stops))
        torch.manual_seed(0)
        counted = TransformedEnv(base, StepCounter(5)).rollout(7, **stops)
        assert torch.equal(counted["next", "step_count"], one["next", "step_count"])


def test_entries_that_differ_in_shape(start: Start) -> None:
    makes = [lambda: Sized(2), lambda: Sized(3, 5)]
    parallel, serial = start(2, makes), SerialEnv(2, makes)
    for stops in STOPS:
        torch.manual_seed(0)
        one = parallel.rollout(6, **stops)
        torch.manual_seed(0)
        for row, other in zip(one, serial.rollout(6, **stops)):
            assert_same(row, other)


def test_states_without_a_lock_on_the_batch(start: Start) -> None:
    parallel, serial = start(2, Pendulum), SerialEnv(2, Pendulum)
    td = serial.reset()
    td["action"] = torch.ones(2, 1)
    parallel.reset(td.clone())

    after = [env.step(td.clone())["next"] for env in (parallel, serial)]
    assert_same(*after)


# ---- states and attributes ------------------------------------------------------------------------------------------


def test_attributes_and_methods_of_each(start: Start) -> None:
    env = start(2, Trouble, create_env_kwargs=[{"limit": 3.0}, {"limit": 5.0}])

    assert env.limit == [torch.tensor(3.0), torch.tensor(5.0)]
    assert env.add(3, other=4) == [7, 7]
    assert sorted(env.identity()) == sorted(workers(env)) and os.getpid() not in env.identity()
    with pytest.raises(AttributeError, match="no_such_thing"):
        env.no_such_thing  # noqa: B018


def test_the_state_of_each(start: Start) -> None:
    def make(loc: float) -> Any:
        from tensorclass.envs import ObservationNorm

        return TransformedEnv(Counter(), ObservationNorm(loc, 1.0, in_keys=["observation"]))

    one = start(2, make, create_env_kwargs=[{"loc": 1.0}, {"loc": 2.0}])
    two = SerialEnv(2, make, create_env_kwargs=[{"loc": 3.0}, {"loc": 4.0}])
    one.load_state_dict(two.state_dict())

    assert one.reset()["observation"].flatten().tolist() == [3, 4]


def test_it_starts_when_it_is_needed_and_again_after_close(start: Start) -> None:
    env = start(2, Counter)
    assert repr(env) == "ParallelEnv(2 environments, not started)"
    env.reset()
    first = workers(env)
    env.close()
    env.close()
    assert env.is_closed and all(map(is_gone, first)) and env.batch_size == (2,)
    assert env.rollout(2).shape == (2, 2) and not env.is_closed
    assert not {*first} & {*workers(env)}


def test_one_environment_may_stay_in_this_process(start: Start) -> None:
    one = ParallelEnv(1, Trouble, serial_for_single=True, num_threads=2)

    assert isinstance(one, SerialEnv) and one.identity() == [os.getpid()]
    assert isinstance(start(2, Trouble, serial_for_single=True), ParallelEnv)


def test_truncated_keys_are_added_to_each(start: Start) -> None:
    env = start(2, Counter)
    env.add_truncated_keys()

    assert env.rollout(3, set_truncated=True)["next", "truncated"].squeeze(-1).tolist() == [[False, False, True]] * 2


def test_options_of_a_reset_reach_each(start: Start) -> None:
    env = start(2, cart_pole)
    one, two = env.reset(seed=3)["observation"], env.reset(seed=3)["observation"]

    assert torch.equal(one, two) and torch.equal(one[0], cart_pole().reset(seed=3)["observation"])


# ---- what goes wrong ------------------------------------------------------------------------------------------------


def test_an_error_is_raised_here_with_its_traceback(start: Start) -> None:
    env = start(2, Trouble)
    td = env.reset()
    with pytest.raises(KeyError) as caught:
        env.step(td.update(trouble(0, 1)))

    assert isinstance(caught.value, WorkerError) and caught.value.worker == 1
    assert str(caught.value).startswith("worker 1 of ParallelEnv raised in step:\n\nTraceback (most recent call last):")
    assert "KeyError: 'a step too far'" in str(caught.value) and 'raise KeyError("a step too far")' in str(caught.value)
    assert env.rollout(3, lambda td: td.update(trouble(0, 0))).shape == (2, 3)  # It goes on.


def test_a_step_without_an_action_is_refused(start: Start) -> None:
    env = start(2, Counter)
    td = env.reset()
    env.step(td.update(trouble(0, 0)))
    with pytest.raises(KeyError, match="step: no key 'action'; the keys here are"):
        env.step(env.reset())


def test_an_error_of_a_reset(start: Start) -> None:
    env = start(2, Trouble)
    with pytest.raises(OSError, match="worker 0 of ParallelEnv raised in reset"):
        env.reset(raises=True)

    assert env.reset()["observation"].flatten().tolist() == [0, 0]


def test_an_error_that_cannot_be_sent(start: Start) -> None:
    env = start(2, Trouble)
    td = env.reset()
    with pytest.raises(WorkerError, match="worker 0 of ParallelEnv raised in step") as caught:
        env.step(td.update(trouble(2, 0)))

    assert "Odd: (<unlocked _thread.lock" in str(caught.value) and not isinstance(caught.value, Odd)


def test_an_error_of_the_function_that_makes_it(start: Start) -> None:
    env = start(2, Trouble, create_env_kwargs=[{}, {"at_start": True}])
    with pytest.raises(ValueError, match="worker 1 of ParallelEnv raised in the function that makes its environment"):
        env.reset()


@pytest.mark.parametrize(("kind", "words"), [(3, "was killed by SIGKILL"), (4, "ended with exit code 7")])
def test_a_worker_that_is_gone_is_named(kind: int, words: str, start: Start) -> None:
    env = start(2, Trouble)
    td = env.reset()
    first = workers(env)
    with pytest.raises(WorkerDied) as caught:
        env.step(td.update(trouble(0, kind)))

    assert str(caught.value) == (
        f"worker 1 of ParallelEnv {words}; the other workers are stopped, and a reset starts new ones"
    )
    assert env.is_closed and all(map(is_gone, first))
    assert env.reset()["observation"].flatten().tolist() == [0, 0]


def test_it_ends_with_the_object(start: Start) -> None:
    env = ParallelEnv(2, Counter, mp_start_method="forkserver")
    env.reset()
    first = workers(env)
    del env
    gc.collect()

    assert all(map(is_gone, first))


def test_a_worker_that_does_not_stop_is_made_to(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_crew, "GRACE", 0.2)
    env = start(1, Trouble)
    env.reset()
    first = workers(env)
    env.__dict__["_board"].write([trouble(-4)])
    env.__dict__["_crew"].workers[0].send(STEP)
    time.sleep(0.2)
    env.close()

    assert all(map(is_gone, first))


def kill_at_random(start: Start, times: int) -> None:
    """Kill a worker at a random moment, again and again: always an error that names it, and nothing is left over."""
    shared = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    env = start(2, Counter)
    for number in range(times):
        at = number % 2
        td = env.reset()
        first = workers(env)
        wait = random.Random(number).uniform(0, 0.03)
        killer = threading.Timer(wait, os.kill, (first[at], signal.SIGKILL))
        killer.start()
        with pytest.raises(WorkerDied, match=f"^worker {at} of ParallelEnv was killed by SIGKILL"):
            while True:
                td = step_mdp(env.step(env.rand_action(td)))
                td = env.maybe_reset(td)
        killer.join()
        assert env.is_closed and all(map(is_gone, first))
    assert not os.path.isdir("/dev/shm") or set(os.listdir("/dev/shm")) <= shared
    assert not files or len(os.listdir("/proc/self/fd")) <= files + 3  # Those of the server that forks.


def test_a_worker_killed_at_a_random_moment_is_named(start: Start) -> None:
    kill_at_random(start, 4)


@pytest.mark.slow
def test_many_of_them(start: Start) -> None:
    """KILLS=200 pytest tests/envs/test_parallel.py -k many_of_them: the long run, of several minutes."""
    kill_at_random(start, int(os.environ.get("KILLS", "16")))


# ---- in a program of its own ----------------------------------------------------------------------------------------

PROGRAM = """
import os, signal, sys, threading
import torch
from tensorclass.envs import GymEnv, ParallelEnv
from tests.envs.processes import Trouble, cart_pole

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell may have started the tests with Ctrl-C off.
    env = ParallelEnv(2, {make})
    td = env.reset()
    print(*[worker.process.pid for worker in env.__dict__["_crew"].workers], flush=True)
    {then}
"""
INTERRUPTED = """threading.Timer(0.3, os.killpg, (0, signal.SIGINT)).start()
    try:
        env.step(td.set("action", torch.full((2, 1), -1.0)))
    except KeyboardInterrupt:
        print("interrupted", env.is_closed)"""


def run(make: str, then: str) -> tuple[list[int], list[str], str]:
    """The workers of a program, what else it prints, and what goes to its errors."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(make=make, then=then)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=120,
    )
    first, *rest = done.stdout.splitlines() or [""]
    return [int(word) for word in first.split()], rest, done.stderr


@pytest.mark.slow
def test_ctrl_c_ends_the_workers_quietly() -> None:
    processes, printed, complaints = run("Trouble", INTERRUPTED)

    assert printed == ["interrupted True"] and complaints == ""
    assert len(processes) == 2 and all(map(is_gone, processes))


@pytest.mark.slow
def test_a_program_that_starts_itself_again_is_told(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("from tensorclass.envs import GymEnv, ParallelEnv\nParallelEnv(1, GymEnv).start()\n")
    done = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, timeout=120)

    assert "does so in `if __name__ == '__main__':`" in done.stderr.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("then", ["", "sys.exit(3)", "raise SystemExit", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_the_workers_end_with_the_program(then: str) -> None:
    processes, _, complaints = run("lambda: cart_pole()", then)

    assert len(processes) == 2 and all(map(is_gone, processes)) and complaints == ""
