"""SmartNoise (opendp/smartnoise-sdk)."""

import importlib
import os

import numpy as np

from library import package


def covariance(folder, epsilon):
    """DPcovariance of two columns that are declared to lie in [0, 1]."""
    import pandas as pd

    package("snsynth", os.path.join(folder, "synth", "snsynth"))
    package("snsynth.models", os.path.join(folder, "synth", "snsynth", "models"))
    module = importlib.import_module("snsynth.models.dp_covariance")

    def answer(rows, n, rng):
        np.random.seed(rng.integers(2**32))
        d = module.DPcovariance(len(rows), [0, 1], pd.DataFrame([[0.0, 0.0], [1.0, 1.0]]), epsilon)
        return [[float(v) for v in d.release(pd.DataFrame(rows, dtype=float))] for _ in range(n)]

    return answer


CASES = {
    "smartnoise-covariance": covariance,
}
