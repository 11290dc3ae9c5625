"""The parameters of a module as a container, and a container as the parameters of a module."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorclass import TensorDict, TensorDictParams


def mlp() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))


def zeros_of(module: nn.Module) -> TensorDict:
    return TensorDict.from_module(module).detach().clone().zero_()


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = self.a
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.b(self.a(x)) * self.scale
        return out


# ---- from_module ----------------------------------------------------------------------------------------------------


def test_the_entries_are_the_parameters_and_buffers_themselves() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    params = TensorDict.from_module(module)

    assert params["0", "weight"] is module[0].weight
    assert params["1", "running_mean"] is module[1].running_mean


def test_there_is_one_nested_key_for_each_submodule_that_has_any() -> None:
    assert list(TensorDict.from_module(mlp()).keys(True, True)) == [
        ("0", "weight"),
        ("0", "bias"),
        ("2", "weight"),
        ("2", "bias"),
    ]
    assert list(TensorDict.from_module(mlp(), filter_empty=False).keys()) == ["0", "1", "2"]


def test_an_in_place_change_changes_the_module() -> None:
    module = mlp()
    TensorDict.from_module(module).data.zero_()

    assert all(bool((one == 0).all()) for one in module.parameters())


def test_it_can_be_locked_and_made_of_the_state_dict() -> None:
    layer = nn.Linear(3, 1)

    assert TensorDict.from_module(layer, lock=True).is_locked
    assert torch.equal(TensorDict.from_module(layer, use_state_dict=True)["bias"], layer.bias)


def test_as_a_module_buffers_stay_buffers_and_tied_parameters_count_once() -> None:
    params = TensorDict.from_module(Tied(), as_module=True)
    assert isinstance(params, TensorDictParams)

    assert sorted(name for name, _ in params.named_parameters()) == ["a.bias", "a.weight"]
    assert [name for name, _ in params.named_buffers()] == ["scale"]


# ---- to_module ------------------------------------------------------------------------------------------------------


def test_in_a_block_the_module_has_other_parameters_and_its_own_at_the_end() -> None:
    module = mlp()
    own = dict(module.named_parameters())
    with zeros_of(module).to_module(module):
        assert (module(torch.randn(2, 3)) == 0).all()

    assert all(own[name] is value for name, value in module.named_parameters())


def test_without_a_block_the_module_keeps_them_and_the_old_ones_come_back() -> None:
    module = mlp()
    own = dict(module.named_parameters())
    old = zeros_of(module).to_module(module)

    assert (module(torch.randn(2, 3)) == 0).all()
    assert isinstance(old, TensorDict) and old["0", "weight"] is own["0.weight"]


def test_own_parameters_are_back_after_an_error_and_for_tied_modules() -> None:
    module = Tied()
    own = dict(module.named_parameters())
    with pytest.raises(LookupError), zeros_of(module).to_module(module):
        assert (module(torch.ones(1, 3)) == 0).all()
        raise LookupError

    assert all(own[name] is value for name, value in module.named_parameters())
    assert module.a is module.b and module.scale.tolist() == [1, 1, 1]  # type: ignore[operator]


def test_some_of_the_parameters_will_do() -> None:
    layer = nn.Linear(3, 1)
    weight = layer.weight
    with TensorDict(bias=torch.full((1,), 7.0)).to_module(layer):
        assert layer.weight is weight and layer(torch.zeros(3)) == 7


def test_gradients_reach_what_was_put_in() -> None:
    layer = nn.Linear(3, 1)
    params = zeros_of(layer).requires_grad_()
    with params.to_module(layer):
        layer(torch.ones(3)).sum().backward()

    assert params["weight"].grad.tolist() == [[1, 1, 1]] and layer.weight.grad is None


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"weigth": torch.zeros(1)}, "to_module: Linear has nothing for 'weigth'; it has 'weight', 'bias'"),
        ({"n": {"weight": torch.zeros(1)}}, "to_module: Linear has nothing for 'n'"),
    ],
)
def test_a_key_that_the_module_does_not_have_is_an_error_and_nothing_is_changed(entries: Any, said: str) -> None:
    layer = nn.Linear(3, 1)
    bias = layer.bias
    with pytest.raises(KeyError) as error:
        TensorDict({"bias": torch.zeros(1), **entries}).to_module(layer)

    assert str(error.value) == said
    assert layer.bias is bias


def test_values_can_be_copied_instead() -> None:
    layer = nn.Linear(3, 1)
    weight = layer.weight
    zeros_of(layer).to_module(layer, inplace=True)

    assert layer.weight is weight and (weight == 0).all()


def test_the_old_ones_can_go_into_a_given_container() -> None:
    layer, dest = nn.Linear(3, 1), TensorDict()
    weight = layer.weight

    assert zeros_of(layer).to_module(layer, swap_dest=dest) is dest
    assert dest["weight"] is weight


def test_blocks_nest() -> None:
    layer = nn.Linear(3, 1)
    own, one = layer.bias, TensorDict(bias=torch.ones(1))
    with one.to_module(layer):
        with TensorDict(bias=torch.zeros(1)).to_module(layer):
            assert layer.bias == 0
        assert layer.bias is one["bias"]

    assert layer.bias is own


def test_threads_that_come_between_wait_and_leave_the_module_as_it_was() -> None:
    layer = nn.Linear(3, 1)
    own = layer.bias
    first = TensorDict(bias=torch.ones(1)).to_module(layer)  # The other thread comes before this one enters its block.
    seen: list[float] = []

    def other() -> None:
        with TensorDict(bias=torch.full((1,), 2.0)).to_module(layer):
            seen.append(float(layer.bias))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    with first:
        seen.append(float(layer.bias))

    assert seen == [2, 1]
    assert layer.bias is own


def test_of_two_threads_that_have_swapped_each_sees_its_own() -> None:
    layer = nn.Linear(3, 1)
    own = layer.bias
    swaps: dict[int, Any] = {}

    def make() -> None:
        swaps[2] = TensorDict(bias=torch.full((1,), 2.0)).to_module(layer)

    swaps[1] = TensorDict(bias=torch.ones(1)).to_module(layer)
    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    for number in (1, 2):
        with swaps[number]:
            assert layer.bias == number

    assert layer.bias is own


# ---- from_modules ---------------------------------------------------------------------------------------------------


def test_the_parameters_of_modules_are_stacked_along_a_first_batch_dim() -> None:
    layers = [nn.Linear(3, 1) for _ in range(4)]
    stacked = TensorDict.from_modules(*layers)

    assert stacked.batch_size == (4,) and stacked.is_locked
    assert torch.equal(stacked["weight"][2], layers[2].weight)
    assert isinstance(stacked["weight"], nn.Parameter) and stacked["weight"].is_leaf


def test_modules_of_other_structure_cannot_be_stacked() -> None:
    with pytest.raises(RuntimeError) as error:
        TensorDict.from_modules(nn.Linear(3, 1), nn.Linear(2, 1))

    assert "from_modules: shapes" in str(error.value)


def test_a_shared_parameter_can_be_expanded() -> None:
    one, two = nn.Linear(3, 1), nn.Linear(3, 1)
    two.weight = one.weight
    stacked = TensorDict.from_modules(one, two, expand_identical=True)

    assert stacked["weight"].data_ptr() == one.weight.data_ptr()
    assert stacked["bias"].data_ptr() != one.bias.data_ptr()


def test_they_can_be_lazily_stacked() -> None:
    layers = [nn.Linear(3, 1), nn.Linear(3, 1)]

    assert TensorDict.from_modules(*layers, lazy_stack=True)[1]["weight"] is layers[1].weight


# ---- TensorDictParams -----------------------------------------------------------------------------------------------


KINDS = {
    torch.float16: True, torch.float32: True, torch.float64: True,
    torch.bfloat16: False, torch.complex64: False, torch.bool: False, torch.int64: False,
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "trained"), KINDS.items(), ids=str)
def test_three_float_dtypes_become_parameters_all_others_buffers(dtype: torch.dtype, trained: bool) -> None:
    made = TensorDictParams(TensorDict(a=torch.zeros(2, dtype=dtype)))
    put = TensorDictParams(TensorDict())
    put["n", "a"] = torch.zeros(2, dtype=dtype)

    assert [name for name, _ in made.named_parameters()] == (["a"] if trained else [])
    assert [name for name, _ in made.named_buffers()] == ([] if trained else ["a"])
    assert isinstance(put["n", "a"], nn.Parameter) is trained
    assert list(put.state_dict()) == ["n.a"]


def test_with_no_convert_only_parameters_are_parameters() -> None:
    params = TensorDictParams(TensorDict(a=torch.zeros(2), b=nn.Parameter(torch.zeros(2))), no_convert=True)
    params["c"] = torch.zeros(2)

    assert [name for name, _ in params.named_parameters()] == ["b"]
    assert [name for name, _ in params.named_buffers()] == ["a", "c"]


def test_entries_are_named_by_their_nested_key_joined_with_a_dot() -> None:
    assert [name for name, _ in TensorDictParams(TensorDict.from_module(mlp())).named_parameters()] == [
        "0.weight",
        "0.bias",
        "2.weight",
        "2.bias",
    ]


def test_the_container_given_is_converted_in_place_not_copied() -> None:
    source = TensorDict(a=torch.zeros(2))
    params = TensorDictParams(source)

    assert isinstance(source["a"], nn.Parameter) and source["a"] is params["a"]


def test_what_is_put_into_the_source_later_is_seen_by_index_but_is_no_parameter() -> None:
    source = TensorDict(a=torch.zeros(2))
    params = TensorDictParams(source)
    source["b"] = torch.ones(2)

    assert params["b"].tolist() == [1, 1]
    assert [name for name, _ in params.named_parameters()] == ["a"]


class Critic(nn.Module):
    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net
        self.target = TensorDictParams(TensorDict.from_module(net).detach().clone(), no_convert=True)


def test_the_module_that_holds_it_sees_parameters_and_buffers() -> None:
    critic = Critic(nn.Linear(2, 1))

    assert list(critic.state_dict()) == ["net.weight", "net.bias", "target.weight", "target.bias"]
    assert [name for name, _ in critic.named_parameters()] == ["net.weight", "net.bias"]


def test_it_follows_the_module_that_holds_it() -> None:
    critic = Critic(nn.Linear(2, 1)).to(torch.float64)

    assert critic.target["weight"].dtype == torch.float64
    with critic.target.to_module(critic.net):
        assert critic.net(torch.zeros(1, 2, dtype=torch.float64)).shape == (1, 1)


def test_to_works_in_place_as_on_a_module() -> None:
    params = TensorDictParams(TensorDict.from_module(nn.Linear(2, 1)))

    assert params.to(torch.float64) is params and params["weight"].dtype == torch.float64
    assert list(params.parameters())[0] is params["weight"]


def test_a_checkpoint_is_read_back() -> None:
    critic, other = Critic(mlp()), Critic(mlp())
    other.load_state_dict(critic.state_dict())

    assert torch.equal(other.target["0", "weight"], critic.target["0", "weight"])
    with pytest.raises(RuntimeError, match="target.0.extra"):
        other.load_state_dict({**critic.state_dict(), "target.0.extra": torch.zeros(1)})
    with pytest.raises(RuntimeError, match="size mismatch for target.0.weight"):
        other.load_state_dict({**critic.state_dict(), "target.0.weight": torch.zeros(1)})


def test_two_entries_of_one_flat_name_are_refused() -> None:
    with pytest.raises(RuntimeError) as error:
        TensorDictParams(TensorDict({"a.b": torch.ones(2), ("a", "b"): torch.ones(2)}))

    assert str(error.value) == "TensorDictParams: two entries have the flat name 'a.b'; rename one of them"


def test_a_write_of_a_flat_name_that_is_taken_leaves_everything_as_it_was() -> None:
    params = TensorDictParams({"a": {"b": torch.zeros(2)}, "n": {}})
    before = params["a", "b"]
    for entries in ({"a.b": torch.ones(2)}, {"c": torch.ones(2), "a": {"b": torch.ones(2)}, "a.b": torch.ones(2)}):
        with pytest.raises(RuntimeError, match="two entries have the flat name 'a.b'"):
            params.update(entries)
        with pytest.raises(RuntimeError, match="two entries have the flat name 'a.b'"):
            params["a.b"] = torch.ones(2)

        assert sorted(params.keys()) == ["a", "n"] and params["a", "b"] is before
        assert [name for name, _ in params.named_parameters()] == ["a.b"]


def test_what_named_parameters_gives_can_be_asked_for_by_name() -> None:
    holder = nn.Module()
    holder.params = TensorDictParams(TensorDict.from_module(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))))

    assert all(holder.get_parameter(name) is one for name, one in holder.named_parameters())
    assert all(holder.get_buffer(name) is one for name, one in holder.named_buffers())
    with pytest.raises(AttributeError, match="no attribute `2`"):
        holder.get_parameter("params.2.weight")


class Scale(nn.Module):
    def __init__(self, entries: Any, key: Any) -> None:
        super().__init__()
        self.params, self.key = TensorDictParams(TensorDict(entries)), key

    def forward(self, x: Tensor) -> Tensor:
        scale: Tensor = self.params[self.key]
        return x * scale


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (Scale({"w": torch.ones(2)}, "w"), "params.w"),
        (Scale({"a": {"b": {"w": torch.ones(2)}}}, ("a", "b", "w")), "params.a.b.w"),
        (Scale({"a": {"w": torch.ones(2, dtype=torch.bfloat16)}}, ("a", "w")), "params.a.w"),
    ],
    ids=["flat", "nested", "buffer"],
)
def test_a_functional_call_puts_others_in_its_place(module: Any, name: str) -> None:
    before = dict(module.state_dict(keep_vars=True))

    def with_others(value: Tensor) -> Tensor:
        out: Tensor = torch.func.functional_call(module, {name: value}, (torch.ones(2),))
        return out

    assert with_others(torch.full((2,), 3.0)).tolist() == [3, 3]
    assert torch.vmap(with_others)(torch.arange(3.0)[:, None].expand(3, 2)).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert torch.func.jacrev(with_others)(torch.ones(2)).tolist() == [[1, 0], [0, 1]]
    assert all(one is before[name] for name, one in module.state_dict(keep_vars=True).items())
    assert module(torch.ones(2)).tolist() == [1, 1]


def test_writes_and_deletes_through_it_are_seen() -> None:
    params = TensorDictParams(TensorDict.from_module(mlp()))
    params["2", "extra"] = torch.zeros(1)
    params.update({"more": torch.zeros(1)})
    del params["0", "weight"]
    params.rename_key_("more", "other")

    assert [name for name, _ in params.named_parameters()] == ["0.bias", "2.weight", "2.bias", "2.extra", "other"]
    assert params["2", "extra"] is dict(params.named_parameters())["2.extra"]


def test_operations_give_plain_containers() -> None:
    params = TensorDictParams(TensorDict({"a": torch.zeros(2, 3)}, batch_size=[2]))

    assert {type(one) for one in (params + 1, params[0], params.detach(), params.clone(), params.data)} == {TensorDict}


def test_copies_and_pickles_are_of_its_kind() -> None:
    params = TensorDict.from_module(Tied(), as_module=True)
    for other in (copy.deepcopy(params), pickle.loads(pickle.dumps(params))):
        assert type(other) is TensorDictParams
        assert [name for name, _ in other.named_buffers()] == ["scale"]
        assert other["a", "weight"] is other["b", "weight"] and other["a", "weight"] is not params["a", "weight"]


def test_an_optimizer_trains_it() -> None:
    params = TensorDictParams(TensorDict(a=torch.ones(2)))
    optimizer = torch.optim.SGD(params.parameters(), lr=0.5)
    params["a"].sum().backward()
    optimizer.step()

    assert params["a"].tolist() == [0.5, 0.5]


def test_a_module_that_holds_one_takes_part_in_swaps() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.params = TensorDictParams(TensorDict({"n": {"scale": torch.ones(1)}}))

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = x * self.params["n", "scale"]
            return out

    module = Scaled()
    assert list(TensorDict.from_module(module).keys(True, True)) == [("params", "n", "scale")]
    with TensorDict({"params": {"n": {"scale": torch.full((1,), 3.0)}}}).to_module(module):
        assert module(torch.ones(1)) == 3

    assert module(torch.ones(1)) == 1


def test_what_is_made_of_the_old_ones_is_a_plain_container() -> None:
    layer = nn.Linear(3, 1)
    old = zeros_of(layer).to_module(layer)

    assert {type(one) for one in (old.clone(), old.detach(), copy.deepcopy(old), pickle.loads(pickle.dumps(old)))} == {
        TensorDict
    }
