"""A mechanism in DP-Auditorium's form, f(data, num_samples), answered for dpscope."""

import json
import sys

import numpy as np


class Mean:
    def __init__(self, epsilon, rng):
        self.epsilon, self.rng = epsilon, rng

    def __call__(self, data, num_samples):
        data = np.clip(data, 0, 1)
        return data.mean() + self.rng.laplace(0, 1 / (self.epsilon * len(data)), (num_samples, 1))


for line in sys.stdin:
    request = json.loads(line)
    mechanism = Mean(1.0, np.random.default_rng(request["seed"]))
    data = np.array([row[0] for row in request["dataset"]])
    print(json.dumps({"outputs": mechanism(data, request["n"]).ravel().tolist()}), flush=True)
