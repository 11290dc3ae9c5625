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
    ProbabilisticTensorDictModule(in_keys=["loc", "sigma"], out_keys=["action"], distribution_class=dist.Normal)  # E: in_keys: Normal has no parameter 'sigma'; it takes 'loc', 'scale', 'validate_args' [tensorclass-module]
    ProbabilisticTensorDictModule(in_keys=["loc"], out_keys=["action"], distribution_class=dist.Normal)  # E: in_keys: Normal needs 'scale' as well [tensorclass-module]
    ProbabilisticTensorDictModule(
        in_keys=[("policy", "loc"), ("policy", "scale")], out_keys=["action"], distribution_class=dist.Normal
    )
    ProbabilisticTensorDictModule(
        in_keys=[("policy", "mean"), ("policy", "scale")], out_keys=["action"], distribution_class=dist.Normal  # E: in_keys: Normal has no parameter 'mean'; it takes 'loc', 'scale', 'validate_args' [tensorclass-module]
    )
    ProbabilisticTensorDictModule(
        in_keys={"loc": "mu", "scale": "sigma"}, out_keys=["action"], distribution_class=dist.Normal
    )
    ProbabilisticTensorDictModule(
        in_keys={"mean": "mu", "scale": "sigma"}, out_keys=["action"], distribution_class=dist.Normal  # E: in_keys: Normal has no parameter 'mean'; it takes 'loc', 'scale', 'validate_args' [tensorclass-module]
    )
    ProbabilisticTensorDictModule(in_keys=["logits"], out_keys=["action"], distribution_class=dist.Categorical)
    ProbabilisticTensorDictModule(in_keys=["logit"], out_keys=["action"], distribution_class=dist.Categorical)  # E: in_keys: Categorical has no parameter 'logit'; did you mean 'logits'? It takes 'probs', 'logits', 'validate_args' [tensorclass-module]
    ProbabilisticTensorDictModule(
        in_keys=["loc"], out_keys=["a"], distribution_class=dist.Normal, distribution_kwargs={"scale": 1.0}
    )
    ProbabilisticTensorDictModule(
        in_keys=["loc"], out_keys=["a"], distribution_class=dist.Normal, distribution_kwargs={"std": 1.0}  # E: distribution_kwargs: Normal has no parameter 'std'; it takes 'loc', 'scale', 'validate_args' [tensorclass-module]
    )


def samples() -> None:
    ProbabilisticTensorDictModule(in_keys=["loc", "scale"], out_keys=["a", "b"], distribution_class=dist.Normal)  # E: out_keys: 2 keys for one sample; Normal gives one; the log-probability has a key of its own (log_prob_key) [tensorclass-module]
    ProbabilisticTensorDictModule(
        in_keys=["loc", "scale"],
        out_keys=["action"],
        distribution_class=dist.Normal,
        return_log_prob=True,
        log_prob_key="action",  # E: log_prob_key: 'action' is the key of a sample; the log-probability would replace it [tensorclass-module]
    )
    td = TensorDict({"loc": torch.zeros(4, 2), "scale": torch.ones(4, 2)}, batch_size=[4])
    quiet = ProbabilisticTensorDictModule(
        in_keys=["loc", "scale"], out_keys=["action"], distribution_class=dist.Normal
    )
    print(quiet(td)["action"])
    print(quiet(td.select("loc", "scale"))["action_log_prob"])  # E: no key 'action_log_prob'; the keys here are 'loc', 'scale', 'action' [tensorclass-key]
    loud = ProbabilisticTensorDictModule(
        in_keys=["loc", "scale"], out_keys=["action"], distribution_class=dist.Normal, return_log_prob=True
    )
    print(loud(td)["action_log_prob"])
    quiet(TensorDict({"loc": torch.zeros(4)}, batch_size=[4]))  # E: in_key 'scale': no key 'scale'; the keys here are 'loc' [tensorclass-module]


def interactions() -> None:
    with set_interaction_type("mode"):
        pass
    with set_interaction_type("sample"):  # E: no interaction type 'sample'; there are 'mode', 'median', 'mean', 'random', 'deterministic' [tensorclass-module]
        pass
    print(InteractionType.RANDOM)
    print(InteractionType.SAMPLE)  # E: "type[InteractionType]" has no attribute "SAMPLE" [attr-defined]


def composites() -> None:
    params = TensorDict({"cont": {"loc": torch.zeros(4), "scale": torch.ones(4)}}, [4])
    composite = CompositeDistribution(params, distribution_map={"cont": dist.Normal})
    print(composite.sample()["cont"])
    print(composite.sample()["count"])  # E: no key 'count'; did you mean 'cont'? The keys here are 'cont' [tensorclass-key]
    module = ProbabilisticTensorDictModule(
        in_keys=["params"],
        distribution_class=CompositeDistribution,
        distribution_kwargs={"distribution_map": {"a": dist.Normal, "b": dist.Normal}},
        return_log_prob=True,
    )
    print(module.log_prob_keys)
    print(module.log_prob_key)  # E: log_prob_key: there are 2 samples ('a', 'b'); use log_prob_keys [tensorclass-module]
    ProbabilisticTensorDictModule(
        in_keys=["parameters"],  # E: in_keys: CompositeDistribution has no parameter 'parameters'; did you mean 'params'? It takes 'params', 'distribution_map', 'name_map', 'extra_kwargs', 'log_prob_key', 'entropy_key' [tensorclass-module]
        distribution_class=CompositeDistribution,
        distribution_kwargs={"distribution_map": {"a": dist.Normal}},
    )
    ProbabilisticTensorDictModule(
        in_keys=["params"],
        distribution_class=CompositeDistribution,
        distribution_kwargs={"distribution_map": {"a": dist.Normal, "b": dist.Normal}},
        return_log_prob=True,
        log_prob_keys=["lp"],  # E: log_prob_keys: 1 key for 2 samples; give one for each [tensorclass-module]
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
    print(model.log_prob(td))  # E: log_prob: no key 'action'; the keys here are 'obs'; the sample must be in the input [tensorclass-module]
