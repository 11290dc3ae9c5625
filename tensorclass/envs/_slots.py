"""Where an environment keeps its specs: setters check them, getters show a single leaf as that leaf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Size

from .._rules import errors
from .._rules.keys import Key
from ._absent import Suggesting
from ._keys import Plan, groups_of, leaves_of, plan_of
from ._layout import shared
from ._specs.base import TensorSpec
from ._specs.box import Unbounded
from ._specs.choices import Categorical
from ._specs.composite import Composite

OUTPUTS = ("full_observation_spec", "full_reward_spec", "full_done_spec")
INPUTS = ("full_action_spec", "full_state_spec")
LEAF_KEYS = {
    "full_observation_spec": "observation",
    "full_reward_spec": "reward",
    "full_done_spec": "done",
    "full_action_spec": "action",
    "full_state_spec": "state",
}


class SpecSlots(Suggesting):
    """The specs of an environment: what it takes (action, state) and what it gives (observation, reward, done)."""

    _batch: Size
    _plan: Plan | None = None
    _specs_locked = False

    # ---- the two trees of specs -----------------------------------------------------------------------------------

    def _set_up_specs(self) -> None:
        shape = (*self._batch, 1)
        done = Categorical(2, shape=shape, dtype=torch.bool, device=self.device)
        slots = {
            "full_observation_spec": Composite(shape=self._batch, device=self.device),
            "full_reward_spec": Composite(
                reward=Unbounded(shape=shape, device=self.device), shape=self._batch, device=self.device
            ),
            "full_done_spec": Composite(done=done, terminated=done.clone(), shape=self._batch, device=self.device),
            "full_action_spec": Composite(shape=self._batch, device=self.device),
            "full_state_spec": Composite(shape=self._batch, device=self.device),
        }
        vars(self)["_specs_out"] = Composite({name: slots[name] for name in OUTPUTS}, shape=self._batch)
        vars(self)["_specs_in"] = Composite({name: slots[name] for name in INPUTS}, shape=self._batch)

    @property
    def device(self) -> torch.device | None:
        """The device of everything that the environment gives, or None."""
        raise NotImplementedError

    @property
    def _full_output(self) -> Composite:
        tree: Composite = self.__dict__["_specs_out"]
        return tree

    @property
    def _full_input(self) -> Composite:
        tree: Composite = self.__dict__["_specs_in"]
        return tree

    @property
    def _keys(self) -> Plan:
        plan = self._plan
        if plan is None:
            plan = plan_of(self._full_output, self._full_input)
            vars(self)["_plan"] = plan
        return plan

    def _forget(self) -> None:
        """Drop what is made from the specs and kept."""
        vars(self).pop("_plan", None)

    def empty_cache(self) -> None:
        """Drop the key lists that are made from the specs; they are made again when they are needed."""
        self._forget()

    def _lock_specs(self) -> None:
        for tree in (self._full_output, self._full_input):
            tree.lock_()
        vars(self)["_specs_locked"] = True

    def _put_spec(self, slot: str, value: Any) -> None:
        """Check a spec and put it into its slot; the trees are locked again if they were."""
        ready = self._admitted(slot, value)
        tree = self._full_output if slot in OUTPUTS else self._full_input
        for other in apart_from(slot):
            refuse_shared(slot, leaves_of(ready), other, leaves_of(self._tree(other)))
        with_lock = self._specs_locked
        if with_lock:
            tree.unlock_()
        tree[slot] = ready
        if with_lock:
            tree.lock_()
        self._forget()

    def _admitted(self, slot: str, value: Any) -> Any:
        if not isinstance(value, TensorSpec):
            raise errors.KindError(f"{slot}: {type(value).__name__} is no spec; a Composite, or a leaf, would do")
        if not isinstance(value, Composite):
            if slot == "full_reward_spec" and len(value.shape) <= len(self._batch):
                raise errors.ShapeError(
                    f"the reward spec has shape {list(value.shape)}; rewards have a last dim of size 1: "
                    f"shape {(*self._batch, 1)}"
                )
            check_leading(slot, value, self._batch)
            value = Composite({LEAF_KEYS[slot]: value}, shape=self._batch)
        elif value.shape[: len(self._batch)] != self._batch:
            value = with_batch(slot, value, self._batch)
        if value.is_locked:
            value = value.clone()
        if self.device is not None and value.device != self.device:
            value = value.to(self.device)
        if slot == "full_reward_spec":
            for key, leaf in leaves_of(value).items():
                if len(leaf.shape) <= len(self._batch):
                    raise errors.ShapeError(
                        f"the spec of {errors.name_of(key)} has shape {list(leaf.shape)}; "
                        "rewards have a last dim of size 1"
                    )
        return with_flags(value) if slot == "full_done_spec" else value

    def _refresh(self) -> None:
        """Make the specs anew, if they are not kept."""

    def _tree(self, slot: str) -> Composite:
        self._refresh()
        tree: Composite = (self._full_output if slot in OUTPUTS else self._full_input)[slot]
        return tree

    def _leaf_or_tree(self, slot: str) -> Any:  # Any: a leaf of some kind, or a Composite.
        tree = self._tree(slot)
        found = leaves_of(tree)
        return next(iter(found.values())) if len(found) == 1 else tree

    # ---- what users read and set ----------------------------------------------------------------------------------

    @property
    def output_spec(self) -> Composite:
        """The specs of what the environment gives: full_observation_spec, full_reward_spec, full_done_spec."""
        self._refresh()
        return self._full_output

    @output_spec.setter
    def output_spec(self, value: TensorSpec) -> None:
        raise protected("output_spec", OUTPUTS)

    @property
    def input_spec(self) -> Composite:
        """The specs of what the environment takes: full_action_spec, full_state_spec."""
        self._refresh()
        return self._full_input

    @input_spec.setter
    def input_spec(self, value: TensorSpec) -> None:
        raise protected("input_spec", INPUTS)

    @property
    def full_observation_spec(self) -> Composite:
        """The spec of the observations, with the batch size in front."""
        return self._tree("full_observation_spec")

    @full_observation_spec.setter
    def full_observation_spec(self, value: TensorSpec) -> None:
        self._put_spec("full_observation_spec", value)

    @property
    def observation_spec(self) -> Composite:
        """The spec of the observations: always a Composite."""
        return self._tree("full_observation_spec")

    @observation_spec.setter
    def observation_spec(self, value: TensorSpec) -> None:
        self._put_spec("full_observation_spec", value)

    @property
    def full_reward_spec(self) -> Composite:
        """The spec of the rewards, as a Composite."""
        return self._tree("full_reward_spec")

    @full_reward_spec.setter
    def full_reward_spec(self, value: TensorSpec) -> None:
        self._put_spec("full_reward_spec", value)

    @property
    def reward_spec(self) -> Any:
        """The spec of the reward; a Composite if there are several."""
        return self._leaf_or_tree("full_reward_spec")

    @reward_spec.setter
    def reward_spec(self, value: TensorSpec) -> None:
        self._put_spec("full_reward_spec", value)

    @property
    def full_done_spec(self) -> Composite:
        """The spec of done, terminated and truncated, as a Composite."""
        return self._tree("full_done_spec")

    @full_done_spec.setter
    def full_done_spec(self, value: TensorSpec) -> None:
        self._put_spec("full_done_spec", value)

    @property
    def done_spec(self) -> Any:
        """The spec of the flags: a Composite, since done and terminated are always both there."""
        return self._leaf_or_tree("full_done_spec")

    @done_spec.setter
    def done_spec(self, value: TensorSpec) -> None:
        self._put_spec("full_done_spec", value)

    @property
    def full_action_spec(self) -> Composite:
        """The spec of the actions, as a Composite."""
        return self._tree("full_action_spec")

    @full_action_spec.setter
    def full_action_spec(self, value: TensorSpec) -> None:
        self._put_spec("full_action_spec", value)

    @property
    def action_spec(self) -> Any:
        """The spec of the action; a Composite if there are several."""
        return self._leaf_or_tree("full_action_spec")

    @action_spec.setter
    def action_spec(self, value: TensorSpec) -> None:
        self._put_spec("full_action_spec", value)

    @property
    def full_state_spec(self) -> Composite:
        """The spec of what a step reads besides the action, as a Composite."""
        return self._tree("full_state_spec")

    @full_state_spec.setter
    def full_state_spec(self, value: TensorSpec) -> None:
        self._put_spec("full_state_spec", value)

    @property
    def state_spec(self) -> Composite:
        """The spec of what a step reads besides the action: always a Composite."""
        return self._tree("full_state_spec")

    @state_spec.setter
    def state_spec(self, value: TensorSpec) -> None:
        self._put_spec("full_state_spec", value)

    @property
    def batch_size(self) -> Size:
        """The leading dims of everything that the environment takes and gives."""
        return self._batch

    # ---- keys -----------------------------------------------------------------------------------------------------

    @property
    def action_keys(self) -> list[Key]:
        """The keys of the actions."""
        return list(self._keys.actions)

    @property
    def action_key(self) -> Key:
        """The key of the action; a KeyError if there are several."""
        return the_one("action", self._keys.actions)

    @property
    def reward_keys(self) -> list[Key]:
        """The keys of the rewards."""
        return list(self._keys.rewards)

    @property
    def reward_key(self) -> Key:
        """The key of the reward; a KeyError if there are several."""
        return the_one("reward", self._keys.rewards)

    @property
    def done_keys(self) -> list[Key]:
        """The keys of done, terminated and truncated."""
        return list(self._keys.dones)

    @property
    def done_key(self) -> Key:
        """The key of the only flag; a KeyError, since there are several."""
        return the_one("done", self._keys.dones)

    @property
    def state_keys(self) -> list[Key]:
        """The keys of what a step reads besides the actions."""
        return list(self._keys.states)

    @property
    def observation_keys(self) -> list[Key]:
        """The keys of the observations."""
        return list(self._keys.observations)

    @property
    def reset_keys(self) -> list[Key]:
        """Where masks for a partial reset go: "_reset" beside every done."""
        return list(self._keys.resets)


def the_one(word: str, keys: list[Key]) -> Key:
    """The only key of a kind."""
    if len(keys) == 1:
        return keys[0]
    if not keys:
        raise errors.KeyMissing(f"no {word} key: the environment has no {word} spec")
    raise errors.KeyMissing(f"{word}_key: there are {len(keys)} ({errors.some_names(keys)}); read {word}_keys")


def protected(name: str, slots: Sequence[str]) -> Exception:
    """The error for a write to a whole tree of specs."""
    return errors.StructureError(f"{name} is protected; set one of {', '.join(slots)} (or of their short names)")


def apart_from(slot: str) -> list[str]:
    """The specs that have no key in common with another one. A state may be an observation at the same time."""
    if slot == "full_state_spec":
        return ["full_action_spec"]
    others = INPUTS if slot == "full_action_spec" else ("full_action_spec",)
    return [other for other in (*OUTPUTS, *others) if other != slot]


def refuse_shared(slot: str, mine: dict[Key, Any], other: str, theirs: dict[Key, Any]) -> None:
    """Refuse a key that another spec has."""
    for key in mine:
        if key in theirs:
            raise errors.StructureError(shared(key, slot, other))


def check_leading(slot: str, spec: Any, batch: Size, key: Key | None = None) -> None:
    """Refuse a spec that does not have the batch size as its leading dims."""
    if spec.shape[: len(batch)] != batch:
        of = "" if key is None else f" of {errors.name_of(key)}"
        would = f"; {[*batch, *spec.shape]} would do" if key is not None or spec.shape else ""
        raise SpecShape(
            f"{slot}: the spec{of} has shape {list(spec.shape)}; the batch size of the environment is {list(batch)}, "
            f"and must be its leading dims{would}"
        )


class SpecShape(errors.RuleError, ValueError):
    """A spec without the batch size of its environment."""


def with_batch(slot: str, tree: Any, batch: Size) -> Any:
    """A composite without a shape whose leaves have the batch size: the same with that shape."""
    if tuple(tree.shape):
        check_leading(slot, tree, batch)
    for key, leaf in leaves_of(tree).items():
        check_leading(slot, leaf, batch, key)
    tree = tree.clone()
    tree.shape = batch
    return tree


def with_flags(tree: Any) -> Any:
    """The done spec with done and terminated in every group."""
    found = leaves_of(tree)
    lacking: dict[Key, Any] = {}
    for group in groups_of(found, len(tree.shape)):
        for name in ("done", "terminated"):
            if group.names and name not in group.names:
                lacking[group.key(name)] = found[group.key(group.names[0])].clone()
    if not lacking:
        return tree
    tree = tree.clone()
    for key, spec in lacking.items():
        tree[key] = spec
    return tree
