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
    """Whether a report holds, and the words for it. True where it does."""

    def __init__(self, holds: bool, text: str) -> None:
        self.holds, self.text = holds, text

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        return self.text


class Result:
    """A report of an audit. ``report`` is all of it, as docs/ describes its JSON."""

    def __init__(self, report: Dict[str, Any], files: Dict[str, bytes], notes: Optional[List[str]] = None) -> None:
        self.report = report
        #: What the run had to say besides, such as that the mechanism ignores its rng.
        self.notes: List[str] = list(notes or [])
        self._files = files

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
        """What the mechanism leaks at least, in the unit of the claim (epsilon for most),
        with the confidence of the report; 0 where nothing is certified."""
        return float(self.report.get("lowerBound") or 0.0)

    @property
    def confidence(self) -> float:
        """With which the verdict and the bound hold."""
        return float(self.report["confidence"])

    @property
    def headline(self) -> str:
        """The verdict as a sentence."""
        return str(self.report.get("headline") or self.report["summary"])

    @property
    def warnings(self) -> List[str]:
        """What the report warns of."""
        return [str(w) for w in self.report.get("warnings") or []]

    @property
    def text(self) -> str:
        """The report as text, with the event that shows the violation."""
        return self._files["text"].decode()

    def __repr__(self) -> str:
        return f"<dpscope: {self.report['summary']}>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """Verdict and picture for a notebook. It needs no script and no network."""
        color = {"violation": "#b3261e", "no-violation-found": "#1b6e3c"}.get(self.verdict, "#6b5900")
        more = "".join(f"<li>{html.escape(w)}</li>" for w in [*self.warnings, *self.notes])
        svg = self._files.get("svg")
        picture = ""
        if svg:
            data = base64.b64encode(svg).decode()
            picture = f'<img alt="{html.escape(self.headline)}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'
        rest = str(self.report["summary"])
        rest = rest[len(self.headline) :] if rest.startswith(self.headline) else rest
        return (
            f'<div class="dpscope"><p style="border-left:4px solid {color};padding-left:.6em"><b>{html.escape(self.headline)}</b><br>'
            f"{html.escape(rest.strip())}</p>{picture}"
            + (f"<ul>{more}</ul>" if more else "")
            + f"<details><summary>Report</summary><pre>{html.escape(self.text)}</pre></details></div>"
        )

    def save(self, path: Union[str, "os.PathLike[str]"]) -> Path:
        """Writes the report: as .json, which can be verified and gone on from, or as
        .html, .svg, .txt, .md, .sarif or .xml (JUnit)."""
        file = Path(path)
        form = FORMATS.get(file.suffix.lower())
        if form is None or form not in self._files:
            raise InputError(f"the name {str(file)!r} says no format: let it end in one of {', '.join(FORMATS)}")
        file.write_bytes(self._files[form])
        return file

    def verify(self, mechanism: Optional[Mechanism] = None, *, timeout: Optional[float] = None) -> Verification:
        """Checks the report. Without a mechanism: that all it says follows from its
        counts, for which nothing of yours runs. With it, or with the function that trained:
        that the counts can be drawn again from the seed as well."""
        with tempfile.TemporaryDirectory(prefix="dpscope-") as folder:
            file = os.path.join(folder, "report.json")
            Path(file).write_bytes(self._files["json"])
            if mechanism is None:
                ended = _run.run(["verify", "-counts", file])
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
        raise Error(f"{os.fspath(path)} is no report of dpscope: give a file that Result.save wrote as .json") from e
    return Result(report, {"json": data, "text": (str(report["summary"]) + "\n").encode()})
