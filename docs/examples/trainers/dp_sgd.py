"""Logistic regression by DP-SGD in numpy, as a trainer for dpscope (docs/training.md).

    dpscope canaries -exec 'python3 dp_sgd.py' -epsilon 2 -delta 1e-5 -n 256 -k 16
    dpscope one-run -exec 'python3 dp_sgd.py' -epsilon 2 -delta 1e-5 -m 200

The noise is what 20 steps at a sampling rate of 1/4 need for epsilon = 2 at delta = 1e-5:
dpscope account -mechanism gaussian -rate 0.25 -steps 20 -target-epsilon 2 -delta 1e-5.
Two faults that are found in practice:

    --fault noise-batch    the noise is divided by the size of the batch before the sum is
    --fault no-clipping    gradients are added as they are
"""

import argparse
import json
import sys

import numpy as np

CLIP = 1.0  # C, the norm that gradients are clipped to
SIGMA = 2.5676  # standard deviation of the noise, over C
RATE = 0.25  # an example takes part in a step with this probability
STEPS = 20
LEARNING_RATE = 0.2
EXAMPLES, FEATURES = 200, 100


def examples():
    """The data that stays the same in all trainings."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(EXAMPLES, FEATURES)) / np.sqrt(FEATURES)
    y = (x @ rng.normal(size=FEATURES) > 0).astype(float)
    return x, y


def draw_canaries(rng, n):
    """n canaries, whoever is a member: each is an example whose gradient points in a random
    direction, ten times as long as the norm to which it is clipped."""
    directions = rng.normal(size=(n, FEATURES))
    return 10 * CLIP * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def clipped(gradients):
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients * np.minimum(1, CLIP / np.maximum(norms, 1e-12))


def train(rng, x, y, members, fault):
    """One training on the examples and on the canaries that are members. Returns what an
    observer sees who gets every noisy sum and knows the examples: the sums less what the
    examples add to them on average."""
    clip = clipped if fault != "no-clipping" else lambda gradients: gradients
    batch = RATE * EXAMPLES  # expected; it must not depend on who is a member
    weights = np.zeros(FEATURES)
    seen = np.zeros(FEATURES)
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-(x @ weights)))
        gradients = clip((p - y)[:, None] * x)
        total = gradients[rng.random(len(x)) < RATE].sum(axis=0)
        total += clip(members)[rng.random(len(members)) < RATE].sum(axis=0)
        noise = SIGMA * CLIP * rng.normal(size=FEATURES)
        if fault == "noise-batch":
            noise /= batch
        weights -= LEARNING_RATE * (total + noise) / batch
        seen += total + noise - RATE * gradients.sum(axis=0)
    return seen


def answer(request, x, y, fault):
    rng = np.random.default_rng(request["seed"])  # all that is random follows from the seed
    members = np.array(request["members"], dtype=bool)
    canaries = draw_canaries(rng, len(members))
    seen = train(rng, x, y, canaries[members], fault)
    scores = canaries @ seen  # one function of a canary and of what is seen, for all of them
    if not np.isfinite(seen).all():
        return {"seed": request["seed"], "diverged": True}
    return {"seed": request["seed"], "scores": scores.tolist()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fault", choices=["noise-batch", "no-clipping"])
    fault = parser.parse_args().fault
    x, y = examples()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), x, y, fault)), flush=True)


if __name__ == "__main__":
    main()
