"""Writes down what the libraries of libraries.py hold after small trainings, for tests where
they are not there:

    DPSCOPE_LIBRARIES=FOLDER python3 python/tests/record.py
"""

import json
import sys
import warnings
from pathlib import Path

import libraries

RECORDED = Path(__file__).parent / "recorded"


def opacus():
    """State of each accountant after the same steps of two kinds, and its epsilons."""
    from opacus.accountants import GaussianAccountant, PRVAccountant, RDPAccountant

    found = {}
    for kind in (PRVAccountant, RDPAccountant, GaussianAccountant):
        accountant = kind()
        for noise, steps in ((1.0, 30), (1.2, 20)):
            for _ in range(steps):
                accountant.step(noise_multiplier=noise, sample_rate=0.05)
            if kind is GaussianAccountant:
                break  # it knows one kind of steps only
        state = accountant.state_dict()
        found[kind.__name__] = {
            "history": state["history"],
            "mechanism of the state": type(state["mechanism"]).__name__,
            "mechanism": accountant.mechanism(),
            "epsilons": {str(d): accountant.get_epsilon(d) for d in (1e-3, 1e-5)},
        }
    return found


def dp_accounting():
    """Curves of both accountants over the same steps."""
    import dp_accounting

    from dpscope.exporters.dp_accounting import DELTAS

    event = dp_accounting.SelfComposedDpEvent(dp_accounting.PoissonSampledDpEvent(0.05, dp_accounting.GaussianDpEvent(1.0)), 50)
    found = {}
    for kind in (dp_accounting.pld.PLDAccountant, dp_accounting.rdp.RdpAccountant):
        accountant = kind()
        accountant.compose(event)
        found[kind.__name__] = {"neighboring_relation": accountant.neighboring_relation.name, "epsilons": [[d, accountant.get_epsilon(d)] for d in DELTAS]}
    return found


def jax_privacy():
    """Attributes of an auditor of scores."""
    auditor = libraries.auditing().CanaryScoreAuditor([3.0, 4.5, 2.0], [1.0, -0.5])
    return {k: v.tolist() for k, v in sorted(vars(auditor).items()) if "scores" in k}


if __name__ == "__main__":
    missing = libraries.put_on_path()
    if missing:
        sys.exit(missing)
    warnings.simplefilter("ignore")
    for record in (opacus, dp_accounting, jax_privacy):
        (RECORDED / f"{record.__name__}.json").write_text(json.dumps(record(), indent=1) + "\n")
