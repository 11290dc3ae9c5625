"""The fields of a TensorClass, as mypy knows them: names, types, declared shapes, in the order of the constructor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import TypeInfo, Var
from mypy.types import Instance, NoneType, ProperType, Type, UnionType, get_proper_type

from tensorclass._rules import annotations as strings
from tensorclass._rules.annotations import AnnotationError, Dims

from ._types import is_ours

KEY = "tensorclass"  # Where a class keeps what the plugin found out, in mypy's cache too.
OWN = ("batch_size", "device", "names")  # Arguments of every constructor.


@dataclass(frozen=True)
class Field:
    """One field."""

    name: str
    type: ProperType | None
    dims: Dims | None = None
    word: str | None = None  # The class of jaxtyping's that declares the dtype.
    has_default: bool = False
    kw_only: bool = False
    init_only: bool = False
    may_be_spec: bool = False  # Its annotation has metadata: *batch and a shape that only the run time knows.
    casts: bool = False  # The class casts what it is given to the dtype of the annotation.

    @property
    def optional(self) -> bool:
        return isinstance(self.type, UnionType) and any(
            isinstance(get_proper_type(t), NoneType) for t in self.type.items
        )

    @property
    def plain(self) -> ProperType | None:
        """The type without None."""
        if isinstance(self.type, UnionType):
            rest = [t for t in (get_proper_type(t) for t in self.type.items) if not isinstance(t, NoneType)]
            return rest[0] if len(rest) == 1 else None
        return self.type


def fields_of(info: TypeInfo, instance: Instance | None = None) -> dict[str, Field] | None:
    """The fields by name; None when mypy's dataclass support has not been there."""
    data = info.metadata.get("dataclass")
    if data is None or "attributes" not in data:
        return None
    found: dict[str, Field] = {}
    casts = "autocast" in options_of(info)
    for attribute in data["attributes"]:
        name = attribute["name"]
        owner = _owner(info, name)
        if owner is None or is_ours(owner):
            continue
        dims, word = _declared(owner, name)
        found[name] = Field(
            name,
            _type(info, owner, name, instance),
            dims,
            word,
            bool(attribute.get("has_default")),
            bool(attribute.get("kw_only")),
            bool(attribute.get("is_init_var")),
            name in owner.metadata.get(KEY, {}).get("specs", ()),
            casts,
        )
    return found


def names_of(info: TypeInfo) -> list[str] | None:
    """The names of the fields that an instance has."""
    fields = fields_of(info)
    return None if fields is None else [field.name for field in fields.values() if not field.init_only]


def _owner(info: TypeInfo, name: str) -> TypeInfo | None:
    for base in info.mro:
        if name in base.names:
            return base
    return None


def _type(info: TypeInfo, owner: TypeInfo, name: str, instance: Instance | None) -> ProperType | None:
    node = owner.names[name].node
    typ: Type | None = node.type if isinstance(node, Var) else None
    if typ is None:
        return None
    if instance is not None and instance.type.has_base(owner.fullname):
        typ = expand_type_by_instance(typ, map_instance_to_supertype(instance, owner))
    return get_proper_type(typ)


def _declared(owner: TypeInfo, name: str) -> tuple[Dims | None, str | None]:
    """The shape that a class body declares for a field."""
    kept: dict[str, Any] = owner.metadata.get(KEY, {}).get("shapes", {})
    if name not in kept:
        return None, None
    text, word = kept[name]
    try:
        return strings.parse(text), word or None
    except AnnotationError:
        return None, None


def options_of(info: TypeInfo) -> set[str]:
    """Options of the class and of its bases: frozen, shadow, nocast, ..."""
    found: set[str] = set()
    for base in info.mro:
        found.update(base.metadata.get(KEY, {}).get("options", ()))
    return found
