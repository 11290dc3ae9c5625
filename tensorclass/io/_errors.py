"""What can be wrong with data on disk."""

from __future__ import annotations

from .._rules.errors import RuleError


class StorageError(RuleError):
    """Data that cannot be stored, or read back."""


class DataMissing(StorageError, FileNotFoundError):
    """Nothing is stored where something should be."""


class DataExists(StorageError, FileExistsError):
    """Something is stored already where nothing should be."""


class DataDamaged(StorageError, ValueError):
    """Files that do not fit together: truncated, edited, or made to deceive."""


class NotStorable(StorageError, TypeError):
    """A value that the format has no place for."""


class PickleRefused(StorageError, PermissionError):
    """Plain data that only unpickling, which can run any code, would bring back."""
