"""Shape annotations: jaxtyping's dim strings, and whether a shape fits one.

Run time and the mypy plugin call the same functions: sizes may be ints, SymInts, a Dim or UNKNOWN, and what cannot be
known is not complained about.  Names are bound in a plain dict: a size under "n", a tuple of sizes under "*shape".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from .algebra import Dim as Dim
from .algebra import Size, read
from .algebra import same as same
from .errors import Key, RuleError, batch_mismatch, count, name_of, node_mismatch
from .sizes import UNKNOWN, Batch, same_batch, show
from .sizes import same as same_size

BATCH = "batch"  # The one name that is the batch size, when it has a star.

Bindings = dict[str, Any]  # A size under "n", a tuple of sizes under "*shape".


class AnnotationError(RuleError, TypeError):
    """An annotation that says nothing sensible."""


class One(NamedTuple):
    """One dim: its size (None for any), and whether 1 does as well."""

    size: Size | None
    broadcast: bool = False


class Many(NamedTuple):
    """Any number of dims, under a name or not."""

    name: str | None
    broadcast: bool = False


@dataclass(frozen=True)
class Dims:
    """A dim string, read: the dims before the starred one, that one, and the dims after it."""

    text: str
    before: tuple[One, ...]
    many: Many | None
    after: tuple[One, ...]
    has_batch: bool = field(init=False, compare=False, repr=False)  # it starts with *batch: a shape tells the batch
    has_sums: bool = field(init=False, compare=False, repr=False)  # it reads names that others must bind, as n+1 does
    names: frozenset[str] = field(init=False, compare=False, repr=False)  # those it binds or reads, with their star

    def __post_init__(self) -> None:
        named = [one.size for one in self.before + self.after if isinstance(one.size, Dim)]
        starred = {f"*{self.many.name}"} if self.many and self.many.name else set()
        set_once = object.__setattr__  # The class is frozen; these follow from the dims, and every write asks for them.
        set_once(self, "has_batch", self.many == Many(BATCH))
        set_once(self, "has_sums", any(plain_name(size) is None for size in named))
        set_once(self, "names", frozenset(starred.union(*(size.names for size in named))))

    @property
    def fixed(self) -> tuple[int, ...] | None:
        """The sizes of the dims, where all of them are numbers; the starred one aside."""
        ones = self.before + self.after
        sizes = tuple(one.size for one in ones if isinstance(one.size, int) and not one.broadcast)
        return sizes if len(sizes) == len(ones) else None

    @property
    def exact(self) -> bool:
        """Whether two shapes that fit, under the same names, are the same shape."""
        ones = self.before + self.after
        named = self.many is None or (self.many.name is not None and not self.many.broadcast)
        return named and all(one.size is not None and not one.broadcast for one in ones)


@cache
def parse(text: str) -> Dims:
    """Read a dim string.

    >>> parse("*batch n 3").after
    (One(size=n, broadcast=False), One(size=3, broadcast=False))
    """
    before: list[One] = []
    after: list[One] = []
    many: Many | None = None
    for word in text.split():
        item = _read_word(word)
        if isinstance(item, One):
            (before if many is None else after).append(item)
        elif many is not None:
            raise AnnotationError(f'"{text}" has two starred dims, so nobody can tell which dims are whose')
        else:
            many = item
    return Dims(text, tuple(before), many, tuple(after))


def _read_word(word: str) -> One | Many:
    if word == "...":
        return Many(None)
    signs = ""
    while word and word[0] in "#*?":
        signs, word = signs + word[0], word[1:]
    name, equals, rest = word.partition("=")
    if equals and name.isidentifier():  # "rows=3" is 3, with a word for the reader.
        return _read_word(signs + rest)
    anonymous = word.startswith("_") or "?" in signs
    if "*" in signs:
        return Many(None if anonymous else word, "#" in signs)
    return One(None if anonymous else read(word), "#" in signs)


def mistake(text: str) -> str | None:
    """What is wrong with the dim string of a field, or None.

    >>> mistake("batch 3")
    '"batch 3" has one dim called batch; did you mean "*batch 3"?'
    """
    dims = parse(text)
    if any(one.size == Dim({(BATCH,): 1}) for one in dims.before + dims.after):
        meant = " ".join("*batch" if word == "batch" else word for word in text.split())
        return f'"{text}" has one dim called batch; did you mean "{meant}"?'
    if dims.many is not None and dims.many.name == BATCH and dims.before:
        return f'"{text}": *batch is the batch size, so it comes first'
    return None


def plain_name(size: object) -> str | None:
    """The name, when a size is just a name."""
    if isinstance(size, Dim) and len(size.terms) == 1:
        ((term, times),) = size.terms.items()
        if times == 1 and len(term) == 1 and isinstance(term[0], str):
            return term[0]
    return None


def match(dims: Dims, shape: Batch, bindings: Bindings, batch: Batch | None = None) -> str | None:
    """Why a shape does not fit, or None. Binds the names that are new to `bindings`.

    >>> match(parse("*batch n 3"), (8, 5, 4), {})
    'dim 2 is 4, not 3'
    """
    few, many = len(dims.before) + len(dims.after), len(shape)
    if many < few or (many > few and dims.many is None):
        least = "" if dims.many is None else "at least "
        return f"it has {count(many, 'dim')}, not {least}{few}"
    if batch is not None and dims.has_batch:
        bindings.setdefault(f"*{BATCH}", batch)
    behind = many - len(dims.after)
    if dims.many is not None and dims.many.name is not None:
        wrong = _match_many(dims.many, shape[len(dims.before) : behind], bindings)
        if wrong is not None:
            return wrong
    placed = [*enumerate(dims.before), *enumerate(dims.after, behind)]
    # Names first: in "n+1 n" the sum reads what the other dim binds.
    for place, one in sorted(placed, key=lambda item: plain_name(item[1].size) is None) if dims.has_sums else placed:
        wrong = _match_one(one, place, shape[place], bindings)
        if wrong is not None:
            return wrong
    return None


def _match_many(many: Many, sizes: Batch, bindings: Bindings) -> str | None:
    name = f"*{many.name}"
    if name not in bindings:
        bindings[name] = sizes
        return None
    known = bindings[name]
    if many.broadcast:
        pairs = list(zip(reversed(sizes), reversed(known)))
        if all(same_size(one, 1) is not False or same_size(one, other) is not False for one, other in pairs):
            return None
    elif same_batch(sizes, known) is not False:
        return None
    return f"*{many.name} is {show(sizes)} here and {show(known)} elsewhere"


def _match_one(one: One, place: int, size: Any, bindings: Bindings) -> str | None:
    wanted = one.size
    if wanted is None or size is UNKNOWN or (one.broadcast and same_size(size, 1) is not False):
        return None
    if isinstance(wanted, Dim):
        name = plain_name(wanted)
        if name is not None:
            known = bindings.setdefault(name, size)
            return f"{name} is {size} here and {known} elsewhere" if same_size(known, size) is False else None
        if not all(name in bindings and bindings[name] is not UNKNOWN for name in wanted.names):
            return None
        value = wanted.given(bindings)
        return f"dim {place} is {size}, and {wanted} is {value}" if same_size(value, size) is False else None
    return f"dim {place} is {size}, not {wanted}" if same_size(wanted, size) is False else None


def check(
    key: Key, dims: Dims | None, shape: Batch, bindings: Bindings, batch: Batch, *, node: bool = False
) -> str | None:
    """Why a value of this shape cannot be the field, or None: the batch size first, then the annotation."""
    if same_batch(shape[: len(batch)], batch) is False:
        return node_mismatch(key, shape, batch) if node else batch_mismatch(key, shape, batch)
    if dims is None:
        return None
    rank = len(batch) + len(dims.after)
    if dims.has_batch and len(shape) != rank:
        why = f"it has {count(len(shape), 'dim')}; with batch size {show(batch)} it must have {rank}"
        return _misfit(key, dims, shape, why, node)
    wrong = match(dims, shape, bindings, batch)
    return None if wrong is None else _misfit(key, dims, shape, wrong, node)


def _misfit(key: Key, dims: Dims, shape: Batch, why: str, node: bool) -> str:
    what = "batch size" if node else "shape"
    return f'field {name_of(key)} has {what} {show(shape)}, which does not fit "{dims.text}": {why}'


def vote(fields: Iterable[tuple[Key, Dims, Batch]]) -> tuple[Batch, str | None]:
    """The batch size that fields with *batch tell, and why they cannot be right if they cannot; () from no field.

    >>> vote([("pos", parse("*batch 3"), (8, 3)), ("mass", parse("*batch"), (7,))])[1]
    "fields 'pos' and 'mass' disagree on *batch: [8] and [7]"
    """
    batch: Batch = ()
    first: Key | None = None
    for key, dims, shape in fields:
        behind = len(shape) - len(dims.after)
        if behind < 0:
            why = f"it has {count(len(shape), 'dim')}, not at least {len(dims.after)}"
            return batch, _misfit(key, dims, shape, why, False)
        mine = shape[:behind]
        if first is None:
            first, batch = key, mine
        elif same_batch(mine, batch) is False:
            both = f"fields {name_of(first)} and {name_of(key)}"
            return batch, f"{both} disagree on *batch: {show(batch)} and {show(mine)}"
    return batch, None


def dtype_mismatch(key: Key, dtype: str, wanted: str, takes: Sequence[str] = ()) -> str:
    """A value whose dtype the annotation does not take."""
    would = f"; {', '.join(takes)} would do" if 0 < len(takes) < 4 else ""
    return f"field {name_of(key)} has dtype {dtype}, which {wanted} does not take{would}"
