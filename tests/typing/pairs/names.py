"""Names of fields and keys, and what constructors take. A line with a mistake stands beside its good twin."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict, cat, stack

T = TypeVar("T")


class Pose(TensorClass):
    xyz: Tensor
    quat: Tensor


class Robot(TensorClass):
    pose: Pose
    vel: Tensor
    name: str = "r"
    cmd: Tensor | None = None


def robot() -> Robot:
    return Robot(pose=Pose(xyz=torch.zeros(4, 3), quat=torch.zeros(4, 4), batch_size=[4]), vel=torch.zeros(4, 3), batch_size=[4])


def fn() -> None:
    r = robot()
    print(r.ve)  # E: "Robot" has no attribute "ve"; maybe "vel"? [attr-defined]
    print(r.vel)
    print(r[0].pose.xzy)  # E: "Pose" has no attribute "xzy" [attr-defined]
    print(r[:2].pose.quat)
    print([x.vell for x in r])  # E: "Robot" has no attribute "vell"; maybe "vel"? [attr-defined]
    print(next(iter(r)).poze)  # E: "Robot" has no attribute "poze" [attr-defined]
    print(r.pop("vell"))  # E: Robot has no field 'vell'; did you mean 'vel'? Its fields are 'pose', 'vel', 'name', 'cmd' [tensorclass-field]
    print(r.get("vell", None))  # E: Robot has no field 'vell'; did you mean 'vel'? Its fields are 'pose', 'vel', 'name', 'cmd' [tensorclass-field]
    print(r.get("vel", None))
    r.rename_key_("vell", "x")  # E: Robot has no field 'vell'; did you mean 'vel'? Its fields are 'pose', 'vel', 'name', 'cmd' [tensorclass-field]  # E: Cannot set the attribute 'x': Robot has no such field. Its fields are 'pose', 'vel', 'name', 'cmd'. [tensorclass-field]
    r.set_("vell", torch.zeros(4, 3))  # E: Cannot set the attribute 'vell': Robot has no such field; did you mean 'vel'? Its fields are 'pose', 'vel', 'name', 'cmd'. [tensorclass-field]
    r.update(dict(vell=torch.zeros(4, 3)))  # E: Robot has no field 'vell'; did you mean 'vel'? Its fields are 'pose', 'vel', 'name', 'cmd' [tensorclass-field]
    r.update({"pose": {"xzy": torch.zeros(4, 3)}})  # E: Pose has no field 'xzy'; did you mean 'xyz'? Its fields are 'xyz', 'quat' [tensorclass-field]
    r.update({"pose": {"xyz": torch.zeros(4, 3)}})
    print(r.select("pose", ("pose", "xzy")))  # E: Pose has no field 'xzy'; did you mean 'xyz'? Its fields are 'xyz', 'quat' [tensorclass-field]
    print(r.exclude(("pose", "xzy")))  # E: Pose has no field 'xzy'; did you mean 'xyz'? Its fields are 'xyz', 'quat' [tensorclass-field]
    r["pose", "xzy"]  # E: Pose has no field 'xzy'; did you mean 'xyz'? Its fields are 'xyz', 'quat' [tensorclass-field]
    r["pose"]["xzy"]  # E: Pose has no field 'xzy'; did you mean 'xyz'? Its fields are 'xyz', 'quat' [tensorclass-field]
    r["pose"]["xyz"]
    r.get(("pose", "xzy"))  # E: Pose has no field 'xzy'; did you mean 'xyz'? Its fields are 'xyz', 'quat' [tensorclass-field]
    r.pose.set("xzy", torch.zeros(4, 3))  # E: Cannot set the attribute 'xzy': Pose has no such field; did you mean 'xyz'? Its fields are 'xyz', 'quat'. [tensorclass-field]
    del r["vell"]  # E: Robot has no field 'vell'; did you mean 'vel'? Its fields are 'pose', 'vel', 'name', 'cmd' [tensorclass-field]
    getattr(r, "vel")
    key = "vell"
    r[key]  # E: Robot has no field 'vell'; did you mean 'vel'? Its fields are 'pose', 'vel', 'name', 'cmd' [tensorclass-field]
    for k in ("pose", "vel"):
        print(r.get(k))
    torch.stack([r, r]).vell  # E: "Robot" has no attribute "vell"; maybe "vel"? [attr-defined]
    torch.cat([r, r], 0).vel
    r.to_tensordict()["vell"]  # E: no key 'vell'; did you mean 'vel'? The keys here are 'pose', 'vel', 'name', 'x' [tensorclass-key]
    r.to_tensordict()["vel"]
    r.to_dict()["vel"]
    r.clone().vell = torch.zeros(4, 3)  # E: "Robot" has no attribute "vell"; maybe "vel"? [attr-defined]
    r.replace(vell=r.vel)  # E: Unexpected keyword argument "vell" for "replace" of "Declared"; did you mean "vel"? [call-arg]
    r.replace(vel=r.vel)
    setattr(r, "vel", r.vel)


def fn_td() -> None:
    td = TensorDict({"a": torch.zeros(3), "b": {"c": torch.zeros(3)}}, batch_size=[3])
    td["aa"]  # E: no key 'aa'; did you mean 'a'? The keys here are 'a', 'b' [tensorclass-key]
    td["a"]
    td["b", "d"]  # E: no key 'd'; the keys here are 'c' (under 'b') [tensorclass-key]
    td["b"]["d"]  # E: no key 'd'; the keys here are 'c' [tensorclass-key]
    td["b"]["c"]
    td.get("b")["d"]  # E: no key 'd'; the keys here are 'c' [tensorclass-key]
    td.select("aa")  # E: no key 'aa'; did you mean 'a'? The keys here are 'a', 'b' [tensorclass-key]
    td.select("a")["b"]  # E: no key 'b'; the keys here are 'a' [tensorclass-key]
    td.exclude("a")["a"]  # E: no key 'a'; the keys here are 'b' [tensorclass-key]
    td.rename_key_("aa", "z")  # E: no key 'aa'; did you mean 'a'? The keys here are 'a', 'b' [tensorclass-key]
    td.rename_key_("a", "z")
    td["a"]  # E: no key 'a'; the keys here are 'b', 'z' [tensorclass-key]
    td["z"]
    td.pop("a")  # E: no key 'a'; the keys here are 'b', 'z' [tensorclass-key]
    td.pop("z")
    td["z"]  # E: no key 'z'; the keys here are 'b' [tensorclass-key]
    del td["zz"]  # E: no key 'zz'; the keys here are 'b' [tensorclass-key]
    td.flatten_keys(".")["b.c"]
    td.flatten_keys(".")["b.d"]  # E: no key 'b.d'; did you mean 'b.c'? The keys here are 'b.c' [tensorclass-key]
    td.flatten_keys()["b.c"]
    td.set_("new", torch.zeros(3))  # E: no key 'new'; the keys here are 'b' [tensorclass-key]
    td.set("new", torch.zeros(3))
    td.update_({"newer": torch.zeros(3)})  # E: no key 'newer'; did you mean 'new'? The keys here are 'b', 'new' [tensorclass-key]
    td.empty()["new"]  # E: no key 'new'; there are no keys here [tensorclass-key]
    td.clone()["nw"]  # E: no key 'nw'; did you mean 'new'? The keys here are 'b', 'new' [tensorclass-key]
    td.to("cpu")["nw"]  # E: no key 'nw'; did you mean 'new'? The keys here are 'b', 'new' [tensorclass-key]
    td.detach()["nw"]  # E: no key 'nw'; did you mean 'new'? The keys here are 'b', 'new' [tensorclass-key]
    td[0]["nw"]  # E: no key 'nw'; did you mean 'new'? The keys here are 'b', 'new' [tensorclass-key]
    td[0]["new"]
    td.apply(lambda x: x + 1)["nw"]  # E: no key 'nw'; did you mean 'new'? The keys here are 'b', 'new' [tensorclass-key]
    td.apply(lambda x: x + 1)["new"]
    stack([td, td])["nw"]  # E: no key 'nw'; did you mean 'new'? The keys here are 'b', 'new' [tensorclass-key]
    torch.stack([td, td])["nw"]  # E: no key 'nw'; did you mean 'new'? The keys here are 'b', 'new' [tensorclass-key]
    cat([td, td])["new"]
    (td + 1)["nw"]  # E: no key 'nw'; did you mean 'new'? The keys here are 'b', 'new' [tensorclass-key]
    (td * td)["new"]
    td.unsqueeze(0)["nw"]  # E: no key 'nw'; did you mean 'new'? The keys here are 'b', 'new' [tensorclass-key]
    td.split_keys(["b"], ["new"])[0]["b"]
    u = td.unflatten_keys(".")
    td.popitem()
    e = TensorDict(x=torch.zeros(3), batch_size=[3])
    e["y"]  # E: no key 'y'; the keys here are 'x' [tensorclass-key]
    e["x"]
    e.update({"y": torch.zeros(3)})
    e["y"]
    f = TensorDict.from_dict({"x": torch.zeros(3)}, batch_size=[3])
    f["y"]  # E: no key 'y'; the keys here are 'x' [tensorclass-key]
    g = e | {"q": torch.zeros(3)} if False else e
    h = TensorDict({}, batch_size=[3])
    h["x"]  # E: no key 'x'; there are no keys here [tensorclass-key]
    h["x"] = torch.zeros(3)
    h["x"]
    with h.unlock_() as w:
        w["x"]


def writer() -> TensorDict:
    td = TensorDict({"x": torch.zeros(3)}, batch_size=[3])
    td["y"] = td["x"] * 2
    return td


def reader() -> None:
    td = writer()
    td["y"]
    td["z"]  # E: no key 'z'; the keys here are 'x', 'y' [tensorclass-key]


def ft() -> None:
    r = robot()
    r.pose = r.vel  # E: Incompatible types in assignment (expression has type "Tensor", variable has type "Pose") [assignment]
    r.vel = r.pose  # E: Incompatible types in assignment (expression has type "Pose", variable has type "Tensor") [assignment]
    r.vel = "x"  # E: Incompatible types in assignment (expression has type "str", variable has type "Tensor") [assignment]
    r.name = 3  # E: Incompatible types in assignment (expression has type "int", variable has type "str") [assignment]
    r.vel = torch.zeros(4, 3)
    Robot(pose=r.vel, vel=r.vel, batch_size=[4])  # E: Argument "pose" to "Robot" has incompatible type "Tensor"; expected "Pose" [arg-type]
    Robot(pose={"xyz": r.vel}, vel=r.vel, batch_size=[4])  # E: Argument "pose" to "Robot" has incompatible type "dict[str, Tensor]"; expected "Pose" [arg-type]
    Robot(pose=r.pose, vel=[1, 2, 3, "x"], batch_size=[4])  # E: Argument "vel" to "Robot" has incompatible type "list[object]"; expected "Tensor" [arg-type]
    r.set("pose", r.vel)  # E: field 'pose' is a Pose, and the value is a Tensor [tensorclass-field]
    r["pose"] = r.vel  # E: field 'pose' is a Pose, and the value is a Tensor [tensorclass-field]
    r.update({"pose": r.vel})  # E: field 'pose' is a Pose, and the value is a Tensor [tensorclass-field]
    r.replace(pose=r.vel)  # E: Argument "pose" to "replace" of "Declared" has incompatible type "Tensor"; expected "Pose" [arg-type]
    r.replace(name=3)  # E: Argument "name" to "replace" of "Declared" has incompatible type "int"; expected "str" [arg-type]


def co() -> None:
    x, q = torch.zeros(4, 3), torch.zeros(4, 4)
    Pose(xyz=x, batch_size=[4])  # E: Missing positional argument "quat" in call to "Pose" [call-arg]
    Pose(x, q, batch_size=[4])
    Pose(x, q, [4])  # E: Too many positional arguments for "Pose" [call-arg]
    Pose(xyz=x, quat=q, batchsize=[4])  # E: Unexpected keyword argument "batchsize" for "Pose"; did you mean "batch_size"? [call-arg]
    Pose(xyz=x, quat=q, batch_size=[5])  # E: field 'xyz' has shape [4, 3]; the batch size is [5], and the leading dims of a value must equal it [tensorclass-batch]
    Pose(xyz=x, quat=q, batch_size=[4, 3])  # E: field 'quat' has shape [4, 4]; the batch size is [4, 3], and the leading dims of a value must equal it [tensorclass-batch]
    Pose(xyz=x, quat=q, batch_size=4)
    Pose(xyz=x, quat=q, batch_size=4.0)  # E: Argument "batch_size" to "Pose" has incompatible type "float"; expected "Sequence[int] | int | None" [arg-type]
    Pose(xyz=x, quat=torch.zeros(5, 4), batch_size=[4])  # E: field 'quat' has shape [5, 4]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    Pose(xyz=x, quat=q, device=3.5)  # E: Argument "device" to "Pose" has incompatible type "float"; expected "device | str | int | None" [arg-type]
    Pose(xyz=x, quat=q, batch_size=x.shape)  # E: field 'quat' has shape [4, 4]; the batch size is [4, 3], and the leading dims of a value must equal it [tensorclass-batch]
    Pose(xyz=x, quat=q, batch_size=x.shape[:1])
    Pose(xyz=x, quat=q, batch_size=[x.shape[0]])
    Pose(xyz=x, quat=q, batch_size=[x.shape[1]])  # E: field 'xyz' has shape [4, 3]; the batch size is [3], and the leading dims of a value must equal it [tensorclass-batch]
    Pose(xyz=x, quat=q)[0]  # E: index: 1 index for 0 batch dims (batch size []); index a field to reach its feature dims; no batch_size was given where this was made [tensorclass-batch]
    len(Pose(xyz=x, quat=q, batch_size=[4]))
    TensorDict({"a": x}, [5])  # E: field 'a' has shape [4, 3]; the batch size is [5], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDict({"a": x}, batch_size=[4, 4])  # E: field 'a' has shape [4, 3]; the batch size is [4, 4], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDict({"a": x}, 4)
    TensorDict({"a": x}, 5)  # E: field 'a' has shape [4, 3]; the batch size is [5], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDict({"a": x, "n": {"b": torch.zeros(3)}}, batch_size=[4])  # E: field 'b' has shape [3]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDict({"a": x, "n": TensorDict({"b": torch.zeros(4)}, batch_size=[4])}, batch_size=[4])
    TensorDict({"a": x, "n": TensorDict({"b": torch.zeros(3)}, batch_size=[3])}, batch_size=[4])  # E: 'n' has batch size [3]; inside batch size [4] it must start with that [tensorclass-batch]
    TensorDict({"a": x}, batch_size=[4])["a"] = torch.zeros(5)  # E: field 'a' has shape [5]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    Pose()  # E: Missing positional arguments "xyz", "quat" in call to "Pose" [call-arg]
    Pose(*[x, q], batch_size=[4])
