"""A module by key as a typed one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from .._container import Container
from .._rules import errors
from .._rules.flow import provided
from .._tensorclass import TensorClass
from .._tensordict import TensorDict
from ._convert import as_instance, as_mapping
from ._ends import fields_of_class, keys_of_class
from ._typed import TensorClassModuleBase, check_input
from ._typed_wrapper import check_batch

if TYPE_CHECKING:
    from ._base import TensorDictModuleBase

I_contra = TypeVar("I_contra", bound=Container, contravariant=True)
O_co = TypeVar("O_co", bound=Container, covariant=True)


class TypedByKey(TensorClassModuleBase[I_contra, O_co]):
    """Gives a module by key the fields of an instance, and makes an instance of what it writes."""

    def __init__(self, module: TensorDictModuleBase, input_type: type[I_contra], output_type: type[O_co]) -> None:
        super().__init__()
        for cls in (input_type, output_type):
            if not (isinstance(cls, type) and issubclass(cls, TensorClass)):
                raise errors.KindError(f"typed: {cls!r} is no TensorClass")
        self.input_type, self.output_type = input_type, output_type
        reads = keys_of_class(input_type)  # type: ignore[arg-type]  # Just seen to be one.
        for key in module.in_keys:
            if not provided(key, reads) and not any(provided(one, [key]) for one in reads):
                raise errors.UnknownField(errors.no_field(input_type.__name__, key, reads))
        writes = [*module.out_keys, *reads]
        for path, needed in fields_of_class(output_type):  # type: ignore[arg-type]
            if needed and not provided(path, writes):
                raise errors.KeyMissing(
                    f"{output_type.__name__}.{'.'.join(path)} is neither written by the module nor a field of "
                    f"{input_type.__name__}; the out_keys are {errors.some_names(module.out_keys)}"
                )
        self.module = module

    def forward(self, x: I_contra, /) -> O_co:
        """Run the module on the fields of x."""
        check_input(self, (x,), None)
        entries: TensorDict = TensorDict(dict(as_mapping(x)), x.batch_size, x.device)
        out = as_instance(self.module(entries), self.output_type)
        check_batch(self, x, out)
        return out  # type: ignore[no-any-return]  # as_instance gives an instance of output_type.

    def __repr__(self) -> str:
        inner = repr(self.module).replace("\n", "\n  ")
        return f"Typed[{self.input_type.__name__}, {self.output_type.__name__}](\n  {inner}\n)"
