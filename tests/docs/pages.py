"""The Python blocks of a page, put together into one module whose lines are the page's own.

Two comments carry what a block promises. `print(x)  # 3`: running it prints this. `y.mss  # mypy: no field`: mypy
reports this on the line, and running the statement may raise.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"# mypy: (?P<text>.*)$")
SHOWN = re.compile(r"^print\(.*\)  # (?P<text>.*)$")


@dataclass(frozen=True)
class Statement:
    line: int
    code: ast.stmt
    prints: str | None
    may_raise: bool


@dataclass(frozen=True)
class Page:
    path: Path

    @property
    def name(self) -> str:
        """A name that is a module's too: docs_guides_mypy."""
        return "_".join(self.path.relative_to(ROOT).with_suffix("").parts).lower()

    def source(self) -> str:
        """What is outside of the blocks becomes empty lines."""
        text = self.path.read_text()
        lines = [""] * (text.count("\n") + 1)
        for fence in FENCE.finditer(text):
            first = text.count("\n", 0, fence.start(1))
            for number, line in enumerate(fence[1].splitlines()):
                lines[first + number] = line
        return "\n".join(lines) + "\n"

    def statements(self) -> Iterator[Statement]:
        source = self.source()
        lines = source.splitlines()
        for code in ast.parse(source).body:
            own = lines[code.lineno - 1 : code.end_lineno]
            shown = SHOWN.match(own[-1])
            marked = any(MARK.search(line) for line in own)
            prints = None if marked or shown is None else shown["text"].strip()
            yield Statement(code.lineno, code, prints, marked)

    def marks(self) -> dict[int, str]:
        """What mypy must say, by line."""
        found = ((number, MARK.search(line)) for number, line in enumerate(self.source().splitlines(), start=1))
        return {number: mark["text"].strip() for number, mark in found if mark is not None}


def pages() -> list[Page]:
    """Those with Python in them."""
    return [Page(path) for path in PAGES if FENCE.search(path.read_text())]
