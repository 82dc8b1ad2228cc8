"""Runs DP-Sniper on its Algorithm 4 of the sparse vector technique ("svt4"), as its own
experiments do (dpsniper/experiments/exp_default.py, logistic regression), but for epsilon,
the confidence and the numbers of outputs. Its checkout must be on PYTHONPATH."""

import sys
import time
import types

# DP-Sniper logs each step of a training for TensorBoard, which Debian does not package.
# It runs without that log here, which saves it time. Its processes import this file again.
silent = types.ModuleType("torch.utils.tensorboard")
silent.SummaryWriter = type("SummaryWriter", (), {
    "__init__": lambda self, **_: None,
    "add_scalar": lambda self, *_: None,
    "close": lambda self: None,
    "flush": lambda self: None,
})
sys.modules["torch.utils.tensorboard"] = silent

from dpsniper.attack.dpsniper import DPSniper
from dpsniper.classifiers.classifier_factory import LogisticRegressionFactory
from dpsniper.classifiers.feature_transformer import FlagsFeatureTransformer
from dpsniper.classifiers.torch_optimizer_factory import SGDOptimizerFactory
from dpsniper.input.input_domain import InputBaseType, InputDomain
from dpsniper.input.pattern_generator import PatternGenerator
from dpsniper.mechanisms.sparse_vector_technique import SparseVectorTechnique4
from dpsniper.search.ddconfig import DDConfig
from dpsniper.search.ddsearch import DDSearch
from dpsniper.utils.initialization import initialize_dpsniper


def main():
    out, processes, explore, final = sys.argv[1], *map(int, sys.argv[2:5])
    mechanism = SparseVectorTechnique4(eps=1, c=1, t=1)
    classifiers = LogisticRegressionFactory(
        feature_transform=FlagsFeatureTransformer([-1]), in_dimensions=20,
        optimizer_factory=SGDOptimizerFactory(learning_rate=0.3, momentum=0.3, step_size=500),
        regularization_weight=0.001, epochs=10, label="svt4")
    pairs = PatternGenerator(InputDomain(10, InputBaseType.FLOAT, [-10, 10]), True)
    config = DDConfig(n_train=explore, n=explore, n_check=explore, n_final=final, n_processes=processes, confidence=0.95)
    with initialize_dpsniper(config, out_dir=out):
        begun = time.perf_counter()
        witness = DDSearch(mechanism, DPSniper(mechanism, classifiers, config), pairs, config).run()
        searched = time.perf_counter()
        witness.compute_eps_high_precision(mechanism, config)
        done = time.perf_counter()
    count = len(list(pairs.get_input_pairs()))
    # A training draws on both sides, a threshold on one, an estimate on both.
    drawn = count * 5 * explore + 2 * final
    print(f"epsilon >= {witness.lower_bound:.3f} with 95 % confidence.")
    print(f"{count} pairs with {explore} outputs a step, {final} outputs a side for the bound, {drawn} drawn in all;")
    print(f"{searched - begun:.1f} s of search and {done - searched:.1f} s for the bound, without the start of its processes.")


if __name__ == "__main__":
    main()
