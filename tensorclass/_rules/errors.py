"""The sentences: what came, why not, what would do. Run time raises them, mypy prints them."""

from __future__ import annotations

from collections.abc import Iterable

from .nearest import nearest, suggest, suggest_and
from .sizes import Batch, show

Key = str | tuple[str, ...]


class RuleError(Exception):
    """A mistake that a rule found; its text is the whole sentence."""

    def __str__(self) -> str:  # KeyError would print the repr of the sentence.
        return str(self.args[0]) if self.args else ""


class ShapeError(RuleError, RuntimeError):
    """Sizes that do not fit."""


class DimError(RuleError, IndexError):
    """A dim, or an index, that is out of range."""


class RaggedError(RuleError, RuntimeError):
    """A dim whose size varies, where one size is needed."""


class KeyMissing(RuleError, KeyError):
    """A key that is not there."""


class KeyTaken(RuleError, KeyError):
    """A key that is there already."""


class KeyForm(RuleError, KeyError):
    """Something that cannot be a key."""


class UnknownField(RuleError, AttributeError, KeyError):
    """A field that the class does not declare."""


class Locked(RuleError, RuntimeError):
    """A write to a locked container."""


class StructureError(RuleError, RuntimeError):
    """Containers that should have the same keys or classes and have not."""


class OptionError(RuleError, ValueError):
    """An argument that is none of the values that would do."""


class KindError(RuleError, TypeError):
    """A value of a kind that does not fit."""


def name_of(key: Key) -> str:
    """A key as a message shows it: 'pos', or ('robot', 'pos')."""
    if isinstance(key, tuple) and len(key) == 1:
        return repr(key[0])
    return repr(key)


def some_names(names: Iterable[object], most: int = 12) -> str:
    """Names in a row, shortened when there are many."""
    shown = [name_of(name) if isinstance(name, (str, tuple)) else repr(name) for name in names]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def count(number: int, noun: str) -> str:
    """A number with its noun: 1 batch dim, 2 batch dims."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def batch_mismatch(key: Key, shape: Batch, batch: Batch, what: str = "field") -> str:
    """A value whose leading dims are not the batch size."""
    return (
        f"{what} {name_of(key)} has shape {show(shape)}; the batch size is {show(batch)}, "
        "and the leading dims of a value must equal it"
    )


def node_mismatch(key: Key, batch: Batch, parent: Batch) -> str:
    """A nested container whose batch size does not start with the one around it."""
    return f"{name_of(key)} has batch size {show(batch)}; inside batch size {show(parent)} it must start with that"


def dim_range(op: str, dim: object, low: int, high: int, batch_dims: int) -> str:
    """A dim outside of the batch dims."""
    would = f"; {low} to {high} would do" if low <= high else ""
    return f"{op}: dim {dim} is out of range for {count(batch_dims, 'batch dim')}{would}"


def key_missing(key: Key, keys: Iterable[Key]) -> str:
    """A key that a container does not have."""
    keys = list(keys)
    here = f"the keys here are {some_names(keys)}" if keys else "there are no keys here"
    return f"no key {name_of(key)}{suggest_and(key, keys, here)}"


def keys_differ(op: str, missing: Iterable[Key], which: str) -> str:
    """Two containers that should have the same keys."""
    return f"{op}: {which} has no {some_names(missing)}; both must have the same keys"


def no_field(class_name: str, name: Key, fields: Iterable[Key]) -> str:
    """A name that is no field of the class."""
    fields = list(fields)
    its = f"ts fields are {some_names(fields)}" if fields else "t has no fields"
    near = suggest(name, fields)
    return f"{class_name} has no field {name_of(name)}{near or ';'} {'I' if near else 'i'}{its}"


def no_field_to_set(class_name: str, name: Key, fields: Iterable[Key]) -> str:
    """A write to a name that is no field of the class."""
    fields = list(fields)
    its = f" Its fields are {some_names(fields)}." if fields else ""
    near = suggest(name, fields)
    return f"Cannot set the attribute {name_of(name)}: {class_name} has no such field{near or '.'}{its}"


def frozen(class_name: str, action: str) -> str:
    """A write to an instance of a frozen class."""
    return f"cannot {action}: {class_name} is frozen; .replace(...) makes a changed copy"


def not_set(class_name: str, name: Key) -> str:
    """A field that nothing has been written to yet."""
    return f"field {name_of(name)} of {class_name} is not set yet"


def no_truth() -> str:
    """A container where a bool is asked for."""
    return (
        "a container has no truth value; (a == b).all() or .any() reduces a comparison, is_empty() asks for entries, "
        "len() for rows"
    )


def condition_mismatch(shape: Batch, batch: Batch) -> str:
    """A condition of `where` that has another shape than the batch."""
    return f"where: the condition has shape {show(shape)}, the batch size is {show(batch)}; they must be equal"


def shapes_differ(key: Key, shapes: Iterable[Batch]) -> str:
    """An entry of a lazy stack that has another shape in each item."""
    different = list(dict.fromkeys(show(shape) for shape in shapes))
    shown = ", ".join(different[:3]) + (f" and {len(different) - 3} more" if len(different) > 3 else "")
    return (
        f"{name_of(key)} has shapes that differ from item to item ({shown}); .get({key!r}, as_list=True), "
        "as_padded_tensor=True or as_nested_tensor=True read it, .densify(pad=0) pads them all"
    )


def rows_differ(rows: int, items: int) -> str:
    """The other side of a lazy stack has not a row for each item."""
    return f"{count(rows, 'row')} for a lazy stack of {count(items, 'item')}"


def locked(action: str) -> str:
    """A write to a locked container."""
    return f"cannot {action}: the container is locked; call .unlock_() on it first, or work on a .clone()"


def ragged(op: str, dim: int) -> str:
    """An op that needs one size where a lazy stack has several."""
    return f"{op}: batch dim {dim} is ragged; densify first with .densify(pad=0)"


def ragged_twice(key: Key) -> str:
    """An entry of lazy stacks in a lazy stack, asked for as a nested tensor."""
    return (
        f"get: {name_of(key)} is ragged on two levels, a nested tensor on one; "
        "as_list=True or as_padded_tensor=True would do"
    )


# ---- modules ------------------------------------------------------------------------------------------------------


def keys_form(what: str, keys: object) -> str:
    """Something that cannot be the keys of a module."""
    given = "; a dict from argument name to key will do too" if what == "in_keys" else ""
    return f"{what}: {keys!r} will not do; give a key (a string or a tuple of strings) or a list of keys{given}"


def no_container(given: Iterable[str]) -> str:
    """A call with tensors where such calls are off."""
    return (
        f"forward takes a container, not {some_names(given) or 'tensors'}; calls with tensors are off "
        "(DISPATCH_TDNN_MODULES=0)"
    )


def inputs_missing(missing: Iterable[Key], keys: Iterable[Key]) -> str:
    """A module that failed, and inputs that were not there."""
    missing, keys = list(missing), list(keys)
    here = f"the keys here are {some_names(keys)}" if keys else "there are no keys here"
    meant = [f"{name_of(key)} (did you mean {near!r}?)" for key in missing if (near := nearest(key, keys)) is not None]
    near_ones = f": {', '.join(meant)}" if meant else ""
    return (
        f"Some tensors that the module needs were not found{near_ones}; {here}; "
        f"the following inputs are None: {{{', '.join(name_of(key) for key in missing)}}}."
    )


def failed_with(module: str, in_keys: Iterable[Key], out_keys: Iterable[Key]) -> str:
    """Which module an error comes from."""
    inner = module.replace("\n", "\n    ")
    return (
        f"TensorDictModule failed with operation\n    {inner}\n    in_keys={list(in_keys)}\n"
        f"    out_keys={list(out_keys)}."
    )


def more_tensors(tensors: int, out_keys: Iterable[Key]) -> str:
    """A module that gives more than there are out_keys for."""
    return f"There are more tensors ({tensors}) than out_keys ({list(out_keys)})."


def more_out_keys(tensors: int, out_keys: Iterable[Key]) -> str:
    """A module that gives less than its out_keys say."""
    out_keys = list(out_keys)
    return f"There are more out_keys than tensors: {count(tensors, 'tensor')} for {out_keys}."


def not_in_output(key: Key, names: Iterable[Key]) -> str:
    """A dict from a wrapped module that has no entry for an out-key."""
    names = list(names)
    near = suggest(key, names)
    gave = f"t gave {some_names(names)}" if names else "t gave none"
    return f"the module gave no output {name_of(key)}{near or ';'} {'I' if near else 'i'}{gave}"


def not_an_out_key(key: Key, out_keys: Iterable[Key]) -> str:
    """A key that is selected but never written."""
    out_keys = list(out_keys)
    near = suggest(key, out_keys)
    own = f"he out_keys are {some_names(out_keys)}" if out_keys else "here are no out_keys"
    return f"{name_of(key)} cannot be selected{near or ';'} {'T' if near else 't'}{own}"


def none_left(in_keys: Iterable[Key], out_keys: Iterable[Key], reads: Iterable[Key], writes: Iterable[Key]) -> str:
    """A selection that leaves no module of a sequence."""
    return (
        f"No modules left after selection: none computes {some_names(out_keys) or 'nothing'} from "
        f"{some_names(in_keys) or 'nothing'}; the sequence reads {some_names(reads) or 'nothing'} "
        f"and writes {some_names(writes) or 'nothing'}."
    )


def no_inplace(value: object) -> str:
    """A value of `inplace` that there is not."""
    return f"inplace: {value!r} is none of True, False and 'empty'"


def takes(module: str, wanted: str, given: str) -> str:
    """A typed module that is given something else."""
    return f"{module} takes {wanted}; this is {given}"


def joint(before: str, gives: str, after: str, wants: str) -> str:
    """Two typed modules in a row that do not fit."""
    return f"Chain: {before} gives {gives}, but {after} takes {wants}"


def batch_changed(module: str, before: Batch, after: Batch) -> str:
    """A typed module whose output has another batch size than its input."""
    return (
        f"{module}: the input has batch size {show(before)}, the output {show(after)}; they must be equal "
        "(did you pass batch_size=x.batch_size? keeps_batch = False on the class allows it)"
    )
