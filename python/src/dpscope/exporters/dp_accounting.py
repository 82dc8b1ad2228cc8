"""From dp_accounting: the curve of an accountant as a claim. Run with PLDAccountant and
RdpAccountant of google/differential-privacy at commit b5b0286e.

    from dpscope.exporters import dp_accounting as export

    accountant = dp_accounting.pld.PLDAccountant().compose(event)
    export.write_claim("claim.json", accountant)
"""

from __future__ import annotations

from typing import Any, Sequence

from .._errors import InputError
from ._files import File, write_curve

__all__ = ["DELTAS", "relation", "write_claim"]

#: Where a curve is asked for: from .32 down to 1e-10, two in each decade.
DELTAS = tuple(10.0 ** (-e / 2) for e in range(1, 21))

_RELATIONS = {"ADD_OR_REMOVE_ONE": "add-remove", "REPLACE_ONE": "replace"}


def relation(accountant: Any) -> str:
    """What ``-relation`` is for the claims of this accountant."""
    name = getattr(accountant.neighboring_relation, "name", str(accountant.neighboring_relation))
    if name not in _RELATIONS:
        raise InputError(f"the accountant's neighbours are {name}, for which dpscope audits no claims: must be {' or '.join(_RELATIONS)}")
    return _RELATIONS[name]


def write_claim(file: File, accountant: Any, deltas: Sequence[float] = DELTAS) -> str:
    """Writes the curve of an accountant for ``-claim-file``, its epsilon at each delta,
    and returns the relation, for ``-relation``. Deltas at which it knows no finite epsilon
    are left out."""
    if not hasattr(accountant, "get_epsilon"):
        raise InputError(f"{type(accountant).__name__} has no get_epsilon: give an accountant of dp_accounting that has composed the training")
    found = relation(accountant)
    curve = [(float(accountant.get_epsilon(d)), float(d)) for d in deltas]
    write_curve(file, curve, f"dp_accounting, {type(accountant).__name__}, {found}")
    return found
