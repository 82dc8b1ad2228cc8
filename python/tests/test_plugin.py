"""The pytest plugin, on a sample project."""

import re

import pytest

pytest_plugins = ["pytester"]

SAMPLE = """
def count(dataset, n, rng):
    return [len(dataset) + x for x in noise(rng, n, 1.0)]

def half(dataset, n, rng):
    return [len(dataset) + x for x in noise(rng, n, 0.5)]

def noise(rng, n, scale):
    if hasattr(rng, "standard_normal"):
        return [float(x) for x in rng.laplace(scale=scale, size=n)]
    return [rng.expovariate(1 / scale) - rng.expovariate(1 / scale) for _ in range(n)]

def test_private(dp_audit):
    assert dp_audit(count, epsilon=1, samples=10_000, trials=3).bound <= 1

def test_half_the_noise(dp_audit):
    dp_audit(half, epsilon=1, samples=10_000, trials=3)
"""


@pytest.fixture
def project(pytester):
    pytester.makepyfile(SAMPLE)
    return pytester


def run(project, *arguments):
    import importlib.metadata

    installed = any(e.group == "pytest11" and e.name == "dpscope" for d in importlib.metadata.distributions() for e in d.entry_points)
    return project.runpytest_subprocess(*arguments, *([] if installed else ["-p", "dpscope.pytest_plugin"]))


def test_one_pass_one_failure(project, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    r = run(project)
    r.assert_outcomes(passed=1, failed=1)
    text = r.stdout.str()
    assert "Violation: the claim of 1 is false" in text and "dpscope: 2 audits; a session in which every mechanism keeps its claim fails with probability at most 0.001." in text
    # 0.001 shared by two tests, half of a part for the first audit of a test
    assert "fails so with probability at most 0.00025; all audits of the session together with at most 0.001" in text
    assert "Dataset B" in text and re.search(r"FAILED .*test_half_the_noise - Failed: Violation: the claim of 1 is false", text)
    assert int(re.search(r"Refuted after ([\d ]+) outputs", text).group(1).replace(" ", "")) < 2000 and "Exploration" not in text


def test_nothing_audited(project):
    project.makepyfile("def test_a(dp_audit):\n    assert True\n")
    r = run(project)
    r.assert_outcomes(failed=1)
    assert "test_a asks for dp_audit and audits nothing" in r.stdout.str()


def test_result_is_no_truth(project):
    project.makepyfile(SAMPLE.replace("dp_audit(half, epsilon=1,", "assert dp_audit(count, epsilon=1,"))
    r = run(project)
    r.assert_outcomes(passed=1, failed=1)
    assert "assert not result.violation" in r.stdout.str()


def test_two_processes(project):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    r = run(project, "-n", "2")
    assert "dpscope: 2 audits; a session" in r.stdout.str()


def test_settings(project):
    r = run(project, "--dp-false-alarms=2")
    assert r.ret != 0 and "must be a probability" in r.stderr.str()
    project.makepyfile("def test_a(dp_audit):\n    dp_audit(lambda dataset: 1.0, epsilon=1, confidence=0.5)\n")
    r = run(project)
    assert "confidence is given to dp_audit" in r.stdout.str()


def test_shares():
    from dpscope.pytest_plugin import _Session

    s = _Session(0.01)
    s.tests = 4
    total = sum(s.tests * s.share(call) for call in range(1, 100_000))
    assert 0.0099 < total <= 0.01
