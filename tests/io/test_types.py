"""What checkers know about storage: the class that saves and loads is the class that comes."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor
from typing_extensions import assert_type

from tensorclass import TensorClass, TensorDict
from tensorclass.io import RowDataset, RowLoader, load, save


class Sample(TensorClass):
    x: Tensor


def test_the_class_is_known_to_checkers_and_is_the_one_that_comes(tmp_path: Path) -> None:
    sample = Sample(x=torch.zeros(4), batch_size=[4])
    save(sample, tmp_path / "file")
    saved = assert_type(sample.memmap(tmp_path / "folder"), Sample)
    found = [
        saved,
        assert_type(Sample.load_memmap(tmp_path / "folder"), Sample),
        assert_type(sample.memmap_like(), Sample),
        assert_type(sample.consolidate(), Sample),
        assert_type(sample.load_memmap_(tmp_path / "folder"), Sample),
        assert_type(load(tmp_path / "file", Sample), Sample),
        assert_type(RowDataset(saved)[0], Sample),
        assert_type(next(iter(RowLoader(saved, batch_size=2))), Sample),
        assert_type(sample.clone().memmap_(), Sample),
    ]
    untyped = assert_type(TensorDict.load_memmap(tmp_path / "folder"), TensorDict)

    assert {type(one) for one in found} == {Sample} and type(untyped) is TensorDict
