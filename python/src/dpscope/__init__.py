"""Audits of differential privacy for mechanisms in Python.

    import dpscope

    def count(dataset, n, rng):
        return len(dataset) + rng.laplace(scale=0.5, size=n)

    result = dpscope.audit(count, epsilon=1)
    print(result.violation, result.bound)
"""

from ._audit import audit, scores
from ._errors import Error, InputError, Stopped
from ._result import Result, Verification, load
from ._train import canaries, one_run
from ._widget import Instrument

__version__ = "0.4.0"

__all__ = ["Error", "InputError", "Instrument", "Result", "Stopped", "Verification", "audit", "canaries", "load", "one_run", "scores"]
