"""Every Python block of the README and of the documentation runs, prints what it says, and type-checks."""

from __future__ import annotations
import __future__

import ast
import contextlib
import io
import re
import subprocess
import sys
import types
from collections import defaultdict
from pathlib import Path

import pytest
import torch

from tensorclass_mypy._codes import ALL as CODES
from tests.docs import checkers
from tests.docs.checkers import Said
from tests.docs.pages import PAGES, ROOT, Page, Statement, pages

ERRORS = Page(ROOT / "docs" / "errors.md")
CONFIG = "[mypy]\nstrict = True\nplugins = tensorclass_mypy\n"
MESSAGE = re.compile(r"^(?P<module>\w+)\.py:(?P<line>\d+): (?P<kind>error|note): (?P<text>.*)$")

each_page = pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in pages()])


@each_page
def test_the_blocks_of_a_page_run_in_order(page: Page, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = types.ModuleType(page.name)
    monkeypatch.setitem(sys.modules, page.name, module)  # annotations are looked up there
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    for statement in page.statements():
        printed = run(statement, page, module)
        if statement.prints is not None:
            assert printed == statement.prints, f"{page.path}:{statement.line}"


def run(statement: Statement, page: Page, module: types.ModuleType) -> str:
    out = io.StringIO()
    tree = ast.Module([statement.code], type_ignores=[])
    code = compile(tree, str(page.path), "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True)
    raised = contextlib.suppress(Exception) if statement.may_raise else contextlib.nullcontext()
    with contextlib.redirect_stdout(out), raised:
        exec(code, vars(module))
    return out.getvalue().rstrip("\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as modules."""
    folder = tmp_path_factory.mktemp("pages")
    for page in pages():
        # Line 1 of a page is its title, so the import that makes all annotations lazy moves no line.
        assert not page.source().splitlines()[0]
        (folder / f"{page.name}.py").write_text("from __future__ import annotations" + page.source())
    return folder


@pytest.fixture(scope="module")
def mypy(folder: Path) -> Said:
    """What mypy with the plugin says about all pages, in one run."""
    config = folder / "mypy.ini"
    config.write_text(CONFIG)
    cache = ROOT / ".mypy_cache" / "docs"
    options = ["--config-file", str(config), "--cache-dir", str(cache), "--hide-error-context", "--no-error-summary"]
    names = sorted(path.name for path in folder.glob("*.py"))
    done = subprocess.run([sys.executable, "-m", "mypy", *options, *names], cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    said: Said = defaultdict(lambda: defaultdict(list))
    for message in map(MESSAGE.match, done.stdout.splitlines()):
        if message is not None:
            said[message["module"]][int(message["line"])].append(message["text"])
    return said


@pytest.mark.slow
@each_page
def test_mypy_says_what_a_page_says_it_does(page: Page, mypy: Said) -> None:
    said, marks = mypy[page.name], page.marks()

    missing = {line: text for line, text in marks.items() if not any(text in each for each in said[line])}
    unmarked = {line: texts for line, texts in said.items() if texts and line not in marks}

    assert not missing, dict(said)
    assert not unmarked


def headings(page: Page) -> dict[str, range]:
    """The lines below each heading of the second level."""
    lines = page.path.read_text().splitlines()
    starts = [number for number, line in enumerate(lines, start=1) if line.startswith("## ")]
    ends = [*starts[1:], len(lines) + 1]
    return {lines[start - 1].removeprefix("## "): range(start, end) for start, end in zip(starts, ends, strict=True)}


def test_every_code_has_a_heading() -> None:
    assert set(headings(ERRORS)) == set(CODES)


@pytest.mark.slow
@pytest.mark.parametrize("code", sorted(set(CODES) - {"tensorclass-plugin"}))
def test_a_wrong_program_has_the_code_of_its_heading(code: str, mypy: Said) -> None:
    below = headings(ERRORS)[code]
    marked = [line for line in ERRORS.marks() if line in below]

    assert marked
    assert all(f"[{code}]" in "".join(mypy[ERRORS.name][line]) for line in marked)


@pytest.fixture(scope="module", params=checkers.OTHERS)
def other(folder: Path, request: pytest.FixtureRequest) -> Said:
    """The errors of a checker that has no plugin."""
    return checkers.errors(request.param, folder)


@pytest.mark.slow
@each_page
def test_no_other_checker_refuses_what_is_right(page: Page, other: Said) -> None:
    assert {line: texts for line, texts in other[page.name].items() if line not in page.marks()} == {}


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_every_block_says_its_language(path: Path) -> None:
    fences = re.findall(r"^```(\w*)", path.read_text(), re.MULTILINE)

    assert all(fences[::2])
