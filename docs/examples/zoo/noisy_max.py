"""Report noisy max in the four forms of Ding et al. (2018): 1 and 2 tell which answer
is the largest, 3 and 4 how large it is; 2 and 4 have exponential noise.

    dpscope audit -exec 'python3 noisy_max.py 3' -relation l-infinity -domain=-10:10 -rows 5 -epsilon 1
"""
import sys

from serve import laplace, serve

form, scale = sys.argv[1], 2.0


def noisy_max(rows, rng):
    noise = (lambda: scale * rng.expovariate(1)) if form in "24" else (lambda: laplace(rng, scale))
    noisy = [query + noise() for (query,) in rows]
    return "query %d" % noisy.index(max(noisy)) if form in "12" else max(noisy)


serve(noisy_max)
