"""Modules whose outputs are already there."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.nn import (
    TensorDictModule,
    TensorDictModuleBase,
    TensorDictSequential,
    dispatch,
    set_skip_existing,
    skip_existing,
)


def inc(reads: str, writes: Any) -> TensorDictModule:
    return TensorDictModule(lambda x: x + 1, [reads], writes if isinstance(writes, list) else [writes])


def td(**entries: float) -> TensorDict:
    return TensorDict({key: torch.tensor(value) for key, value in entries.items()})


def test_a_module_whose_outputs_are_there_returns_the_input_unchanged() -> None:
    with set_skip_existing(True):
        assert inc("x", "y")(td(x=1.0, y=7.0))["y"] == 7
        assert inc("x", "y")(td(x=1.0))["y"] == 2


def test_the_rule_is_applied_to_the_sequence_first_then_to_its_modules() -> None:
    model = TensorDictSequential(inc("x", "h"), inc("h", "y"))
    with set_skip_existing(True):
        out = model(td(x=1.0, h=0.0))
        assert (out["h"], out["y"]) == (0, 1)
        assert model(td(x=1.0, h=5.0, y=0.0))["y"] == 0
    assert model(td(x=1.0, h=5.0, y=0.0))["y"] == 3


def test_a_module_that_reads_what_it_writes_always_runs() -> None:
    with set_skip_existing(True):
        assert inc("x", "x")(td(x=1.0))["x"] == 2


def test_a_list_skips_modules_all_of_whose_out_keys_are_in_it() -> None:
    model = TensorDictSequential(inc("x", "h"), inc("h", "y"))
    with set_skip_existing(["h"]):
        out = model(td(x=1.0, h=0.0, y=9.0))

    assert (out["h"], out["y"]) == (0, 1)


def test_skip_existing_is_the_current_value_and_false_outside() -> None:
    assert skip_existing() is False
    with set_skip_existing(["h"]):
        assert skip_existing() == ["h"]
        with set_skip_existing(False):
            assert skip_existing() is False
        assert skip_existing() == ["h"]
    assert skip_existing() is False


def test_the_value_is_restored_after_an_error() -> None:
    with pytest.raises(LookupError), set_skip_existing(True):
        raise LookupError

    assert skip_existing() is False


def test_a_block_in_one_thread_is_not_seen_by_another() -> None:
    seen: list[Any] = []
    with set_skip_existing(True):
        thread = threading.Thread(target=lambda: seen.append(skip_existing()))
        thread.start()
        thread.join()

    assert seen == [False]


def test_dropped_outputs_need_not_be_there() -> None:
    module = TensorDictModule(lambda x: (x + 1, x), ["x"], ["y", "_"])
    with set_skip_existing(True):
        assert module(td(x=1.0, y=7.0))["y"] == 7


def test_a_module_that_writes_nothing_always_runs() -> None:
    ran: list[int] = []

    def run(one: TensorDict) -> TensorDict:
        ran.append(1)
        return one

    model = TensorDictSequential(run)
    with set_skip_existing(True):
        model(td(x=1.0))

    assert ran == [1]


def test_a_module_with_a_place_for_its_outputs_runs() -> None:
    dest = TensorDict()
    with set_skip_existing(True):
        inc("x", "y")(td(x=1.0, y=7.0), tensordict_out=dest)

    assert dest["y"] == 2


class Decorated(TensorDictModuleBase):
    in_keys = ["x"]
    out_keys = ["z"]

    @dispatch
    @set_skip_existing(None)
    def forward(self, tensordict: TensorDict) -> TensorDict:
        return tensordict.set("z", tensordict["x"] + 1)


class Always(Decorated):
    @set_skip_existing()
    def forward(self, tensordict: TensorDict) -> TensorDict:
        inc("x", "y")(tensordict)
        return tensordict.set("z", tensordict["y"] + 1)


def test_on_a_forward_none_follows_the_block() -> None:
    assert Decorated()(td(x=1.0, z=9.0))["z"] == 2
    assert Decorated()(x=torch.tensor(1.0)) == 2
    with set_skip_existing(True):
        assert Decorated()(td(x=1.0, z=9.0))["z"] == 9


def test_on_a_forward_it_skips_without_a_block_and_holds_inside() -> None:
    assert Always()(td(x=1.0, z=9.0))["z"] == 9
    assert Always()(td(x=1.0, y=5.0))["z"] == 6


def test_a_block_needs_a_value() -> None:
    with pytest.raises(RuntimeError) as error, set_skip_existing(None):
        pass

    assert str(error.value) == "set_skip_existing(None) is for a forward; a block needs True, False or keys"


def test_under_compile_it_is_an_error() -> None:
    compiled = torch.compile(inc("x", "y"), backend="eager", fullgraph=True)
    with set_skip_existing(True), pytest.raises(Exception, match="set_skip_existing does not work under torch.compile"):
        compiled(td(x=1.0, y=7.0))
