"""Containers on disk and between processes: memory maps, files, growing data, data sets."""

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
