"""Means of values in [0, 1] as the test cases of DP-Auditorium have them: private, or
divided by the true count (raw-count), or in the sum only (raw-denominator).

    dpscope audit -exec 'python3 mean.py raw-count 1' -rows 1:6 -epsilon 1
"""
import sys

from serve import laplace, serve

form, epsilon = sys.argv[1], float(sys.argv[2])


def mean(rows, rng):
    total = sum(min(max(value, 0), 1) for (value,) in rows)
    noisy_count = max(1e-12, len(rows) + laplace(rng, 2 / epsilon))
    noise = laplace(rng, 2 / epsilon)
    if form == "raw-count":
        return (total + noise) / len(rows)
    if form == "raw-denominator":
        return total / len(rows) + noise / noisy_count
    return (total + noise) / noisy_count


serve(mean)
