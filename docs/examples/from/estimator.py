"""An estimator in scikit-learn's and diffprivlib's form, fit(X, y), answered for dpscope.

Which numbers of the model are released is yours to say: here it is the coefficient."""

import json
import sys

import numpy as np


class Slope:
    """Least squares of one feature in [0, 1]; its noise leaves out the sum of squares."""

    def __init__(self, epsilon, random_state):
        self.epsilon, self.rng = epsilon, np.random.default_rng(random_state)

    def fit(self, X, y):
        self.coef_ = ((X[:, 0] @ y) + self.rng.laplace(scale=2 / self.epsilon)) / (X[:, 0] @ X[:, 0] + 1e-3)
        return self


for line in sys.stdin:
    request = json.loads(line)
    rows = np.array(request["dataset"], dtype=float)
    seeds = np.random.default_rng(request["seed"]).integers(2**31, size=request["n"])
    outputs = [float(Slope(1.0, int(s)).fit(rows[:, :1], rows[:, 1]).coef_) for s in seeds]
    print(json.dumps({"outputs": outputs}), flush=True)
