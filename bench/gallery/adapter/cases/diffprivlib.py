"""diffprivlib (IBM/differential-privacy-library)."""

import importlib
import os

import numpy as np

from library import column, package


def diffprivlib(folder):
    # Its models' __init__ imports all models, and those of older versions private parts
    # of older versions of scikit-learn.
    root = os.path.join(folder, "diffprivlib")
    package("diffprivlib", root)
    package("diffprivlib.models", os.path.join(root, "models"))


def wishart(folder, epsilon):
    diffprivlib(folder)
    mechanism = importlib.import_module("diffprivlib.mechanisms.wishart").Wishart()
    mechanism.set_epsilon(epsilon).set_sensitivity(1.0)

    def answer(rows, n, rng):
        np.random.seed(rng.integers(2**32))
        x = column(rows).reshape(-1, 1)
        return [float(mechanism.randomise(x.T @ x)[0, 0]) for _ in range(n)]

    return answer


def regression_targets(folder, epsilon):
    """The noisy sum of squares of the target, which the objective is made of."""
    diffprivlib(folder)
    make = importlib.import_module("diffprivlib.models.linear_regression")._construct_regression_obj
    x_bounds = (np.array([-1.0]), np.array([1.0]))
    y_bounds = (np.array([0.0]), np.array([1.0]))

    def answer(rows, n, rng):
        x, y = column(rows, 0).reshape(-1, 1), column(rows, 1)
        return [float(make(x, y, x_bounds, y_bounds, epsilon, 0)[1][0][0]) for _ in range(n)]

    return answer


def regression(lower):
    """LinearRegression as users call it: its coefficient."""

    def load(folder, epsilon):
        model = importlib.import_module("diffprivlib.models").LinearRegression

        def answer(rows, n, rng):
            x, y = column(rows, 0).reshape(-1, 1), column(rows, 1)
            return [float(np.ravel(model(
                epsilon=epsilon, bounds_X=(lower, 1.0), bounds_y=(-1.0, 1.0), fit_intercept=False,
                random_state=int(rng.integers(2**31))).fit(x, y).coef_)[0]) for _ in range(n)]

        return answer

    return load


def bayes(bounds):
    """GaussianNB as users call it: how many examples it says each class has."""
    return lambda folder, epsilon: bayes_of(folder, epsilon, bounds)


def bayes_of(folder, epsilon, bounds):
    diffprivlib(folder)
    model = importlib.import_module("diffprivlib.models.naive_bayes").GaussianNB

    def answer(rows, n, rng):
        x, y = column(rows, 0).reshape(-1, 1), column(rows, 1).astype(int)
        outputs = []
        for _ in range(n):
            m = model(epsilon=epsilon, bounds=bounds)
            m.partial_fit(x, y, classes=[0, 1])
            outputs.append([float(c) for c in m.class_count_])
        return outputs

    return answer


def tool(name, **more):
    def load(folder, epsilon):
        f = getattr(importlib.import_module("diffprivlib.tools"), name)

        def answer(rows, n, rng):
            values = column(rows)
            outputs = []
            for _ in range(n):
                out = f(values, epsilon=epsilon, random_state=int(rng.integers(2**31)), **more)
                outputs.append(np.ravel(out[0] if isinstance(out, tuple) else out).tolist())
            return outputs

        return answer

    return load


def mechanism(name, **more):
    def load(folder, epsilon):
        made = getattr(importlib.import_module("diffprivlib.mechanisms"), name)

        def answer(rows, n, rng):
            m = made(epsilon=epsilon, random_state=int(rng.integers(2**31)), **more)
            value = len(rows)
            return [m.randomise(value) for _ in range(n)]

        return answer

    return load


def logistic(folder, epsilon):
    """LogisticRegression as users call it: how many classes it found, and the
    coefficient of the first."""
    model = importlib.import_module("diffprivlib.models").LogisticRegression

    def answer(rows, n, rng):
        x, y = column(rows, 0).reshape(-1, 1), column(rows, 1).astype(int)
        outputs = []
        for _ in range(n):
            m = model(epsilon=epsilon, data_norm=1.0, max_iter=5, random_state=int(rng.integers(2**31))).fit(x, y)
            outputs.append([len(m.classes_), float(m.coef_[0][0])])
        return outputs

    return answer


def offsets(folder, epsilon):
    """What LinearRegression subtracts from features and targets, for which its fit
    sets one share of the epsilon aside."""
    center = importlib.import_module("diffprivlib.models").LinearRegression._preprocess_data

    def answer(rows, n, rng):
        x, y = column(rows, 0).reshape(-1, 1), column(rows, 1)
        outputs = []
        for _ in range(n):
            made = center(x, y, fit_intercept=True, epsilon=epsilon, bounds_X=(0.0, 1.0), bounds_y=(0.0, 1.0),
                          random_state=int(rng.integers(2**31)))
            outputs.append([float(made[2][0]), float(made[3])])
        return outputs

    return answer


def bits(load):
    """Whether an output is a whole number of 2^-53, as sums of a double and 1 mostly are
    and doubles near 0 mostly are not (Mironov, CCS 2012, section 4). Anybody who sees
    the output can compute that."""

    def made(folder, epsilon):
        answer = load(folder, epsilon)
        return lambda rows, n, rng: [float(v * 2.0**53).is_integer() for v in answer(rows, n, rng)]

    return made


def laplace_0_4(folder, epsilon):
    """Laplace of releases that draw from the operating system only."""
    diffprivlib(folder)
    m = importlib.import_module("diffprivlib.mechanisms").Laplace(epsilon=epsilon, sensitivity=1)
    return lambda rows, n, rng: [m.randomise(float(len(rows))) for _ in range(n)]


CASES = {
    "diffprivlib-laplace-bits-0.4": bits(laplace_0_4),
    "diffprivlib-laplace-bits": bits(mechanism("Laplace", sensitivity=1)),
    "diffprivlib-snapping-bits": bits(mechanism("Snapping", sensitivity=1, lower=0, upper=10)),
    "diffprivlib-logistic": logistic,
    "diffprivlib-offsets": offsets,
    "diffprivlib-wishart": wishart,
    "diffprivlib-regression-targets": regression_targets,
    "diffprivlib-regression-from-0": regression(0.0),
    "diffprivlib-regression-symmetric": regression(-1.0),
    "diffprivlib-bayes-0.2": bayes([(0, 1)]),
    "diffprivlib-bayes": bayes((0, 1)),
    "diffprivlib-sum": tool("sum", bounds=(0, 1)),
    "diffprivlib-mean": tool("mean", bounds=(0, 1)),
    "diffprivlib-var": tool("var", bounds=(0, 1)),
    "diffprivlib-histogram": tool("histogram", bins=3, range=(0, 1)),
    "diffprivlib-laplace": mechanism("Laplace", sensitivity=1),
    "diffprivlib-geometric": mechanism("Geometric", sensitivity=1),
    "diffprivlib-snapping": mechanism("Snapping", sensitivity=1, lower=0, upper=10),
}
