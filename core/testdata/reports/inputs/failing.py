"""A mechanism that fails in certification, after more outputs than exploration takes."""
import json
import random
import sys

asked = 0
for line in sys.stdin:
    request = json.loads(line)
    asked += request["n"]
    if asked > 5000:
        sys.exit("too many")
    rng = random.Random(request["seed"])
    print(json.dumps([rng.random() for _ in range(request["n"])]), flush=True)
