"""SmartNoise (opendp/smartnoise-sdk)."""

import importlib
import os
import random

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


def mwem(folder, epsilon):
    """MWEMSynthesizer on columns of zeros and ones: how heavy the first and the last
    cell of its synthetic histogram are, after one measurement."""

    synth = os.path.join(folder, "synth", "snsynth")
    package("snsynth", synth)
    model = importlib.import_module("snsynth.mwem").MWEMSynthesizer

    def answer(rows, n, rng):
        np.random.seed(rng.integers(2**32))
        random.seed(int(rng.integers(2**63)))
        data = np.array(rows, dtype=int)
        outputs = []
        for _ in range(n):
            m = model(epsilon=epsilon, q_count=2, iterations=1, mult_weights_iterations=1, splits=[list(range(data.shape[1]))])
            m.fit(data)
            cells = m.synthetic_histograms[0][0].ravel()
            outputs.append([float(cells[0]), float(cells[-1])])
        return outputs

    return answer


CASES = {
    "smartnoise-mwem": mwem,
    "smartnoise-covariance": covariance,
}
