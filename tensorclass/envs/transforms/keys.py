"""Entries under other keys, or left out: RenameTransform, ExcludeTransform, SelectTransform."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..._rules.keys import Key, path, unravel
from .._entries import drop, read, write
from .._layout import GROUPS, INPUTS, OUTPUTS, Layout
from .._transform import Keys, Transform
from ._leafwise import drop_spec

Path = tuple[str, ...]


class RenameTransform(Transform):
    """Entries under other keys: outputs from in_keys to out_keys, actions and states by in_keys_inv and out_keys_inv.

    >>> RenameTransform(["a"], [("agent", "a")])(TensorDict(a=torch.ones(2)))["agent", "a"]
    tensor([1., 1.])

    in_keys_inv are the environment's names, out_keys_inv those seen from outside. create_copy=True: what is renamed
    stays under its old key too.
    """

    def __init__(
        self,
        in_keys: Keys,
        out_keys: Keys,
        in_keys_inv: Keys = None,
        out_keys_inv: Keys = None,
        create_copy: bool = False,
    ) -> None:
        super().__init__(in_keys, out_keys, in_keys_inv, out_keys_inv)
        self.create_copy = create_copy

    def _most_at_once(self, steps: int, stop: bool) -> int:
        return steps

    def _call(self, next_tensordict: Any) -> Any:
        return self._renamed(next_tensordict, self.missing_tolerance)

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return self._renamed(tensordict_reset, True)

    def _renamed(self, tensordict: Any, tolerant: bool) -> Any:
        found = [(out_key, read(tensordict, in_key)) for in_key, out_key in self._pairs]
        for (in_key, out_key), (_, value) in zip(self._pairs, found):
            if value is None and not tolerant:
                self._refuse_missing(in_key, tensordict)
            if value is not None and in_key != out_key and not self.create_copy:
                drop(tensordict, in_key)
        for out_key, value in found:
            if value is not None:
                write(tensordict, out_key, value)
        return tensordict

    def _inv_call(self, tensordict: Any) -> Any:
        found = [(in_key, read(tensordict, out_key)) for in_key, out_key in self._inverse]
        for (in_key, out_key), (_, value) in zip(self._inverse, found):
            if value is None and not self.missing_tolerance:
                self._refuse_missing(out_key, tensordict)
            if value is not None and in_key != out_key:
                drop(tensordict, out_key)
        for in_key, value in found:
            if value is not None:
                write(tensordict, in_key, value)
        return tensordict

    def transform_output_spec(self, output_spec: Any) -> Any:
        """The specs under their new keys."""
        return self._respecced(output_spec, OUTPUTS, self._pairs, self.create_copy)

    def transform_input_spec(self, input_spec: Any) -> Any:
        """The specs under the keys that are seen from outside."""
        return self._respecced(input_spec, INPUTS, self._inverse, False)

    def _respecced(self, specs: Any, names: tuple[str, ...], pairs: Any, keep: bool) -> Any:
        for name in names:
            group = specs[GROUPS[name]]
            found = {out_key: group[in_key] for in_key, out_key in pairs if in_key in group.keys(True)}
            for in_key, out_key in pairs:
                if out_key in found and in_key != out_key and in_key in group.keys(True) and not keep:
                    drop_spec(group, in_key)
            for key, spec in found.items():
                group[key] = spec
        return specs

    def _classes(self, obs: Any, action: Any) -> tuple[Any, Any]:
        return (Any if self._reads else obs), (Any if self._takes else action)


class Filter(Transform):
    """A transform that leaves entries out."""

    def _drops(self, key: Path) -> bool:
        """Whether the entry at a path is left out."""
        raise NotImplementedError

    def _most_at_once(self, steps: int, stop: bool) -> int:
        return steps

    def _call(self, next_tensordict: Any) -> Any:
        for key in list(type(next_tensordict).keys(next_tensordict, True, True)):
            if self._drops(path(key)):
                drop(next_tensordict, key)
        return next_tensordict

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return self._call(tensordict_reset)

    def transform_output_spec(self, output_spec: Any) -> Any:
        """The specs of what stays."""
        for name in OUTPUTS:
            group = output_spec[GROUPS[name]]
            for key in list(group.keys(True, True)):
                if self._drops(path(key)):
                    drop_spec(group, key)
        return output_spec


class ExcludeTransform(Filter):
    """Some entries left out.

    >>> list(ExcludeTransform("a")(TensorDict(a=torch.ones(2), b=torch.ones(2))).keys())
    ['b']

    A key of a nested container stands for all that is in it.
    """

    def __init__(self, *excluded_keys: Key) -> None:
        super().__init__()
        self.excluded_keys = flattened(excluded_keys)
        self._excluded = [path(key) for key in self.excluded_keys]

    def _drops(self, key: Path) -> bool:
        return any(key[: len(one)] == one for one in self._excluded)

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        if not self.missing_tolerance:
            layout.check_reads(type(self).__name__, self.excluded_keys)


class SelectTransform(Filter):
    """Some observations kept, the others left out; rewards and flags stay, unless told otherwise.

    >>> list(SelectTransform("a")(TensorDict(a=torch.ones(2), b=torch.ones(2))).keys())
    ['a']
    """

    def __init__(self, *selected_keys: Key, keep_rewards: bool = True, keep_dones: bool = True) -> None:
        super().__init__()
        self.selected_keys = flattened(selected_keys)
        self.keep_rewards, self.keep_dones = keep_rewards, keep_dones
        self._kept = [path(key) for key in self.selected_keys]

    def _drops(self, key: Path) -> bool:
        return not any(key[: len(one)] == one for one in self._kept)

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        if not self.missing_tolerance:
            layout.check_reads(type(self).__name__, self.selected_keys)
        groups = ["reward"] * self.keep_rewards + ["done"] * self.keep_dones
        self._kept = [path(key) for key in (*self.selected_keys, *layout.keys("state", *groups))]


def flattened(keys: Iterable[Key | Sequence[Key]]) -> list[Key]:
    """Keys given one by one, or as a list."""
    found: list[Key] = []
    for key in keys:
        found += [unravel(one) for one in key] if isinstance(key, list) else [unravel(key)]
    return found


__all__ = ["ExcludeTransform", "RenameTransform", "SelectTransform"]
