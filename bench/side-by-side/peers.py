"""Audits with dpscope and with its peers: `peers.py RUNS` prints what side-by-side.txt says.
Every audit is a process of its own, `peers.py PEER CASE SIZE SEED`, whose function yields records:
(method, outputs until the verdict, outputs drawn, seconds to the verdict without the start, refuted, bound).
PEERS is the folder of the checkouts, WORK that of dpscope and of files (run.sh sets both)."""

import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import time
import types

import numpy as np

BETA, DELTA = 0.05, 1e-5  # the allowed error of all; delta of the scores
# Claims, and the pair of neighbouring datasets of those who do not search.
MEAN_PAIR = [1.0], [1.0, 0.0]
CASES = {
    "svt4": dict(epsilon=1, pair=([1.0] * 9 + [0.0], [0.0] * 9 + [1.0]), title="svt4: the sparse vector technique of Lee and Clifton, ten queries, threshold 1, one answer above it; claim epsilon = 1, truth at most 1.75"),
    "mean-0.01": dict(epsilon=0.01, pair=MEAN_PAIR, title="laplace-mean-raw-count: a mean whose noise reveals the count; claim epsilon = 0.01, truth infinite"),
    "mean-0.1": dict(epsilon=0.1, pair=MEAN_PAIR, title="laplace-mean-raw-count, claim epsilon = 0.1"),
    "scores": dict(epsilon=1, title="Scores of canaries: N(2, 1) with the canary and N(0, 1) without, each by a fair coin; claim epsilon = 1 at delta = 1e-05"),
}


def mean(rng, data, epsilon, size=None):
    """As dpscope's laplace-mean-raw-count: the noise has scale 2/epsilon."""
    return (sum(data) + rng.laplace(0, 2 / epsilon, size)) / len(data)


def statdp_mean(prng, queries, epsilon):
    return mean(prng, queries, epsilon)


def imported(folder, *bare):
    """Puts a checkout on the path. The packages in bare are entered without their __init__, which imports what Debian lacks."""
    root = os.path.join(os.environ["PEERS"], folder)
    sys.path.insert(0, root)
    for name in bare:
        stub(name, __path__=[os.path.join(root, *name.split("."))])


def stub(module, **names):
    sys.modules[module] = types.ModuleType(module)
    vars(sys.modules[module]).update(names)


def begin():
    """The start is over: all is imported, and the processes run."""
    global start
    if "start" not in globals():
        start = time.time() - float(os.environ["BEGUN"])
    return time.perf_counter()


# DP-Sniper logs to TensorBoard, which Debian does not package, also in its processes, which import this file again.
stub("torch.utils.tensorboard", SummaryWriter=type("SummaryWriter", (), dict.fromkeys(["__init__", "add_scalar", "close", "flush"], lambda *_, **__: None)))


def highest(rejects):
    """The largest epsilon that a test rejects on the outputs it has, where it rejects all below."""
    low, high = 0.0, 16.0
    while high - low > 2e-3:
        middle = (low + high) / 2 if low else high / 4
        low, high = (middle, high) if rejects(middle) else (low, middle)
    return low


def median_distance(x, y):
    """The rule of the sequential test's notebook: of 20 outputs a side, which are not used again."""
    from scipy.spatial.distance import pdist
    return float(np.median(pdist(np.concatenate([x, y]))))


def sampler(case, seed):
    """Draws from DP-Auditorium's own SVT4, as numbers, or from the mean: rows of columns."""
    imported("differential-privacy/python/dp_auditorium", *(f"dp_auditorium{part}" for part in ("", ".testers", ".mechanisms", ".generators", ".configs")))
    from dp_auditorium.configs import mechanism_config as config
    from dp_auditorium.mechanisms import sparse_vector_technique
    epsilon, rng = CASES[case]["epsilon"], np.random.default_rng(seed)
    if case != "svt4":
        return lambda side, n: mean(rng, CASES[case]["pair"][side], epsilon, (n, 1))
    svt = sparse_vector_technique.SVT4(config.SVTMechanismConfig(
        epsilon=epsilon, max_value=1, min_value=0, query_type=config.QueryType.QUERY_TYPE_REVEAL_RECORDS, num_queries=10, threshold=1, max_answered_queries=1), rng)
    # The queries, nine times the last record and once the one before, answer as the pair of CASES.
    datasets = np.array([0, 1]), np.array([0, 1, 0])
    return lambda side, n: sum(v.value * (answers == v) for answers in [svt(datasets[side], n)] for v in config.DataValues)


def dp_sniper(case, n, _):
    imported("dp-sniper")
    from dpsniper.attack.dpsniper import DPSniper
    from dpsniper.classifiers.classifier_factory import LogisticRegressionFactory, MultiLayerPerceptronFactory
    from dpsniper.classifiers.feature_transformer import FlagsFeatureTransformer
    from dpsniper.classifiers.torch_optimizer_factory import AdamOptimizerFactory, SGDOptimizerFactory
    from dpsniper.input.input_domain import InputBaseType, InputDomain
    from dpsniper.input.pattern_generator import PatternGenerator
    from dpsniper.mechanisms.sparse_vector_technique import SparseVectorTechnique4
    from dpsniper.search.ddconfig import DDConfig
    from dpsniper.search.ddsearch import DDSearch
    from dpsniper.utils.initialization import initialize_dpsniper
    epsilon = CASES[case]["epsilon"]
    if case == "svt4":
        mechanism = SparseVectorTechnique4(eps=epsilon, c=1, t=1)
        learner = LogisticRegressionFactory(
            feature_transform=FlagsFeatureTransformer([-1]), in_dimensions=20, regularization_weight=0.001, epochs=10, label=case,
            optimizer_factory=SGDOptimizerFactory(learning_rate=0.3, momentum=0.3, step_size=500))
        pairs = PatternGenerator(InputDomain(10, InputBaseType.FLOAT, [-10, 10]), True)
    else:
        mechanism = pairs = SniperMean(epsilon=epsilon)
        learner = MultiLayerPerceptronFactory(
            in_dimensions=1, hidden_sizes=(10, 5), regularization_weight=0.0001, epochs=10, label=case,
            optimizer_factory=AdamOptimizerFactory(learning_rate=0.1, step_size=500))
    count = len(list(pairs.get_input_pairs()))
    config = DDConfig(n_train=n, n=n, n_check=n, n_final=n, n_processes=1, confidence=1 - BETA)
    with initialize_dpsniper(config, out_dir=os.path.join(os.environ["WORK"], "sniper")):
        begun = begin()
        witness = DDSearch(mechanism, DPSniper(mechanism, learner, config), pairs, config).run()
        witness.compute_eps_high_precision(mechanism, config)
        seconds, bound = time.perf_counter() - begun, float(witness.lower_bound)
    drawn = count * 5 * n + 2 * n  # a training draws on both sides, a threshold on one, an estimate on both
    yield f"DP-Sniper, {count} pairs", drawn, drawn, seconds, bound > epsilon, max(bound, 0)


class SniperMean(types.SimpleNamespace):
    """The mean as a mechanism of DP-Sniper, and its pair, in both orders, as a generator."""

    def m(self, a, n_samples=1):
        return mean(np.random, a, self.epsilon, n_samples)

    def get_input_pairs(self):
        a, b = map(np.array, MEAN_PAIR)
        return [(a, b), (b, a)]


def statdp(case, n, _):
    if case == "svt4" and n < 10_000:
        return  # its selector would take the counts for real numbers, and end with an error
    imported("statdp")
    np.bool = bool  # which NumPy has no longer
    from statdp.algorithms import iSVT3
    from statdp.core import run_algorithm
    from statdp.generators import generate_databases
    from statdp.hypotest import test_statistics
    from statdp.selectors import select_event
    epsilon = CASES[case]["epsilon"]
    if case == "svt4":
        algorithm, inputs = iSVT3, generate_databases(iSVT3, 10, {"epsilon": epsilon, "N": 1, "T": 1})
    else:
        algorithm, inputs = statdp_mean, [(*CASES[case]["pair"], {"epsilon": epsilon})]
    test_statistics(2, 1, 1.0, 10)  # numba compiles it
    with multiprocessing.Pool(1) as pool:
        begun = begin()
        # As detect_counterexample, which returns the p-value only.
        d1, d2, arguments, event = select_event(algorithm, inputs, epsilon, n, pool, quiet=True)
        (counts, *_), _ = run_algorithm(algorithm, d1, d2, arguments, event, n)
        less, more = sorted(counts)
        refuted = test_statistics(more, less, epsilon, n) <= BETA
        seconds = time.perf_counter() - begun
    drawn, name = 2 * n * (len(inputs) + 1), f"StatDP, {len(inputs)} pair" + "s" * (len(inputs) > 1)
    yield name, drawn, drawn, seconds, refuted, highest(lambda e: test_statistics(more, less, e, n) <= BETA)


def dp_auditorium(case, n, seed):
    stub("etils")
    stub("etils.array_types", IntArray=np.ndarray)
    draw, discrete = sampler(case, seed), case == "svt4"
    from dp_auditorium import privacy_test_runner
    from dp_auditorium.configs import privacy_property, privacy_test_runner_config as runner, property_tester_config as config
    from dp_auditorium.generators.constant_dataset_generator import ConstantDatasetGenerator
    from dp_auditorium.testers import histogram_tester, mmd_tester
    for name in "histogram", "MMD":
        begun = begin()
        scale = median_distance(draw(0, 20), draw(1, 20))
        outputs = draw(0, n), draw(1, n)
        if name == "histogram":  # an output of svt4 is told by the number of answers below the threshold
            outputs = [(x == 2).sum(axis=1) if discrete else x[:, 0] for x in outputs]

        def rejects(epsilon):
            claim = privacy_property.ApproximateDp(epsilon=epsilon, delta=0.0)
            if name == "MMD":
                tester = mmd_tester.MMDPropertyTester(config.MMDPropertyTesterConfig(config.Kernel.KERNEL_RBF, 1 / (2 * scale**2), claim))
            else:
                tester = histogram_tester.HistogramTester(config.HistogramPropertyTesterConfig(discrete, 11 if discrete else 10, -5 * scale, 5 * scale, claim))
            plan = runner.PrivacyTestRunnerConfig(runner.PropertyTester[f"{name.upper()}_TESTER"], 1, BETA, n, runner.PostProcessing.NONE)
            test = privacy_test_runner.PrivacyTestRunner(plan, ConstantDatasetGenerator((0, 1)), tester)
            return test.test_privacy(lambda side, _: outputs[side], case).found_privacy_violation is not None

        refuted = rejects(CASES[case]["epsilon"])
        seconds = time.perf_counter() - begun
        yield f"DP-Auditorium, {name}", 2 * n + 40, 2 * n + 40, seconds, refuted, highest(rejects) if refuted or rejects(2e-3) else 0


def sequential(case, n, seed):
    from scipy.spatial.distance import cdist
    names = {"np": np, "cdist": cdist}
    with open(os.path.join(os.environ["PEERS"], "dp_sequential_test/numerical_experiments.ipynb")) as notebook:
        cells = ["".join(cell["source"]) for cell in json.load(notebook)["cells"]]
    exec("\n".join(cell for cell in cells if cell.startswith(("def ensure_list", "class OnlineNewtonStep"))), names)
    draw, epsilon = sampler(case, seed), CASES[case]["epsilon"]
    begun = begin()
    width = median_distance(draw(0, 20), draw(1, 20))
    x, y = draw(0, n), draw(1, n)
    test = names["OneSidedTwoSampleSequentialTest"](epsilon, 0, width)
    first = int(np.argmax((x != y).any(axis=1)))  # before, zero is divided by zero
    seen, seconds = None, None
    for i in range(first, n):
        if test.step(x[i], y[i]) >= 1 / BETA and not seen:
            seen, seconds = i + 1, time.perf_counter() - begun
    seconds = seconds or time.perf_counter() - begun

    def rejects(other):
        again = names["OneSidedTwoSampleSequentialTest"](other, 0, width)
        # The estimates of the discrepancy are those of any epsilon: they are not made again.
        estimates = (payoff + test.tau for payoff in test.payoff_history)
        again.online_gradient_ascent = types.SimpleNamespace(step=lambda *_: next(estimates))
        return any(again.step(*point) >= 1 / BETA for point in zip(x[first:], y[first:]))

    yield "sequential test", 2 * (seen or n) + 40, 2 * n + 40, seconds, bool(seen), highest(rejects)


def scores(n, seed):
    rng = np.random.default_rng(seed)
    member = rng.integers(0, 2, n)
    return member, rng.normal(2 * member, 1)


def jax_privacy(_, n, seed):
    imported("differential-privacy/python/dp_accounting")
    imported("jax_privacy", "jax_privacy")
    from jax_privacy import auditing
    member, score = scores(n, seed)
    for method, call in ("one run", "epsilon_one_run"), ("one run, f-DP", "epsilon_one_run_fdp"), ("a run each", "epsilon_clopper_pearson"):
        for name, strategy in ("Bonferroni", auditing.Bonferroni()), ("Split", auditing.Split(seed=seed)):
            begun = begin()
            auditor = auditing.CanaryScoreAuditor(score[member == 1], score[member == 0])
            bound = float(getattr(auditor, call)(BETA, DELTA, threshold_strategy=strategy))
            yield f"{method}: jax_privacy, {name}", n, n, time.perf_counter() - begun, bound > CASES["scores"]["epsilon"], bound


def dpscope(case, n, seed):
    epsilon = CASES[case]["epsilon"]

    def run(*arguments):
        begun = time.perf_counter()
        command = [os.path.join(os.environ["WORK"], "dpscope"), *arguments, "-epsilon", str(epsilon), "-seed", str(seed), "-format", "json"]
        report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout)
        return report, report["timing"]["total"], time.perf_counter() - begun

    if case == "scores":
        file = os.path.join(os.environ["WORK"], "scores.csv")
        member, score = scores(n, seed)
        np.savetxt(file, np.column_stack([score, member]), ["%.17g", "%d"], ",", header="score,member", comments="")
        report, seconds, whole = run("scores", "-relation", "add-remove", "-delta", str(DELTA), file)
        methods = {"one-run": "one run: dpscope", "one-run-gdp": "one run, f-DP: dpscope",
                   "clopper-pearson": "a run each: dpscope, Clopper-Pearson", "exact": "a run each: dpscope, exact"}
        for row in report["tables"][0]["rows"]:
            if row["method"] in methods:
                yield methods[row["method"]], n, n, seconds, row["lowerBound"] > epsilon, row["lowerBound"], whole
        return
    first, second = ({"columns": 1, "values": values} for values in CASES[case]["pair"])
    pairs = {"1 pair": ["-pair", json.dumps({"first": first, "second": second})]}
    mechanism = ["-mechanism", "laplace-mean-raw-count"]
    if case == "svt4":
        pairs, mechanism = {"10 pairs": [], **pairs}, ["-mechanism", "svt4", "-param", "threshold=1"]
    for tried, pair in pairs.items():
        for mode in [["-until-refuted"]] if n == 200_000 else [[], ["-fixed"]]:
            report, seconds, whole = run("audit", "-workers", "1", *mechanism, *pair, *mode, "-samples", str(n))
            drawn, refuted = report["termination"]["outputs"], report["verdict"] == "violation"
            until = report["sequential"]["refuted"] if refuted and "sequential" in report else drawn
            yield " ".join(["dpscope", *mode]) + ", " + tried, until, drawn, seconds, refuted, report["lowerBound"], whole


PAIRS = dpscope, dp_sniper, statdp, dp_auditorium
PLAN = [(case, n, peers) for case in ("svt4", "mean-0.01", "mean-0.1")
        for n, peers in ((200_000, [dpscope]), (1_000, [*PAIRS, sequential]), (5_000, [dpscope, sequential]), (10_000, PAIRS), (100_000, PAIRS))
        if n != 5_000 or case == "mean-0.1"] + [("scores", n, [dpscope, jax_privacy]) for n in (1_000, 10_000, 100_000)]


def main():
    if len(sys.argv) > 2:
        peer, case, n, seed = sys.argv[1:]
        for record in globals()[peer](case, int(n), int(seed)):
            whole = record[6:] or [record[3] + start]  # of the process: dpscope says
            print(json.dumps([x.item() if isinstance(x, np.generic) else x for x in (*record[:6], *whole)]), flush=True)
        return
    runs = int(sys.argv[1])
    for case, n, peers in PLAN:
        if n == PLAN[0][1] or case == "scores" and n == 1_000:
            print(f"{CASES[case]['title']}\n\n{'':40}{'n':>8}{'to verdict':>11}{'drawn':>10}{'seconds':>9}{'no start':>9}{'refuted':>9}  bound")
        rows = {}
        for peer, seed in itertools.product(peers, range(1, runs + 1)):
            ended = subprocess.run([sys.executable, __file__, peer.__name__, case, str(n), str(seed)],
                                   capture_output=True, text=True, env={**os.environ, "BEGUN": str(time.time())})
            if ended.returncode:
                sys.exit(f"{peer.__name__} {case} {n}: {ended.stderr}")
            for line in ended.stdout.splitlines():
                if line.startswith('["'):  # DP-Sniper writes its warnings between
                    name, *record = json.loads(line)
                    rows.setdefault(name, []).append(record)
        for name, row in sorted(rows.items()) if case == "scores" else rows.items():
            until, drawn, seconds, refuted, bounds, whole = zip(*row)
            verdict = int(np.median([u for u, r in zip(until, refuted) if r])) if any(refuted) else "-"
            print(f"{name:40}{n:8}{verdict:>11}{int(np.median(drawn)):10}{np.mean(whole):9.2f}{np.mean(seconds):9.3f}"
                  f"{f'{sum(refuted)}/{runs}':>9}  {np.mean(bounds):.3f} ({min(bounds):.3f} to {max(bounds):.3f})", flush=True)
        print()


if __name__ == "__main__":
    main()
