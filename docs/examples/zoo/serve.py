"""Answers the requests of dpscope audit -exec for a mechanism(rows, rng)."""
import json
import random
import sys


def serve(mechanism):
    for line in sys.stdin:
        request = json.loads(line)
        rng = random.Random(request["seed"])
        rows = request["dataset"]
        print(json.dumps([mechanism(rows, rng) for _ in range(request["n"])]), flush=True)


def laplace(rng, scale):
    return scale * (rng.expovariate(1) - rng.expovariate(1))
