"""A linear model trained with Opacus, as a trainer for dpscope (docs/training.md).

    dpscope canaries -exec 'python3 opacus_dp_sgd.py' -epsilon 2 -delta 1e-5 -n 256 -k 16

The noise is Opacus's own choice for (2, 1e-5) and the epochs that are trained. A mistake in
the use of it, with --fault epochs: the noise is chosen for one epoch, and the training lasts
forty. Run with Opacus 1.3.0 (9ac04446e4ef) and PyTorch 1.13.
"""

import argparse
import functools
import json
import sys
import warnings

import numpy as np
import torch
from opacus import PrivacyEngine
from opacus.accountants.utils import get_noise_multiplier

EXAMPLES, FEATURES, BATCH, EPOCHS = 200, 300, 100, 40
EPSILON, DELTA, CLIP, LEARNING_RATE = 2.0, 1e-5, 1.0, 0.05


def examples():
    """The data that stays the same in all trainings."""
    rng = np.random.default_rng(0)
    return 0.2 * rng.normal(size=(EXAMPLES, FEATURES)) / np.sqrt(FEATURES), rng.integers(0, 2, size=EXAMPLES)


def draw_canaries(rng, n):
    """n canaries, whoever is a member: far out in random directions, with random labels, so
    that their gradients are clipped."""
    directions = rng.normal(size=(n, FEATURES))
    return 20 * directions / np.linalg.norm(directions, axis=1, keepdims=True), rng.integers(0, 2, size=n)


@functools.lru_cache
def noise(steps, epochs):
    """The noise that Opacus chooses for so many steps an epoch, and epochs."""
    return get_noise_multiplier(target_epsilon=EPSILON, target_delta=DELTA, sample_rate=1 / steps, epochs=epochs, accountant="rdp")


def train(rng, x, y, fault):
    """One training by Opacus. Returns the weights, which is what is released."""
    torch.manual_seed(int(rng.integers(1 << 62)))  # Opacus samples batches and draws noise from it
    model = torch.nn.Linear(FEATURES, 2, bias=False)
    torch.nn.init.zeros_(model.weight)
    data = torch.utils.data.TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))
    loader = torch.utils.data.DataLoader(data, batch_size=BATCH)
    model, optimizer, loader = PrivacyEngine(accountant="rdp").make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=LEARNING_RATE),
        data_loader=loader,
        noise_multiplier=noise(len(loader), 1 if fault == "epochs" else EPOCHS),
        max_grad_norm=CLIP,
    )
    for _ in range(EPOCHS):
        for inputs, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
    return next(model.parameters()).detach().numpy().astype(float)


def answer(request, x, y, fault):
    rng = np.random.default_rng(request["seed"])  # all that is random follows from the seed
    members = np.array(request["members"], dtype=bool)
    points, labels = draw_canaries(rng, len(members))
    weights = train(rng, np.concatenate([x, points[members]]), np.concatenate([y, labels[members]]), fault)
    logits = points @ weights.T
    margins = logits[np.arange(len(points)), labels] - logits[np.arange(len(points)), 1 - labels]
    return {"seed": request["seed"], "scores": margins.tolist()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fault", choices=["epochs"])
    fault = parser.parse_args().fault
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    x, y = examples()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), x, y, fault)), flush=True)


if __name__ == "__main__":
    main()
