"""What an audit found."""

from __future__ import annotations

import base64
import html
import os
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from . import _run
from ._errors import Error, InputError
from ._serve import Mechanism, Server, Serving
from ._trainings import TrainServer

#: Formats that a result is kept in, by the ending of the file that it is saved as.
FORMATS = {".json": "json", ".html": "html", ".svg": "svg", ".txt": "text", ".md": "markdown", ".sarif": "sarif", ".xml": "junit"}


class Verification:
    """Whether a report holds, which is its truth value, and a text that says so."""

    def __init__(self, holds: bool, text: str) -> None:
        self.holds, self.text = holds, text

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        return self.text


class Picture:
    """A picture of a report. ``svg`` is its text."""

    def __init__(self, svg: str, words: str) -> None:
        self.svg, self._words = svg, words

    def _repr_html_(self) -> str:
        """It as a notebook shows it: text and styles of the picture stay in it."""
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img alt="{html.escape(self._words)}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'

    def __repr__(self) -> str:
        return f"<picture: {self._words}>"


class Result:
    """A report of an audit. ``report`` is all of it, as docs/ describes its JSON."""

    def __init__(self, report: Dict[str, Any], files: Dict[str, bytes], notes: Optional[List[str]] = None) -> None:
        self.report = report
        #: What the run had to say besides, such as that the mechanism ignores its rng.
        self.notes: List[str] = list(notes or [])
        self._files = files

    def __bool__(self) -> bool:
        raise TypeError("a result of dpscope is neither true nor false: assert not result.violation, or use the fixture dp_audit in pytest, which fails by itself")

    @property
    def violation(self) -> bool:
        """Whether the claim is refuted, with the confidence of the report."""
        return bool(self.report["verdict"] == "violation")

    @property
    def verdict(self) -> str:
        """One of "violation", "no-violation-found", "inconclusive" or "invalid"."""
        return str(self.report["verdict"])

    @property
    def bound(self) -> float:
        """The lower bound on what the mechanism leaks, in the unit of the claim (mostly epsilon),
        with the confidence of the report; 0 if nothing is certified."""
        return float(self.report.get("lowerBound") or 0.0)

    @property
    def confidence(self) -> float:
        """The confidence of the verdict and the bound."""
        return float(self.report["confidence"])

    @property
    def headline(self) -> str:
        """The verdict as a sentence."""
        return str(self.report.get("headline") or self.report["summary"])

    @property
    def warnings(self) -> List[str]:
        """The warnings of the report."""
        return [str(w) for w in self.report.get("warnings") or []]

    @property
    def first(self) -> Optional[List[List[float]]]:
        """The rows of the first dataset of the certified pair; None for audits that
        have no such pair."""
        return self._side("first")

    @property
    def second(self) -> Optional[List[List[float]]]:
        """The rows of the second dataset of the certified pair."""
        return self._side("second")

    @property
    def event(self) -> Optional[str]:
        """The event that is more frequent on one dataset than on the other, in words; None if no
        single event was counted, as in an audit until the claim is refuted."""
        words = (self._shown.get("event") or {}).get("words")
        return None if words is None else str(words)

    @property
    def counts(self) -> Optional[Dict[str, int]]:
        """The counts of the event: ``x`` of ``n1`` outputs on the dataset on which it is
        likelier, ``y`` of ``n0`` on the other; None if ``event`` is None."""
        counts = self._shown.get("counts")
        return None if counts is None else {k: int(v) for k, v in counts.items()}

    @property
    def p_value(self) -> Optional[float]:
        """The relation of the claim."""
        p = self.report.get("pValue")
        return None if p is None else float(p)

    @property
    def _row(self) -> Dict[str, Any]:
        """The row that decides the verdict."""
        rows = [row for table in self.report.get("tables") or [] for row in table["rows"] if row.get("chosen")]
        return dict(rows[0]) if rows else {}

    @property
    def _shown(self) -> Dict[str, Any]:
        """The row whose event shows the bound: the one that decides or, where that has none, the
        one of epsilon that was counted after it."""
        bounds = next((table["rows"] for table in self.report.get("tables") or [] if table["name"] == "bounds"), [])
        rows = [self._row] + [row for row in bounds if row["id"] == "epsilon"]
        return next((dict(row) for row in rows if row.get("event")), self._row)

    def _side(self, side: str) -> Optional[List[List[float]]]:
        pair = (self.report.get("evidence") or {}).get("pair")
        if pair is None:
            bets = self.report.get("sequential") or {}
            if "chart" not in bets:
                return None
            pair = bets["pairs"][bets["chart"]["pair"]]
        columns, values = pair[side]["columns"], [float(v) for v in pair[side].get("values") or []]
        return [values[i : i + columns] for i in range(0, len(values), columns)]

    def plot(self) -> Picture:
        """The picture of the report. A notebook shows it; ``.svg`` is its text."""
        return Picture(self._file("svg").decode(), self.headline)

    @property
    def text(self) -> str:
        """The report as text, with the event that shows the violation."""
        return self._file("text").decode()

    def _file(self, form: str) -> bytes:
        """The report in a format."""
        if form not in self._files:
            with tempfile.TemporaryDirectory(prefix="dpscope-") as folder:
                source, file = os.path.join(folder, "report.json"), os.path.join(folder, "report")
                Path(source).write_bytes(self._files["json"])
                ended = _run.run(["verify", "-quick", "-output", f"{form}={file}", source])
                if not os.path.exists(file):
                    raise ended.error()
                self._files[form] = Path(file).read_bytes()
        return self._files[form]

    def __repr__(self) -> str:
        return f"<dpscope: {self.report['summary']}>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """Verdict and picture for a notebook. It needs no script and no network."""
        color = {"violation": "#b3261e", "no-violation-found": "#1b6e3c"}.get(self.verdict, "#6b5900")
        more = "".join(f"<li>{html.escape(w)}</li>" for w in [*self.warnings, *self.notes])
        picture = self.plot()._repr_html_()
        rest = str(self.report["summary"])
        rest = rest[len(self.headline) :] if rest.startswith(self.headline) else rest
        return (
            f'<div class="dpscope"><p style="border-left:4px solid {color};padding-left:.6em"><b>{html.escape(self.headline)}</b><br>'
            f"{html.escape(rest.strip())}</p>{picture}"
            + (f"<ul>{more}</ul>" if more else "")
            + f"<details><summary>Report</summary><pre>{html.escape(self.text)}</pre></details></div>"
        )

    def save(self, path: Union[str, "os.PathLike[str]"]) -> Path:
        """Writes the report: as .json, which can be verified and continued from, or as
        .html, .svg, .txt, .md, .sarif or .xml (JUnit)."""
        file = Path(path)
        form = FORMATS.get(file.suffix.lower())
        if form is None:
            raise InputError(f"the name {str(file)!r} has no known ending: end it with one of {', '.join(FORMATS)}")
        file.write_bytes(self._file(form))
        return file

    def verify(self, mechanism: Optional[Mechanism] = None, *, timeout: Optional[float] = None) -> Verification:
        """Checks the report. Without a mechanism: that everything in it follows from its
        counts, for which none of your code runs. With it, or with the function that trained:
        also that the counts can be drawn again from the seed."""
        with tempfile.TemporaryDirectory(prefix="dpscope-") as folder:
            file = os.path.join(folder, "report.json")
            Path(file).write_bytes(self._files["json"])
            if mechanism is None:
                ended = _run.run(["verify", "-quick", file])
                text = ended.out
            else:
                trainer = self.report.get("plan", {}).get("trainer")
                server: Serving
                if trainer is None:
                    server, name = Server(mechanism), self.report["inputs"]["brought"]["name"]
                else:
                    server, name = TrainServer(mechanism), trainer["command"]
                flags = ["-exec-timeout", f"{timeout:.9f}s"] if timeout else []
                ended = _run.run(["verify", "-exec-parent", "-exec", name, *flags, file], server)
                if server.error is not None:
                    raise server.error
                text = "\n".join(ended.messages)
        if ended.interrupted:
            raise KeyboardInterrupt
        if ended.code not in (0, 1):
            raise ended.error()
        return Verification(ended.code == 0, text.strip())


def load(path: Union[str, "os.PathLike[str]"]) -> Result:
    """A report that was saved as .json."""
    import json

    data = Path(path).read_bytes()
    try:
        report = json.loads(data)
        report["verdict"], report["summary"]
    except (ValueError, KeyError, TypeError) as e:
        raise Error(f"{os.fspath(path)} is not a report of dpscope: give a file that Result.save wrote as .json") from e
    return Result(report, {"json": data})
