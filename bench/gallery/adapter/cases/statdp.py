"""Examples of StatDP (cmla-psu/statdp)."""

import importlib
import os

from library import column, package


def statdp(name, *more):
    def load(folder, epsilon):
        package("statdp", os.path.join(folder, "statdp"))
        algorithm = getattr(importlib.import_module("statdp.algorithms"), name)

        def answer(rows, n, rng):
            queries = column(rows).tolist()
            return [algorithm(rng, queries, epsilon, *more) for _ in range(n)]

        return answer

    return load


CASES = {
    **{"statdp-" + f.replace("_", "-"): statdp(f) for f in
       ("noisy_max_v1a", "noisy_max_v1b", "noisy_max_v2a", "noisy_max_v2b", "histogram", "histogram_eps")},
    **{"statdp-" + f.lower(): statdp(f, 1, 0.5) for f in ("SVT", "iSVT1", "iSVT2", "iSVT3", "iSVT4")},
}
