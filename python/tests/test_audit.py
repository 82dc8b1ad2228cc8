import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import dpscope
import mechanisms
import pytest

small = {"samples": 5000, "trials": 3, "progress": False}


def test_violation_and_its_report(tmp_path):
    r = dpscope.audit(mechanisms.half, epsilon=1, **small)
    assert r.violation and r.verdict == "violation" and 1.3 < r.bound <= 2 and r.confidence == 0.999
    assert "epsilon > " in r.headline and r.headline in r.text
    page = r._repr_html_()
    assert "<script" not in page and "data:image/svg+xml;base64," in page and "http" not in page.split("base64,")[0]
    assert r.verify() and "not drawn again" in r.verify().text
    assert r.verify(mechanisms.half) and "Replayed" in r.verify(mechanisms.half).text
    assert not r.verify(mechanisms.count)
    for ending, begin in {".json": b"{", ".html": b"<!doctype html>", ".svg": b"<svg", ".txt": b"", ".xml": b"<?xml"}.items():
        data = r.save(tmp_path / ("report" + ending)).read_bytes()
        assert data.lower().startswith(begin) and len(data) > 200
    with pytest.raises(dpscope.InputError, match="has no known ending"):
        r.save(tmp_path / "report.pdf")
    again = dpscope.load(tmp_path / "report.json")
    assert again.bound == r.bound and again.verify() and again.text == r.text
    assert again.save(tmp_path / "again.html").read_bytes() == (tmp_path / "report.html").read_bytes()
    forged = json.loads((tmp_path / "report.json").read_bytes())
    forged["lowerBound"] = 1.99
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    forged = dpscope.load(tmp_path / "forged.json")
    assert not forged.verify()
    with pytest.raises(dpscope.Error, match="DIFFERS"):
        forged.save(tmp_path / "forged.html")


def test_parts_of_a_result():
    r = dpscope.audit(mechanisms.half, epsilon=1, pairs=([], [1.0]), **small)
    assert r.first == [] and r.second == [[1.0]] and r.event.startswith(("output", "about output"))
    assert r.counts["n1"] == r.counts["n0"] == 5000 and r.counts["x"] > r.counts["y"] and r.p_value <= 0.001
    assert r.plot().svg.startswith("<svg") and r.plot()._repr_html_() in r._repr_html_()
    with pytest.raises(TypeError, match="assert not result.violation"):
        assert r
    r = dpscope.audit(mechanisms.half, epsilon=1, until_refuted=True, **small)
    assert r.violation and r.event is None and r.counts is None and abs(len(r.first) - len(r.second)) == 1


@pytest.mark.parametrize("rows, want", [(range(0, 5), "0:4"), ((0, 5), "0:5"), (3, "3:3"), ("0:10", "0:10"), (None, None)])
def test_rows(rows, want):
    from dpscope._audit import _sizes

    assert _sizes(rows) == want


@pytest.mark.parametrize("rows", [(3,), [], range(5, 5), range(0, 9, 2), 2.5, (1, 2, 3)])
def test_rows_refused(rows):
    with pytest.raises(dpscope.InputError, match="rows is"):
        dpscope.audit(mechanisms.half, epsilon=1, rows=rows)


def test_private():
    r = dpscope.audit(mechanisms.count, epsilon=1, **small)
    assert not r.violation and r.verdict == "no-violation-found" and 0.5 < r.bound <= 1
    assert r.report["inputs"].get("unseeded", "") == ""


def test_same_seed_same_report():
    a, b = (dpscope.audit(mechanisms.half, epsilon=1, seed=5, **small).report for _ in range(2))
    for r in (a, b):
        del r["timing"]
    assert a == b


def test_one_output_a_call():
    r = dpscope.audit(mechanisms.one, epsilon=1, **small)
    assert r.violation and r.verify(mechanisms.one)  # seeds reach the modules' generators


def test_words():
    r = dpscope.audit(mechanisms.words, epsilon=1, **small)
    assert r.violation and r.report["inputs"]["brought"]["columns"][0]["kind"] == "symbol"


def test_domain_pairs_and_relation():
    seen = set()

    def total(dataset, n, rng):
        seen.update(len(r) for r in dataset)
        return mechanisms.added(sum(float(r[0]) + float(r[1]) for r in dataset), mechanisms.laplace(rng, n, 1.0))

    r = dpscope.audit(total, epsilon=1, domain=[(0, 1), (18, 99)], rows=3, relation="replace", **small)
    assert r.violation and seen == {2}
    assert r.report["inputs"]["brought"]["datasets"]["upper"] == [1, 99]
    r = dpscope.audit(mechanisms.half, epsilon=1, pairs=([[1.0]], [[1.0], [0.0]]), **small)
    assert r.violation and r.report["plan"]["pair"]["second"]["values"] == [1, 0]


def test_loudest_of_several_pairs():
    def leaks_by_value(dataset, n, rng):
        return mechanisms.added(sum(float(row[0]) for row in dataset), mechanisms.laplace(rng, n, 1.0))

    quiet, loud = ([], [0.1]), ([], [2.0])
    r = dpscope.audit(leaks_by_value, epsilon=1, pairs=[quiet, loud], **small)
    assert r.violation and r.report["plan"]["pair"]["second"]["values"] == [2]


def test_pairs_drawn_by_hypothesis(monkeypatch):
    hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is not installed")
    from hypothesis import strategies as st

    def rare(dataset, n, rng):  # leaks in a corner only
        loud = any(float(row[0]) > 0.9 for row in dataset)
        return mechanisms.added(5.0 if loud else 0.0, mechanisms.laplace(rng, n, 1.0))

    rows = st.lists(st.floats(0, 1), max_size=3)
    pairs = st.tuples(rows, st.floats(0, 1)).map(lambda p: (p[0], [*p[0], p[1]]))
    r = dpscope.audit(rare, epsilon=1, pairs=pairs, **small)
    assert r.violation and max(r.report["plan"]["pair"]["second"]["values"]) > 0.9

    def clipped_sum(dataset, n, rng):
        return mechanisms.added(sum(min(max(float(r[0]), 0), 1) for r in dataset), mechanisms.laplace(rng, n, 0.5))

    wide = st.lists(st.floats(-10, 10), max_size=5)
    pairs = st.tuples(wide, st.floats(-10, 10)).map(lambda p: (p[0], [*p[0], p[1]]))
    drawn = []
    explored = dpscope._audit._explored
    monkeypatch.setattr(dpscope._audit, "_explored", lambda server, pair, *rest: drawn.append(str(pair)) or explored(server, pair, *rest))
    assert dpscope.audit(clipped_sum, epsilon=1, pairs=pairs, **small).bound > 1.5
    assert len(drawn) == len(set(drawn)) == 20
    with pytest.raises(dpscope.InputError, match="no pair that the strategy draws could be audited"):
        dpscope.audit(rare, epsilon=1, pairs=st.tuples(st.just([0.5]), st.just([0.1, 0.2, 0.3])), **small)
    assert hypothesis


def test_ignored_rng_is_said():
    def own(dataset, n, rng):
        import random

        return [len(dataset) + random.SystemRandom().expovariate(1) for _ in range(n)]

    with pytest.warns(UserWarning, match="same seed"):
        r = dpscope.audit(own, epsilon=1, **small)
    assert r.notes and r.report["inputs"]["unseeded"] and r.verify()


def test_generators_of_modules_are_seeded():
    import random

    def own(dataset, n, rng):  # with the stream of rng, the noise would be none
        return [len(dataset) + rng.random() - random.random() for _ in range(n)]

    state = random.getstate()
    r = dpscope.audit(own, epsilon=1, nonfinite="refuse", **small)
    assert not r.notes and r.verify(own) and random.getstate() == state
    outputs = dpscope._serve.Server(own).draw(b"", 0, 1, 50, 7).line()
    assert len(set(json.loads(outputs))) == 50


def test_what_the_mechanism_raises_comes_out():
    class Broken(Exception):
        pass

    calls = []

    def late(dataset, n, rng):
        calls.append(n)
        if len(calls) > 12:
            raise Broken("no model file")
        return mechanisms.half(dataset, n, rng)

    with pytest.raises(Broken, match="no model file") as e:
        dpscope.audit(late, epsilon=1, **small)
    assert " outputs on the dataset {" in e.value.__notes__[0]


def test_printing_does_no_harm(capfd):
    def loud(dataset, n, rng):
        print("Loading the model ...")
        os.write(1, b"and more\n")
        return mechanisms.half(dataset, n, rng)

    assert dpscope.audit(loud, epsilon=1, **small).violation
    assert "and more" in capfd.readouterr().out


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_that_comes_back():
    calls = []

    def forks(dataset, n, rng):
        calls.append(n)
        if len(calls) == 5 and os.fork():
            os.wait()
        return mechanisms.half(dataset, n, rng)

    assert dpscope.audit(forks, epsilon=1, **small).violation


def test_bad_settings():
    for settings, words in [
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": 1, "smaples": 10}, "samples"),
        ({"epsilon": 1, "relation": "replaced"}, "replace"),
        ({"epsilon": 1, "confidence": 95}, "between 0 and 1"),
        ({"epsilon": 1, "domain": "a"}, "domain"),
        ({"epsilon": 1, "domain": [1, 2, 3]}, "domain"),
        ({"epsilon": 1, "pairs": []}, "search for"),
        ({"epsilon": 1, "pairs": ([[1.0], [1.0, 2.0]], [])}, "columns"),
        ({"epsilon": 1, "pairs": ([1.0], [1.0, 0.0, 0.5])}, "pair"),
        ({}, "epsilon"),
    ]:
        with pytest.raises(dpscope.Error, match=words):
            dpscope.audit(mechanisms.half, progress=False, **settings)


def test_messages_name_arguments():
    def nan(dataset, n, rng):
        return [float("nan")] * n

    for f, settings, message in [
        (nan, {"nonfinite": "refuse"}, "nan: output 1 of 200: c1 is NaN, must be a finite number; without"),
        (mechanisms.half, {"smaples": None}, "there is no setting smaples; did you mean samples?"),
        (mechanisms.half, {"fxied": False}, "there is no setting fxied; did you mean fixed?"),
        (mechanisms.half, {"timeout": 1e-6}, "timeout allows more"),
    ]:
        with pytest.raises(dpscope.Error) as e:
            dpscope.audit(f, epsilon=1, progress=False, **settings)
        assert message in str(e.value), str(e.value)


@pytest.mark.parametrize(
    "f, words",
    [
        (3, "must be a function"),
        (lambda: 1, "neither"),
        (lambda a, b: 1, "wrap it"),
        (lambda a, *, key: 1, "wrap it"),
    ],
)
def test_not_a_mechanism(f, words):
    with pytest.raises(dpscope.InputError, match=words):
        dpscope.audit(f, epsilon=1)


def test_progress_is_told():
    lines = []
    dpscope.audit(mechanisms.half, epsilon=1, samples=100_000, progress=lines.append)
    assert any("%" in line for line in lines)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_interrupt():
    def slow(dataset, n, rng):
        time.sleep(0.002)
        return mechanisms.count(dataset, n, rng)

    timer = threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as stopped:
        dpscope.audit(slow, epsilon=1, samples=10_000_000, progress=False)
    assert isinstance(stopped.value, dpscope.Stopped) and time.monotonic() - begun < 15
    assert stopped.value.result is None or stopped.value.result.report["termination"]["reason"] == "stopped"


def test_binary_missing_and_of_another_platform(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSCOPE_BINARY", str(tmp_path / "none"))
    with pytest.raises(dpscope.Error, match="but there is no such file"):
        dpscope.audit(mechanisms.half, epsilon=1)
    other = tmp_path / "dpscope"
    other.write_bytes(b"\x7fELF of another machine")
    other.chmod(0o755)
    monkeypatch.setenv("DPSCOPE_BINARY", str(other))
    with pytest.raises(dpscope.Error, match="another platform"):
        dpscope.audit(mechanisms.half, epsilon=1)
    monkeypatch.delenv("DPSCOPE_BINARY")
    from dpscope import _binary

    monkeypatch.setattr(_binary, "__file__", str(tmp_path / "_binary.py"))
    with pytest.raises(dpscope.Error, match="install the wheel for"):
        dpscope.audit(mechanisms.half, epsilon=1)


def test_scores():
    import random

    rng = random.Random(3)
    inside = [rng.gauss(3, 1) for _ in range(200)]
    outside = [rng.gauss(0, 1) for _ in range(200)]
    r = dpscope.scores(inside, outside, epsilon=0.1)
    assert r.violation and r.bound > 0.1
    assert not dpscope.scores(outside, [rng.gauss(0, 1) for _ in range(200)], epsilon=1).violation
    with pytest.raises(dpscope.InputError, match="in_ is empty"):
        dpscope.scores([], outside, epsilon=1)
    with pytest.raises(dpscope.InputError, match="out is not a list of scores"):
        dpscope.scores(inside, ["a"], epsilon=1)


def test_served_by_name(tmp_path):
    """The command that a report names runs the function again."""
    from dpscope import _binary

    env = dict(os.environ, PYTHONPATH=os.pathsep.join([str(Path(mechanisms.__file__).parent), *sys.path]))
    name = f"'{sys.executable}' -m dpscope mechanisms:half"
    got = subprocess.run([_binary.path(), "audit", "-exec", name, "-epsilon", "1", "-beta", "0.001", "-samples", "5000", "-trials", "3", "-format", "json"], env=env, capture_output=True)
    report = json.loads(got.stdout)
    here = dpscope.audit(mechanisms.half, epsilon=1, **small).report
    assert got.returncode == 1 and report["lowerBound"] == here["lowerBound"] and report["tables"] == here["tables"]
    lost = subprocess.run([sys.executable, "-m", "dpscope", "mechanisms:none"], env=env, capture_output=True, text=True)
    assert lost.returncode == 2 and "has no 'none'" in lost.stderr
