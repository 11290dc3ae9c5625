"""Specs: what values an entry may have."""

from __future__ import annotations

from . import check as check
from . import choice as choice
from . import count as count
from . import draw as draw
from . import encode as encode
from . import project as project
from . import rows as rows
from . import values as values
