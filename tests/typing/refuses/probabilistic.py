"""Modules that sample: parameters of distributions, sample keys and log-probabilities."""

from __future__ import annotations

import torch
from torch import distributions as dist
from torch import nn

from tensorclass import TensorDict
from tensorclass.nn import (
    CompositeDistribution,
    InteractionType,
    NormalParamExtractor,
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorDictModule,
    set_interaction_type,
)


def names() -> None:
    ProbabilisticTensorDictModule(in_keys=["loc", "scale"], out_keys=["action"], distribution_class=dist.Normal)
    ProbabilisticTensorDictModule(in_keys=["loc", "sigma"], out_keys=["action"], distribution_class=dist.Normal)
    ProbabilisticTensorDictModule(in_keys=["loc"], out_keys=["action"], distribution_class=dist.Normal)
    ProbabilisticTensorDictModule(
        in_keys=[("policy", "loc"), ("policy", "scale")], out_keys=["action"], distribution_class=dist.Normal
    )
    ProbabilisticTensorDictModule(
        in_keys=[("policy", "mean"), ("policy", "scale")], out_keys=["action"], distribution_class=dist.Normal
    )
    ProbabilisticTensorDictModule(
        in_keys={"loc": "mu", "scale": "sigma"}, out_keys=["action"], distribution_class=dist.Normal
    )
    ProbabilisticTensorDictModule(
        in_keys={"mean": "mu", "scale": "sigma"}, out_keys=["action"], distribution_class=dist.Normal
    )
    ProbabilisticTensorDictModule(in_keys=["logits"], out_keys=["action"], distribution_class=dist.Categorical)
    ProbabilisticTensorDictModule(in_keys=["logit"], out_keys=["action"], distribution_class=dist.Categorical)
    ProbabilisticTensorDictModule(
        in_keys=["loc"], out_keys=["a"], distribution_class=dist.Normal, distribution_kwargs={"scale": 1.0}
    )
    ProbabilisticTensorDictModule(
        in_keys=["loc"], out_keys=["a"], distribution_class=dist.Normal, distribution_kwargs={"std": 1.0}
    )


def samples() -> None:
    ProbabilisticTensorDictModule(in_keys=["loc", "scale"], out_keys=["a", "b"], distribution_class=dist.Normal)
    ProbabilisticTensorDictModule(
        in_keys=["loc", "scale"],
        out_keys=["action"],
        distribution_class=dist.Normal,
        return_log_prob=True,
        log_prob_key="action",
    )
    td = TensorDict({"loc": torch.zeros(4, 2), "scale": torch.ones(4, 2)}, batch_size=[4])
    quiet = ProbabilisticTensorDictModule(
        in_keys=["loc", "scale"], out_keys=["action"], distribution_class=dist.Normal
    )
    print(quiet(td)["action"])
    print(quiet(td.select("loc", "scale"))["action_log_prob"])
    loud = ProbabilisticTensorDictModule(
        in_keys=["loc", "scale"], out_keys=["action"], distribution_class=dist.Normal, return_log_prob=True
    )
    print(loud(td)["action_log_prob"])
    quiet(TensorDict({"loc": torch.zeros(4)}, batch_size=[4]))


def interactions() -> None:
    with set_interaction_type("mode"):
        pass
    with set_interaction_type("sample"):
        pass
    print(InteractionType.RANDOM)
    print(InteractionType.SAMPLE)


def composites() -> None:
    params = TensorDict({"cont": {"loc": torch.zeros(4), "scale": torch.ones(4)}}, [4])
    composite = CompositeDistribution(params, distribution_map={"cont": dist.Normal})
    print(composite.sample()["cont"])
    print(composite.sample()["count"])
    module = ProbabilisticTensorDictModule(
        in_keys=["params"],
        distribution_class=CompositeDistribution,
        distribution_kwargs={"distribution_map": {"a": dist.Normal, "b": dist.Normal}},
        return_log_prob=True,
    )
    print(module.log_prob_keys)
    print(module.log_prob_key)
    ProbabilisticTensorDictModule(
        in_keys=["parameters"],
        distribution_class=CompositeDistribution,
        distribution_kwargs={"distribution_map": {"a": dist.Normal}},
    )
    ProbabilisticTensorDictModule(
        in_keys=["params"],
        distribution_class=CompositeDistribution,
        distribution_kwargs={"distribution_map": {"a": dist.Normal, "b": dist.Normal}},
        return_log_prob=True,
        log_prob_keys=["lp"],
    )


def log_probs() -> None:
    td = TensorDict({"obs": torch.zeros(4, 3)}, batch_size=[4])
    model = ProbabilisticTensorDictSequential(
        TensorDictModule(
            nn.Sequential(nn.Linear(3, 4), NormalParamExtractor()), in_keys=["obs"], out_keys=["loc", "scale"]
        ),
        ProbabilisticTensorDictModule(in_keys=["loc", "scale"], out_keys=["action"], distribution_class=dist.Normal),
    )
    print(model.log_prob(model(td.clone())))
    print(model.log_prob(td))
