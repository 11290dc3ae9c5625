"""Containers between processes: the messages of torch.distributed, a whole container at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._collectives import all_gather as all_gather
from ._collectives import broadcast as broadcast
from ._collectives import gather as gather
from ._collectives import scatter as scatter
from ._pairs import Receiving as Receiving
from ._pairs import Sending as Sending
from ._pairs import irecv as irecv
from ._pairs import isend as isend
from ._pairs import recv as recv
from ._pairs import send as send
from ._parallel import data_parallel as data_parallel
from ._parallel import fully_shard as fully_shard
from ._reductions import all_reduce as all_reduce
from ._reductions import reduce as reduce
from ._remote import Incoming as Incoming
from ._remote import Outgoing as Outgoing
from ._remote import from_remote as from_remote
from ._remote import init_remote as init_remote

if TYPE_CHECKING:
    from ._ray import RayObject as RayObject
    from ._ray import ray_get as ray_get
    from ._ray import ray_map as ray_map
    from ._ray import ray_put as ray_put
else:
    _RAY = ("RayObject", "ray_get", "ray_map", "ray_put")

    def __getattr__(name):
        if name not in _RAY:
            from .._rules.elsewhere import no_member

            raise AttributeError(no_member(__name__, name, __dir__()))
        import importlib

        try:
            return getattr(importlib.import_module("._ray", __name__), name)
        except ModuleNotFoundError as error:
            needs = f"{name} needs {error.name}; pip install 'tensorclass[ray]' installs it"
            raise ModuleNotFoundError(needs, name=error.name) from error

    def __dir__():
        return sorted({*globals(), *_RAY})
