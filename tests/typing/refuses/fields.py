"""Names that are no field, however they are written."""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict, tensorclass


class Pose(TensorClass):
    xyz: Tensor
    angle: Tensor


class Robot(TensorClass):
    pose: Pose
    speed: Tensor
    name: str
    spare: Pose | None = None


@tensorclass
class Sample:
    image: Tensor
    label: Tensor


SPEED: Final = "speed"
SPED: Final = "sped"


def make() -> Robot:
    pose = Pose(xyz=torch.zeros(4, 3), angle=torch.zeros(4), batch_size=[4])
    return Robot(pose=pose, speed=torch.zeros(4), name="r2", batch_size=[4])


def attributes(robot: Robot, sample: Sample) -> None:
    print(robot.speed, robot.pose.xyz, sample.image)
    print(robot.sped)
    print(robot.pose.xzy)
    print(robot[0].pose.angel)
    print(robot.clone().reshape(2, 2).sped)
    print(sample.lable)
    print([row.sped for row in robot])
    print((lambda one: one.speed)(robot))
    robot.speed = torch.ones(4)
    robot.sped = torch.ones(4)
    robot.pose.xyz = torch.ones(4, 3)
    robot.pose.xy = torch.ones(4, 3)
    del robot.sped


def strings(robot: Robot, sample: Sample) -> None:
    print(robot["speed"], robot.get("speed"), robot["pose", "xyz"], robot[SPEED])
    print(robot["sped"])
    print(robot.get("sped"))
    print(robot["pose", "xy"])
    print(robot.get(("pose", "xy")))
    print(robot.get(("poze", "xyz")))
    print(robot[SPED])
    print(sample["lable"])
    robot["speed"] = torch.ones(4)
    robot["sped"] = torch.ones(4)
    robot["pose", "xy"] = torch.ones(4, 3)
    robot.set("speed", torch.ones(4))
    robot.set("sped", torch.ones(4))
    robot.set(("pose", "xy"), torch.ones(4, 3))
    del robot["sped"]
    robot.pop("sped")
    robot.del_("sped")
    robot.rename_key_("sped", "speed")
    robot.rename_key_("speed", "sped")


def several(robot: Robot) -> None:
    print(robot.select("speed"), robot.exclude("speed"), robot.select(("pose", "xyz")))
    print(robot.select("sped"))
    print(robot.select("speed", "sped"))
    print(robot.exclude("sped"))
    print(robot.select(("pose", "xy")))
    print(robot.replace(speed=torch.ones(4)), robot.replace({"speed": torch.ones(4)}))
    print(robot.replace(sped=torch.ones(4)))
    print(robot.replace({"sped": torch.ones(4)}))
    robot.update({"speed": torch.ones(4)})
    robot.update({"sped": torch.ones(4)})
    robot.update_({"sped": torch.ones(4)})


def kinds(robot: Robot, pose: Pose, sample: Sample) -> None:
    robot.set("pose", pose)
    robot.set("pose", torch.ones(4))
    robot["pose"] = pose
    robot["pose"] = sample
    robot["speed"] = pose
    robot.pose = pose
    robot.pose = torch.ones(4)
    robot.speed = pose
    robot.replace(pose=pose)
    robot.replace(pose=torch.ones(4))
    robot.update({"pose": pose})
    robot.update({"pose": torch.ones(4)})
    robot.update(sample)
    print(robot.name.upper())
    print(robot.speed.upper())
    print(robot.spare.xyz)
    print(robot.get("spare").xyz)
    print(robot.get(("spare", "xyz")).sum())
    if robot.spare is not None:
        print(robot.spare.xyz)


def reads(td: TensorDict) -> None:
    print(td["anything"])
    print(td.speed)


class Hidden(TensorClass):
    values: Tensor
    index: Tensor


class Shown(TensorClass, shadow=True):
    values: Tensor
    mean: Tensor


class Frozen(TensorClass, frozen=True):
    x: Tensor


def frozen(one: Frozen, shown: Shown) -> Tensor:
    one.x = torch.ones(3)
    return shown.values + shown.mean
