"""What must not load torch does not, and the rules run on every Python that the package names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULES = sorted(f"tensorclass._rules.{path.stem}" for path in (ROOT / "tensorclass" / "_rules").glob("*.py"))
WITHOUT_TORCH = "import sys; sys.modules.update(dict.fromkeys(['torch', 'mypy', 'jaxtyping', 'numpy']))"


def run(program: str, python: str = sys.executable) -> str:
    """What a program prints in a fresh interpreter that warns about nothing."""
    path = os.pathsep.join(map(str, (ROOT, ROOT / "mypy_plugin")))
    environment = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]}
    done = subprocess.run([python, "-W", "error", "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def loaded(program: str) -> set[str]:
    return set(run(f"{program}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})").split())


def interpreters() -> list[str]:
    """Other Pythons on this machine, as pyenv lays them out."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return sorted(str(path) for minor in range(10, 15) for path in root.glob(f"versions/3.{minor}.*/bin/python"))


def test_the_plugin_does_not_load_torch() -> None:
    assert "torch" not in loaded("import tensorclass_mypy; tensorclass_mypy.plugin")


def test_the_plugin_runs_where_torch_is_absent() -> None:
    run("import sys; sys.modules['torch'] = None; import tensorclass_mypy; tensorclass_mypy.plugin('2.4.1')")


def test_the_package_alone_does_not_load_torch() -> None:
    assert "torch" not in loaded("import tensorclass")


def test_the_rules_load_nothing_heavy() -> None:
    assert not {"torch", "mypy", "jaxtyping", "numpy"} & loaded(f"import {', '.join(RULES)}")


@pytest.mark.parametrize("python", [pytest.param(each, id=Path(each).parts[-3]) for each in interpreters()])
def test_the_rules_run_on_other_pythons(python: str) -> None:
    program = f"""
{WITHOUT_TORCH}
import {", ".join(RULES)}
from tensorclass._rules import table
print(table.after(table.OPS["permute"], (2, 3), {{"dims": (1, 0)}}))
"""
    assert run(program, python) == "(3, 2)"
