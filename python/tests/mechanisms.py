"""Mechanisms that tests audit."""

import random


def laplace(rng, n, scale):
    """n numbers of Laplace noise, with numpy or without."""
    if hasattr(rng, "standard_normal"):
        return rng.laplace(scale=scale, size=n)
    return [rng.expovariate(1 / scale) - rng.expovariate(1 / scale) for _ in range(n)]


def added(value, noise):
    return value + noise if hasattr(noise, "dtype") else [value + x for x in noise]


def count(dataset, n, rng):
    """The number of rows, private at epsilon 1."""
    return added(len(dataset), laplace(rng, n, 1.0))


def half(dataset, n, rng):
    """Half the noise: epsilon 2."""
    return added(len(dataset), laplace(rng, n, 0.5))


def one(dataset):
    """Half the noise, an output a call."""
    return len(dataset) + random.expovariate(2) - random.expovariate(2)


def words(dataset, n, rng):
    """Randomized response of whether there is a row."""
    return ["yes" if (rng.random() < 0.9) == (len(dataset) > 0) else "no" for _ in range(n)]


def gauss(rng, scale):
    """A number of Gaussian noise, with numpy or without."""
    return rng.normal(scale=scale) if hasattr(rng, "normal") else rng.gauss(0, scale)


def train_loud(members, rng):
    """Canaries that a training with little noise remembers."""
    return [m + gauss(rng, 0.3) for m in members]


def train_quiet(members, rng):
    """The same with enough noise for epsilon 1 at delta 1e-5."""
    return [m + gauss(rng, 4) for m in members]


def train_unseeded(members, rng):
    """Noise that no seed reaches."""
    own = random.SystemRandom()
    return [m + own.gauss(0, 0.3) for m in members]
