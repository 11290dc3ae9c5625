"""TensorClassModuleBase: a module from one class of containers to another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from torch import nn

from .._rules import errors
from .._tensorclass import TensorClass
from .._tensordict import TensorDict
from .._tree.node import kind
from ._base import refuse_script
from ._ends import bound_ends, check_end, class_of, resolved
from ._hooks import is_hooked

if TYPE_CHECKING:
    from ._typed_wrapper import TensorClassModuleWrapper

In = TypeVar("In", contravariant=True)
Out = TypeVar("Out", covariant=True)


class TensorClassModuleBase(nn.Module, ABC, Generic[In, Out]):
    """A module whose forward takes an instance of one class and gives one of another.

    >>> class Body(TensorClass):
    ...     pos: torch.Tensor
    >>> class Move(TensorClass):
    ...     step: torch.Tensor
    >>> class Walk(TensorClassModuleBase[Body, Move]):
    ...     def forward(self, x: Body) -> Move:
    ...         return Move(step=x.pos / 2, batch_size=x.batch_size)
    >>> Walk()(Body(pos=torch.ones(2), batch_size=[2])).step
    tensor([0.5000, 0.5000])

    keeps_batch: the output has the batch size of the input; as_td_module checks that, unless the class says False.
    """

    input_type: Any
    output_type: Any
    keeps_batch: ClassVar[bool] = True
    _gives: type | None = None  # The class of every output; None where only an instance can tell.

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.input_type, cls.output_type = [resolved(end, cls.__module__) for end in bound_ends(cls, _root())]
        for end in (cls.input_type, cls.output_type):
            check_end(cls.__name__, end)
        gives = class_of(cls.output_type)
        cls._gives = gives if isinstance(gives, type) else None

    @abstractmethod
    def forward(self, x: In, /) -> Out:
        """The output for an input."""
        raise NotImplementedError

    if TYPE_CHECKING:

        def __call__(self, x: In, /) -> Out:
            """Call forward, and the hooks."""
            raise NotImplementedError

    else:

        def __call__(self, *args, **kwargs):
            try:
                out = super().__call__(*args, **kwargs) if is_hooked(self) else self.forward(*args, **kwargs)
            except (AttributeError, LookupError, TypeError) as error:
                check_input(self, (*args, *kwargs.values()), error)
                raise
            gives = self._gives or ends_of(self)[1]
            if not isinstance(out, gives) and isinstance(gives, type):
                again = " (defined again?)" if type(out).__name__ == gives.__name__ else ""
                name = type(self).__name__
                raise errors.KindError(f"{name}: forward gave {kind(out)}{again}, the output type is {gives.__name__}")
            return out

    def __prepare_scriptable__(self) -> Any:
        refuse_script(self)

    def as_td_module(self: TensorClassModuleBase[Any, TensorClass]) -> TensorClassModuleWrapper:
        """This module as one by key: it reads the fields of its input class and gives those of its output class.

        Nested classes are nested keys. It works in a TensorDictSequential; the parameters are those of this module.
        """
        from ._typed_wrapper import TensorClassModuleWrapper

        return TensorClassModuleWrapper(self)


def _root() -> type:
    return TensorClassModuleBase


def ends_of(module: TensorClassModuleBase[Any, Any]) -> tuple[Any, Any]:
    """The classes that an instance takes and gives, also where only Net[Obs, Act]() says them."""
    ends = [module.input_type, module.output_type]
    made_as = module.__dict__.get("__orig_class__")
    if made_as is not None:
        by_variable = dict(zip(made_as.__origin__.__parameters__, made_as.__args__))
        ends = [by_variable.get(end, end) if isinstance(end, TypeVar) else end for end in ends]
    takes, gives = [class_of(resolved(end, type(module).__module__)) for end in ends]
    return takes, gives


def check_input(module: TensorClassModuleBase[Any, Any], args: tuple[Any, ...], cause: Exception | None) -> None:
    """Refuse an input of another class than the module takes."""
    takes = ends_of(module)[0]
    if len(args) != 1 or not isinstance(takes, type) or isinstance(args[0], takes) or type(cause) is errors.KindError:
        return
    made = f"; {takes.__name__}.from_tensordict(...) makes one of it, and .as_td_module() takes it as it is"
    text = errors.takes(type(module).__name__, takes.__name__, kind(args[0]))
    raise errors.KindError(text + (made if isinstance(args[0], TensorDict) else "")) from cause


def class_ends(module: TensorClassModuleBase[Any, Any]) -> tuple[type[TensorClass], type[TensorClass]]:
    """The two classes of a module, where both are classes with fields."""
    ends = ends_of(module)
    for word, end in zip(("input", "output"), ends):
        if not (isinstance(end, type) and issubclass(end, TensorClass)):
            raise errors.OptionError(
                f"{type(module).__name__}: the {word} type is {getattr(end, '__name__', repr(end))}, no TensorClass; "
                "only a module between two TensorClass classes can be one by key"
            )
    return ends
