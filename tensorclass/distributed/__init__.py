"""Containers between processes: the messages of torch.distributed, a whole container at a time."""

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
