"""From jax_privacy: scores of its auditing module, and the claim of an execution plan.
Written for jax_privacy at commit 8967688c, 2.3.0.dev0; auditing.py of that commit, which
needs no JAX, was run, the rest was not.

    from dpscope.exporters import jax_privacy as export

    coins = export.coins(len(canaries), seed=7)  # canaries whose coin is true go into the data
    ...  # training
    export.write_scores("scores.npz", jax.vmap(loss, (None, 0))(before, canaries) - jax.vmap(loss, (None, 0))(after, canaries), coins)
    export.write_claim("claim.json", plan)
"""

from __future__ import annotations

from typing import Any

from .._errors import InputError
from . import dp_accounting as curves
from ._files import File, coins, write_scores

__all__ = ["coins", "write_auditor", "write_claim", "write_scores"]


def write_auditor(file: File, auditor: Any) -> None:
    """Writes the scores of a ``jax_privacy.auditing.CanaryScoreAuditor``, whose bounds then
    stand beside those of dpscope on the same scores."""
    try:
        inside, outside = auditor._in_canary_scores.tolist(), auditor._out_canary_scores.tolist()
    except AttributeError as e:
        raise InputError(f"{type(auditor).__name__} holds no scores ({e}): give a CanaryScoreAuditor, or call write_scores with scores and coins") from e
    write_scores(file, inside + outside, [True] * len(inside) + [False] * len(outside))


def write_claim(file: File, plan: Any) -> str:
    """Writes the claim of a plan of ``jax_privacy.execution_plan``, which has a ``dp_event``
    and a ``neighboring_relation``, as dp_accounting's PLDAccountant accounts for it, for
    ``-claim-file``; returns the relation. Other events: compose an accountant of
    dp_accounting, and export that by ``dpscope.exporters.dp_accounting``."""
    import dp_accounting

    if not hasattr(plan, "dp_event") or not hasattr(plan, "neighboring_relation"):
        raise InputError(f"{type(plan).__name__} has no dp_event and neighboring_relation: give an execution plan")
    accountant = dp_accounting.pld.PLDAccountant(plan.neighboring_relation)
    accountant.compose(plan.dp_event)
    return curves.write_claim(file, accountant)
