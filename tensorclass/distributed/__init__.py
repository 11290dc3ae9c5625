"""Containers between processes: the collectives of torch.distributed, a whole container at a time."""

from ._collectives import all_gather as all_gather
from ._collectives import all_reduce as all_reduce
from ._collectives import broadcast as broadcast
from ._collectives import gather as gather
from ._collectives import recv as recv
from ._collectives import reduce as reduce
from ._collectives import scatter as scatter
from ._collectives import send as send
