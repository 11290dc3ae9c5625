"""A wheel built from the tree works where the tree is not: at run time, and under mypy with the plugin."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import torch
from jaxtyping import Float
from torch import Tensor

import tensorclass
from tensorclass import TensorClass


class Body(TensorClass):
    mass: Float[Tensor, "*batch"]


body = Body(mass=torch.ones(4, 5))
print(tensorclass.__file__)
print(tuple(body[0].batch_size))
"""
MISTAKE = 'body["mss"]\n'

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment that has the wheel, and everything else from the present one."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel), cwd=folder)
    # A path file inside of this folder is not read again, so the editable install in it stays out of the way.
    (site / "present.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python"


def run(*command: str | Path, cwd: Path, status: int = 0) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_both_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"tensorclass", "tensorclass_mypy"}
    assert {"tensorclass/py.typed", "tensorclass_mypy/py.typed"} <= set(names)


def test_a_program_runs_from_the_wheel(python: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)

    place, batch = run(python, "program.py", cwd=tmp_path).splitlines()

    assert Path(place).is_relative_to(python.parents[1])
    assert batch == "(5,)"


def test_mypy_finds_the_plugin_in_the_wheel(python: Path, tmp_path: Path) -> None:
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = True\nplugins = tensorclass_mypy\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "mistake.py").write_text(PROGRAM + MISTAKE)

    said = run(python, "-m", "mypy", "program.py", "mistake.py", cwd=tmp_path, status=1)

    (error,) = [line for line in said.splitlines() if ": error: " in line]
    assert error.startswith("mistake.py:") and "'mss'" in error and "[tensorclass-field]" in error
