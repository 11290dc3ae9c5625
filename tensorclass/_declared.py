"""What containers with declared fields have in common, wherever they keep the fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, overload

import torch
from torch import Size
from typing_extensions import Self

from . import _build, _construct
from ._container import Container
from ._declare import OPTIONS
from ._fields import Field, Options, Simple
from ._rules import errors
from ._tree.contract import as_size
from ._tree.node import Names, Node


class BatchSize:
    """The type of `batch_size`: a torch.Size to read; a sequence, an int or None to write."""

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Size: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else instance._batch

    def __set__(self, instance: Any, value: Sequence[int] | int | None) -> None:
        _construct.resize(instance, as_size(value))


class Device:
    """The type of `device`, for checkers: a torch.device or None to read; what torch.device takes, to construct."""

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> torch.device | None: ...
    def __get__(self, instance: Any, owner: type) -> Any: ...
    def __set__(self, instance: Any, value: torch.device | str | int | None) -> None: ...


class DimNames:
    """The type of `names`, for checkers: a list with one entry a batch dim to read; any sequence, or None, to write."""

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> list[str | None]: ...
    def __get__(self, instance: Any, owner: type) -> Any: ...
    def __set__(self, instance: Any, value: Sequence[str | None] | None) -> None: ...


class Bracketed:
    """TensorClass["nocast"], as a base class: TensorClass with options."""

    def __init__(self, base: type, options: tuple[str, ...]) -> None:
        self._base = base
        self._bracketed = options

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (self._base,)


class Declared(Container):
    """A container whose keys are the fields that its class declares."""

    __slots__ = ()

    _options: ClassVar[Options] = Options()
    _declared: ClassVar[dict[str, Field]] = {}
    _simple: ClassVar[dict[str, Simple]] = {}
    _columns: ClassVar[list[Any]] = []  # the dataclass fields, InitVars included
    _annotated: ClassVar[dict[str, type]] = {}  # the class whose body annotates each field
    _pending: ClassVar[tuple[str, ...]] = ()  # fields whose annotation names something that is not there yet
    _own_init: ClassVar[bool] = False
    _init_fields: ClassVar[Any] = None
    _make: ClassVar[Any] = None  # The same for entries of another container; written when it is first needed.
    _none_is_unset = True

    if TYPE_CHECKING:

        def _fill(self, fields: dict[str, Any]) -> None: ...

    else:

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            # Reached from super().__init__(...) in a class with an __init__ of its own: set the fields of that class.
            for owner in reversed(type(self).__mro__):
                own = owner.__dict__.get("_init_fields")
                if own is not None:
                    own(self, *args, **kwargs)
                    return
            raise errors.KindError(f"{type(self).__name__} has no fields; subclass it and declare some")

        def __class_getitem__(cls, parameters: Any) -> Any:
            options = parameters if isinstance(parameters, tuple) else (parameters,)
            if options and all(isinstance(option, str) for option in options):
                for option in options:
                    if option not in OPTIONS:
                        raise errors.OptionError(f"{cls.__name__}[{option!r}]: the options are {', '.join(OPTIONS)}")
                return Bracketed(cls, options)
            return super().__class_getitem__(parameters)

    # ---- what the engine asks of a node -------------------------------------------------------------------------

    def _validate(self, key: errors.Key, value: Any) -> Any:
        name = key if isinstance(key, str) else key[-1]
        if self._device is None and _construct.fits_simply(self, name, value):
            return value
        return _construct.admitted(self, name, value)

    def _missing(self, key: errors.Key) -> Exception:
        return _construct.no_field(self, key if isinstance(key, str) else key[-1])

    def _absent(self, name: str, default: Any) -> Any:
        if name in type(self)._declared:
            return default
        raise _construct.no_field(self, name)

    def _batch_hint(self) -> str:
        others = [
            (name, dims)
            for name, at in type(self)._declared.items()
            if (dims := at.dims_of(self._fields.get(name))) is not None and dims.many is not None and dims.many.name
        ]
        if self._batch or not others or any(dims.has_batch for _, dims in others):
            return ""
        name, dims = others[0]
        return f'; "{dims.text}" of field {name!r} tells no batch size, as only *batch does'

    def _check_name(self, name: str) -> None:
        if name not in type(self)._declared:
            raise _construct.no_field_to_set(self, name)

    def _check_thawed(self, action: str) -> None:
        if self._is_frozen:
            raise _construct.frozen(self, action)

    def _check_open(self, action: str) -> None:
        self._check_thawed(action)
        super()._check_open(action)

    def _drop(self, name: str) -> None:
        if type(self)._declared[name].optional:
            self._fields[name] = None
        else:
            del self._fields[name]

    def _fresh_node(self, name: str) -> Any:
        return _build.fresh(self, name)

    def _bare(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Self:
        if len(fields) == len(type(self)._declared):
            return self._rebuild(fields, batch, names)
        # Fields that are left out are unset: None where they may be, and an error to read where they may not.
        return self._rebuild({**_build.unset(type(self)), **fields}, batch, names)

    def _untyped(self, fields: dict[str, Any], inplace: bool) -> Any:
        if inplace:
            raise errors.OptionError(f"{type(self).__name__} has fixed fields; its keys cannot change in place")
        return _build.plain(self, fields)

    # ---- to and from other forms --------------------------------------------------------------------------------

    def replace(self, *args: Any, **fields: Any) -> Self:
        """The same instance with some fields replaced: class, batch size, device, names and the rest stay.

        >>> class Sample(TensorClass):
        ...     x: torch.Tensor
        ...     label: str = "none"
        >>> Sample(x=torch.zeros(3), batch_size=3).replace(label="cat").label
        'cat'
        """
        for given in args:
            fields = {**(given._fields if isinstance(given, Node) else given), **fields}
        return self._like(_construct.changed(self, fields))

    @classmethod
    def from_dict(
        cls,
        input_dict: Mapping[Any, Any],
        *others: Any,
        auto_batch_size: bool = False,
        batch_size: Any = None,
        device: Any = None,
        batch_dims: int | None = None,
        names: Any = None,
    ) -> Self:
        """An instance from a dict: nested dicts become nested classes, fields that are not there take their default.

        >>> class Sample(TensorClass):
        ...     image: torch.Tensor
        >>> Sample.from_dict({"image": torch.zeros(4, 2)}, batch_size=[4]).batch_size
        torch.Size([4])

        __post_init__ is not run: the dict may come from an instance that had it run already.
        """
        out = _build.build(cls, input_dict, batch_size, device, names)
        if batch_size is None and (auto_batch_size or batch_dims is not None):
            Container.auto_batch_size_(out, batch_dims)
        return out

    @classmethod
    def from_tensordict(cls, source: Node) -> Self:
        """An instance with the entries of a TensorDict; the tensors are shared, nested classes made anew."""
        return _build.build(cls, source._fields, source._batch, source._device, source._names)

    def __reduce__(self) -> Any:
        state = (dict(self._fields), tuple(self._batch), self._device, self._names, bool(self._locked))
        return _build.restore, (type(self), *state)

    def __copy__(self) -> Self:
        return self._like(dict(self._fields))
