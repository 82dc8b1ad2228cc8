"""The fixture dp_audit: audits in pytest whose false alarms together are as rare as the
session states.

    def test_private(dp_audit):
        dp_audit(mechanism, epsilon=1)
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional

import pytest

from . import _audit
from ._errors import Error, InputError
from ._result import Result, load
from ._serve import Mechanism

_DEFAULT = 0.001

#: Property of a test that says how many audits it did. Reports carry it, from other processes too.
_AUDITS = "dpscope audits"


def pytest_addoption(parser: Any) -> None:
    """The settings, as options and in the configuration file."""
    group = parser.getgroup("dpscope")
    group.addoption("--dp-false-alarms", metavar="P", help="probability at most that a session fails in which every mechanism keeps its claim (default 0.001)")
    group.addoption("--dp-evidence", metavar="DIR", help="folder that keeps the evidence of audits, so that the next session goes on from it")
    parser.addini("dp_false_alarms", "as --dp-false-alarms")
    parser.addini("dp_evidence", "as --dp-evidence")


def pytest_configure(config: Any) -> None:
    """Reads the settings."""
    text = config.getoption("--dp-false-alarms") or config.getini("dp_false_alarms") or _DEFAULT
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < 1:
        raise pytest.UsageError(f"dp_false_alarms is {text!r}, must be a probability above 0 and below 1: for example 0.001")
    folder = config.getoption("--dp-evidence") or config.getini("dp_evidence")
    config._dpscope = _Session(rate, Path(config.rootpath, folder) if folder else None)


def pytest_collection_finish(session: Any) -> None:
    """Counts the tests that audit. It is rounded up to a power of two, so that a new test
    seldom changes the share of the others, and with it where their evidence goes on."""
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
        report.outcome, report.longrepr = "failed", f"{item.name} asks for dp_audit and audits nothing: call dp_audit(mechanism, epsilon=...)"


class _Session:
    """What the audits of a session share."""

    def __init__(self, rate: float, folder: Optional[Path]) -> None:
        self.rate, self.folder, self.tests = rate, folder, 1

    def share(self, call: int) -> float:
        """The false-alarm rate of the call-th audit of a test, counted from 1. Tests share
        the rate in equal parts, and the audits of a test its part by 1/2, 1/6, 1/12, ...,
        which sum up to 1 however many there are. It follows from nothing that was seen."""
        return self.rate / self.tests / (call * (call + 1))


class Auditor:
    """What the fixture gives."""

    def __init__(self, session: _Session, node: str) -> None:
        self._session, self._node, self.calls = session, node, 0
        self.results: List[Result] = []

    def __call__(self, mechanism: Mechanism, epsilon: Optional[float] = None, delta: Optional[float] = None, **settings: Any) -> Result:
        """Fails the test if the audit refutes the claim, or could have found nothing; the
        arguments are those of :func:`dpscope.audit`, but for the confidence, which the
        session gives."""
        __tracebackhide__ = True
        for name in ("confidence", "resume"):
            if name in settings:
                raise InputError(f"{name} is given to dp_audit, must be absent: the session shares its rate of false alarms (dp_false_alarms) among its audits")
        self.calls += 1
        share = self._session.share(self.calls)
        settings = {"progress": False, "until_refuted": True, **settings, "epsilon": epsilon, "delta": delta, "confidence": 1 - Fraction(share)}
        file = self._evidence(settings)
        if file is None:
            result = _audit.audit(mechanism, **settings)
        else:
            result = self._further(mechanism, settings, file)
        self.results.append(result)
        if result.violation:
            if file is not None and file.exists():
                file.unlink()  # what is mended begins anew
            pytest.fail(self._message(result, share))
        if result.verdict != "no-violation-found" and file is None:
            pytest.fail(f"{result.report['summary']}\nThe audit could not have shown a violation at this size: give it more samples.")
        return result

    def _evidence(self, settings: Dict[str, Any]) -> Optional[Path]:
        """The file of what earlier sessions saw of this audit, with these settings."""
        if self._session.folder is None:
            return None
        told = {k: repr(v) for k, v in settings.items() if k not in ("samples", "progress", "workers", "timeout")}
        key = json.dumps([self._node, self.calls, told], sort_keys=True)
        return self._session.folder / (hashlib.sha256(key.encode()).hexdigest()[:24] + ".json")

    def _further(self, mechanism: Mechanism, settings: Dict[str, Any], file: Path) -> Result:
        """Goes on from the evidence in the file, and keeps what comes of it."""
        if file.exists():
            before = load(file)
            again: Dict[str, Any] = {k: v for k, v in settings.items() if k in ("samples", "progress", "workers", "timeout")}
            result = _audit.audit(mechanism, resume=before, **again)
        else:
            result = _audit.audit(mechanism, **settings)
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new.json")
        result.save(new)
        new.replace(file)
        return result

    def _message(self, result: Result, share: float) -> str:
        return (
            f"{result.text.rstrip()}\n"
            f"A mechanism that keeps its claim fails so with probability at most {share:.3g}; "
            f"all audits of the session together with at most {self._session.rate:g}."
        )


@pytest.fixture
def dp_audit(request: Any) -> Iterator[Callable[..., Result]]:
    """Audits a mechanism, and fails the test where it breaks its claim: see
    :func:`dpscope.audit` for what it takes."""
    yield Auditor(request.config._dpscope, request.node.nodeid)


__all__ = ["Auditor", "Error", "dp_audit"]
