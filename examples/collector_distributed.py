"""A collector over torch.distributed: every rank tries weights of its own, and the first one keeps the best.

`python -m examples.collector_distributed` starts two gloo ranks, which balance the pole of CartPole-v1 for 500 steps
after some rounds; `torchrun --nproc-per-node 4 -m examples.collector_distributed` as many as there are machines for.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Sequence
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor

from tensorclass import TensorClass, TensorDict, distributed
from tensorclass.envs import BoxAction, BoxObs, GymEnv

RANKS, ROUNDS, LONGEST = 2, 60, 500


class Weights(TensorClass):
    """A policy: push to the right where the weighted sum of what is seen is positive."""

    weight: Tensor

    def act(self, seen: BoxObs) -> BoxAction:
        return BoxAction(action=(seen.observation @ self.weight > 0).long(), batch_size=seen.batch_size)


class Try(TensorClass):
    """Weights, and the steps of the episode that was played with them."""

    weights: Weights
    steps: TensorDict

    @property
    def reward(self) -> float:
        """What the episode brought."""
        rewards: Tensor = self.steps["next", "reward"]
        return rewards.sum().item()


def play(env: GymEnv, weights: Weights) -> Try:
    """An episode."""

    def policy(seen: BoxObs) -> BoxAction:
        return weights.act(seen)

    return Try(weights=weights, steps=env.rollout(LONGEST, policy).to_tensordict())


def best(tries: Sequence[Try], so_far: Try) -> Try:
    """The try that brought most."""
    return max([so_far, *tries], key=lambda one: one.reward)


def work(rank: int, world: int, store: str | None = None) -> float:
    """What a rank does: play with weights near those of the first rank, and send it what came of it."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", store, timedelta(seconds=60), rank=rank, world_size=world)
    torch.manual_seed(rank)
    env = GymEnv("CartPole-v1", categorical_action_encoding=True)
    env.set_seed(rank)
    found, reward = play(env, Weights(weight=torch.zeros(4))), 0.0
    for number in range(ROUNDS):
        base = distributed.broadcast(found.weights if rank == 0 else None)
        step = 0.5 * torch.randn(4)
        tries = distributed.gather(play(env, Weights(weight=base.weight + step)))
        if tries is not None:
            found = best(tries, found)
            print(f"round {number}: {found.reward:.0f}", flush=True)
        told = distributed.broadcast(TensorDict(reward=torch.tensor(found.reward)) if rank == 0 else None)
        reward = told["reward"].item()
        if reward >= LONGEST:
            break
    dist.destroy_process_group()
    return reward


def main() -> None:
    if "RANK" in os.environ:
        work(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
        return
    with tempfile.TemporaryDirectory() as folder:
        context = multiprocessing.get_context("spawn")
        ranks = [context.Process(target=work, args=(rank, RANKS, f"file://{folder}/store")) for rank in range(RANKS)]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()
    if any(rank.exitcode for rank in ranks):
        raise SystemExit("a rank failed")


if __name__ == "__main__":
    main()
