"""Signatures that one module declares and another needs, kept in the module's symbol table and so in mypy's cache.

mypy frees the bodies of a module that it is done with, and reads none from its cache: what is not kept is not known.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mypy.errorcodes import VALID_TYPE
from mypy.nodes import GDEF, ClassDef, Decorator, FuncDef, MypyFile, SymbolTableNode, Var
from mypy.plugin import AnalyzeTypeContext
from mypy.types import AnyType, LiteralType, Type, TypeOfAny, get_proper_type

from tensorclass._rules import annotations as strings
from tensorclass._rules.annotations import AnnotationError

from . import _kept, _marks, _report

if TYPE_CHECKING:
    from ._hints import Hint, Signature
    from ._walk import Walk

SYMBOL = "__tensorclass_shapes__"


_done: dict[int, MypyFile] = {}


def on_annotated(ctx: AnalyzeTypeContext) -> Type:
    """jaxtyping's names are typing.Annotated: mypy's own answer, and what the file's functions declare is kept.

    This is the one hook that comes before mypy writes the interface of a module to its cache.
    """
    typ = ctx.type
    api: Any = ctx.api
    tree = api.api.cur_mod_node
    if _done.get(id(tree)) is not tree:
        if len(_done) > 50:
            _done.clear()
        _done[id(tree)] = tree
        try:
            store(api.api, tree)
            _kept.keep(api.api, tree)
        except Exception as problem:
            _report.defect(api.api, problem)
    if len(typ.args) < 2:
        api.fail("Annotated[...] must have exactly one type argument and at least one annotation", typ, code=VALID_TYPE)
        return AnyType(TypeOfAny.from_error)
    found: Type = api.anal_type(typ.args[0], allow_typed_dict_special_forms=api.allow_typed_dict_special_forms)
    return found


def store(api: Any, tree: MypyFile) -> None:
    """Keep what the functions of a file declare."""
    from ._hints import signature

    found: dict[str, Any] = {}
    for name, node in _functions(tree.defs, ""):
        hints = signature(tree, node)
        if hints is not None:
            _marks.mark(node)
            found[name] = _written(hints)
    if not found:
        return
    text = json.dumps(found, sort_keys=True)
    var = Var(SYMBOL, LiteralType(text, api.named_type("builtins.str")))
    var._fullname = f"{tree.fullname}.{SYMBOL}"
    var.is_ready = True
    tree.names[SYMBOL] = SymbolTableNode(GDEF, var, module_public=False, plugin_generated=True)


def _functions(defs: Any, prefix: str) -> Any:
    for node in defs:
        if isinstance(node, Decorator):
            node = node.func
        if isinstance(node, FuncDef):
            yield prefix + node.name, node
        elif isinstance(node, ClassDef):
            yield from _functions(node.defs.body, f"{prefix}{node.name}.")


def _written(hints: Signature) -> dict[str, Any]:
    result = hints.result
    return {
        "parameters": {name: _row(hint) for name, hint in hints.parameters.items()},
        "result": [None if hint is None else _row(hint) for hint in result] if isinstance(result, tuple) else None,
        "one": None if result is None or isinstance(result, tuple) else _row(result),
    }


def _row(hint: Hint) -> list[Any]:
    return [hint.text, hint.dtype, hint.of, hint.kind, hint.optional]


def _hint(row: Any) -> Hint | None:
    from ._hints import Hint

    if row is None:
        return None
    try:
        return Hint(row[0], strings.parse(row[0]), *row[1:])
    except AnnotationError:
        return None


def signature_of(walk: Walk, node: FuncDef) -> Signature | None:
    """What a function of another module declares."""
    from ._hints import Signature

    parts = node.fullname.split(".")
    for count in range(len(parts) - 1, 0, -1):
        module = walk.api.modules.get(".".join(parts[:count]))
        if module is None:
            continue
        symbol = module.names.get(SYMBOL)
        typ = get_proper_type(symbol.node.type) if symbol is not None and isinstance(symbol.node, Var) else None
        if not isinstance(typ, LiteralType) or not isinstance(typ.value, str):
            return None
        row = json.loads(typ.value).get(".".join(parts[count:]))
        if row is None:
            return None
        parameters = {name: _hint(one) for name, one in row["parameters"].items()}
        result: Any = _hint(row["one"]) if row["result"] is None else tuple(_hint(one) for one in row["result"])
        return Signature({name: hint for name, hint in parameters.items() if hint is not None}, result)
    return None
