"""Ray: a container is in its store once, and processes see it there. Needs the extra `ray`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict, assert_close, errors

ray: Any = pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


class Rows(TensorClass):
    a: Tensor
    label: str = "none"


@pytest.fixture(scope="module", autouse=True)
def started() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
    yield
    ray.shutdown()


def rows() -> Rows:
    return Rows(a=torch.arange(12.0).reshape(6, 2), label="cat", batch_size=[6])


def test_what_is_put_is_what_is_got_and_two_readers_share_it() -> None:
    from tensorclass.distributed import ray_get, ray_put

    held = ray_put(rows())
    one, other, own = ray_get(held), ray_get(held), ray_get(held, copy=True)

    assert type(one) is Rows and one.label == "cat" and one.is_locked
    assert_close(one, rows())
    assert one.a.data_ptr() == other.a.data_ptr() != own.a.data_ptr()
    own.a.zero_()
    assert_close(ray_get(held), rows())


@pytest.mark.parametrize("parts", [None, 1, 4, 20])
def test_a_map_over_parts_is_the_call_on_the_whole(parts: int | None) -> None:
    from tensorclass.distributed import ray_map

    out = ray_map(lambda part: part.replace(a=part.a * 2), rows(), parts)

    assert type(out) is Rows and out.label == "cat"
    assert_close(out, rows().replace(a=rows().a * 2))


def test_what_cannot_be_shared_out_is_refused() -> None:
    from tensorclass.distributed import ray_map

    with pytest.raises(errors.ShapeError, match="no rows to share out"):
        ray_map(lambda part: part, TensorDict(a=torch.ones(2)))
    with pytest.raises(errors.KindError, match="must give a container with a batch dim"):
        ray_map(lambda part: part["a"].sum(), TensorDict(a=torch.ones(2), batch_size=[2]))
