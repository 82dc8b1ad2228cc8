"""Trains a linear model with Opacus on data with canaries in it, and exports their scores
and what the accountant claims.

    python3 train_opacus.py FOLDER [warm-up]

With warm-up the model is first trained on the data without noise: the accountant knows
nothing of that, and the scores do. As a function that dpscope.canaries can ask,
train(members, rng) trains once and returns the scores."""

import sys
import warnings
from pathlib import Path

import torch
from opacus import PrivacyEngine

from dpscope.exporters import opacus as export

EXAMPLES, FEATURES = 2000, 10
loss, each = torch.nn.CrossEntropyLoss(), torch.nn.CrossEntropyLoss(reduction="none")


def training(members, seed, warm_up=False):
    """One training on the examples and on the canaries that are members; returns the
    scores of all canaries, and the engine. Each canary has a feature of its own, which no
    other example has, and a random label."""
    warnings.simplefilter("ignore")  # Opacus warns of a generator that is not secure
    torch.manual_seed(seed)
    n = len(members)
    x = torch.cat([torch.randn(EXAMPLES, FEATURES), torch.zeros(EXAMPLES, n)], 1)
    y = (x[:, 0] > 0).long()
    canaries = torch.cat([torch.zeros(n, FEATURES), torch.eye(n)], 1), torch.randint(2, (n,))
    model = torch.nn.Linear(FEATURES + n, 2, bias=False)
    before = export.losses(model, canaries, each)

    inside = torch.tensor(members)
    data = torch.utils.data.TensorDataset(torch.cat([x, canaries[0][inside]]), torch.cat([y, canaries[1][inside]]))
    if warm_up:
        plain = torch.optim.SGD(model.parameters(), lr=10)
        for _ in range(5):
            for inputs, targets in torch.utils.data.DataLoader(data, batch_size=250, shuffle=True):
                plain.zero_grad()
                loss(model(inputs), targets).backward()
                plain.step()

    engine = PrivacyEngine(accountant="prv")
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.5),
        data_loader=torch.utils.data.DataLoader(data, batch_size=250),
        noise_multiplier=2.0,
        max_grad_norm=1.0,
    )
    for _ in range(4):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss(model(inputs), targets).backward()
            optimizer.step()
    return before - export.losses(model, canaries, each), engine


def train(members, rng):
    return training(members, int(rng.integers(2**31)))[0]


def train_warm(members, rng):
    return training(members, int(rng.integers(2**31)), warm_up=True)[0]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    coins = export.coins(1000, seed=7)
    scores, engine = training(coins, 3, warm_up="warm-up" in sys.argv[2:])
    export.write_scores(folder / "scores.npz", scores, coins)
    export.write_claim(folder / "claim.json", engine)
    print(f"claimed: epsilon {engine.get_epsilon(1e-5):.3f} at delta 1e-5")
