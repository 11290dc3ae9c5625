"""Which functions are worth a walk: without a class of ours or a size in numbers there is nothing to say."""

from __future__ import annotations

import re
from typing import Any

from mypy.nodes import (
    ExpressionStmt,
    FuncDef,
    Import,
    ImportAll,
    ImportFrom,
    MypyFile,
    StrExpr,
    SymbolTable,
    TypeInfo,
)

from . import _aliases, _scan
from ._types import is_module

PACKAGES = {"torch", "tensorclass", "jaxtyping"}
DEPTH = 2  # Imports of imports: a class of ours may come through a module of the program.

# In a file that knows torch alone, a mistake needs a size in numbers and a call that makes a shape of it.
# (No size is a float, and -1 says "the last" or "the rest", whatever the sizes are.)
_NUMBER = re.compile(r"(?:[\s(\[{,=:*/]|(?<![\d.]e)(?:\+|-(?!1\b)))\d+(?![\d.e])")
_SOURCES = (
    *("zeros(", "ones(", "empty(", "full(", "normal(", "eye(", "arange(", "linspace(", "logspace(", "tensor("),
    *("rand(", "randn(", "randint(", "randperm(", "rand_like(", "randn_like(", "randint_like("),
    *("from_numpy(", "Parameter(", ".new_", "view(", "reshape(", "expand(", "flatten(", "permute(", "repeat(", "tile("),
    *("one_hot(", "meshgrid(", "einsum(", "stack(", "broadcast_to(", "_indices(", "diag(", "outer("),
)
_LAYERS = re.compile(
    r"\bnn\.(?!Module\b|Parameter\b|functional\b)[A-Z]|"
    r"from torch\.nn(?:\.modules\S*)? import (?!(?:(?:Module|Parameter|functional)\b(?: as \w+)?,? *)+$)",
    re.MULTILINE,
)
# A layer with a number, or a constant's name, among its first two arguments.
_SIZED = re.compile(r"\b[A-Z]\w*\((?:[^,()]*,)?\s*(?:\w+\s*=\s*)?(?:\d|[A-Z][A-Z0-9_]+\b)")
_NAMED = re.compile(r"^\s*(?:self\.)?\w+\s*=\s*\d+\s*(?:#.*)?$", re.MULTILINE)
_CALLS = re.compile(r"\bself\.[\w.]+(?:\[[^\]]*\])?\(")
_STRICT = ("MultiheadAttention(", "GroupNorm(", "coderLayer(")  # Layers that not every size will do for.


_files: dict[str, tuple[MypyFile, Any, Worth]] = {}


def of(api: Any, tree: MypyFile) -> Worth:
    """What a file says, found out once: mypy comes back to a file whose functions wait for those of another."""
    kept, shown = _files.get(tree.path), api.errors.error_info_map
    if kept is None or kept[0] is not tree or kept[1] is not shown:
        kept = _files[tree.path] = tree, shown, Worth(api, tree)
    return kept[2]


class Worth:
    """What one file says of this."""

    def __init__(self, api: Any, tree: MypyFile) -> None:
        self.tree = tree
        self.packages = _packages(api, tree)
        self.all = "tensorclass" in self.packages or _has_shapes(api, tree)
        text = None if self.all or not self.packages else _scan.text_of(tree)
        self.all = self.all or text is None
        self.layers = text is not None and ("nn." in text or "torch.nn" in text) and _LAYERS.search(text) is not None
        self.known: dict[int, bool] = {}  # By the line of a function.
        self.classes: dict[str, bool] = {}

    def walk(self, node: FuncDef) -> bool:
        """Whether a walk of a function may find something."""
        if self.all:
            return True
        known = self.known.get(node.line)
        if known is None:
            known = self.known[node.line] = self._walk(node, _scan.lines_of(self.tree))
        return known

    def _walk(self, node: FuncDef, lines: list[str]) -> bool:
        module = self.layers and bool(node.info) and is_module(node.info)
        text = self._text(node, lines)
        if module and node.name != "__init__" and _CALLS.search(text) is not None and self._sized(node.info, lines):
            return True  # Layers that are called one after the other: their sizes stand in __init__.
        if self.layers and any(word in text for word in _STRICT):
            return True
        if self.layers and not module and "nn." in text and _SIZED.search(text) is not None:
            return True
        return any(source in text for source in _SOURCES) and _NUMBER.search(text) is not None

    def _sized(self, info: TypeInfo, lines: list[str]) -> bool:
        """Whether a class has layers whose sizes are numbers."""
        known = self.classes.get(info.fullname)
        if known is None:
            own = [base.defn for base in info.mro if base.module_name == self.tree.fullname]
            texts = ["\n".join(lines[defn.line - 1 : defn.end_line]) for defn in own]
            known = any(_SIZED.search(text) is not None or _NAMED.search(text) is not None for text in texts)
            self.classes[info.fullname] = known
        return known

    def _text(self, node: FuncDef, lines: list[str]) -> str:
        """The text of a function, without its docstring."""
        rows = lines[node.line - 1 : node.end_line]
        first = node.body.body[0] if node.body.body else None
        if isinstance(first, ExpressionStmt) and isinstance(first.expr, StrExpr) and first.end_line is not None:
            del rows[first.line - node.line : first.end_line - node.line + 1]
        return "\n".join(rows)


def _has_shapes(api: Any, tree: MypyFile) -> bool:
    """Whether annotations of jaxtyping's are in a file, or names that another module has for them."""
    names = _named(tree)
    if "jaxtyping" in names:
        return True
    for name in names:
        module, _, last = name.rpartition(".")
        if _aliases.of(api, name) or last in _aliases.of(api, module):
            return True
    return False


def _packages(api: Any, tree: MypyFile) -> set[str]:
    """Which of our packages a file uses, itself or through a module that it imports."""
    names = _named(tree)
    found = _ours(names)
    seen = {tree.fullname, *PACKAGES}
    for _ in range(DEPTH):
        if "tensorclass" in found:
            break
        inner: set[str] = set()
        for name in names - seen:
            other = None if name.startswith("torch.") else api.modules.get(name)
            if other is not None and not other.is_stub and "site-packages" not in other.path:
                modules, ours = _mentioned(other)
                inner |= modules
                found |= ours
        seen |= names
        names = inner
    return found


def _named(tree: MypyFile) -> set[str]:
    """The modules that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in tree.imports:
        if isinstance(node, Import):
            found.update(name for name, _ in node.ids)
        elif isinstance(node, (ImportFrom, ImportAll)):
            base = node.id
            if node.relative:
                parts = tree.fullname.split(".")
                package = parts if tree.is_package_init_file() else parts[:-1]
                package = package[: len(package) - node.relative + 1]
                base = ".".join([*package, *([node.id] if node.id else [])])
            found.add(base)
            if isinstance(node, ImportFrom):
                found.update(f"{base}.{name}" for name, _ in node.names)
    return found


_mentions: dict[str, tuple[SymbolTable, set[str], set[str]]] = {}


def _mentioned(tree: MypyFile) -> tuple[set[str], set[str]]:
    """The modules that the names of a module come from (one out of mypy's cache has no imports); which are of ours."""
    kept = _mentions.get(tree.fullname)
    if kept is None or kept[0] is not tree.names:
        found: set[str] = set()
        for symbol in tree.names.values():
            node = symbol.node
            if isinstance(node, MypyFile):
                found.add(node.fullname)
            elif node is not None and node.fullname:
                found.add(node.fullname.rpartition(".")[0])
        found.discard(tree.fullname)
        kept = _mentions[tree.fullname] = tree.names, found, _ours(found)
    return kept[1], kept[2]


def _ours(modules: set[str]) -> set[str]:
    return {name.split(".", 1)[0] for name in modules} & PACKAGES
