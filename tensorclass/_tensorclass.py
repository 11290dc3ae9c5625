"""TensorClass: a dataclass of tensors that share their leading dims."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Mapping, Sequence
from dataclasses import field as field
from typing import TYPE_CHECKING, Any, ClassVar, overload

import torch
from torch import Size, Tensor
from typing_extensions import Self, dataclass_transform

from . import _build, _construct
from ._cached import replace_cached
from ._container import Container
from ._declare import OPTIONS, declare, options_of, running
from ._fields import Field, Options, Simple
from ._rules import errors
from ._tensordict import TensorDict, as_dict, untyped
from ._tree import pytree
from ._tree.contract import as_size
from ._tree.node import Names, Node


@dataclass_transform(eq_default=False, field_specifiers=(field,))
class TensorClassMeta(ABCMeta):
    """Makes a class body into a typed class."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        frozen: bool | None = None,
        autocast: bool | None = None,
        nocast: bool | None = None,
        tensor_only: bool | None = None,
        shadow: bool | None = None,
        kw_only: bool = False,
        **others: Any,
    ) -> Any:
        if "_options" in namespace:  # TensorClass itself
            return super().__new__(mcls, name, bases, namespace, **others)
        given = {
            "frozen": frozen,
            "autocast": autocast,
            "nocast": nocast,
            "tensor_only": tensor_only,
            "shadow": shadow,
        }
        bracketed = tuple(
            option for base in namespace.get("__orig_bases__", ()) for option in getattr(base, "_bracketed", ())
        )
        written = {key: value for key, value in namespace.items() if key != "__classcell__"}
        replace_cached(namespace, bases)
        namespace["_own_init"] = "__init__" in namespace
        namespace["_options"] = options_of(bases, given, bracketed)
        cls: Any = super().__new__(mcls, name, bases, namespace, **others)
        cls._written = written  # @tensorclass(...) makes the class once more, with options
        declare(cls, kw_only, running(cls.__module__))
        pytree.register(cls)
        return cls

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> None:
        super().__init__(name, bases, namespace)


class _BatchSize:
    """The type of `batch_size`: a torch.Size to read; a sequence, an int or None to write."""

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Size: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else instance._batch

    def __set__(self, instance: Any, value: Sequence[int] | int | None) -> None:
        _construct.resize(instance, as_size(value))


class _Bracketed:
    """TensorClass["nocast"], as a base class: TensorClass with options."""

    def __init__(self, base: type, options: tuple[str, ...]) -> None:
        self._base = base
        self._bracketed = options

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (self._base,)


class TensorClass(Container, metaclass=TensorClassMeta):
    """A dataclass of tensors that share their leading dims: the batch size.

    >>> from jaxtyping import Float
    >>> class Particles(TensorClass):
    ...     pos: Float[Tensor, "*batch 3"]
    ...     mass: Float[Tensor, "*batch"]
    >>> particles = Particles(pos=torch.zeros(64, 3), mass=torch.ones(64))
    >>> particles.batch_size, particles[0].mass
    (torch.Size([64]), tensor(1.))

    Options, as keywords of the class or in brackets (`TensorClass["nocast"]`): `frozen`, `autocast`, `nocast`,
    `tensor_only`, `shadow`; and `kw_only` as on a dataclass.
    """

    __slots__ = ("_batch", "_device", "_names", "_locked", "_leaves", "_cache", "__dict__", "__weakref__")

    _options: ClassVar[Options] = Options()
    _declared: ClassVar[dict[str, Field]] = {}
    _simple: ClassVar[dict[str, Simple]] = {}
    _columns: ClassVar[list[Any]] = []  # the dataclass fields, InitVars included
    _annotated: ClassVar[dict[str, type]] = {}  # the class whose body annotates each field
    _pending: ClassVar[tuple[str, ...]] = ()  # fields whose annotation names something that is not there yet
    _own_init: ClassVar[bool] = False
    _init_fields: ClassVar[Any] = None
    _none_is_unset = True

    if TYPE_CHECKING:
        batch_size: _BatchSize = field(default=_BatchSize(), kw_only=True)
        device: torch.device | str | int | None = field(default=None, kw_only=True)
        names: Sequence[str | None] | None = field(default=None, kw_only=True)
    else:
        batch_size = _BatchSize()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Reached from super().__init__(...) in a class with an __init__ of its own: set the fields of that class.
        for owner in reversed(type(self).__mro__):
            own = owner.__dict__.get("_init_fields")
            if own is not None:
                own(self, *args, **kwargs)
                return
        raise errors.KindError("TensorClass has no fields; subclass it and declare some")

    if TYPE_CHECKING:

        def __init_subclass__(
            cls,
            *,
            frozen: bool = False,
            autocast: bool = False,
            nocast: bool = False,
            tensor_only: bool = False,
            shadow: bool = False,
            kw_only: bool = False,
        ) -> None: ...

    else:

        def __class_getitem__(cls, parameters: Any) -> Any:
            options = parameters if isinstance(parameters, tuple) else (parameters,)
            if options and all(isinstance(option, str) for option in options):
                for option in options:
                    if option not in OPTIONS:
                        raise errors.OptionError(f"{cls.__name__}[{option!r}]: the options are {', '.join(OPTIONS)}")
                return _Bracketed(cls, options)
            return super().__class_getitem__(parameters)

    @property
    def _fields(self) -> dict[str, Any]:  # type: ignore[override]  # Read only here: the store is the instance itself.
        return self.__dict__

    def __setattr__(self, name: str, value: Any) -> None:
        simple = type(self)._simple.get(name)
        if simple is not None and isinstance(value, Tensor) and self._device is None and not self._locked:
            tail, dtypes = simple
            batch = self._batch
            shape = value.shape
            fits = shape[: len(batch)] == batch if tail is None else shape == (*batch, *tail)
            if fits and (dtypes is None or value.dtype in dtypes) and not type(self)._options.frozen:
                self.__dict__[name] = value
                return
        _construct.write(self, name, value)

    def __delattr__(self, name: str) -> None:
        if name in type(self)._declared:
            self._check_open(f"delete {name!r}")
            if name in self.__dict__:
                del self.__dict__[name]
                return
        raise _construct.no_attribute(self, name)

    if not TYPE_CHECKING:  # A checker would let any name pass.

        def __getattr__(self, name: str) -> Any:
            raise _construct.no_attribute(self, name)

    # ---- what the engine asks of a node -------------------------------------------------------------------------

    def _validate(self, key: errors.Key, value: Any) -> Any:
        return _construct.admitted(self, key if isinstance(key, str) else key[-1], value)

    def _missing(self, key: errors.Key) -> Exception:
        return _construct.no_field(self, key if isinstance(key, str) else key[-1])

    def _absent(self, name: str, default: Any) -> Any:
        if name in type(self)._declared:
            return default
        raise _construct.no_field(self, name)

    def _check_name(self, name: str) -> None:
        if name not in type(self)._declared:
            raise _construct.no_field_to_set(self, name)

    def _check_open(self, action: str) -> None:
        if type(self)._options.frozen:
            raise _construct.frozen(self, action)
        super()._check_open(action)

    def _drop(self, name: str) -> None:
        if type(self)._declared[name].optional:
            self.__dict__[name] = None
        else:
            del self.__dict__[name]

    def _fill(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)
        object.__setattr__(self, "_cache", None)

    def _fresh_node(self, name: str) -> Any:
        return _build.fresh(self, name)

    def _bare(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Self:
        # Fields that are left out are unset: None where they may be, and an error to read where they may not.
        return self._rebuild({**_build.unset(type(self)), **fields}, batch, names)

    def _untyped(self, fields: dict[str, Any], inplace: bool) -> Any:
        if inplace:
            raise errors.OptionError(f"{type(self).__name__} has fixed fields; its keys cannot change in place")
        out: TensorDict[str, Any] = TensorDict(None, self._batch, self._device, self._names)
        out._fields.update(fields)
        return out

    def _rebuild(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Self:
        new = object.__new__(type(self))
        new.__dict__.update(fields)
        object.__setattr__(new, "_batch", batch if batch.__class__ is Size else Size(batch))
        object.__setattr__(new, "_device", self._device)
        object.__setattr__(new, "_names", names)
        object.__setattr__(new, "_locked", False)
        object.__setattr__(new, "_leaves", None)
        object.__setattr__(new, "_cache", None)
        return new

    def __reduce__(self) -> Any:
        state = (dict(self.__dict__), tuple(self._batch), self._device, self._names, bool(self._locked))
        return _build.restore, (type(self), *state)

    def __copy__(self) -> Self:
        return self._like(dict(self.__dict__))

    # ---- to and from other forms --------------------------------------------------------------------------------

    def replace(self, **fields: Any) -> Self:
        """The same instance with some fields replaced: class, batch size, device, names and the rest stay.

        >>> class Sample(TensorClass):
        ...     x: Tensor
        ...     label: str = "none"
        >>> Sample(x=torch.zeros(3), batch_size=3).replace(label="cat").label
        'cat'
        """
        return self._like(_construct.changed(self, fields))

    __replace__ = replace

    @classmethod
    def from_dict(
        cls,
        input_dict: Mapping[str, Any],
        *,
        auto_batch_size: bool = False,
        batch_size: Sequence[int] | int | None = None,
        device: torch.device | str | int | None = None,
        batch_dims: int | None = None,
        names: Sequence[str | None] | None = None,
    ) -> Self:
        """An instance from a dict: nested dicts become nested classes, fields that are not there take their default.

        >>> class Sample(TensorClass):
        ...     image: Tensor
        >>> Sample.from_dict({"image": torch.zeros(4, 2)}, batch_size=[4]).batch_size
        torch.Size([4])

        __post_init__ is not run: the dict may come from an instance that had it run already.
        """
        out = _build.build(cls, input_dict, batch_size, device, names)
        if batch_size is None and (auto_batch_size or batch_dims is not None):
            Container.auto_batch_size_(out, batch_dims)
        return out

    @classmethod
    def from_tensordict(cls, tensordict: Node) -> Self:
        """An instance with the entries of a TensorDict; the tensors are shared, nested classes made anew."""
        source: dict[str, Any] = tensordict._fields
        return _build.build(cls, source, tensordict._batch, tensordict._device, tensordict._names)

    def to_dict(self, *, retain_none: bool = True, convert_tensors: bool = False) -> dict[str, Any]:
        """The fields as a dict, nested containers as dicts."""
        return as_dict(self, retain_none)

    def to_tensordict(self, *, retain_none: bool | None = None) -> TensorDict[str, Any]:
        """A TensorDict with the same entries, all nested containers as TensorDicts; the tensors are shared."""
        return untyped(self)
