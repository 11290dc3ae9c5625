"""mypy with the plugin says what the programs in says/ and refuses/ say that it does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.typing.checked import HERE, ROOT, difference, expected, mypy, told

SAYS = sorted((HERE / "says").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["says", "refuses", "pairs"])
def test_mypy_tells_what_the_comments_say(folder: str) -> None:
    got = told(mypy(str(HERE / folder)))

    assert difference(expected(HERE / folder), got) == []


@pytest.mark.slow
def test_a_program_that_runs_is_not_refused() -> None:
    errors = [one for row in told(mypy(str(HERE / "says"))).values() for one in row if one[0] == "E"]

    assert errors == []


@pytest.mark.parametrize("path", SAYS, ids=lambda path: path.stem)
def test_what_mypy_accepts_runs(path: Path) -> None:
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=ROOT)

    assert run.returncode == 0, run.stderr


@pytest.mark.slow
def test_programs_are_fine_without_the_plugin() -> None:
    assert mypy(str(HERE / "plain"), config="[mypy]\n", cache_dir=HERE / ".." / ".." / ".mypy_cache" / "plain") == ""
