"""The names that fields cannot have: methods of every container, and nothing a method is not."""

from __future__ import annotations

import re
from pathlib import Path

from tensorclass import TensorClass, TensorDict
from tensorclass._rules.reserved import IN_PLACE, RESERVED

# In the list already, so that no class need be renamed when they come.
COMING = frozenset(
    "memmap memmap_ memmap_like load_memmap densify to_module from_module consolidate "
    "state_dict load_state_dict".split()
)


def test_every_reserved_name_is_one_that_containers_have_or_will_have() -> None:
    assert {name for name in RESERVED - COMING if not hasattr(TensorDict, name)} == set()


def test_every_method_that_writes_in_place_is_one_that_a_frozen_class_refuses() -> None:
    stays = {"lock_", "unlock_", "share_memory_"}
    found = {name for name in RESERVED if name.endswith("_") and hasattr(TensorClass, name)}

    assert found - stays - IN_PLACE == set()
    assert {name for name in IN_PLACE if not hasattr(TensorClass, name)} == set()


def test_the_guide_lists_every_reserved_name() -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/tensorclass.md").read_text()
    (block,) = re.findall(r"## Names that methods have\n.*?```text\n(.*?)```", guide, re.DOTALL)

    assert block.split() == sorted(RESERVED)
