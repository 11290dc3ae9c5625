"""What is generated from the table of operations is what the generator would write now."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorclass._rules import write

FILES = sorted(write.files().items())


@pytest.mark.parametrize(("path", "text"), [pytest.param(*each, id=each[0].name) for each in FILES])
def test_a_generated_file_is_fresh(path: Path, text: str) -> None:
    assert path.read_text() == text, "run python -m tensorclass._rules.write"
