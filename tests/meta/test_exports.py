"""Public names exist, say what they are, and stand in the documentation."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ["tensorclass", "tensorclass.distributed", "tensorclass.envs", "tensorclass.io", "tensorclass.nn"]
PAGES = {"tensorclass": "api.md", "tensorclass.envs": "api_envs.md", "tensorclass.nn": "api_nn.md"}
API = {package: ROOT / "docs" / PAGES.get(package, "api_storage.md") for package in PACKAGES}


def names(package: str) -> list[str]:
    """What the package re-exports as `from ._file import Name as Name`, lazily or not."""
    path = ROOT.joinpath(*package.split("."), "__init__.py")
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    return sorted(alias.name for node in imports if node.module for alias in node.names if alias.name == alias.asname)


PUBLIC = [pytest.param(package, name, id=f"{package}.{name}") for package in PACKAGES for name in names(package)]


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_a_public_name_can_be_imported(package: str, name: str) -> None:
    try:
        assert getattr(importlib.import_module(package), name) is not None
    except ModuleNotFoundError as error:
        assert re.search(rf"{name} needs \w+; pip install 'tensorclass\[\w+\]' installs it", str(error))


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_documented(package: str) -> None:
    """By a directive of mkdocstrings, a heading, or a row of a table."""
    text = API[package].read_text()
    entry = rf"^(?:::: {re.escape(package)}\.(\w+)|#+ `(\w+)`|\| `(\w+)` \|.*)$"
    documented = {name for found in re.findall(entry, text, re.MULTILINE) for name in found if name}

    assert set(names(package)) - documented == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_lists_its_names(package: str) -> None:
    assert set(names(package)) <= set(dir(importlib.import_module(package)))


def test_checkers_see_the_names_that_the_lazy_package_has() -> None:
    assert names("tensorclass") == sorted(importlib.import_module("tensorclass").__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Tipo"):
        importlib.import_module("tensorclass").Tipo  # noqa: B018
