"""What an example shows of a training: a bar while it goes on, then the returns, as a curve and as a film."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import torch
from matplotlib.figure import Figure
from PIL import Image
from torch import Tensor
from tqdm import tqdm

from tensorclass.envs import EnvBase, Transition

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # The pictures go into a file: no screen is asked for.


class Asked(NamedTuple):
    """What the command line says."""

    rounds: int
    seed: int
    out: Path


def set_up(doc: str | None, rounds: int, arguments: Sequence[str] | None) -> Asked:
    """Read the command line, or the arguments in place of it, and seed torch."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=rounds, help=f"of acting and learning: {rounds}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs"), help="the folder of the pictures: runs")
    options = Asked(**vars(parser.parse_args(arguments)))
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)  # The layers are small: several threads would wait for each other.
    return options


class Curve:
    """The returns of the episodes of a training, and the mean of the last 20 as it goes."""

    def __init__(self) -> None:
        self.episodes: list[tuple[int, float]] = []
        self.means: list[tuple[int, float]] = []

    def add(self, steps: int, returns: Sequence[float]) -> None:
        """Episodes that were over after so many steps."""
        self.episodes += [(steps, one) for one in returns]
        if returns:
            self.means.append((steps, mean(one for _, one in self.episodes[-20:])))

    def draw(self, title: str, goal: float, path: Path) -> None:
        """A dot for each episode, a line for the means, and the goal."""
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        if self.episodes:
            axes.plot(*zip(*self.episodes), ".", alpha=0.3, label="an episode")
            axes.plot(*zip(*self.means), label="the mean of the last 20")
        axes.axhline(goal, color="gray", linestyle="--", label="the goal")
        axes.set(title=title, xlabel="steps of the environment", ylabel="return")
        axes.legend()
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=120)


def followed(rounds: Iterable[Transition[Any, Any]], total: int) -> Curve:
    """Train to the end behind a bar, and keep the returns of the episodes that are over."""
    curve, seen = Curve(), 0
    bar = tqdm(rounds, total=total, desc="training", unit="round", file=sys.stdout, ncols=100)
    for steps in bar:
        seen += steps.numel()
        curve.add(seen, steps.next.episode_reward[steps.next.done].tolist())
        if curve.means:
            bar.set_postfix(mean=f"{curve.means[-1][1]:.0f}", refresh=False)
    return curve


def film(env: EnvBase[Any, Any], policy: Any, steps: int, path: Path) -> None:
    """An episode of one environment that draws itself, as a GIF with every other picture of it."""
    frames: list[Image.Image] = []
    env.set_seed(0)
    env.rollout(steps, policy, callback=lambda env, _: frames.append(Image.fromarray(env.render()).reduce(2)))
    env.close()
    path.parent.mkdir(parents=True, exist_ok=True)
    frames[0].save(path, save_all=True, append_images=frames[2::2], duration=40, loop=0)


def verdict(returns: Tensor, goal: float) -> int:
    """Say what came out; the exit code is 0 where it is the goal at least."""
    print(f"return of {len(returns)} episodes: {returns.mean():.0f} in the mean, {returns.min():.0f} at worst")
    reached = bool(returns.mean() >= goal)
    print(f"the goal, {goal:.0f}, is {'reached' if reached else 'not reached'}")
    return 0 if reached else 1
