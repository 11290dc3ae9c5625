"""Handwritten digits, typed from the data set to the score: load, shuffle, split, train, count what came out right."""

from __future__ import annotations

import sys

import torch
from jaxtyping import Float, Int, Shaped
from sklearn.datasets import load_digits
from torch import Tensor, nn
from tqdm import tqdm

from tensorclass import TensorClass
from tensorclass.nn import TensorClassModuleBase

ACCURACY = 0.96  # what the training must reach on digits it has not seen
EPOCHS = 30


class Digits(TensorClass):
    image: Float[Tensor, "*batch 8 8"]
    label: Int[Tensor, "*batch"]


class Scores(TensorClass):
    logits: Float[Tensor, "*batch 10"]

    def loss(self, label: Int[Tensor, "*batch"]) -> Tensor:
        return nn.functional.cross_entropy(self.logits, label)

    def guess(self) -> Int[Tensor, "*batch"]:
        return self.logits.argmax(-1)


class Tally(TensorClass):
    """How many of each digit there were, and how many were read right."""

    seen: Float[Tensor, "*batch"]
    right: Float[Tensor, "*batch"]

    def accuracy(self) -> Float[Tensor, "*batch"]:
        return self.right / self.seen


class Reader(TensorClassModuleBase[Digits, Scores]):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))

    def forward(self, digits: Digits) -> Scores:
        return Scores(logits=self.layers(digits.image.flatten(-2)))


def load() -> Digits:
    pixels, label = load_digits(return_X_y=True)
    return Digits(image=torch.tensor(pixels).float().reshape(-1, 8, 8) / 16, label=torch.tensor(label))


def train(reader: Reader, digits: Digits) -> None:
    optimizer = torch.optim.AdamW(reader.parameters(), lr=3e-3)
    bar = tqdm(range(EPOCHS), desc="training", unit="epoch", file=sys.stdout, ncols=80)
    for _ in bar:
        shuffled = digits[torch.randperm(len(digits))]
        for batch in shuffled.split(64):
            loss = reader(batch).loss(batch.label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            bar.set_postfix(loss=f"{loss.item():.3f}", refresh=False)


def count(label: Int[Tensor, "n"], guess: Int[Tensor, "n"]) -> Shaped[Tally, "10"]:
    tally = Tally(seen=torch.zeros(10), right=torch.zeros(10))
    tally.seen = torch.bincount(label, minlength=10).float()
    tally.right = torch.bincount(label[guess == label], minlength=10).float()
    return tally


def main() -> int:
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the layers are small: several threads would wait for each other
    digits = load()
    digits = digits[torch.randperm(len(digits))]
    unseen, known = digits[:360], digits[360:]
    print(f"{len(known)} digits to train on, {len(unseen)} to test; one of them: {unseen[0]}")

    reader = Reader()
    train(reader, known)
    with torch.no_grad():
        guess = reader.eval()(unseen).guess()

    tally = count(unseen.label, guess)
    for digit, one in enumerate(tally):
        print(f"  {digit}: {int(one.right):2} of {int(one.seen):2}   {'#' * round(40 * float(one.accuracy()))}")
    total = tally.sum(0)
    print(f"accuracy {float(total.accuracy()):.1%}; at least {ACCURACY:.0%} was asked for")
    return 0 if float(total.accuracy()) >= ACCURACY else 1


if __name__ == "__main__":
    sys.exit(main())
