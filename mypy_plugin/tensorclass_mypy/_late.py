"""Files that earlier ones call into; the walk, which imports them all, puts them here.

An import inside of a function costs more than what most of those functions do.
"""

from __future__ import annotations

from typing import Any

# Any: modules, of which every caller uses a function or two.
attributes: Any = None
calls: Any = None
containers: Any = None
tensors: Any = None
truth: Any = None
