"""The program of the guide, run by torchrun on two ranks, prints what the guide shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "distributed.md"


@pytest.mark.slow
def test_the_program_of_the_guide_prints_what_it_shows(tmp_path: Path) -> None:
    program, shown = re.findall(r"```(?:python|text)\n(.*?)```", GUIDE.read_text(), re.DOTALL)[:2]
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)

    assert done.returncode == 0, done.stderr
    lines = shown.splitlines()[1:]  # Lines of two ranks may run into each other: torchrun does not buffer them.
    assert all(line in done.stdout for line in lines), done.stdout
    assert len(done.stdout.replace("\n", "")) == sum(map(len, lines)), done.stdout
