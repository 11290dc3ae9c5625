"""The error codes, one a kind of mistake, so that each can be switched off by itself."""

from __future__ import annotations

from typing import Final

from mypy.errorcodes import ErrorCode

FIELD: Final = ErrorCode(
    "tensorclass-field", "A name that is no field of the class, or a value that does not fit it", "tensorclass"
)
KEY: Final = ErrorCode("tensorclass-key", "A key that a TensorDict does not have", "tensorclass")
BATCH: Final = ErrorCode("tensorclass-batch", "Batch sizes that do not fit", "tensorclass")
SHAPE: Final = ErrorCode("tensorclass-shape", "Tensor shapes or dtypes that do not fit", "tensorclass")
MODULE: Final = ErrorCode("tensorclass-module", "Keys and calls of modules that do not fit", "tensorclass")
CALL: Final = ErrorCode("tensorclass-call", "A call of a module that its forward does not take", "tensorclass")
PLUGIN: Final = ErrorCode("tensorclass-plugin", "A defect inside the plugin", "tensorclass")

ALL: Final = {code.code: code for code in (FIELD, KEY, BATCH, SHAPE, MODULE, CALL, PLUGIN)}
