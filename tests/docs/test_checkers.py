"""The table of docs/checkers.md says what mypy with the plugin, mypy, pyright, ty and pyrefly find."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs import checkers
from tests.docs.pages import ROOT, Page

PATH = ROOT / "docs" / "checkers.md"
CHECKERS = ("plugin", "mypy", *checkers.OTHERS)
ROW = re.compile(
    r"^\| `(?P<mistake>.*)` " + "".join(rf"\| (?P<{name}>yes|no) " for name in CHECKERS) + r"\|$", re.MULTILINE
)


def lines_with_errors(checker: str, program: Path) -> set[int]:
    if checker in checkers.OTHERS:
        return set(checkers.errors(checker, program.parent)[program.stem])

    config = program.with_suffix(".ini")
    config.write_text("[mypy]\nstrict = True\n" + ("plugins = tensorclass_mypy\n" if checker == "plugin" else ""))
    cache = ROOT / ".mypy_cache" / checker
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), "--cache-dir", str(cache), program.name]
    done = subprocess.run(command, cwd=program.parent, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return {int(line) for line in re.findall(r"^\w+\.py:(\d+): error:", done.stdout, re.MULTILINE)}


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_the_table_says_what_the_checker_finds(checker: str, tmp_path: Path) -> None:
    rows = list(ROW.finditer(PATH.read_text()))
    setup = "from __future__ import annotations\n" + Page(PATH).source()
    first = setup.count("\n") + 1
    program = tmp_path / "mistakes.py"
    program.write_text(setup + "".join(f"{row['mistake']}\n" for row in rows))

    found = lines_with_errors(checker, program)

    assert rows
    assert not {line for line in found if line < first}, "the program above the table is right"
    assert {row["mistake"]: "yes" if line in found else "no" for line, row in enumerate(rows, start=first)} == {
        row["mistake"]: row[checker] for row in rows
    }
