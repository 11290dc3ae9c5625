"""Docstring examples as code blocks: Markdown reads the prompt `>>>` as a quotation in a quotation in a quotation."""

from __future__ import annotations

from typing import Any

import griffe


def fenced(text: str) -> str:
    """The same text with a fence around every example; an empty line ends one."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith(">>> ") and not inside:
            lines.append("```pycon")
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)


class Fences(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
