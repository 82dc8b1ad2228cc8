"""An algorithm in StatDP's form, f(prng, queries, epsilon), answered for dpscope."""

import json
import sys

import numpy as np


def noisy_max(prng, queries, epsilon):
    return int(np.argmax(np.asarray(queries) + prng.laplace(scale=1.0 / epsilon, size=len(queries))))


for line in sys.stdin:
    request = json.loads(line)
    prng = np.random.default_rng(request["seed"])
    queries = [row[0] for row in request["dataset"]]
    print(json.dumps({"outputs": [noisy_max(prng, queries, 1.0) for _ in range(request["n"])]}), flush=True)
