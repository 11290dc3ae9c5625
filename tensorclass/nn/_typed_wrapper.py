"""TensorClassModuleWrapper: a typed module as one by key."""

from __future__ import annotations

from typing import Any

from .._container import Container
from .._rules import errors
from .._settings import FLAGS
from ._base import TensorDictModuleBase
from ._convert import as_instance, as_tensordict
from ._dispatch import dispatch
from ._ends import keys_of_class
from ._skip import skips
from ._typed import TensorClassModuleBase, class_ends


class TensorClassModuleWrapper(TensorDictModuleBase):
    """Reads the fields of a typed module's input class, gives a new container with those of its output class."""

    _selects_itself = True

    def __init__(self, module: TensorClassModuleBase[Any, Any]) -> None:
        super().__init__()
        self._takes, gives = class_ends(module)
        self._in_keys, self._out_keys = keys_of_class(self._takes), keys_of_class(gives)
        self.tc_module = module

    @dispatch(auto_batch_size=False)
    def forward(self, tensordict: Container, *, tensordict_out: Container | None = None) -> Container:
        """Make an instance of the input class, call the module, take its output apart."""
        if FLAGS.skip is not False and tensordict_out is None and skips(self, tensordict):
            return tensordict
        module: Any = self._modules["tc_module"]  # nn.Module.__getattr__ would take a microsecond.
        given = as_instance(tensordict, self._takes)
        output = module(given)
        check_batch(module, given, output)
        out = as_tensordict(output)
        if self._selected is not None:
            out = out.select(*self._selected, strict=False)
        if tensordict_out is None:
            return out
        type(tensordict_out).update(tensordict_out, out)
        return tensordict_out


def check_batch(module: TensorClassModuleBase[Any, Any], given: Any, output: Any) -> None:
    """Refuse an output of another batch size than the input, unless the class of the module allows it."""
    if output.batch_size != given.batch_size and module.keeps_batch:
        raise errors.ShapeError(
            errors.batch_changed(type(module).__name__, tuple(given.batch_size), tuple(output.batch_size))
        )
