"""Sums with noise: unclipped; nan, of ratios that a clip by comparisons lets NaN
through; prefix, the running sums of noisy answers, one of which moves by 1.

    dpscope audit -exec 'python3 sums.py unclipped' -domain 0:5 -epsilon 1
    dpscope audit -exec 'python3 sums.py nan' -domain 0:10,0:10 -integer -nonfinite symbol -epsilon 1
"""
import itertools
import sys

from serve import laplace, serve


def ratio(a, b):
    x = a / b if b else float("nan") if a == 0 else float("inf")
    if x > 1:
        x = 1.0
    return x


FORMS = {
    "unclipped": lambda rows, rng: sum(value for (value,) in rows) + laplace(rng, 1),
    "nan": lambda rows, rng: sum(ratio(a, b) for a, b in rows) + laplace(rng, 1),
    "prefix": lambda rows, rng: list(itertools.accumulate(value + laplace(rng, 1) for (value,) in rows)),
}
serve(FORMS[sys.argv[1]])
