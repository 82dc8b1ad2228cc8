"""Noisy histograms. counts SCALE: rows are the counts of bins, one of which moves by
1. present: rows are records 0 to 4, and only bins that occur are released.

    dpscope audit -exec 'python3 histogram.py counts 1' -relation bounded-replace -domain 0:10 -rows 5 -epsilon 1
    dpscope audit -exec 'python3 histogram.py present' -domain 0:4 -integer -epsilon 1
"""
import sys

from serve import laplace, serve


def counts(rows, rng):
    return [count + laplace(rng, float(sys.argv[2])) for (count,) in rows]


def present(rows, rng):
    records = [int(value) for (value,) in rows]
    return [records.count(k) + laplace(rng, 1) if k in records else "absent" for k in range(5)]


serve({"counts": counts, "present": present}[sys.argv[1]])
