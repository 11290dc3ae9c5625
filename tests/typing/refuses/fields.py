"""Names that are no field, however they are written."""

from __future__ import annotations

from dataclasses import dataclass
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
    print(robot.sped)  # E: "Robot" has no attribute "sped"; maybe "speed"? [attr-defined]
    print(robot.pose.xzy)  # E: "Pose" has no attribute "xzy" [attr-defined]
    print(robot[0].pose.angel)  # E: "Pose" has no attribute "angel"; maybe "angle"? [attr-defined]
    print(robot.clone().reshape(2, 2).sped)  # E: "Robot" has no attribute "sped"; maybe "speed"? [attr-defined]
    print(sample.lable)  # E: "Sample" has no attribute "lable"; maybe "label"? [attr-defined]
    print([row.sped for row in robot])  # E: "Robot" has no attribute "sped"; maybe "speed"? [attr-defined]
    print((lambda one: one.speed)(robot))
    robot.speed = torch.ones(4)
    robot.sped = torch.ones(4)  # E: "Robot" has no attribute "sped"; maybe "speed"? [attr-defined]
    robot.pose.xyz = torch.ones(4, 3)
    robot.pose.xy = torch.ones(4, 3)  # E: "Pose" has no attribute "xy"; maybe "xyz"? [attr-defined]
    del robot.sped  # E: "Robot" has no attribute "sped"; maybe "speed"? [attr-defined]


def strings(robot: Robot, sample: Sample) -> None:
    print(robot["speed"], robot.get("speed"), robot["pose", "xyz"], robot[SPEED])
    print(robot["sped"])  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    print(robot.get("sped"))  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    print(robot["pose", "xy"])  # E: Pose has no field 'xy'; did you mean 'xyz'? Its fields are 'xyz', 'angle' [tensorclass-field]
    print(robot.get(("pose", "xy")))  # E: Pose has no field 'xy'; did you mean 'xyz'? Its fields are 'xyz', 'angle' [tensorclass-field]
    print(robot.get(("poze", "xyz")))  # E: Robot has no field 'poze'; did you mean 'pose'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    print(robot[SPED])  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    print(sample["lable"])  # E: Sample has no field 'lable'; did you mean 'label'? Its fields are 'image', 'label' [tensorclass-field]
    robot["speed"] = torch.ones(4)
    robot["sped"] = torch.ones(4)  # E: Cannot set the attribute 'sped': Robot has no such field; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare'. [tensorclass-field]
    robot["pose", "xy"] = torch.ones(4, 3)  # E: Pose has no field 'xy'; did you mean 'xyz'? Its fields are 'xyz', 'angle' [tensorclass-field]
    robot.set("speed", torch.ones(4))
    robot.set("sped", torch.ones(4))  # E: Cannot set the attribute 'sped': Robot has no such field; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare'. [tensorclass-field]
    robot.set(("pose", "xy"), torch.ones(4, 3))  # E: Pose has no field 'xy'; did you mean 'xyz'? Its fields are 'xyz', 'angle' [tensorclass-field]
    del robot["sped"]  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    robot.pop("sped")  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    robot.del_("sped")  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    robot.rename_key_("sped", "speed")  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    robot.rename_key_("speed", "sped")  # E: Cannot set the attribute 'sped': Robot has no such field; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare'. [tensorclass-field]


def several(robot: Robot) -> None:
    print(robot.select("speed"), robot.exclude("speed"), robot.select(("pose", "xyz")))
    print(robot.select("sped"))  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    print(robot.select("speed", "sped"))  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    print(robot.exclude("sped"))  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    print(robot.select(("pose", "xy")))  # E: Pose has no field 'xy'; did you mean 'xyz'? Its fields are 'xyz', 'angle' [tensorclass-field]
    print(robot.replace(speed=torch.ones(4)), robot.replace({"speed": torch.ones(4)}))
    print(robot.replace(sped=torch.ones(4)))  # E: Unexpected keyword argument "sped" for "replace" of "Declared"; did you mean "speed"? [call-arg]
    print(robot.replace({"sped": torch.ones(4)}))  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    robot.update({"speed": torch.ones(4)})
    robot.update({"sped": torch.ones(4)})  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    robot.update_({"sped": torch.ones(4)})  # E: Robot has no field 'sped'; did you mean 'speed'? Its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]


def kinds(robot: Robot, pose: Pose, sample: Sample) -> None:
    robot.set("pose", pose)
    robot.set("pose", torch.ones(4))  # E: field 'pose' is a Pose, and the value is a Tensor [tensorclass-field]
    robot["pose"] = pose
    robot["pose"] = sample  # E: field 'pose' is a Pose, and the value is a Sample [tensorclass-field]
    robot["speed"] = pose  # E: field 'speed' is a Tensor, and the value is a Pose [tensorclass-field]
    robot.pose = pose
    robot.pose = torch.ones(4)  # E: Incompatible types in assignment (expression has type "Tensor", variable has type "Pose") [assignment]
    robot.speed = pose  # E: Incompatible types in assignment (expression has type "Pose", variable has type "Tensor") [assignment]
    robot.replace(pose=pose)
    robot.replace(pose=torch.ones(4))  # E: Argument "pose" to "replace" of "Declared" has incompatible type "Tensor"; expected "Pose" [arg-type]
    robot.update({"pose": pose})
    robot.update({"pose": torch.ones(4)})  # E: field 'pose' is a Pose, and the value is a Tensor [tensorclass-field]
    robot.update(sample)  # E: Robot has no field 'image'; its fields are 'pose', 'speed', 'name', 'spare' [tensorclass-field]
    print(robot.name.upper())
    print(robot.speed.upper())  # E: "Tensor" has no attribute "upper" [attr-defined]
    print(robot.spare.xyz)  # E: Item "None" of "Pose | None" has no attribute "xyz" [union-attr]
    print(robot.get("spare").xyz)  # E: Item "None" of "Pose | None" has no attribute "xyz" [union-attr]
    print(robot.get(("spare", "xyz")).sum())  # E: Item "None" of "Tensor | None" has no attribute "sum" [union-attr]
    if robot.spare is not None:
        print(robot.spare.xyz)


def reads(td: TensorDict) -> None:
    print(td["anything"])
    print(td.speed)  # E: "TensorDict" has no attribute "speed" [attr-defined]


class Hidden(TensorClass):
    values: Tensor  # E: field 'values' of Hidden would hide TensorClass.values; rename it, or pass shadow=True [tensorclass-field]
    index: Tensor


class Shown(TensorClass, shadow=True):
    values: Tensor
    mean: Tensor


class Frozen(TensorClass, frozen=True):
    x: Tensor


def frozen(one: Frozen, shown: Shown) -> Tensor:
    one.x = torch.ones(3)
    return shown.values + shown.mean


@dataclass  # E: Twice is a dataclass as it is; leave @dataclass out [tensorclass-field]
class Twice(TensorClass):
    value: Tensor
