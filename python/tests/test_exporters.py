"""Exporters: on the libraries where they are there, and on what was recorded of them."""

import json
import os
import subprocess
import sys
import types
import warnings
from pathlib import Path

import dpscope
import libraries
import pytest
import record
from dpscope import _run, exporters
from dpscope.exporters import dp_accounting, jax_privacy, opacus

MISSING = libraries.put_on_path()
real = pytest.mark.skipif(bool(MISSING), reason=MISSING)
recorded = {f.stem: json.loads(f.read_text()) for f in record.RECORDED.glob("*.json")}


def scored(file, **settings):
    """The report of dpscope scores on a file."""
    given = {"epsilon": 1, "delta": 1e-5, "relation": "add-remove", "format": "json", **settings}
    ended = _run.run(["scores", str(file)] + [f"-{k}={v}" for k, v in given.items()])
    assert ended.code in (0, 1), ended.messages
    return json.loads(ended.out)


def claimed(file):
    """The points of a claim, as dpscope reads them: epsilon by delta."""
    ended = _run.run(["audit", "-mechanism", "laplace-mean", "-claim-file", str(file), "-samples", "2000", "-trials", "1", "-format", "json"])
    assert ended.code in (0, 1), ended.messages
    return {p["delta"]: p["epsilon"] for p in json.loads(ended.out)["plan"]["claim"]["profile"]["points"]}


def spread(n, shift):
    """n scores, of which those of members are higher."""
    members = exporters.coins(n, seed=1)
    return [((i * 7919) % n) / n + (shift if m else 0) for i, m in enumerate(members)], members


def test_coins():
    coins = exporters.coins(1000, seed=7)
    assert coins == exporters.coins(1000, seed=7) != exporters.coins(1000, seed=8)
    assert sum(coins) == 537 and coins[:8] == [True, True, False, True, False, True, True, False]
    with pytest.raises(dpscope.InputError, match="must be at least 1"):
        exporters.coins(0, seed=1)


@pytest.mark.parametrize("ending", [".npz", ".csv"])
def test_scores_of_one_training(tmp_path, ending):
    scores, members = spread(400, 2)
    exporters.write_scores(tmp_path / ("s" + ending), scores, members)
    report = scored(tmp_path / ("s" + ending))
    assert report["verdict"] == "violation" and report["lowerBound"] > 2
    assert report["lowerBound"] == dpscope.scores([s for s, m in zip(scores, members) if m], [s for s, m in zip(scores, members) if not m], epsilon=1, confidence=0.95).bound


@pytest.mark.parametrize("ending", [".npz", ".csv"])
def test_scores_of_several_trainings(tmp_path, ending):
    both = [spread(10, 0.1 * i) for i in range(400)]
    members = [exporters.coins(10, seed=i) for i in range(400)]
    file = tmp_path / ("s" + ending)
    exporters.write_scores(file, [s for s, _ in both], members)
    report = scored(file)
    assert "400 runs" in json.dumps(report)


def test_scores_that_cannot_be_written(tmp_path):
    file = tmp_path / "s.npz"
    for scores, members, says in (
        ([1.0, 2.0], [True], "shape \\(2,\\) and members \\(1,\\)"),
        ([[1.0, 2.0]], [True, False], "shape \\(1, 2\\) and members \\(2,\\)"),
        ([1.0, float("nan")], [True, False], "diverged"),
        ([1.0, 2.0], [True, True], "some of each"),
        ([1.0, 2.0], [1, 2], "must be 1 .* and 0"),
        ([1.0, "high"], [True, False], "not numbers"),
        ([], [], "empty"),
    ):
        with pytest.raises(dpscope.InputError, match=says):
            exporters.write_scores(file, scores, members)
    with pytest.raises(dpscope.InputError, match="end it with .npz or .csv"):
        exporters.write_scores(tmp_path / "s.txt", [1.0, 2.0], [True, False])
    assert list(tmp_path.iterdir()) == []


def test_curves(tmp_path):
    file = tmp_path / "c.json"
    exporters.write_curve(file, [(2, 1e-3), (1, 0.1), (float("inf"), 1e-9), (0, 1)], "theorem 3")
    assert json.loads(file.read_text()) == {"points": [{"epsilon": 1.0, "delta": 0.1}, {"epsilon": 2.0, "delta": 1e-3}], "source": "theorem 3"}
    assert claimed(file) == {0.1: 1, 1e-3: 2}
    for points, says in (([(float("inf"), 1e-9)], "claims nothing"), ([(-1, 0.1)], "at least 0"), ([(1, float("nan"))], "must be numbers")):
        with pytest.raises(dpscope.InputError, match=says):
            exporters.write_curve(file, points, "nothing")


def accountant(kind):
    """An accountant of Opacus with the recorded state."""
    was = recorded["opacus"][kind]
    name = was["mechanism"]
    made = type(kind, (), {"mechanism": classmethod(lambda cls: name)})()
    made.history = [tuple(h) for h in was["history"]]
    return made


@pytest.mark.parametrize("kind", ["PRVAccountant", "RDPAccountant", "GaussianAccountant"])
def test_opacus_history(tmp_path, kind):
    was = recorded["opacus"][kind]
    file = tmp_path / "claim.json"
    opacus.write_claim(file, types.SimpleNamespace(accountant=accountant(kind)))  # an engine
    assert json.loads(file.read_text()) == {"history": was["history"], "mechanism": was["mechanism"]}
    opacus.write_claim(tmp_path / "same.json", accountant(kind))
    assert (tmp_path / "same.json").read_bytes() == file.read_bytes()
    points = claimed(file)
    if kind == "PRVAccountant":  # the same distribution, by another program; its mesh adds up to .01
        for delta, epsilon in was["epsilons"].items():
            near = min(points, key=lambda d: abs(d - float(delta)))
            assert abs(near - float(delta)) < 1e-9 and -1e-6 <= epsilon - points[near] < 0.02
    elif kind == "RDPAccountant":  # which is looser
        assert all(points[min(points, key=lambda d: abs(d - float(delta)))] < epsilon for delta, epsilon in was["epsilons"].items())


def test_opacus_without_a_history(tmp_path):
    empty = accountant("PRVAccountant")
    empty.history = []
    old = accountant("PRVAccountant")
    old.history = [(1.0, 0.1)]
    for given, says in ((empty, "after the training"), (old, "as of Opacus 1.0"), (object(), "has no history")):
        with pytest.raises(dpscope.InputError, match=says):
            opacus.write_claim(tmp_path / "claim.json", given)


class Curve:
    """An accountant of dp_accounting with the recorded curve."""

    def __init__(self, was, relation=None):
        self.epsilons = dict(was["epsilons"])
        self.neighboring_relation = types.SimpleNamespace(name=relation or was["neighboring_relation"])

    def get_epsilon(self, delta):
        return self.epsilons[delta]


@pytest.mark.parametrize("kind", ["PLDAccountant", "RdpAccountant"])
def test_dp_accounting_curve(tmp_path, kind):
    was = recorded["dp_accounting"][kind]
    file = tmp_path / "claim.json"
    assert dp_accounting.write_claim(file, Curve(was)) == "add-remove"
    points = claimed(file)
    assert points == {d: max(e, 1e-6) for d, e in was["epsilons"] if d in points} and len(points) >= 15
    assert dp_accounting.write_claim(file, Curve(was, "REPLACE_ONE")) == "replace"
    for given, says in ((Curve(was, "REPLACE_SPECIAL"), "for which dpscope audits no claims"), (object(), "has no get_epsilon")):
        with pytest.raises(dpscope.InputError, match=says):
            dp_accounting.write_claim(file, given)


def test_jax_privacy_auditor(tmp_path):
    np = pytest.importorskip("numpy")
    was = recorded["jax_privacy"]
    assert set(was) == {"_in_canary_scores", "_out_canary_scores"}
    file = tmp_path / "s.csv"
    jax_privacy.write_auditor(file, types.SimpleNamespace(**{k: np.array(v) for k, v in was.items()}))
    assert file.read_text() == "score,member\n3.0,1\n4.5,1\n2.0,1\n1.0,0\n-0.5,0\n"
    with pytest.raises(dpscope.InputError, match="give a CanaryScoreAuditor"):
        jax_privacy.write_auditor(file, object())


@pytest.fixture
def hf_trainer(monkeypatch):
    """The exporter, beside a stand-in of transformers: nothing of that is imported but the
    class whose events CallbackHandler calls."""
    stand_in = types.ModuleType("transformers")
    stand_in.TrainerCallback = type("TrainerCallback", (), {})
    monkeypatch.setitem(sys.modules, "transformers", stand_in)
    sys.modules.pop("dpscope.exporters.hf_trainer", None)
    from dpscope.exporters import hf_trainer

    return hf_trainer


def call_event(callback, event, model, processor, main=True):
    """As CallbackHandler.call_event of transformers does, src/transformers/trainer_callback.py:
    "result = getattr(callback, event)(args, state, control, model=self.model, ...)", with
    "tokenizer=self.tokenizer" at 01081ce2 and "processing_class=self.processing_class" at 55093b75."""
    state = types.SimpleNamespace(is_world_process_zero=main)
    given = {"model": model, processor: None, "optimizer": None, "lr_scheduler": None, "train_dataloader": None, "eval_dataloader": None}
    return getattr(callback, event)(None, state, None, **given)


@pytest.mark.parametrize("processor", ["tokenizer", "processing_class"])
def test_hf_trainer(tmp_path, hf_trainer, processor):
    torch = pytest.importorskip("torch")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(40, 2)
            torch.nn.init.zeros_(self.embed.weight)

        def forward(self, input_ids, labels):
            assert not self.training
            return types.SimpleNamespace(loss=torch.nn.functional.cross_entropy(self.embed(input_ids).sum(1), labels))

    canaries = [{"input_ids": [i], "labels": i % 2} for i in range(40)]
    inside = hf_trainer.coins(40, seed=7)
    file = tmp_path / "scores.csv"
    callback = hf_trainer.CanaryScores(file, canaries, inside)
    model = Model()
    with pytest.raises(dpscope.InputError, match="never began"):
        call_event(callback, "on_train_end", model, processor)
    assert call_event(callback, "on_train_begin", model, processor) is None and model.training
    with torch.no_grad():  # a training that learns its canaries by heart
        for c, in_ in zip(canaries, inside):
            if in_:
                model.embed.weight[c["input_ids"][0], c["labels"]] = 3
    call_event(callback, "on_train_end", model, processor, main=False)
    assert not file.exists()
    call_event(callback, "on_train_end", model, processor)
    lines = file.read_text().splitlines()[1:]
    assert [line.endswith(",1") for line in lines] == inside
    assert all((float(line.split(",")[0]) > 0.6) == in_ for line, in_ in zip(lines, inside))
    with pytest.raises(dpscope.InputError, match="give one for each"):
        hf_trainer.CanaryScores(file, canaries, inside[1:])


def test_losses():
    torch = pytest.importorskip("torch")
    model, each = torch.nn.Linear(3, 2), torch.nn.CrossEntropyLoss(reduction="none")
    x, y = torch.eye(3), torch.tensor([0, 1, 1])
    model.eval()
    got = opacus.losses(model, (x, y), each, batch=2)
    assert got.dtype == torch.float64 and torch.allclose(got.float(), each(model(x), y)) and not model.training
    model.train()
    assert torch.equal(got, opacus.losses(model, torch.utils.data.TensorDataset(x, y), each)) and model.training
    with pytest.raises(dpscope.InputError, match='reduction="none"'):
        opacus.losses(model, (x, y), torch.nn.CrossEntropyLoss())
    assert model.training


@real
@pytest.mark.parametrize("name", ["opacus", "dp_accounting", "jax_privacy"])
def test_what_was_recorded(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        now = json.loads(json.dumps(getattr(record, name)()))

    def same(a, b):
        if isinstance(a, dict):
            return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
        if isinstance(a, list):
            return len(a) == len(b) and all(map(same, a, b))
        return a == pytest.approx(b, rel=1e-9) if isinstance(a, float) else a == b

    assert same(now, recorded[name]), now


@real
def test_jax_privacy_plan(tmp_path):
    """Fields of an execution plan: jax_privacy/execution_plan.py, "dp_event: dp_accounting.DpEvent"
    and "neighboring_relation: NeighboringRelation"; the plan itself needs JAX."""
    pytest.importorskip("attr")
    import dp_accounting as library

    event = library.SelfComposedDpEvent(library.PoissonSampledDpEvent(0.05, library.GaussianDpEvent(1.0)), 50)
    plan = types.SimpleNamespace(dp_event=event, neighboring_relation=library.NeighboringRelation.ADD_OR_REMOVE_ONE)
    assert jax_privacy.write_claim(tmp_path / "claim.json", plan) == "add-remove"
    points = claimed(tmp_path / "claim.json")
    assert points == {d: max(e, 1e-6) for d, e in recorded["dp_accounting"]["PLDAccountant"]["epsilons"] if d in points}
    with pytest.raises(dpscope.InputError, match="give an execution plan"):
        jax_privacy.write_claim(tmp_path / "claim.json", object())


@real
def test_many_trainings_with_opacus(monkeypatch):
    """The same training, which dpscope asks for again and again."""
    pytest.importorskip("torch")
    docs = Path(__file__).parents[2] / "docs"
    monkeypatch.syspath_prepend(str(docs / "examples" / "exporters"))
    import train_opacus

    _, engine = train_opacus.training([True] * 16 + [False] * 16, 1)
    assert f"{engine.get_epsilon(1e-5):.3f}" == "1.589"
    result = dpscope.canaries(train_opacus.train_warm, epsilon=1.589, delta=1e-5, runs=64, k=16, m=16, until_refuted=True, progress=False)
    assert result.violation and result.headline in (docs / "training.md").read_text(), result.headline


@real
def test_training_with_opacus(tmp_path):
    """The worked example: private training keeps its claim, and training that began without
    noise does not."""
    pytest.importorskip("torch")
    docs = Path(__file__).parents[2] / "docs"
    example, page = docs / "examples" / "exporters" / "train_opacus.py", (docs / "training.md").read_text()
    for arguments, verdict in (([], "no-violation-found"), (["warm-up"], "violation")):
        path = os.pathsep.join(sys.path)
        done = subprocess.run([sys.executable, str(example), str(tmp_path), *arguments], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "claimed: epsilon 1.412 at delta 1e-5\n"
        report = scored(tmp_path / "scores.npz", epsilon=1.412)
        assert report["verdict"] == verdict and report["headline"] in page, report["headline"]
    points = claimed(tmp_path / "claim.json")
    assert abs(points[min(points, key=lambda d: abs(d - 1e-5))] - 1.412) < 0.02
