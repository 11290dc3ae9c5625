"""Dim strings: what they mean, what fits them, and the sentence for what does not."""

from __future__ import annotations

from typing import Any

import pytest

from tensorclass._rules.algebra import name
from tensorclass._rules.annotations import AnnotationError, Many, One, check, match, mistake, parse, vote
from tensorclass._rules.sizes import UNKNOWN

n = name("n")


@pytest.mark.parametrize(
    ("text", "before", "many", "after"),
    [
        ("*batch n 3", (), Many("batch"), (One(n), One(3))),
        ("...", (), Many(None), ()),
        ("... 3", (), Many(None), (One(3),)),
        ("_ n _rows", (One(None), One(n), One(None)), None, ()),
        ("#n", (One(n, True),), None, ()),
        ("*#batch", (), Many("batch", True), ()),
        ("#*batch", (), Many("batch", True), ()),
        ("*_ 3", (), Many(None), (One(3),)),
        ("?n", (One(None),), None, ()),
        ("rows=3", (One(3),), None, ()),
        ("n+1 2*n n-1", (One(n + 1), One(2 * n), One(n - 1)), None, ()),
        ("", (), None, ()),
        ("3 *shape n", (One(3),), Many("shape"), (One(n),)),
    ],
)
def test_a_dim_string_is_read_as_jaxtyping_reads_it(text: str, before: Any, many: Any, after: Any) -> None:
    dims = parse(text)

    assert (dims.before, dims.many, dims.after) == (before, many, after)


def test_two_starred_dims_are_refused() -> None:
    with pytest.raises(AnnotationError) as error:
        parse("*batch *shape")
    assert str(error.value) == '"*batch *shape" has two starred dims, so nobody can tell which dims are whose'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("batch 3", '"batch 3" has one dim called batch; did you mean "*batch 3"?'),
        ("3 batch", '"3 batch" has one dim called batch; did you mean "3 *batch"?'),
        ("c *batch", '"c *batch": *batch is the batch size, so it comes first'),
        ("*batch 3", None),
        ("batches 3", None),
    ],
)
def test_a_batch_without_its_star_or_out_of_place_is_a_mistake(text: str, sentence: str | None) -> None:
    assert mistake(text) == sentence


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("*batch n 3", (2, 5, 3)),
        ("*batch n 3", (5, 3)),
        ("...", ()),
        ("n n", (4, 4)),
        ("n n+1", (4, 5)),
        ("n+1 n", (5, 4)),
        ("#n n", (1, 4)),
        ("_ 3", (9, 3)),
        ("3 *shape n", (3, 7, 8, 4)),
        ("m+1", (7,)),
        ("n 3", (UNKNOWN, UNKNOWN)),
        ("n n", (n, n)),
    ],
)
def test_a_shape_that_fits_is_not_complained_about(text: str, shape: Any) -> None:
    assert match(parse(text), shape, {}) is None


@pytest.mark.parametrize(
    ("text", "shape", "why"),
    [
        ("*batch n 3", (2, 5, 4), "dim 2 is 4, not 3"),
        ("*batch n 3", (3,), "it has 1 dim, not at least 2"),
        ("n 3", (1, 2, 3), "it has 3 dims, not 2"),
        ("n n", (4, 5), "n is 5 here and 4 elsewhere"),
        ("n n+1", (4, 4), "dim 1 is 4, and n+1 is 5"),
        ("n+1 n", (4, 4), "dim 0 is 4, and n+1 is 5"),
        ("n #n", (4, 3), "n is 3 here and 4 elsewhere"),
        ("2*n n", (n, n), None),
    ],
)
def test_a_shape_that_does_not_fit_gives_the_reason(text: str, shape: Any, why: str | None) -> None:
    assert match(parse(text), shape, {}) == why


def test_names_bind_across_fields() -> None:
    bindings: dict[str, Any] = {}

    assert match(parse("*batch n 3"), (8, 5, 3), bindings) is None
    assert bindings == {"*batch": (8,), "n": 5}
    assert match(parse("*batch n"), (8, 4), bindings) == "n is 4 here and 5 elsewhere"
    assert match(parse("*batch n"), (7, 5), bindings) == "*batch is [7] here and [8] elsewhere"
    assert match(parse("*#batch n"), (1, 5), bindings) is None
    assert match(parse("*#batch n"), (7, 5), bindings) == "*batch is [7] here and [8] elsewhere"


@pytest.mark.parametrize(
    ("text", "shape", "sentence"),
    [
        (
            "*batch",
            (31,),
            "field 'mass' has shape [31]; the batch size is [64, 10], and the leading dims of a value must equal it",
        ),
        (
            "*batch 3",
            (64, 10, 2),
            "field 'mass' has shape [64, 10, 2], which does not fit \"*batch 3\": dim 2 is 2, not 3",
        ),
        (
            "*batch",
            (64, 10, 2),
            "field 'mass' has shape [64, 10, 2], which does not fit \"*batch\": "
            "it has 3 dims; with batch size [64, 10] it must have 2",
        ),
        ("*batch 3", (64, 10, 3), None),
    ],
)
def test_a_field_is_checked_against_the_batch_size_first(text: str, shape: Any, sentence: str | None) -> None:
    assert check("mass", parse(text), shape, {}, (64, 10)) == sentence


def test_fields_with_batch_tell_the_batch_size_and_must_agree() -> None:
    pos, mass = parse("*batch 3"), parse("*batch")

    assert vote([("pos", pos, (8, 2, 3)), ("mass", mass, (8, 2))]) == ((8, 2), None)
    assert vote([("pos", pos, (3,))]) == ((), None)
    assert vote([]) == ((), None)
    assert vote([("pos", pos, (8, 3)), ("mass", mass, (7,))])[1] == (
        "fields 'pos' and 'mass' disagree on *batch: [8] and [7]"
    )
    assert vote([("pos", pos, ())])[1] == (
        "field 'pos' has shape [], which does not fit \"*batch 3\": it has 0 dims, not at least 1"
    )
