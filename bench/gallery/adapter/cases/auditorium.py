"""Examples of DP-Auditorium (google/differential-privacy)."""

import enum
import importlib
import os

from library import column, package


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


def auditorium_svt(name, num_queries=10, threshold=1.0):
    def load(folder, epsilon):
        configs = auditorium(folder)
        svt = importlib.import_module("dp_auditorium.mechanisms.sparse_vector_technique")
        config = configs.SVTMechanismConfig(
            epsilon=epsilon, max_value=1.0, min_value=0.0, num_queries=num_queries, threshold=threshold,
            query_type=configs.QueryType.QUERY_TYPE_REVEAL_RECORDS, max_answered_queries=1)
        return lambda rows, n, rng: getattr(svt, name)(config, rng)(column(rows), n)

    return load


def auditorium_values(folder, epsilon):
    """SVT3 on six queries: what is no number in its outputs becomes a word."""
    answer = auditorium_svt("SVT3", num_queries=6, threshold=0.5)(folder, epsilon)
    return lambda rows, n, rng: [[v.name if isinstance(v, enum.Enum) else v for v in out] for out in answer(rows, n, rng).tolist()]


def auditorium_max(folder, epsilon):
    configs = auditorium(folder)
    mechanism = importlib.import_module("dp_auditorium.mechanisms.noisy_max").NoisyMaxMechanism
    config = configs.NoisyMaxMechanismConfig(epsilon=epsilon, num_elements=3)
    return lambda rows, n, rng: mechanism(config, rng)(column(rows).astype(int), n)


CASES = {
    **{"auditorium-" + k.replace("_", "-"): auditorium_mean(k) for k in
       ("private_mean", "non_private_mean_v1", "non_private_mean_v2")},
    **{"auditorium-svt%d" % i: auditorium_svt("SVT%d" % i) for i in range(1, 7)},
    "auditorium-svt3": auditorium_values,
    # The class promises (1 + 6 * max_answered_queries) * epsilon / 4.
    "auditorium-svt4": lambda folder, epsilon: auditorium_svt("SVT4")(folder, epsilon * 4 / 7),
    "auditorium-noisy-max": auditorium_max,
}
