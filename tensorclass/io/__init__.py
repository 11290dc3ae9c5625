"""Containers on disk and between processes: memory maps, files, growing data, data sets, tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._errors import DataDamaged as DataDamaged
from ._errors import DataExists as DataExists
from ._errors import DataMissing as DataMissing
from ._errors import NotStorable as NotStorable
from ._errors import PickleRefused as PickleRefused
from ._errors import StorageError as StorageError
from ._files import load as load
from ._files import load_safetensors as load_safetensors
from ._files import save as save
from ._files import save_safetensors as save_safetensors
from ._loader import RowDataset as RowDataset
from ._loader import RowLoader as RowLoader
from ._map import MemoryMappedTensor as MemoryMappedTensor
from ._rows import RowWriter as RowWriter

if TYPE_CHECKING:
    from ._arrow import from_arrow as from_arrow
    from ._arrow import read_parquet as read_parquet
    from ._arrow import to_arrow as to_arrow
    from ._arrow import to_parquet as to_parquet
    from ._frames import from_pandas as from_pandas
    from ._frames import to_pandas as to_pandas
else:
    import importlib

    # By name: the file that needs a package which may not be there, and the extra that installs it.
    _OPTIONAL = {
        **dict.fromkeys(("from_arrow", "read_parquet", "to_arrow", "to_parquet"), ("_arrow", "arrow")),
        **dict.fromkeys(("from_pandas", "to_pandas"), ("_frames", "pandas")),
    }

    def __getattr__(name):
        if name not in _OPTIONAL:
            from .._rules.elsewhere import no_member

            raise AttributeError(no_member(__name__, name, __dir__()))
        module, extra = _OPTIONAL[name]
        try:
            value = getattr(importlib.import_module(f".{module}", __name__), name)
        except ModuleNotFoundError as error:
            needs = f"{name} needs {error.name}; pip install 'tensorclass[{extra}]' installs it"
            raise ModuleNotFoundError(needs, name=error.name) from error
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *_OPTIONAL})
