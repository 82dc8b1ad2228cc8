import json
import os
import subprocess
import sys

import dpscope
import mechanisms
import pytest

small = {"runs": 60, "k": 8, "progress": False}


def test_too_little_noise_is_found_and_replayed(tmp_path):
    r = dpscope.canaries(mechanisms.train_loud, epsilon=1, **small)
    assert r.violation and r.bound > 1 and r.confidence == 0.999 and not r.notes
    trainer = r.report["plan"]["trainer"]
    assert trainer["repeats"] == "same" and trainer["command"].endswith("-m dpscope train mechanisms:train_loud")
    assert r.verify() and "not drawn again" in r.verify().text
    assert r.verify(mechanisms.train_loud) and "Replayed" in r.verify(mechanisms.train_loud).text
    assert not r.verify(mechanisms.train_quiet)
    assert dpscope.load(r.save(tmp_path / "report.json")).verify()
    assert b"<svg" in r.save(tmp_path / "report.svg").read_bytes()


def test_enough_noise_is_not():
    r = dpscope.canaries(mechanisms.train_quiet, epsilon=1, **small)
    assert not r.violation and r.verdict == "no-violation-found" and r.bound <= 1
    r = dpscope.canaries(mechanisms.train_quiet, epsilon=1, relation="replace", check=False, **small)
    assert not r.violation and "repeats" not in r.report["plan"]["trainer"]


def test_one_run():
    r = dpscope.one_run(mechanisms.train_loud, epsilon=1, canaries=300, progress=False)
    assert r.violation and r.report["evidence"]["oneRun"]["in"] > 100
    assert r.verify(mechanisms.train_loud)
    assert not dpscope.one_run(mechanisms.train_quiet, epsilon=1, canaries=300, confidence=0.99, progress=False).violation


def test_a_closure_counts_its_trainings_and_goes_on():
    calls = []

    def train(members, rng):
        calls.append(sum(members))
        return [m + mechanisms.gauss(rng, 2.0) for m in members]

    first = dpscope.canaries(train, epsilon=4, runs=20, k=4, progress=False)
    assert len(calls) == 2 * 20 + 2 and set(calls) == {3, 4}
    more = dpscope.canaries(train, resume=first, runs=40, progress=False)
    assert len(calls) == 2 * 40 + 2 and more.report["termination"]["samplesUsed"] == 40
    whole = dpscope.canaries(train, epsilon=4, runs=40, k=4, progress=False)
    assert more.bound == whole.bound and more.report["evidence"] == whole.report["evidence"]
    with pytest.raises(dpscope.InputError, match="resume is given with"):
        dpscope.canaries(train, epsilon=4, resume=first, runs=60)


def test_numbers_of_other_kinds():
    np = pytest.importorskip("numpy")
    for kind in (np.float32, np.float64):
        r = dpscope.canaries(lambda members, rng: (members + rng.normal(scale=0.3, size=len(members))).astype(kind), epsilon=1, **small)
        assert r.violation and r.verify()
    # A model that diverged has scores that are not finite.
    r = dpscope.canaries(lambda members, rng: np.full(len(members), np.nan) if rng.random() < 0.5 else rng.normal(size=len(members)), epsilon=1, **small)
    assert not r.violation and 5 < r.report["evidence"]["runs"]["certified"]["diverged"] <= 60


def test_noise_of_its_own_is_said():
    with pytest.warns(UserWarning, match="the same request gave different scores"):
        r = dpscope.canaries(mechanisms.train_unseeded, epsilon=1, **small)
    assert r.violation and r.notes and r.verify(mechanisms.train_unseeded)


def test_what_cannot_be_taken():
    for train, says in [
        (lambda members, rng: None, "return statement"),
        (lambda members, rng: [0.5] * sum(map(int, members)), "scores for 16 canaries"),
        (lambda members, rng: ["high"] * len(members), "no list of numbers"),
        (lambda members, rng: 0.5, "no list of numbers"),
        (lambda members: members, r"not a function f\(members, rng\)"),
        (3, "must be a function"),
    ]:
        with pytest.raises(dpscope.InputError, match=says):
            dpscope.canaries(train, epsilon=1, **small)
    with pytest.raises(dpscope.Error, match="the same 16 scores for the seeds"):
        dpscope.canaries(lambda members, rng: [i + 0.123456789 for i in range(len(members))], epsilon=1, **small)
    with pytest.raises(ZeroDivisionError):
        dpscope.canaries(lambda members, rng: 1 / 0, epsilon=1, **small)
    with pytest.raises(dpscope.InputError, match="epsilon is missing"):
        dpscope.canaries(mechanisms.train_loud)


def test_the_command_of_a_report_trains():
    here = os.path.dirname(mechanisms.__file__)
    request = {"members": [1, 0, 1], "seed": 7}
    out = subprocess.run([sys.executable, "-m", "dpscope", "train", "mechanisms:train_loud"], input=(json.dumps(request) + "\n").encode(), stdout=subprocess.PIPE, check=True, cwd=here).stdout
    answer = json.loads(out)
    assert answer["seed"] == 7 and len(answer["scores"]) == 3
