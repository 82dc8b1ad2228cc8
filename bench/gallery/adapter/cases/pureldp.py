"""pure-LDP (Samuel-Maddock/pure-LDP)."""

import importlib
import os
import random

import numpy as np

from library import package


def unary(folder, epsilon):
    """UEClient, which privatises one user's value out of 1, 2 and 3."""
    root = os.path.join(folder, "pure_ldp")
    oracles = os.path.join(root, "frequency_oracles")
    package("pure_ldp", root)
    core = package("pure_ldp.core", os.path.join(root, "core"))  # its __init__ imports hash functions, which UE has none of
    core.FreqOracleClient = importlib.import_module("pure_ldp.core._freq_oracle_client").FreqOracleClient
    package("pure_ldp.frequency_oracles", oracles)
    package("pure_ldp.frequency_oracles.unary_encoding", os.path.join(oracles, "unary_encoding"))
    client = importlib.import_module("pure_ldp.frequency_oracles.unary_encoding.ue_client").UEClient(epsilon, 3)

    def answer(rows, n, rng):
        np.random.seed(rng.integers(2**32))
        random.seed(int(rng.integers(2**63)))
        return [client.privatise(int(rows[0][0])).tolist() for _ in range(n)]

    return answer


CASES = {
    "pureldp-unary": unary,
}
