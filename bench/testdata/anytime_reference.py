"""Reference medians of the bench anytime: pairs until a mixture of stakes
refutes a claim of half the truth. It follows the wealth of that one claim as a
product over pairs, with Python's own random numbers and none of dpscope's code.

    python3 cmd/dpscope/testdata/anytime_reference.py     # minutes
"""
import math
import random
import statistics

RUNS, CAP, GOAL = 2000, 200_000, 20
SHARES = [.001] + [.002 * (.98 / .002) ** (i / 23) for i in range(24)]


def median(name, p, q, w, stakes, every, terms=0):
    """p, q: probabilities of the bins; w[a][b]: what a pair in bins a, b wins;
    terms: of the mixture, where some count 0 and are not among the stakes."""
    rng = random.Random(name)
    logs = [[math.log1p(s * x) for row in w for x in row] for s in stakes]
    bins, cells = range(len(p)), len(p) * len(q)
    stops = []
    for _ in range(RUNS):
        n, pairs = [0] * cells, 0
        while pairs < CAP:
            for a, b in zip(rng.choices(bins, p, k=every), rng.choices(bins, q, k=every)):
                n[a * len(q) + b] += 1
            pairs += every
            seen = [(i, k) for i, k in enumerate(n) if k]
            if sum(math.exp(min(600, sum(k * l[i] for i, k in seen))) for l in logs) >= GOAL * (terms or len(stakes)):
                break
        stops.append(pairs)
    print(f"{name:34s} median {statistics.median(stops):8.0f}, looked at every {every} pairs", flush=True)


def event(name, p1, p0, delta, every):
    th = math.exp(math.log((p1 - delta) / p0) / 2)
    w = [[x - th * y - delta for y in (0, 1)] for x in (0, 1)]
    median(name, [1 - p1, p1], [1 - p0, p0], w, [u / (th + delta) for u in SHARES], every)


def renyi(name, p, q, alpha, every, cut=math.inf):
    h = [min(cut, math.log(a / b)) for a, b in zip(p, q)]
    moment = sum(b * math.exp(alpha * x) for b, x in zip(q, h))
    first = sum(a * math.exp((alpha - 1) * x) for a, x in zip(p, h))
    half = (alpha / (alpha - 1) * math.log(first) - math.log(moment)) / 2
    h = [x - math.log(moment) / alpha for x in h]
    s, c = (alpha - 1) / alpha, 1 / alpha
    w = [[math.exp(-half * s) * math.exp((alpha - 1) * x) - s * math.exp(alpha * y) - c for y in h] for x in h]
    top = s * max(math.exp(alpha * x) for x in h) + c
    median(name, p, q, w, [u / top for u in SHARES], every)


def score(name, p, q, f, delta, every):
    th = math.sqrt((sum(a * b for a, b in zip(p, f)) - delta) / sum(a * b for a, b in zip(q, f)))
    stakes = [1e-6 * (.98 / (1 + delta) / 1e-6) ** (i / 47) for i in range(48)]
    w = [[x - th * y - delta for y in f] for x in f]
    allowed = [s for s in stakes if s * (th * max(f) + delta) < 1]
    median(name, p, q, w, allowed, every, terms=len(stakes))


def score_delta(name, p, q, f, eps, every):
    th = math.exp(eps)
    half = (sum(a * b for a, b in zip(p, f)) - th * sum(a * b for a, b in zip(q, f))) / 2
    w = [[x - th * y - half for y in f] for x in f]
    median(name, p, q, w, [u / (th + 1) for u in SHARES], every)


def binned(edges, cdf):
    at = [0] + [cdf(x) for x in edges] + [1]
    return [b - a for a, b in zip(at, at[1:])]


def normal(mean):
    return lambda x: math.erfc((mean - x) / math.sqrt(2)) / 2


def laplace(mean):
    return lambda x: math.exp(x - mean) / 2 if x < mean else 1 - math.exp(mean - x) / 2


def logistic(x):
    return 1 / (1 + math.exp(-x))


event("randomised response, epsilon 1", logistic(1), logistic(-1), 0, 1)
event("randomised response, epsilon 4", logistic(4), logistic(-4), 0, 1)
event("Gaussian tail, mu 1, delta 1e-5", normal(1)(0), normal(0)(-2), 1e-5, 4)
event("Laplace, epsilon 0.1", .5, math.exp(-.1) / 2, 0, 50)
event("rare event, .02 against .001", .02, .001, 0, 25)
middling = [-1.5, -.75, 0, .75, 1.5, 2.25]
renyi("Gaussian, mu .5, alpha 2", binned(middling, normal(.5)), binned(middling, normal(0)), 2, 20)
steps = [0, .025, .05, .075, .1]
renyi("Laplace, epsilon .1, alpha 2", binned(steps, laplace(.1)), binned(steps, laplace(0)), 2, 400)
renyi("two points, log ratio cut at 3", [1 - .008884, .008884], [1 - 3.193e-6, 3.193e-6], 1.762, 100, cut=3)
wide, f = [-.5, .5, 1.5], [0, .2, .7, 1]
score("score, epsilon at delta .01", binned(wide, normal(1)), binned(wide, normal(0)), f, .01, 2)
score_delta("score, delta at epsilon .3", binned(wide, normal(1)), binned(wide, normal(0)), f, .3, 4)
