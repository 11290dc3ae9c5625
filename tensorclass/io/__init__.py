"""Containers on disk and between processes: memory maps, files, one-buffer packing, data sets."""

from ._errors import DataDamaged as DataDamaged
from ._errors import DataExists as DataExists
from ._errors import DataMissing as DataMissing
from ._errors import NotStorable as NotStorable
from ._errors import PickleRefused as PickleRefused
from ._errors import StorageError as StorageError
from ._map import MemoryMappedTensor as MemoryMappedTensor
from ._rows import RowWriter as RowWriter
