"""Every mistake in pairs/ stands beside a good twin; what is no mistake runs."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.typing.checked import EXPECTED, HERE

PROGRAMS = sorted((HERE / "pairs").glob("*.py"))
OPENS = ("def ", "class ", "@", "if ", "for ", "with ", "while ", "match ", "case ", "pass", "break")


def pairs(path: Path) -> int:
    """How many mistakes have a line of their own beside them that is none."""
    rows = path.read_text().splitlines()
    bad = [len(EXPECTED.split(row)) > 1 for row in rows]
    twins: set[int] = set()
    for place, wrong in enumerate(bad):
        beside = (place - 1, place + 1) if wrong else ()
        found = [
            at for at in beside if at < len(rows) and not bad[at] and at not in twins and _is_twin(rows, place, at)
        ]
        twins.update(found[:1])
    return len(twins)


def _is_twin(rows: list[str], place: int, at: int) -> bool:
    text = rows[at].strip()
    deep = [len(row) - len(row.lstrip()) for row in (rows[place], rows[at])]
    return bool(text) and not text.startswith(OPENS) and deep[0] == deep[1]


def test_there_are_enough_pairs() -> None:
    assert sum(pairs(path) for path in PROGRAMS) >= 200


class WithoutMistakes(ast.NodeTransformer):
    """Drops the statements that mypy complains about."""

    def __init__(self, wrong: set[int]) -> None:
        self.wrong = wrong

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for part in ("body", "orelse"):
            body = getattr(node, part, None)
            if isinstance(body, list) and body:
                kept = [one for one in body if not self.wrong & self._lines(one)]
                setattr(node, part, kept or [ast.copy_location(ast.Pass(), one) for one in body[:1]])
        return node

    def _lines(self, node: ast.stmt) -> set[int]:
        # Of a block its head alone: what is inside goes by itself.
        inner = getattr(node, "body", None)
        last = inner[0].lineno - 1 if isinstance(inner, list) and inner else node.end_lineno or node.lineno
        return set(range(node.lineno, max(last, node.lineno) + 1))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_good_twins_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text()
    wrong = {number for number, row in enumerate(text.splitlines(), 1) if len(EXPECTED.split(row)) > 1}
    tree = ast.fix_missing_locations(WithoutMistakes(wrong).visit(ast.parse(text)))
    module = ModuleType(f"pairs_{path.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(tree, str(path), "exec"), module.__dict__)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not (node.args.args or node.args.vararg):
            function = getattr(module, node.name)
            assert callable(function)
            function()
