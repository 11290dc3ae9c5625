"""Distributions over several keys, and what is asked of a module that samples."""

from __future__ import annotations

import torch
from torch import distributions as d
from torch import nn

from tensorclass import TensorDict
from tensorclass.nn import (
    CompositeDistribution,
    NormalParamExtractor,
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorDictModule,
    TensorDictSequential,
)


def part(name: str = "loc") -> TensorDict:
    return TensorDict({name: torch.zeros(4), "scale": torch.ones(4)}, [4])


def given() -> TensorDict:
    return TensorDict({"params": {"move": {"loc": torch.zeros(4), "scale": torch.ones(4)}}}, [4])


def composite() -> None:
    both = {"distribution_map": {"move": d.Normal, "kind": d.Categorical}}
    module = ProbabilisticTensorDictModule(
        in_keys=["params"], distribution_class=CompositeDistribution, distribution_kwargs=both
    )
    move, kind = {"loc": torch.zeros(4), "scale": torch.ones(4)}, {"logits": torch.zeros(4, 3)}
    module(TensorDict({"params": {"move": move, "kind": kind}}, [4]))
    module(TensorDict({"params": {"move": move, "kin": kind}}, [4]))  # E: distribution_map: no key 'kind'; did you mean 'kin'? The keys here are 'move', 'kin' [tensorclass-module]
    module(TensorDict({"params": {"move": move, "kind": {"logits": torch.zeros(4, 3)}}}, [4]))
    module(TensorDict({"params": {"move": move, "kind": {"logit": torch.zeros(4, 3)}}}, [4]))  # E: params: Categorical (of 'kind') has no parameter 'logit'; did you mean 'logits'? It takes 'probs', 'logits', 'validate_args' [tensorclass-module]
    one = {"distribution_map": {"move": d.Normal}}
    ProbabilisticTensorDictModule(["params"], ["a"], distribution_class=CompositeDistribution, distribution_kwargs=one)
    ProbabilisticTensorDictModule(["params"], ["a", "b"], distribution_class=CompositeDistribution, distribution_kwargs=one)  # E: out_keys ['a', 'b'] for a distribution_map of ['move']; give one out-key for each, or none at all [tensorclass-module]
    CompositeDistribution(given()["params"], distribution_map={"move": d.Normal}, name_map={"move": "action"})
    CompositeDistribution(given()["params"], distribution_map={"move": d.Normal}, name_map={"mov": "action"})  # E: name_map: distribution_map has no 'mov'; did you mean 'move'? They are 'move' [tensorclass-module]
    whole = CompositeDistribution(given()["params"], distribution_map={"move": d.Normal})
    whole.log_prob(TensorDict({"move": torch.zeros(4)}, [4]))
    whole.log_prob(TensorDict({"mode": torch.zeros(4)}, [4]))  # E: log_prob: no key 'move'; did you mean 'mode'? The keys here are 'mode' [tensorclass-module]


def made_by_a_function() -> None:
    ProbabilisticTensorDictModule(["loc", "scale"], ["a"], distribution_class=lambda loc, scale: d.Normal(loc, scale))
    ProbabilisticTensorDictModule(["loc", "scl"], ["a"], distribution_class=lambda loc, scale: d.Normal(loc, scale))  # E: in_keys: the distribution has no parameter 'scl'; did you mean 'scale'? It takes 'loc', 'scale' [tensorclass-module]
    ProbabilisticTensorDictModule(["loc"], ["a"], distribution_class=lambda loc, scale=1.0: d.Normal(loc, scale))
    ProbabilisticTensorDictModule(["loc"], ["a"], distribution_class=lambda loc, scale: d.Normal(loc, scale))  # E: in_keys: the distribution needs 'scale' as well [tensorclass-module]


def asked() -> None:
    net = nn.Sequential(nn.Linear(3, 4), NormalParamExtractor())
    actor = ProbabilisticTensorDictSequential(
        TensorDictModule(net, in_keys=["obs"], out_keys=["loc", "scale"]),
        ProbabilisticTensorDictModule(in_keys=["loc", "scale"], out_keys=["action"], distribution_class=d.Normal),
    )
    actor.get_dist(TensorDict({"obs": torch.zeros(4, 3)}, batch_size=[4]))
    actor.get_dist(TensorDict({"ob": torch.zeros(4, 3)}, batch_size=[4]))  # E: in_key 'obs': no key 'obs'; did you mean 'ob'? The keys here are 'ob' [tensorclass-module]
    actor.module[0]
    TensorDictSequential(actor.module[0]).module[0]
