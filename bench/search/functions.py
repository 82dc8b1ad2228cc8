# Functions that an audit is tried on, broken and sound: python3 functions.py NAME answers
# requests as docs/command.md says. Each claims epsilon 1 under add-remove, with rows in
# [0, 1]. An error that a function raises is the outcome of that run.
import json, math, random, sys

rng = random.Random()


def lap(scale=1.0):
    return rng.choice((-1, 1)) * rng.expovariate(1) * scale


def count(rows):
    return float(len(rows))


def total(rows):
    return math.fsum(r[0] for r in rows)


def fails(why):
    raise ValueError(why)


def ends(rows):
    if len(rows) == 1:
        fails("one row only")  # nobody catches it: the process ends
    return total(rows) + lap()


def histogram(rows, bins=10):
    h = [0.0] * bins
    for (x,) in rows:
        h[min(int(x * bins), bins - 1)] += 1
    return h


BROKEN = {
    "noise-skipped-1000": lambda d: total(d) + (0 if rng.random() < 1e-3 else lap()),
    "noise-skipped-column": lambda d: [lap(), count(d) + (0 if rng.random() < 2e-3 else lap())],
    "window-70": lambda d: total(d) + (0 if any(0.70 <= x <= 0.71 for (x,) in d) else lap()),
    "window-open": lambda d: count(d) + (0 if any(0.333 < x < 0.343 for (x,) in d) else lap()),
    "four-rows": lambda d: total(d) + lap(0.5 if len(d) >= 4 else 1),
    "five-rows": lambda d: count(d) + lap(0.4 if len(d) >= 5 else 1),
    "missing-as-text": lambda d: "missing" if len(d) == 0 and rng.random() < 0.5 else count(d) + lap(),
    "zero-as-text": lambda d: "none" if any(x == 0 for (x,) in d) and rng.random() < 0.5 else total(d) + lap(),
    "nan-when-empty": lambda d: (total(d) + lap()) / len(d) if d else math.nan,
    "nan-of-three": lambda d: math.nan if len(d) == 3 else count(d) + lap(),
    "infinite": lambda d: total(d) + lap() if total(d) < 1 else math.inf,
    "raises-when-empty": lambda d: count(d) + lap() if d else fails("no rows"),
    "raises-sometimes": lambda d: fails("overflow") if any(x > 0.5 for (x,) in d) and rng.random() < 0.5 else total(d) + lap(),
    "ends-on-one-row": ends,
    "half-noise": lambda d: total(d) + lap(0.5),
    "whole-noise": lambda d: total(d) + round(lap()),
    "size-beside": lambda d: [(total(d) + lap()) / max(len(d), 1), len(d)],
    "noise-shrinks": lambda d: total(d) + lap(1 / (1 + len(d))),
    "noise-cut": lambda d: total(d) + max(-3, min(3, lap())),
    "threshold-exact": lambda d: count(d) + lap() if len(d) >= 3 else 0.0,
    "heavy-row": lambda d: math.fsum(10 * x if x > 0.9 else x for (x,) in d) + lap(),
    "zero-without-noise": lambda d: total(d) + (0 if any(x == 0 for (x,) in d) else lap()),
    "first-row-heavy": lambda d: total(d) + (d[0][0] if d else 0) + lap(),
    "refuses-many": lambda d: fails("more than four rows") if len(d) == 5 else count(d) + lap(),
    "log-of-zero": lambda d: (math.log(total(d)) if total(d) else -math.inf) + lap(),
    "maximum": lambda d: max((2 * x for (x,) in d), default=0) + lap(),
    "narrow-window": lambda d: count(d) + lap(0.1 if any(0.125 < x < 0.136 for (x,) in d) else 1),
}

SOUND = {
    "count": lambda d: count(d) + lap(),
    "sum": lambda d: total(d) + lap(),
    # Post-processing of a noisy histogram.
    "two-largest-counts": lambda d: sorted((c + lap() for c in histogram(d)), reverse=True)[:2],
    "error-whatever": lambda d: fails("by chance") if rng.random() < 0.5 else count(d) + lap(),
    "nan-whatever": lambda d: math.nan if rng.random() < 0.1 else total(d) + lap(),
    "word-whatever": lambda d: "none" if rng.random() < 0.3 else total(d) + lap(),
    "infinite-whatever": lambda d: math.inf if rng.random() < 0.3 else total(d) + lap(),
    "zero-in-1000": lambda d: 0.0 if rng.random() < 1e-3 else count(d) + lap(),
}

if __name__ == "__main__":
    name = sys.argv[1]
    f = {**BROKEN, **SOUND}[name]
    for line in sys.stdin:
        q = json.loads(line)
        rng.seed(q["seed"])

        def run():
            if f is ends:
                return f(q["dataset"])
            try:
                return f(q["dataset"])
            except ValueError as e:
                return {"error": f"ValueError: {e}"}

        print(json.dumps({"outputs": [run() for _ in range(q["n"])]}), flush=True)
