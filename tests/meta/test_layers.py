"""Imports point one way, from the facades down to the rules; the file that breaks an arrow is named."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "mypy_plugin"

# A module may import its own level and what is below it; the first name that fits counts.
LEVELS = {
    "tensorclass._rules": 0,
    "tensorclass._tree": 1,
    "tensorclass._methods": 2,
    "tensorclass.io": 4,
    "tensorclass.nn": 4,
    "tensorclass.distributed": 4,
    "tensorclass.envs": 5,
    "tensorclass": 3,  # the facades
}
# What else a layer may load besides the standard library; None: anything.
ALLOWED = {
    "tensorclass._rules": {"tensorclass._rules", "typing_extensions"},
    "tensorclass_mypy": {"tensorclass_mypy", "tensorclass._rules", "mypy", "typing_extensions"},
}
OUTSIDE = {"torch", "jaxtyping", "numpy", "mypy", "gymnasium", "tensorclass", "tensorclass_mypy"}


def modules() -> Iterator[tuple[str, Path]]:
    for base, package in ((ROOT, "tensorclass"), (PLUGIN, "tensorclass_mypy")):
        for path in sorted((base / package).rglob("*.py")):
            parts = path.relative_to(base).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imported(name: str, path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that is imported for running, in functions too."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    yield from _imports(ast.parse(path.read_text()), package)


def _imports(node: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
        for statement in node.orelse:
            yield from _imports(statement, package)
        return
    if isinstance(node, ast.Import):
        yield from ((node.lineno, alias.name) for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, package)


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def level(name: str) -> int | None:
    return next((level for package, level in LEVELS.items() if within(name, package)), None)


def broken_arrows(name: str, path: Path) -> list[str]:
    own = level(name)
    allowed = next((names for package, names in ALLOWED.items() if within(name, package)), None)
    wrong = []
    for line, target in imported(name, path):
        place = f"{path}:{line}: {name} imports {target}"
        theirs = level(target)
        if own is not None and theirs is not None and theirs > own:
            wrong.append(f"{place}, which is above it")
        elif allowed is not None and any(within(target, each) for each in OUTSIDE):
            if not any(within(target, each) for each in allowed):
                wrong.append(f"{place}; it may load {', '.join(sorted(allowed))}")
    return wrong


@pytest.mark.parametrize(("name", "path"), [pytest.param(*each, id=each[0]) for each in modules()])
def test_imports_point_down(name: str, path: Path) -> None:
    assert broken_arrows(name, path) == []


@pytest.mark.parametrize(
    ("name", "source", "arrows"),
    [
        ("tensorclass._rules.moves", "import torch", 1),
        ("tensorclass._rules.moves", "def f():\n    from .. import nn", 1),
        ("tensorclass._rules.moves", "from .sizes import Size", 0),
        ("tensorclass._tree.walk", "from tensorclass._container import Container", 1),
        ("tensorclass._container", "from ._tree import walk", 0),
        ("tensorclass._container", "from .envs import EnvBase", 1),
        ("tensorclass._container", "if TYPE_CHECKING:\n    from .envs import EnvBase", 0),
        ("tensorclass.nn._module", "from .._tensordict import TensorDict", 0),
        ("tensorclass_mypy._ops", "from tensorclass import TensorDict", 1),
        ("tensorclass_mypy._ops", "from tensorclass._rules import table", 0),
    ],
)
def test_a_broken_arrow_is_seen(name: str, source: str, arrows: int, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(source)

    assert len(broken_arrows(name, path)) == arrows
