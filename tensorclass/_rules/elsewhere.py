"""Names that users bring from other libraries, and what does the same here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .errors import Key, name_of, no_field
from .nearest import nearest, suggest

_DISTRIBUTED = "all_gather all_reduce broadcast init_remote irecv isend recv reduce scatter send".split()
_DTYPES = "complex32 complex64 complex128 float16 float32 float64 int8 int16 int32 int64 uint8 uint16".split()
_MADE = "any dataclass modules module namedtuple struct_array".split()
_TABLES = "from_arrow from_pandas to_arrow to_pandas to_parquet".split()
_SPECS = {
    "BinaryDiscreteTensorSpec": "Binary",
    "BoundedTensorSpec": "Bounded",
    "CompositeSpec": "Composite",
    "DiscreteTensorSpec": "Categorical",
    "LazyStackedCompositeSpec": "StackedComposite",
    "LazyStackedTensorSpec": "Stacked",
    "MultiDiscreteTensorSpec": "MultiCategorical",
    "MultiOneHotDiscreteTensorSpec": "MultiOneHot",
    "NonTensorSpec": "NonTensor",
    "OneHotDiscreteTensorSpec": "OneHot",
    "UnboundedContinuousTensorSpec": "Unbounded",
    "UnboundedDiscreteTensorSpec": "Unbounded",
}

# Attributes of containers.
METHODS = {
    **{name: f"tensorclass.distributed.{name}(x, ...)" for name in _DISTRIBUTED},
    **{name: f".to(torch.{name})" for name in _DTYPES},
    **{name: f"tensorclass.io.{name}(x)" for name in _TABLES},
    "append": "lazy_stack([*x, row])",
    "arecv": "tensorclass.distributed.irecv(x, ...)",
    "asend": "tensorclass.distributed.isend(x, ...)",
    "clamp_max": ".clamp(max=...)",
    "clamp_min": ".clamp(min=...)",
    "dumps": ".memmap(folder)",
    "extend": "lazy_stack([*x, *rows])",
    "from_parquet": "tensorclass.io.read_parquet(path)",
    "from_remote_init": "tensorclass.distributed.from_remote(...)",
    "from_tuple": ".from_dict(...)",
    "gather_and_stack": "tensorclass.distributed.gather(x, ...)",
    "get_nestedtensor": ".get(key, as_nested_tensor=True)",
    "insert": "lazy_stack([*x[:i], row, *x[i:]])",
    "is_consolidated": ".consolidate()",
    "load": ".load_memmap(folder)",
    "load_": ".load_memmap_(folder)",
    "make_memmap": ".memmap_like(folder)",
    "make_memmap_from_tensor": ".memmap_like(folder)",
    "map": ".split(n), with a loop over the parts,",
    "map_iter": ".split(n), with a loop over the parts,",
    "memmap_refresh_": ".load_memmap(folder)",
    "mod": ".remainder(...)",
    "pack": ".consolidate()",
    "pin_memory_": ".pin_memory()",
    "rename_keys": ".rename_key_(old, new)",
    "save": ".memmap(folder)",
    "tile": ".repeat(...)",
    "to_dense": ".densify()",
    "to_padded": ".densify(pad=0, mask=...)",
    "to_padded_tensor": ".densify(pad=0, mask=...)",
    "valid_keys": ".keys()",
}

# Names in the package and its parts.
NAMES = {
    **{f"from_{name}": f"tensorclass.TensorDict.from_{name}" for name in _MADE},
    **{name: f"tensorclass.io.{name}" for name in _TABLES},
    **{old: f"tensorclass.envs.{new}" for old, new in _SPECS.items()},
    "ProbabilisticActor": "tensorclass.nn.ProbabilisticTensorDictSequential",
    "RandomPolicy": "env.rollout(steps), without a policy,",
    "SafeModule": "tensorclass.nn.TensorDictModule",
    "SafeSequential": "tensorclass.nn.TensorDictSequential",
    "ValueOperator": "tensorclass.nn.TensorDictModule",
    "as_tensordict_module": "tensorclass.nn.as_tensordict_module",
    "capture_non_tensor_stack": "tensorclass.set_capture_non_tensor_stack",
    "collate": "tensorclass.io.RowLoader",
    "dense_stack_tds": "tensorclass.pad_sequence",
    "from_parquet": "tensorclass.io.read_parquet",
    "from_safetensors": "tensorclass.io.load_safetensors",
    "fromkeys": "tensorclass.TensorDict.fromkeys",
    "lazy_legacy": "tensorclass.lazy_stack",
    "list_to_stack": "tensorclass.set_list_to_stack",
    "load": "tensorclass.io.load",
    "load_memmap": "tensorclass.TensorDict.load_memmap",
    "make_tensordict": "tensorclass.from_dict",
    "maybe_dense_stack": "tensorclass.TensorDict.maybe_dense_stack",
    "memmap": "tensorclass.TensorDict.memmap",
    "save": "tensorclass.io.save",
    "set_lazy_legacy": "tensorclass.lazy_stack",
    "to_safetensors": "tensorclass.io.save_safetensors",
    "unpad_sequence": "tensorclass.unpad",
    "unravel_key_to_tuple": "tensorclass.unravel_key",
}


class Later:
    """A sentence made when it is read: whether an attribute is there is asked often, why it is not seldom."""

    def __init__(self, make: Callable[..., str], *arguments: object) -> None:
        self.make, self.arguments = make, arguments

    def __str__(self) -> str:
        return self.make(*self.arguments)

    __repr__ = __str__

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)  # Not every class can be pickled.


def no_attribute(cls: type, name: str) -> str:
    """An attribute that a container does not have: another library's name, or a misspelt one.

    >>> no_attribute(dict, "to_padded")
    "dict has no attribute 'to_padded'; .densify(pad=0, mask=...) does that"
    """
    said = f"{cls.__name__} has no attribute {name_of(name)}"
    return f"{said}; {METHODS[name]} does that" if name in METHODS else said + suggest(name, _members(cls))


def no_field_or_method(cls: type, name: str, fields: Sequence[Key]) -> str:
    """An attribute that an instance of a typed class does not have: a misspelt field, or else a method."""
    if nearest(name, fields) is None and (name in METHODS or nearest(name, _members(cls)) is not None):
        return no_attribute(cls, name)
    return no_field(cls.__name__, name, fields)


def _members(cls: type) -> list[str]:
    return [name for name in dir(cls) if not name.startswith("_")]


def no_member(module: str, name: str, names: Iterable[str]) -> str:
    """A name that a module does not have.

    >>> no_member("tensorclass", "TensorDic", ["TensorDict"])
    "module 'tensorclass' has no attribute 'TensorDic'; did you mean 'TensorDict'?"
    """
    said = f"module {module!r} has no attribute {name!r}"
    return f"{said}; {NAMES[name]} does that" if name in NAMES else said + suggest(name, names)
