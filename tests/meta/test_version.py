"""The version that the plugin tells with its defects is the one of the package."""

from __future__ import annotations

import re
from pathlib import Path

from tensorclass_mypy._report import VERSION

ROOT = Path(__file__).parents[2]


def test_the_plugin_has_the_version_of_the_package() -> None:
    (version,) = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)

    assert version == VERSION
