"""mypy answers alike cold and warm, after an edit, in parallel, in the daemon and with either parser."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.typing.checked import cache

LIBRARY = """
import torch
from jaxtyping import Float
from torch import Tensor
from tensorclass import TensorClass

class Base(TensorClass):
    x: Float[Tensor, "*batch 3"]

def norm(x: Float[Tensor, "b 3"]) -> Float[Tensor, "b"]:
    return x.sum(-1)
"""
USE = """
import torch
from library import Base, norm

class Child(Base):
    y: torch.Tensor

child = Child(x=torch.zeros(2, 3), y=torch.zeros(2))
child["z"]
Base(x=torch.zeros(2, 4))

def use() -> None:
    norm(torch.zeros(4, 2))
    norm(torch.zeros(4, 3)).view(5)
    Base(x=torch.zeros(2, 3))[0, 0]
"""
VALUES = """
from torch import Tensor
from tensorclass.nn import TensorDictModule, TensorDictSequential

OUT = ["action"]

def act(obs: Tensor) -> Tensor:
    return obs * 2

policy = TensorDictSequential(TensorDictModule(act, in_keys=["obs"], out_keys=OUT))
"""
VALUES_USED = """
import torch
from library import OUT, act, policy
from tensorclass import TensorDict
from tensorclass.nn import TensorDictModule

td = TensorDict(obs=torch.zeros(3, 2), batch_size=[3])
policy(td)["acton"]
policy(TensorDict(pixels=torch.zeros(3, 2), batch_size=[3]))
TensorDictModule(act, in_keys=["obs", "goal"], out_keys=OUT)
"""
VALUES_FOUND = [
    "use.py:8: error: no key 'acton'; did you mean 'action'? The keys here are 'obs', 'action'  [tensorclass-key]",
    "use.py:9: error: in_key 'obs': no key 'obs'; the keys here are 'pixels'  [tensorclass-module]",
    "use.py:10: error: in_keys: 2 keys for a module that takes 1 argument  [tensorclass-module]",
]
FOUND = [
    "use.py:9: error: Child has no field 'z'; its fields are 'x', 'y'  [tensorclass-field]",
    "use.py:10: error: field 'x' has shape [2, 4], which does not fit \"*batch 3\": dim 1 is 4, not 3"
    "  [tensorclass-shape]",
    "use.py:13: error: norm: argument 'x' has shape [4, 2], which does not fit \"b 3\": dim 1 is 2, not 3"
    "  [tensorclass-shape]",
    "use.py:14: error: view: a tensor of shape [4] has 4 elements, which [5] cannot hold  [tensorclass-shape]",
    "use.py:15: error: index: 2 indices for 1 batch dim (batch size [2]); index a field to reach its feature dims"
    "  [tensorclass-batch]",
]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "mypy.ini").write_text("[mypy]\nplugins = tensorclass_mypy\nshow_error_context = False\n")
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "use.py").write_text(USE)
    return tmp_path


def told(program: Path, *arguments: str, tool: str = "mypy", caches: Path | None = None) -> list[str]:
    """The errors, sorted by line."""
    command = [sys.executable, "-m", tool, *arguments, "--config-file", "mypy.ini", "--no-error-summary"]
    command += ["--cache-dir", str(caches or program / "cache"), "library.py", "use.py"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=program, env=os.environ)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    rows = [row for row in run.stdout.splitlines() if ": error: " in row]
    return sorted(rows, key=lambda row: int(row.split(":")[1]))


@pytest.mark.slow
def test_cold_warm_and_touched_runs_answer_alike(program: Path) -> None:
    assert told(program) == FOUND
    assert told(program) == FOUND
    for name in ("use.py", "library.py"):
        with (program / name).open("a") as file:
            file.write("\n# touched\n")
        assert told(program) == FOUND


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("-n", "2"), ("--no-native-parser",), ("--strict",), ("--disallow-any-expr",)])
def test_other_ways_to_run_answer_alike(program: Path, arguments: tuple[str, ...]) -> None:
    found = [row for row in told(program, *arguments) if "[tensorclass-" in row]

    assert found == FOUND


ALIASES = """
from jaxtyping import Float
from torch import Tensor

Vec = Float[Tensor, "*batch 3"]
Image = Float[Tensor, "c h w"]
Images = Float[Image, "b"]
"""
ALIASES_USED = """
import torch
import library
from library import Images, Vec

def centre(points: Vec, images: library.Images) -> Vec:
    images[0, 0, 0, 0, 0]
    return points[..., :2]

centre(torch.zeros(5, 4), torch.zeros(2, 3, 8, 8))
"""
ALIASES_FOUND = [
    "use.py:7: error: index: 5 indices for 4 dims (shape [b, c, h, w])  [tensorclass-shape]",
    'use.py:8: error: the result has shape [*batch, 2], which does not fit "*batch 3": dim -1 is 2, not 3'
    "  [tensorclass-shape]",
    "use.py:10: error: centre: argument 'points' has shape [5, 4], which does not fit \"*batch 3\": dim 1 is 4, not 3"
    "  [tensorclass-shape]",
]


@pytest.mark.slow
def test_annotations_under_a_name_are_read_cold_warm_and_in_parallel(program: Path) -> None:
    (program / "library.py").write_text(ALIASES)
    (program / "use.py").write_text(ALIASES_USED)
    assert told(program) == ALIASES_FOUND
    with (program / "use.py").open("a") as file:
        file.write("\n# touched\n")
    assert told(program) == ALIASES_FOUND
    assert told(program, "-n", "2", caches=program / "other") == ALIASES_FOUND


@pytest.mark.slow
def test_the_daemon_sees_that_a_name_stands_for_other_dims(program: Path, daemon: list[str]) -> None:
    (program / "library.py").write_text(ALIASES)
    (program / "use.py").write_text(ALIASES_USED)
    arguments = [*daemon, "run", "--"]
    assert told(program, *arguments, tool="mypy.dmypy", caches=cache()) == ALIASES_FOUND
    (program / "library.py").write_text(ALIASES.replace("*batch 3", "*batch 2"))
    found = told(program, *arguments, tool="mypy.dmypy", caches=cache())
    assert [row.split(":")[1] for row in found] == ["7", "10"]


@pytest.fixture
def daemon(program: Path) -> Iterator[list[str]]:
    start = ["--status-file", str(program / "status.json")]
    yield start
    subprocess.run([sys.executable, "-m", "mypy.dmypy", *start, "stop"], capture_output=True, cwd=program)


@pytest.mark.slow
def test_the_daemon_answers_as_a_new_run_does(program: Path, daemon: list[str]) -> None:
    def ask() -> list[str]:
        return told(program, *daemon, "run", "--", tool="mypy.dmypy", caches=cache())

    assert ask() == FOUND
    (program / "use.py").write_text(USE.replace("torch.zeros(4, 2)", "torch.zeros(4, 3)"))
    assert ask() == [row for row in FOUND if not row.startswith("use.py:13:")]
    (program / "library.py").write_text(LIBRARY.replace('"b 3"', '"b 4"'))
    assert [row.split(":")[1] for row in ask()] == ["9", "10", "13", "14", "15"]
    # Not the very first texts again: mypy's daemon, with no plugin at all, takes those for unchanged.
    (program / "library.py").write_text(LIBRARY + "\n# as before\n")
    (program / "use.py").write_text(USE + "\n# as before\n")
    assert ask() == FOUND


@pytest.mark.slow
def test_the_daemon_looks_again_at_functions_that_had_nothing_in_them(program: Path, daemon: list[str]) -> None:
    def ask() -> list[str]:
        return told(program, *daemon, "run", "--", tool="mypy.dmypy", caches=cache())

    plain = "import torch\n\n\ndef total(x: torch.Tensor) -> torch.Tensor:\n    return x.sum()\n"
    (program / "library.py").write_text("")
    (program / "use.py").write_text(plain)
    assert ask() == []
    (program / "use.py").write_text("# A line\n" + plain.replace("x.sum()", "torch.zeros(2, 3) @ torch.zeros(4)"))
    assert [row.split(":")[1] for row in ask()] == ["6"]


@pytest.mark.slow
def test_a_code_can_be_switched_off_on_a_line_and_in_the_settings(program: Path) -> None:
    (program / "use.py").write_text(USE.replace('child["z"]', 'child["z"]  # type: ignore[tensorclass-field]'))
    assert told(program) == FOUND[1:]
    (program / "mypy.ini").write_text(
        "[mypy]\nplugins = tensorclass_mypy\n[tensorclass-mypy]\ndisable = tensorclass-shape\n"
    )
    assert told(program) == FOUND[-1:]


@pytest.mark.parametrize("level, errors", [("off", 0), ("result", 1), ("full", 2)])
@pytest.mark.slow
def test_calls_of_modules_are_typed_as_far_as_the_settings_say(program: Path, level: str, errors: int) -> None:
    (program / "mypy.ini").write_text(f"[mypy]\nplugins = tensorclass_mypy\n[tensorclass-mypy]\ncalls = {level}\n")
    (program / "library.py").write_text("")
    (program / "use.py").write_text(
        "import torch\n"
        "from torch import Tensor, nn\n"
        "class Net(nn.Module):\n"
        "    def forward(self, x: Tensor) -> Tensor:\n"
        "        return x\n"
        "Net()(torch.zeros(3)).missing\n"
        "Net()('x')\n"
    )
    assert len(told(program)) == errors


@pytest.mark.slow
def test_keys_named_by_a_module_of_constants_are_known_cold_warm_and_after_an_edit(program: Path) -> None:
    constants = 'OBS = "obs"\n\n\nclass Names:\n    ACT = "action"\n'
    (program / "library.py").write_text(constants)
    (program / "use.py").write_text(
        "import torch\nfrom library import OBS, Names\nfrom tensorclass import TensorDict\n"
        "td = TensorDict(obs=torch.zeros(3), batch_size=[3])\ntd[OBS]\ntd[Names.ACT]\n"
    )
    found = ["use.py:6: error: no key 'action'; the keys here are 'obs'  [tensorclass-key]"]
    assert told(program) == found
    assert told(program) == found
    (program / "library.py").write_text(constants.replace('"action"', '"obs"'))
    assert told(program) == []


@pytest.fixture
def values(program: Path) -> Path:
    (program / "library.py").write_text(VALUES)
    (program / "use.py").write_text(VALUES_USED)
    return program


@pytest.mark.slow
def test_values_of_another_module_are_known_cold_warm_and_after_an_edit_of_them(values: Path) -> None:
    assert told(values) == VALUES_FOUND
    assert told(values) == VALUES_FOUND
    (values / "library.py").write_text(VALUES.replace('"action"', '"acton"'))
    assert told(values) == VALUES_FOUND[1:]
    (values / "library.py").write_text(VALUES.replace('["obs"]', '["pixels"]'))
    assert [row.split(":")[1] for row in told(values)] == ["8", "8", "10"]


@pytest.mark.slow
def test_the_daemon_knows_values_of_another_module_after_an_edit_of_them(values: Path, daemon: list[str]) -> None:
    def ask() -> list[str]:
        return told(values, *daemon, "run", "--", tool="mypy.dmypy", caches=cache())

    assert ask() == VALUES_FOUND
    (values / "library.py").write_text(VALUES.replace('"action"', '"acton"'))
    assert ask() == VALUES_FOUND[1:]
    (values / "library.py").write_text(VALUES.replace('["obs"]', '["pixels"]'))
    assert [row.split(":")[1] for row in ask()] == ["8", "8", "10"]
