"""TensorDictSequential: modules by key, one after the other on one container."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, overload

import torch
from torch import nn
from typing_extensions import Self

from .._rules import errors, flow
from .._rules.flow import Flow
from .._rules.keys import Key
from .._settings import FLAGS
from .._tensordict import TensorDict
from .._tree.node import Node, kind
from ._base import CHANGES, TensorDictModuleBase, leave_out
from ._dispatch import MISSING, with_tensors
from ._graph import flow_line, shown_keys
from ._keys import keys_of
from ._module import Inplace, is_module
from ._skip import skips
from ._wrappers import WrapModule

Runs = Callable[[Any], Any]
_IN_KEYS: Any = TensorDictModuleBase.in_keys  # The properties, which a class may have replaced.
_OUT_KEYS: Any = TensorDictModuleBase.out_keys


class TensorDictSequential(TensorDictModuleBase):
    """Modules that run in order on one container: each reads what is there and adds what it writes.

    >>> from tensorclass.nn import TensorDictModule
    >>> model = TensorDictSequential(
    ...     TensorDictModule(torch.nn.Linear(3, 4), in_keys=["x"], out_keys=["hidden"]),
    ...     TensorDictModule(lambda h, scale: h * scale, in_keys=["hidden", "scale"], out_keys=["y"]),
    ... )
    >>> model.in_keys, model.out_keys
    (['x', 'scale'], ['hidden', 'y'])

    A dict of modules gives them names. partial_tolerant: leave out modules whose inputs are not there.
    selected_out_keys: the outputs to keep. inplace: None lets each module decide, True writes into the input, False and
    "empty" into a new container.
    """

    _selects_itself = True
    _known: tuple[Any, Flow] | None = None  # The keys, as they were when they were last asked for.

    def __init__(
        self,
        *modules: Runs | Mapping[str, Runs],
        partial_tolerant: bool = False,
        selected_out_keys: Key | Sequence[Key] | None = None,
        inplace: Inplace | None = None,
    ) -> None:
        super().__init__()
        if inplace not in (None, True, False, "empty"):
            raise errors.OptionError(errors.no_inplace(inplace))
        named = len(modules) == 1 and isinstance(modules[0], Mapping)
        given: Any = modules[0] if named else OrderedDict((str(at), one) for at, one in enumerate(modules))
        ready = OrderedDict((name, as_step(one)) for name, one in given.items())
        # Any: a ModuleList is read by place and a ModuleDict by name, and a type of both by neither.
        self.module: Any = nn.ModuleDict(ready) if named else nn.ModuleList(ready.values())
        self.partial_tolerant = partial_tolerant
        self._inplace: Inplace | None = inplace
        if selected_out_keys is not None:
            self.select_out_keys(*keys_of("selected_out_keys", selected_out_keys))

    @property
    def inplace(self) -> Inplace | None:
        """Where the outputs go."""
        return self._inplace

    # ---- the keys ---------------------------------------------------------------------------------------------------

    def _steps(self) -> list[Any]:
        modules: Any = self._modules["module"]
        return list(modules._modules.values())

    def _flow_keys(self) -> tuple[list[Key], list[Key]]:
        whole = self._whole()
        return list(whole.reads), list(whole.writes)

    def _whole(self) -> Flow:
        steps = self._steps()
        if torch.compiler.is_compiling() or not all(_tells_changes(one) for one in steps):
            return flow.sequence([flow_of(one) for one in steps])
        made_of = (CHANGES[0], steps)
        if self._known is None or self._known[0] != made_of:
            self._known = (made_of, flow.sequence([flow_of(one) for one in steps]))
        return self._known[1]

    # ---- the modules ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.module)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._steps())

    @overload
    def __getitem__(self, index: int | str) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | str | slice) -> Any:
        """A module by place or name, or a sequence of some of them."""
        if isinstance(index, slice):
            return self._part(range(len(self))[index])
        if isinstance(index, str):
            if not isinstance(self.module, nn.ModuleDict) or index not in self.module:
                names = list(self.module) if isinstance(self.module, nn.ModuleDict) else []
                raise errors.KeyMissing(errors.key_missing(index, names).replace("key", "module"))
            return self.module[index]
        return self._steps()[index]

    def __setitem__(self, index: int | str, module: Runs) -> None:
        self.module[index] = as_step(module)

    def __delitem__(self, index: int | str) -> None:
        del self.module[index]

    def append(self, module: Runs) -> Self:
        """Add a module at the end; returns the sequence."""
        if isinstance(self.module, nn.ModuleDict):
            raise errors.StructureError(
                "append: the modules of this sequence have names; write sequence[name] = module"
            )
        self.module.append(as_step(module))
        return self

    def _part(self, places: Sequence[int]) -> Any:
        names = list(self.module) if isinstance(self.module, nn.ModuleDict) else None
        steps = self._steps()
        chosen: Any = [steps[at] for at in places]
        modules = [{names[at]: steps[at] for at in places}] if names is not None else chosen
        return self._part_class(chosen)(*modules, **self._options(chosen))

    def _part_class(self, modules: list[Any]) -> Callable[..., TensorDictSequential]:
        return TensorDictSequential

    def _options(self, modules: list[Any]) -> dict[str, Any]:
        return {"partial_tolerant": self.partial_tolerant, "inplace": self._inplace}

    def select_subsequence(
        self, in_keys: Key | Sequence[Key] | None = None, out_keys: Key | Sequence[Key] | None = None
    ) -> TensorDictSequential:
        """A sequence of the modules that it takes to compute out_keys from in_keys; both default to all keys.

        Raises an OptionError when no module is left.
        """
        reads = None if in_keys is None else keys_of("in_keys", in_keys)
        writes = None if out_keys is None else keys_of("out_keys", out_keys)
        if writes is None and self._selected is not None:
            writes = self.out_keys
        kept = flow.subsequence([flow_of(one) for one in self._steps()], reads, writes)
        if not kept:
            all_reads, all_writes = self._flow_keys()
            raise errors.OptionError(
                errors.none_left(
                    all_reads if reads is None else reads,
                    all_writes if writes is None else writes,
                    all_reads,
                    all_writes,
                )
            )
        part: TensorDictSequential = self._part(kept)
        return part

    # ---- the call ---------------------------------------------------------------------------------------------------

    def forward(self, tensordict: Any = MISSING, /, *args: Any, tensordict_out: Any = None, **kwargs: Any) -> Any:
        # Any: a container; of which class, only the modules know.
        """Run the modules: on a container; or on tensors, for those of the out_keys."""
        if not isinstance(tensordict, Node):
            if tensordict_out is not None:
                kwargs["tensordict_out"] = tensordict_out
            return with_tensors(self, tensordict, args, kwargs)
        if args:
            raise errors.KindError(
                f"the in_keys are {self.in_keys}; {errors.count(len(args), 'argument')} more than that"
            )
        if FLAGS.skip is not False and tensordict_out is None and skips(self, tensordict):
            return tensordict
        own = self.__dict__  # nn.Module.__getattr__ makes reading an attribute slow.
        inplace = own["_inplace"]
        if tensordict_out is None and (inplace is None or inplace is True):
            if own.get("_selected") is None:
                out = self._run(tensordict, kwargs)
            else:
                dropped = self._dropped(tensordict)
                out = self._run(tensordict, kwargs)
                leave_out(out, dropped)
            return out if inplace is None or out is tensordict else self._give(out, tensordict)
        out = self._run(type(tensordict).copy(tensordict), kwargs)  # type: ignore[attr-defined]  # As every container.
        if tensordict_out is not None:
            return self._give(out, tensordict_out)
        kind: Any = type(tensordict)
        return self._give(out, TensorDict() if inplace is False else kind.empty(tensordict))

    def _run(self, tensordict: Any, kwargs: dict[str, Any]) -> Any:
        own = self.__dict__
        tolerant = own["partial_tolerant"]
        for step in own["_modules"]["module"].__dict__["_modules"].values():
            if tolerant and any(key not in tensordict for key in step.in_keys):
                continue
            tensordict = step(tensordict, **kwargs) if kwargs else step(tensordict)
        return tensordict

    def _dropped(self, tensordict: Any) -> list[Key]:
        selected: list[Key] = self._selected  # type: ignore[assignment]  # Asked by the caller.
        return [key for key in self.out_keys_source if key not in selected and key not in tensordict]

    def _give(self, out: Any, into: Any) -> Any:
        for key in self.out_keys:
            if key in out:  # A module that starts a new container drops what others wrote.
                into[key] = out[key]
        return into

    def __repr__(self) -> str:
        names = list(self.module) if isinstance(self.module, nn.ModuleDict) else range(len(self.module))
        lines = []
        for name, step in zip(names, self._steps()):
            shown = flow_line(step) if _plain_repr(step) else repr(step)
            lines.append(f"({name}): {shown}".replace("\n", "\n  "))
        head = f"{shown_keys(self.in_keys)} -> {shown_keys(self.out_keys)}"
        return "\n  ".join([f"{type(self).__name__}({head}", *lines]) + "\n)"


def as_step(module: Any) -> nn.Module:
    """A module of a sequence: one by key as it is, any other callable wrapped."""
    if is_module(module):
        return module  # type: ignore[no-any-return]  # Just seen to be a module.
    if isinstance(module, (list, tuple, Iterator, nn.ModuleList, nn.ModuleDict)):
        given = "*modules.values()" if isinstance(module, nn.ModuleDict) else "*modules"
        raise errors.OptionError(f"{kind(module)} is no module; each is an argument: TensorDictSequential({given})")
    if isinstance(module, type) or not callable(module):
        raise errors.OptionError(
            f"{module!r} cannot be part of a sequence; a module by key, or a function from container to container, can"
        )
    from ._typed import TensorClassModuleBase

    if isinstance(module, TensorClassModuleBase):
        raise errors.OptionError(
            f"{type(module).__name__} goes from class to class; in a sequence put what its .as_td_module() gives"
        )
    return WrapModule(module)


def flow_of(module: Any) -> Flow:
    """The keys that a module of a sequence reads and writes."""
    if isinstance(module, TensorDictModuleBase):
        return module._flow()
    return Flow(tuple(keys_of("in_keys", module.in_keys)), tuple(keys_of("out_keys", module.out_keys)))


def _tells_changes(module: Any) -> bool:
    """Whether the keys of a module change only where it counts that."""
    cls: Any = type(module)
    return isinstance(module, TensorDictModuleBase) and cls.in_keys is _IN_KEYS and cls.out_keys is _OUT_KEYS


def _plain_repr(module: Any) -> bool:
    shown: Any = type(module).__repr__
    return shown is TensorDictModuleBase.__repr__
