"""Modules that name keys: `OBS = "obs"`, with no class and no call in sight, for which mypy asks no plugin anything.

What such a name stands for is kept with the module as soon as it is parsed, read off its text. Only names in capitals
count: another module might set any other.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from mypy.nodes import GDEF, MypyFile, SymbolTableNode, Var
from mypy.types import UnboundType

from . import _constants, _kept, _scan

_NAME = r"[A-Z][A-Z0-9_]*"
_TEXT = r"""["'][^"'\\\n]*["']"""
_ONE = rf"(?:{_TEXT}|{_NAME})"
_ROW = rf"[\[(] *{_ONE}(?: *, *{_ONE})*,? *[\])]"
_CLASS = r"^class +(?P<cls>\w+)"
_SET = rf"^(?P<deep> +)?(?P<name>{_NAME})(?: *:[^=\n]*)? *= *(?P<value>{_TEXT}|{_ROW}) *(?:#.*)?$"
_ROWS = re.compile(rf"{_CLASS}|{_SET}", re.MULTILINE)
_BINDS = re.compile(rf"\b(?:as|for|del|global|import) +({_NAME})\b|\b({_NAME}) *(?::[^=\n]*)?[-+*/|&]?=(?!=)")


def keep(tree: MypyFile) -> None:
    """Keep the constants of a module that was just parsed."""
    if tree.is_stub or "site-packages" in tree.path or tree.fullname.startswith(("tensorclass.", "torch.")):
        return
    text = _scan.text_of(tree)
    if text is None or _kept.SYMBOL in tree.names:
        return
    found = read(text)
    if found:
        var = Var(_kept.SYMBOL, UnboundType(json.dumps(found, sort_keys=True)))
        var._fullname = f"{tree.fullname}.{_kept.SYMBOL}"
        var.is_ready = True
        tree.names[_kept.SYMBOL] = SymbolTableNode(GDEF, var, module_public=False, plugin_generated=True)


def read(text: str) -> dict[str, str]:
    """Names in capitals that a text binds once, at its top level or in a class, with what they are bound to."""
    found: dict[str, str] = {}
    owner = ""
    for row in _ROWS.finditer(text):
        if row["cls"]:
            owner = row["cls"]
        elif owner or not row["deep"]:
            found[f"{owner}.{row['name']}" if row["deep"] else row["name"]] = row["value"]
    bound = Counter(one or other for one, other in _BINDS.findall(text)) if found else Counter[str]()
    return {full: value for full, value in found.items() if _is_constant(text, bound, full.rpartition(".")[2])}


def _is_constant(text: str, bound: Counter[str], name: str) -> bool:
    return bound[name] == 1 and not _constants.is_set(text, name)
