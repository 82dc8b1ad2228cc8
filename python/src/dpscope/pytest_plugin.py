"""The fixture dp_audit: audits in pytest whose false alarms together are as rare as the
session states.

    def test_private(dp_audit):
        dp_audit(mechanism, epsilon=1)
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Callable, Dict, Iterator, List, Optional

import pytest

from . import _audit
from ._errors import Error, InputError
from ._result import Result
from ._serve import Mechanism

_DEFAULT = 0.001

#: Property of a test that says how many audits it did. Reports carry it, from other processes too.
_AUDITS = "dpscope audits"


def pytest_addoption(parser: Any) -> None:
    """The settings, as options and in the configuration file."""
    group = parser.getgroup("dpscope")
    group.addoption("--dp-false-alarms", metavar="P", help="largest probability that a session fails although every mechanism keeps its claim (default 0.001)")
    parser.addini("dp_false_alarms", "as --dp-false-alarms")


def pytest_configure(config: Any) -> None:
    """Reads the settings."""
    text = config.getoption("--dp-false-alarms") or config.getini("dp_false_alarms") or _DEFAULT
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < 1:
        raise pytest.UsageError(f"dp_false_alarms is {text!r}, must be a probability above 0 and below 1: for example 0.001")
    config._dpscope = _Session(rate)


def pytest_collection_finish(session: Any) -> None:
    """Counts the tests that audit. It is rounded up to a power of two, so that a new test
    seldom changes the share of the others."""
    n = sum("dp_audit" in getattr(item, "fixturenames", ()) for item in session.items)
    session.config._dpscope.tests = 1 << max(0, n - 1).bit_length()


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    """States the rate."""
    reports = [r for rs in terminalreporter.stats.values() for r in rs if getattr(r, "when", None) == "call"]
    audits = sum(value for r in reports for name, value in r.user_properties if name == _AUDITS)
    if audits:
        terminalreporter.write_line(
            f"dpscope: {audits} {'audit' if audits == 1 else 'audits'}; a session in which every mechanism keeps its claim fails with probability at most {config._dpscope.rate:g}."
        )


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_runtest_makereport(item: Any, call: Any) -> Iterator[None]:
    """Fails a test that asks for the fixture and audits nothing, and tells its audits."""
    outcome: Any = yield
    auditor = getattr(item, "funcargs", {}).get("dp_audit")
    if call.when != "call" or not isinstance(auditor, Auditor):
        return
    report = outcome.get_result()
    report.user_properties.append((_AUDITS, auditor.calls))
    if report.passed and not auditor.calls and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"{item.name} uses dp_audit but audits nothing: call dp_audit(mechanism, epsilon=...)"


class _Session:
    """What the audits of a session share."""

    def __init__(self, rate: float) -> None:
        self.rate, self.tests = rate, 1

    def share(self, call: int) -> float:
        """The false-alarm rate of the call-th audit of a test, counted from 1. Tests share
        the rate in equal parts, and the audits of a test its part by 1/2, 1/6, 1/12, ...,
        which sum up to 1 however many there are. It follows from nothing that was seen."""
        return self.rate / self.tests / (call * (call + 1))


class Auditor:
    """What the fixture gives."""

    def __init__(self, session: _Session) -> None:
        self._session, self.calls = session, 0
        self.results: List[Result] = []

    def __call__(self, mechanism: Mechanism, epsilon: Optional[float] = None, delta: Optional[float] = None, **settings: Any) -> Result:
        """Fails the test if the audit refutes the claim, or could not have found a violation; the
        arguments are those of :func:`dpscope.audit`, but for the confidence, which the
        session gives."""
        __tracebackhide__ = True
        for name in ("confidence", "beta"):
            if name in settings:
                raise InputError(f"{name} is given to dp_audit, must be absent: the session shares its rate of false alarms (dp_false_alarms) among its audits")
        self.calls += 1
        share = self._session.share(self.calls)
        settings = {"progress": False, "until_refuted": True, **settings, "epsilon": epsilon, "delta": delta, "confidence": 1 - Fraction(share)}
        result = _audit.audit(mechanism, **settings)
        self.results.append(result)
        if result.violation:
            pytest.fail(self._message(result, share))
        if result.verdict != "no-violation-found":
            pytest.fail(f"{result.report['summary']}\nThe audit could not have shown a violation at this size: give it more samples.")
        return result

    def _message(self, result: Result, share: float) -> str:
        return (
            f"{result.text.rstrip()}\n"
            f"A mechanism that keeps its claim fails this test with probability at most {share:.3g}; "
            f"all audits of the session together with at most {self._session.rate:g}."
        )


@pytest.fixture
def dp_audit(request: Any) -> Iterator[Callable[..., Result]]:
    """Audits a mechanism, and fails the test where it breaks its claim: see
    :func:`dpscope.audit` for what it takes."""
    yield Auditor(request.config._dpscope)


__all__ = ["Auditor", "Error", "dp_audit"]
