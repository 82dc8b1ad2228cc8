"""Sparse vector techniques 1, 3, 4, 5 and 6 of Lyu, Su and Li (2017), and a numeric one.

    dpscope audit -exec 'python3 svt.py 4' -relation l-infinity -domain=-10:10 -rows 10 -epsilon 1
"""
import sys

from serve import laplace, serve

form, epsilon, threshold, cut = sys.argv[1], 1.0, 1.0, 1
first = epsilon / 4 if form == "4" else epsilon / 2
second = epsilon - first
rho = {"numeric": 1.5 / first}.get(form, 1 / first)
nu = {"1": 2 * cut / second, "3": cut / second, "4": 1 / second, "5": 0, "6": 1 / second, "numeric": 3 * cut / second}[form]


def svt(rows, rng):
    noisy_threshold = threshold + laplace(rng, rho)
    out, above = [], 0
    for (query,) in rows:
        if above == cut and form not in ("5", "6"):
            out.append("stopped")
            continue
        noisy = query + laplace(rng, nu) if nu else query
        if noisy >= noisy_threshold:
            above += 1
            out.append({"3": noisy, "numeric": query + laplace(rng, 1.5 * cut / second) if form == "numeric" else 0}.get(form, True))
        else:
            out.append("below" if form in ("3", "numeric") else False)
    return out


serve(svt)
