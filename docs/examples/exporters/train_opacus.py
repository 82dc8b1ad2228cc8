"""Trains a linear model with Opacus on data with canaries in it, and exports their scores
and what the accountant claims.

    python3 train_opacus.py FOLDER [warm-up]

With warm-up the model is first trained on the data without noise: the accountant knows
nothing of that, and the scores do."""

import sys
import warnings
from pathlib import Path

import torch
from opacus import PrivacyEngine

from dpscope.exporters import opacus as export

folder, faulty = Path(sys.argv[1]), "warm-up" in sys.argv[2:]
warnings.simplefilter("ignore")
torch.manual_seed(3)

# 2000 examples of 10 features. Each canary has a feature of its own, which no other
# example has, and a coin says whether it is in the data.
canaries, features = 1000, 10
x = torch.cat([torch.randn(2000, features), torch.zeros(2000, canaries)], 1)
y = (x[:, 0] > 0).long()
planted = torch.cat([torch.zeros(canaries, features), torch.eye(canaries)], 1), torch.randint(2, (canaries,))
coins = export.coins(canaries, seed=7)
inside = torch.tensor(coins)
data = torch.utils.data.TensorDataset(torch.cat([x, planted[0][inside]]), torch.cat([y, planted[1][inside]]))

model = torch.nn.Linear(features + canaries, 2, bias=False)
loss, each = torch.nn.CrossEntropyLoss(), torch.nn.CrossEntropyLoss(reduction="none")
before = export.losses(model, planted, each)
if faulty:
    plain = torch.optim.SGD(model.parameters(), lr=10)
    for _ in range(5):
        for inputs, targets in torch.utils.data.DataLoader(data, batch_size=250, shuffle=True):
            plain.zero_grad()
            loss(model(inputs), targets).backward()
            plain.step()

optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
engine = PrivacyEngine(accountant="prv")
model, optimizer, loader = engine.make_private(
    module=model,
    optimizer=optimizer,
    data_loader=torch.utils.data.DataLoader(data, batch_size=250),
    noise_multiplier=1.0,
    max_grad_norm=1.0,
)
for _ in range(4):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss(model(inputs), targets).backward()
        optimizer.step()

export.write_scores(folder / "scores.npz", before - export.losses(model, planted, each), coins)
export.write_claim(folder / "claim.json", engine)
print(f"claimed: epsilon {engine.get_epsilon(1e-5):.3f} at delta 1e-5")
