"""Answers dpscope's requests with the code of published libraries.

    python3 adapter.py CASE FOLDER [EPSILON]

FOLDER holds the library at the commit that catalogue.json names. Nothing of a
library is changed or copied here: a case imports it and calls it as its users do.
"""

import enum
import importlib
import json
import os
import sys
import types
import warnings

import numpy as np

warnings.simplefilter("ignore")


def package(name, folder):
    """Makes a package of a folder without running its __init__, which may import
    siblings that need other versions of other libraries. Modules run as they are."""
    p = types.ModuleType(name)
    p.__path__ = [folder]
    sys.modules[name] = p


def column(rows, i=0):
    return np.array([row[i] for row in rows], dtype=float)


# Cases: a function of the folder and epsilon, which returns f(rows, n, rng) -> outputs.


def sniper(module, name):
    def load(folder, epsilon):
        mechanism = getattr(importlib.import_module("dpsniper.mechanisms." + module), name)(eps=epsilon)

        def answer(rows, n, rng):
            np.random.seed(rng.integers(2**32))  # it draws from numpy's global generator
            return mechanism.m(column(rows), n)

        return answer

    return load


def sniper_values(folder, epsilon):
    """SparseVectorTechnique3 says FALSE as -1000 and ABORTED as -2000: these become words."""
    answer = sniper("sparse_vector_technique", "SparseVectorTechnique3")(folder, epsilon)
    words = {-1000.0: "false", -2000.0: "aborted"}
    return lambda rows, n, rng: [[words.get(v, v) for v in out] for out in answer(rows, n, rng).tolist()]


def statdp(name, *more):
    def load(folder, epsilon):
        package("statdp", os.path.join(folder, "statdp"))
        algorithm = getattr(importlib.import_module("statdp.algorithms"), name)

        def answer(rows, n, rng):
            queries = column(rows).tolist()
            return [algorithm(rng, queries, epsilon, *more) for _ in range(n)]

        return answer

    return load


def auditorium(folder):
    root = os.path.join(folder, "python", "dp_auditorium", "dp_auditorium")
    package("dp_auditorium", root)
    package("dp_auditorium.mechanisms", os.path.join(root, "mechanisms"))
    package("dp_auditorium.configs", os.path.join(root, "configs"))
    return importlib.import_module("dp_auditorium.configs.mechanism_config")


def auditorium_mean(kind):
    def load(folder, epsilon):
        auditorium(folder)
        utils = importlib.import_module("dp_auditorium.mechanisms.mechanisms_utils")
        mean = importlib.import_module("dp_auditorium.mechanisms.mean")
        config = utils.default_mean_mechanism_config_generator(kind, epsilon)
        return lambda rows, n, rng: mean.MeanMechanism(config, rng)(column(rows), n)

    return load


def auditorium_svt(name):
    def load(folder, epsilon):
        configs = auditorium(folder)
        svt = importlib.import_module("dp_auditorium.mechanisms.sparse_vector_technique")
        config = configs.SVTMechanismConfig(
            epsilon=epsilon, max_value=1.0, min_value=0.0, num_queries=10, threshold=1.0,
            query_type=configs.QueryType.QUERY_TYPE_REVEAL_RECORDS, max_answered_queries=1)
        return lambda rows, n, rng: getattr(svt, name)(config, rng)(column(rows), n)

    return load


def auditorium_max(folder, epsilon):
    configs = auditorium(folder)
    mechanism = importlib.import_module("dp_auditorium.mechanisms.noisy_max").NoisyMaxMechanism
    config = configs.NoisyMaxMechanismConfig(epsilon=epsilon, num_elements=3)
    return lambda rows, n, rng: mechanism(config, rng)(column(rows).astype(int), n)


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


def covariance(folder, epsilon):
    """DPcovariance of two columns that are declared to lie in [0, 1]."""
    import pandas as pd

    package("snsynth", os.path.join(folder, "synth", "snsynth"))
    package("snsynth.models", os.path.join(folder, "synth", "snsynth", "models"))
    module = importlib.import_module("snsynth.models.dp_covariance")

    def answer(rows, n, rng):
        np.random.seed(rng.integers(2**32))
        d = module.DPcovariance(len(rows), [0, 1], pd.DataFrame([[0.0, 0.0], [1.0, 1.0]]), epsilon)
        return [[float(v) for v in d.release(pd.DataFrame(rows, dtype=float))] for _ in range(n)]

    return answer


CASES = {
    **{"sniper-svt%d" % i: sniper("sparse_vector_technique", "SparseVectorTechnique%d" % i) for i in range(1, 7)},
    "sniper-svt3": sniper_values,
    **{"sniper-noisy-max%d" % i: sniper("report_noisy_max", "ReportNoisyMax%d" % i) for i in range(1, 5)},
    **{"sniper-histogram%d" % i: sniper("noisy_hist", "NoisyHist%d" % i) for i in (1, 2)},
    "sniper-numerical-svt": sniper("sparse_vector_technique", "NumericalSVT"),
    **{"statdp-" + f.replace("_", "-"): statdp(f) for f in
       ("noisy_max_v1a", "noisy_max_v1b", "noisy_max_v2a", "noisy_max_v2b", "histogram", "histogram_eps")},
    **{"statdp-" + f.lower(): statdp(f, 1, 0.5) for f in ("SVT", "iSVT1", "iSVT2", "iSVT3", "iSVT4")},
    **{"auditorium-" + k.replace("_", "-"): auditorium_mean(k) for k in
       ("private_mean", "non_private_mean_v1", "non_private_mean_v2")},
    **{"auditorium-svt%d" % i: auditorium_svt("SVT%d" % i) for i in range(1, 7)},
    "auditorium-noisy-max": auditorium_max,
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
    "smartnoise-covariance": covariance,
}


def plain(value):
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in CASES:
        sys.exit("usage: adapter.py CASE FOLDER [EPSILON]; cases: " + " ".join(sorted(CASES)))
    folder = os.path.abspath(sys.argv[2])
    sys.path.insert(0, folder)
    answer = CASES[sys.argv[1]](folder, float(sys.argv[3]) if len(sys.argv) > 3 else 1.0)
    for line in sys.stdin:
        request = json.loads(line)
        out = answer(request["dataset"], request["n"], np.random.default_rng(request["seed"]))
        out = plain(out.tolist() if isinstance(out, np.ndarray) else list(out))
        if out and isinstance(out[0], list) and len(out[0]) == 1:
            out = [v[0] for v in out]
        print(json.dumps({"outputs": out}), flush=True)


main()
