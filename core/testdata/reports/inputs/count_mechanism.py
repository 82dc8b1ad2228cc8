#!/usr/bin/env python3
"""A noisy count that dpscope audits.

    dpscope audit -exec 'python3 count_mechanism.py correct' -epsilon 1

Forms: correct (Laplace noise of scale 1/epsilon), half (half the noise that
epsilon needs), words (no number but "few" or "many", by randomised response
with epsilon 1), unseeded (correct, with noise from the operating system).
"""
import json
import math
import random
import sys

EPSILON = 1


def laplace(rng, scale):
    return rng.expovariate(1 / scale) - rng.expovariate(1 / scale)


def words(rows, n, rng):
    truth = len(rows) > 0
    keep = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    return ["many" if truth == (rng.random() < keep) else "few" for _ in range(n)]


def count(scale):
    return lambda rows, n, rng: [len(rows) + laplace(rng, scale) for _ in range(n)]


FORMS = {"correct": count(1 / EPSILON), "half": count(0.5 / EPSILON), "unseeded": count(1 / EPSILON), "words": words}


def main():
    form = sys.argv[1]
    mechanism = FORMS[form]
    for line in sys.stdin:
        request = json.loads(line)
        rng = random.SystemRandom() if form == "unseeded" else random.Random(request["seed"])
        outputs = mechanism(request["dataset"], request["n"], rng)
        print(json.dumps({"outputs": outputs}), flush=True)


if __name__ == "__main__":
    main()
