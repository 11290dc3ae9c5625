"""Modules that read and write named fields: from class to class, or by key."""

from __future__ import annotations

from ._base import TensorDictModuleBase as TensorDictModuleBase
from ._chain import Chain as Chain
from ._dispatch import dispatch as dispatch
from ._graph import Graph as Graph
from ._module import TensorDictModule as TensorDictModule
from ._sequence import TensorDictSequential as TensorDictSequential
from ._skip import set_skip_existing as set_skip_existing
from ._skip import skip_existing as skip_existing
from ._typed import TensorClassModuleBase as TensorClassModuleBase
from ._typed_wrapper import TensorClassModuleWrapper as TensorClassModuleWrapper
from ._wrappers import TensorDictModuleWrapper as TensorDictModuleWrapper
from ._wrappers import WrapModule as WrapModule
from ._wrappers import as_tensordict_module as as_tensordict_module
from ._wrappers import make_tensordict as make_tensordict
