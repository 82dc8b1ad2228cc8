"""Examples of DP-Sniper (eth-sri/dp-sniper)."""

import importlib

import numpy as np

from library import column


def sniper(module, name, **more):
    def load(folder, epsilon):
        mechanism = getattr(importlib.import_module("dpsniper.mechanisms." + module), name)(eps=epsilon, **more)

        def answer(rows, n, rng):
            np.random.seed(rng.integers(2**32))  # it draws from numpy's global generator
            return mechanism.m(column(rows), n)

        return answer

    return load


def sniper_values(folder, epsilon):
    """SparseVectorTechnique3, which ends at the first query above its threshold, says FALSE as -1000 and ABORTED as -2000: these become words."""
    answer = sniper("sparse_vector_technique", "SparseVectorTechnique3", c=1)(folder, epsilon)
    words = {-1000.0: "false", -2000.0: "aborted"}
    return lambda rows, n, rng: [[words.get(v, v) for v in out] for out in answer(rows, n, rng).tolist()]


CASES = {
    **{"sniper-svt%d" % i: sniper("sparse_vector_technique", "SparseVectorTechnique%d" % i) for i in range(1, 7)},
    "sniper-svt3": sniper_values,
    **{"sniper-noisy-max%d" % i: sniper("report_noisy_max", "ReportNoisyMax%d" % i) for i in range(1, 5)},
    **{"sniper-histogram%d" % i: sniper("noisy_hist", "NoisyHist%d" % i) for i in (1, 2)},
    "sniper-numerical-svt": sniper("sparse_vector_technique", "NumericalSVT"),
}
