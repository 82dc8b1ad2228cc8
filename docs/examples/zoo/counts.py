"""Counts of bits: geometric, with truncated geometric noise whose epsilon is rounded
by the wrong logarithm (Balcer and Vadhan 2018, DP-Sniper); leaky, a noisy mean beside
the exact number of rows.

    dpscope audit -exec 'python3 counts.py geometric' -relation replace -domain 0:1 -integer -rows 5 -epsilon 0.1
"""
import math
import sys

from serve import laplace, serve

shift = math.ceil(math.log(2 / 0.1))
stay = math.log1p(2.0 ** -shift)


def geometric(rows, rng):
    def drawn():
        return math.floor(rng.expovariate(stay))

    return min(max(sum(bit for (bit,) in rows) + drawn() - drawn(), 0), len(rows))


def leaky(rows, rng):
    total, n = sum(value for (value,) in rows), len(rows)
    return [(total + laplace(rng, 2)) / max(1e-12, n + laplace(rng, 2)), "%d rows" % n]


serve({"geometric": geometric, "leaky": leaky}[sys.argv[1]])
