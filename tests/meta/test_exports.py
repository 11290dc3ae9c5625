"""Public names exist, say what they are, and stand in the documentation."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ["tensorclass", "tensorclass.nn"]
API = (ROOT / "docs" / "api.md").read_text()


def names(package: str) -> list[str]:
    return sorted(importlib.import_module(package).__all__)


PUBLIC = [pytest.param(package, name, id=f"{package}.{name}") for package in PACKAGES for name in names(package)]


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_a_public_name_can_be_imported(package: str, name: str) -> None:
    assert getattr(importlib.import_module(package), name) is not None


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_a_public_name_is_documented(package: str, name: str) -> None:
    assert re.search(rf"^(::: {re.escape(package)}\.{name}|#+ `{name}`|\| `{name}` \|.*)$", API, re.MULTILINE)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_lists_its_names(package: str) -> None:
    module = importlib.import_module(package)

    assert set(module.__all__) <= set(dir(module))


def test_checkers_see_the_names_that_the_lazy_package_has() -> None:
    tree = ast.parse((ROOT / "tensorclass" / "__init__.py").read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    seen = {
        alias.asname or alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }

    assert set(names("tensorclass")) - {"__version__"} <= seen


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Tipo"):
        importlib.import_module("tensorclass").Tipo  # noqa: B018
