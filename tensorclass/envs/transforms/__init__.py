"""Transforms, a file for each kind; tensorclass.envs has all of them."""

from ._leafwise import _apply_to_composite as _apply_to_composite
from ._leafwise import _apply_to_composite_inv as _apply_to_composite_inv
