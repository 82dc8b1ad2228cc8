# The number of people who say yes, with noise.
import json, random, sys

SCALE = 1.0  # of the Laplace noise: what epsilon 1 needs

for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request["seed"])
    yes = sum(answer for [answer] in request["dataset"])
    noise = lambda: rng.expovariate(1 / SCALE) - rng.expovariate(1 / SCALE)
    print(json.dumps({"outputs": [yes + noise() for _ in range(request["n"])]}), flush=True)
