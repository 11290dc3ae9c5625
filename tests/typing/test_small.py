"""The plugin's first answers, in seconds: a small torch stands in for the real one."""

from __future__ import annotations

from tests.typing.checked import HERE, ROOT, difference, expected, mypy, small, told


def test_the_first_slice_against_a_small_torch() -> None:
    got = told(mypy(str(HERE / "small"), config=small(), cache_dir=ROOT / ".mypy_cache" / "small"))

    assert difference(expected(HERE / "small"), got) == []
