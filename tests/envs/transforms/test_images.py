"""Pictures and shapes: ToTensorImage, Resize, GrayScale, crops; dims added, removed, merged, permuted."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from tensorclass import TensorDict
from tensorclass.envs import (
    Bounded,
    CenterCrop,
    Compose,
    Composite,
    Crop,
    EnvBase,
    FlattenObservation,
    GrayScale,
    PermuteTransform,
    Resize,
    SqueezeTransform,
    ToTensorImage,
    TransformedEnv,
    Unbounded,
    UnsqueezeTransform,
    check_env_specs,
)
from tests.envs.transforms.worlds import Pictures
from tests.envs.worlds import Counter

PICTURE = torch.rand(2, 3, 6, 8)

# ---- pictures -------------------------------------------------------------------------------------------------------


def test_pictures_become_floats_with_channels_first() -> None:
    env = TransformedEnv(Pictures((2,)), ToTensorImage())
    td = env.rollout(3)

    assert td["pixels"].shape == (2, 3, 3, 6, 8)
    assert torch.equal(td["pixels"][0, :, 0, 0, 0], torch.tensor([0.0, 1.0, 2.0]) / 255)
    assert env.observation_spec["pixels"] == Bounded(0.0, 1.0, (2, 3, 6, 8))
    check_env_specs(env)


def test_a_picture_of_floats_is_not_divided() -> None:
    whole = torch.full((6, 8, 3), 255, dtype=torch.uint8)

    assert ToTensorImage()(pixels=whole.float()).max() == 255 and ToTensorImage()(pixels=whole).max() == 1
    assert ToTensorImage(from_int=False)(pixels=whole).max() == 255
    assert ToTensorImage(dtype=torch.float64)(pixels=whole).dtype is torch.float64


def test_a_picture_may_get_a_dim_in_front_or_have_its_channels_first() -> None:
    assert ToTensorImage(unsqueeze=True)(pixels=torch.zeros(6, 8, 3)).shape == (1, 3, 6, 8)
    assert ToTensorImage(shape_tolerant=True)(pixels=torch.zeros(3, 6, 8)).shape == (3, 6, 8)
    with pytest.raises(RuntimeError, match=r"a picture has shape \[height, width, channels\], not \[8, 3\]"):
        ToTensorImage()(pixels=torch.zeros(8, 3))


def test_resize_is_antialiased_interpolation() -> None:
    got = Resize(4, 5)(TensorDict({"pixels": PICTURE}, [2]))["pixels"]
    want = F.interpolate(PICTURE, (4, 5), mode="bilinear", antialias=True, align_corners=False)

    assert torch.equal(got, want)
    assert Resize(7)(pixels=PICTURE).shape == (2, 3, 7, 7)
    assert Resize(3, 4, "nearest")(pixels=PICTURE).shape == (2, 3, 3, 4)
    assert Resize(3)(pixels=(PICTURE * 255).to(torch.uint8)).dtype is torch.uint8


def test_resize_in_an_environment_keeps_leading_dims() -> None:
    env = TransformedEnv(Pictures((2,)), Compose(ToTensorImage(), Resize(4, 5)))

    assert env.rollout(3)["pixels"].shape == (2, 3, 3, 4, 5)
    assert env.observation_spec["pixels"].shape == (2, 3, 4, 5)
    check_env_specs(env)


def test_grey_weighs_the_channels() -> None:
    red = torch.zeros(3, 6, 8)
    red[0] = 1
    env = TransformedEnv(Pictures((2,)), Compose(ToTensorImage(), GrayScale()))

    assert GrayScale()(pixels=red).unique().tolist() == pytest.approx([0.2989])
    assert env.rollout(2)["pixels"].shape == (2, 2, 1, 6, 8)
    check_env_specs(env)
    with pytest.raises(RuntimeError, match=r"GrayScale: a picture has shape \[3, height, width\], not \[6, 8, 3\]"):
        GrayScale()(pixels=torch.zeros(6, 8, 3))


def test_crops_take_a_corner_or_the_middle() -> None:
    assert torch.equal(Crop(4, 2)(pixels=PICTURE), PICTURE[..., :4, :2])
    assert torch.equal(Crop(4, 2, top=1, left=3)(pixels=PICTURE), PICTURE[..., 1:5, 3:5])
    assert torch.equal(CenterCrop(4, 2)(pixels=PICTURE), PICTURE[..., 1:5, 3:5])
    assert CenterCrop(4)(pixels=PICTURE).shape == (2, 3, 4, 4)
    with pytest.raises(RuntimeError, match=r"Crop: \[9, 2\] from \[0, 0\] is not inside a picture of \[6, 8\]"):
        Crop(9, 2)(pixels=PICTURE)


def test_an_entry_that_is_no_picture_is_refused_when_the_environment_is_made() -> None:
    for transform in (Resize(3, in_keys=["observation"]), FlattenObservation(-2, -1, in_keys=["observation"])):
        name = type(transform).__name__
        with pytest.raises(RuntimeError, match=rf"^{name}: 'observation' has shape \[1\] and batch size \[\]; "):
            TransformedEnv(Counter(), transform)


# ---- dims -----------------------------------------------------------------------------------------------------------


def test_unsqueeze_and_squeeze_follow_in_the_spec() -> None:
    env = TransformedEnv(Pictures((2,)), UnsqueezeTransform(-2, in_keys=["vec"]))
    assert env.rollout(2)["vec"].shape == (2, 2, 1, 3) and env.observation_spec["vec"].shape == (2, 1, 3)
    check_env_specs(env)

    back = TransformedEnv(Counter(batch_size=(2,)), SqueezeTransform(-1, in_keys=["observation"]))
    assert back.rollout(2)["observation"].shape == (2, 2) and back.observation_spec["observation"].shape == (2,)
    check_env_specs(back)


def test_a_positive_dim_is_asked_for_and_counts_after_the_batch() -> None:
    with pytest.raises(ValueError, match="UnsqueezeTransform: dim is 0; count it from the end"):
        UnsqueezeTransform(0, in_keys=["vec"])
    env = TransformedEnv(Pictures((2,)), UnsqueezeTransform(0, allow_positive_dim=True, in_keys=["vec"]))

    assert env.rollout(2)["vec"].shape == (2, 2, 1, 3)
    check_env_specs(env)


class Stateless(EnvBase):
    """All of its state is in the entries: a place and a speed, each of shape [*B]."""

    batch_locked = False

    def __init__(self) -> None:
        super().__init__()
        self.observation_spec = Composite(x=Unbounded(()), v=Unbounded(()))
        self.state_spec = self.observation_spec.clone()
        self.action_spec = Bounded(-1.0, 1.0, (1,))

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        batch = () if tensordict is None else tensordict.batch_size
        return TensorDict({"x": torch.zeros(batch), "v": torch.ones(batch)}, batch)

    def _step(self, tensordict: Any) -> Any:
        assert tensordict["x"].shape == tensordict.batch_size
        v = tensordict["v"] + tensordict["action"].squeeze(-1)
        x = tensordict["x"] + v
        return TensorDict({"x": x, "v": v, "reward": -x.unsqueeze(-1)}, tensordict.batch_size)

    def _set_seed(self, seed: int | None) -> None:
        pass


def test_states_lose_the_dim_on_their_way_in() -> None:
    env = TransformedEnv(Stateless(), UnsqueezeTransform(-1, in_keys=["x", "v"], in_keys_inv=["x", "v"]))
    td = env.rollout(3)

    assert td["x"].shape == (3, 1) and env.state_spec["x"].shape == (1,)
    check_env_specs(env)


def test_any_batch_size_goes_through_a_chain() -> None:
    env = TransformedEnv(Stateless(), UnsqueezeTransform(-1, in_keys=["x", "v"], in_keys_inv=["x", "v"]))
    td = env.reset(TensorDict(batch_size=[5]))
    td["action"] = torch.zeros(5, 1, requires_grad=True)
    after = env.step(td)["next"]
    after["reward"].sum().backward()

    assert after["x"].shape == (5, 1) and td["action"].grad is not None


def test_a_partial_reset_of_states_that_a_transform_reshapes() -> None:
    env = TransformedEnv(Stateless(), UnsqueezeTransform(-1, in_keys=["x", "v"], in_keys_inv=["x", "v"]))
    td = env.reset(TensorDict(batch_size=[2]))
    td = env.step_mdp(env.step(td.set("action", torch.ones(2, 1))))
    td = env.reset(td.set("_reset", torch.tensor([[True], [False]])))

    assert td["x"].flatten().tolist() == [0, 2] and td["v"].flatten().tolist() == [1, 2]


def test_flatten_merges_dims() -> None:
    env = TransformedEnv(Pictures((2,)), FlattenObservation())

    assert env.rollout(2)["pixels"].shape == (2, 2, 144) and env.observation_spec["pixels"].shape == (2, 144)
    check_env_specs(env)
    front = TransformedEnv(Pictures((2,)), FlattenObservation(0, 1, allow_positive_dim=True, in_keys=["pixels"]))
    assert front.rollout(2)["pixels"].shape == (2, 2, 48, 3)


def test_permute_moves_the_last_dims_and_puts_an_action_back() -> None:
    env = TransformedEnv(Pictures((2,)), PermuteTransform((-1, -3, -2), in_keys=["pixels"]))
    assert env.rollout(2)["pixels"].shape == (2, 2, 3, 6, 8)
    check_env_specs(env)

    data = TensorDict({"a": torch.rand(5, 2, 3, 4)}, [5])
    turned = PermuteTransform((-1, -3, -2), in_keys=["a"], in_keys_inv=["a"])
    assert torch.equal(turned.inv(turned(data.clone()))["a"], data["a"])
    with pytest.raises(ValueError, match=r"PermuteTransform: \(0, 1\) is no permutation of \(-2, -1\)"):
        PermuteTransform((0, 1), in_keys=["a"])
