"""Reports: told once, whatever mypy is trying out at the moment, and a defect of our own told as one."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any

from mypy.nodes import Context, Node

from . import _codes

VERSION = "0.1.0"


@dataclass(frozen=True)
class Report:
    """One error or note."""

    node: Any
    code: Any
    text: str
    severity: str


class Reports:
    """What a walk has said; a place is told once for each code."""

    def __init__(self) -> None:
        self.found: list[Report] = []
        self._seen: dict[tuple[int, Any], int] = {}

    def say(self, node: Node, code: Any, text: str, severity: str) -> None:
        place = (id(node), code)
        if place in self._seen:
            if severity == "note" and self.found[self._seen[place]].text != text:
                self.found[self._seen[place]] = Report(node, code, "batch unknown", severity)
            return
        self._seen[place] = len(self.found)
        self.found.append(Report(node, code, text, severity))


def ignored(api: Any, tree: Any) -> bool:
    """A file of an installed package: mypy reads it and tells nothing."""
    files = getattr(api.errors, "ignored_files", ())
    return tree.path in files or "site-packages" in tree.path or "typeshed" in tree.path


def token(api: Any, tree: Any, node: Any) -> tuple[Any, ...]:
    """What is another thing when mypy checks a function again, as the daemon does after an edit."""
    shown = api.errors.error_info_map
    return shown, shown.get(tree.path), getattr(node, "type", None)


def same_token(before: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
    if before[0] is not now[0] or before[2] is not now[2]:
        return False
    return before[1] is None or before[1] is now[1]


def emit(api: Any, reports: list[Report]) -> None:
    """Tell mypy. A hook may fire while mypy tries an overload out and drops what is said; what we say stands."""
    errors = api.errors
    watchers = errors._watchers
    errors._watchers = []
    try:
        for report in reports:
            code = report.code
            if code is not None and not _enabled(api, code):
                continue
            node = report.node
            errors.report(
                node.line,
                node.column,
                report.text,
                code=code,
                severity=report.severity,
                end_line=node.end_line,
                end_column=node.end_column,
                origin_span=range(node.line, (node.end_line or node.line) + 1),
            )
    finally:
        errors._watchers = watchers


_off: set[str] = set()


def switch_off(codes: set[str]) -> None:
    """Codes that the settings switch off."""
    _off.clear()
    _off.update(codes)


def _enabled(api: Any, code: Any) -> bool:
    return code.code not in _off


def say(api: Any, node: Context, code: Any, text: str) -> None:
    """One error, now; a hook that fires again for the same node says nothing new (mypy drops repeated lines)."""
    emit(api, [Report(node, code, text, "error")])


_told: set[str] = set()


def defect(api: Any, problem: BaseException) -> None:
    """A defect of the plugin: told once, and checking goes on."""
    frames = traceback.extract_tb(problem.__traceback__)
    last = frames[-1] if frames else None
    place = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}" if last is not None else "?"
    text = f"tensorclass_mypy {VERSION} has a defect: {type(problem).__name__}: {problem} ({place}); "
    text += "checking goes on without it"
    import os

    if os.environ.get("TENSORCLASS_MYPY_DEBUG"):
        traceback.print_exception(problem)
    if place in _told:
        return
    _told.add(place)
    try:
        errors = api.errors
        watchers, errors._watchers = errors._watchers, []
        errors.report(1, 0, text, code=_codes.PLUGIN, severity="note")
        errors._watchers = watchers
    except Exception:  # Nothing more can be done here.
        return
