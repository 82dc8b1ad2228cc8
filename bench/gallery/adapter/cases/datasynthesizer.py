"""DataSynthesizer (DataResponsibly/DataSynthesizer)."""

import importlib

import numpy as np


def counts(folder, epsilon):
    """The noisy counts of two attributes of zeros and ones, from which the conditional
    distributions of correlated attribute mode are made."""
    import pandas as pd

    noisy = importlib.import_module("DataSynthesizer.lib.PrivBayes").get_noisy_distribution_of_attributes

    def answer(rows, n, rng):
        np.random.seed(rng.integers(2**32))
        encoded = pd.DataFrame(rows, columns=["a", "b"]).astype(int)
        return [noisy(["a", "b"], encoded, epsilon)["count"].tolist() for _ in range(n)]

    return answer


CASES = {
    "datasynthesizer-counts": counts,
}
