"""One step of DP-SGD whose gradients are the records: clipped one by one with too
little noise (scaled), or clipped as one micro-batch (microbatch).

    dpscope audit -exec 'python3 dp_sgd.py microbatch' -domain=-2:2 -epsilon 1 -delta 1e-3
"""
import sys

from serve import serve

form, sigma, clip = sys.argv[1], 2.0, 1.0


def bounded(g):
    return min(max(g, -clip), clip)


def step(rows, rng):
    gradients = [g for (g,) in rows]
    if form == "microbatch":
        total = bounded(sum(gradients) / len(gradients)) if gradients else 0
        return total + rng.gauss(0, sigma * clip)
    return sum(map(bounded, gradients)) + rng.gauss(0, sigma * clip / 2)


serve(step)
