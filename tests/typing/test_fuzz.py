"""Random programs: what runs is not refused, and a shape that is told is the shape that comes."""

from __future__ import annotations

import pytest

from tests.typing.fuzz import fuzz


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_mypy_says_of_random_programs_what_is_true(seed: int) -> None:
    found = fuzz(60, seed)

    assert found.alarms == []
    assert found.wrong == []
    assert sum(found.known.values()) > sum(len(rows) for rows in found.unknown.values())
