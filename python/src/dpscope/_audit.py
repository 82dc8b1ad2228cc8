"""dpscope.audit and dpscope.scores."""

from __future__ import annotations

import difflib
import inspect
import json
import os
import shlex
import sys
import tempfile
import warnings
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import _run, _settings
from ._errors import Error, InputError, Stopped
from ._numpy import np
from ._result import FORMATS, Result
from ._serve import Mechanism, Server, Serving, name_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: With which verdict and bound hold by default: whoever works interactively looks at many audits.
CONFIDENCE = 0.999

#: A range (0, 1), ranges of several columns [(0, 1), (18, 99)], or "0:1,18:99".
Domain = Union[str, Tuple[float, float], Sequence[Tuple[float, float]]]
#: Two neighbouring datasets, each with a row for each person.
Pair = Tuple[Any, Any]


def audit(
    mechanism: Mechanism,
    epsilon: Optional[float] = None,
    delta: Optional[float] = None,
    *,
    pairs: Union[Pair, Sequence[Pair], Any, None] = None,
    domain: Optional[Domain] = None,
    rows: Union[int, Tuple[int, int], range, str, None] = None,
    relation: Optional[str] = None,
    integer: bool = False,
    kinds: Optional[Dict[str, str]] = None,
    samples: Optional[int] = None,
    trials: Optional[int] = None,
    confidence: Union[float, Fraction] = CONFIDENCE,
    seed: Optional[int] = None,
    until_refuted: bool = False,
    workers: Optional[int] = None,
    timeout: Optional[float] = None,
    name: Optional[str] = None,
    progress: Union[bool, _run.Progress, None] = None,
    **settings: Unpack[_settings.Audit],
) -> Result:
    """Looks for two neighbouring datasets on which the mechanism breaks its claim, and
    certifies a lower bound on what it leaks.

    ``mechanism`` is ``f(dataset, n, rng)``, which returns n independent outputs (an array
    of n numbers, or of n rows; or a list, also of strings), or ``f(dataset)``, which
    returns one. A dataset is a numpy array of shape (rows, columns), lists of lists
    without numpy; rng is ``numpy.random.default_rng(seed)``, or ``random.Random(seed)``.
    It runs in this process, and nothing of it is pickled.

    ``epsilon`` and ``delta`` are the claim; others go by ``rho``, ``mu`` or ``alpha``.
    ``domain``, ``rows``, ``relation``, ``integer`` and ``reach`` say what datasets there
    are: by default 0 to 5 rows of one number in [0, 1], where one row is added or
    removed. ``pairs`` is the pair to audit, instead of a search. Of a list of pairs, or of
    those that a strategy of hypothesis draws, the one with the largest empirical epsilon is
    audited; the bound uses fresh outputs. ``confidence`` is that of
    verdict and bound, 0.999 by default; ``samples`` how many outputs a side certify.
    ``until_refuted`` stops when the claim is refuted. ``timeout`` is how long one request
    may take, in seconds. Further settings are those of ``dpscope audit -h``, with _ for -.

    Raises what the mechanism raised; :class:`InputError` for invalid outputs;
    :class:`Error` for an audit that cannot be done; :class:`Stopped`, a
    KeyboardInterrupt, on Ctrl-C.
    """
    server = Server(mechanism)
    given = _known(settings, _settings.Audit, audit)
    given.update(epsilon=epsilon, delta=delta, relation=relation, integer=integer or None, samples=samples, trials=trials, seed=seed, workers=workers)
    given["until_refuted"] = until_refuted or None
    given["beta"] = _error(confidence)
    if timeout is not None:
        given["exec_timeout"] = f"{timeout:.9f}s"
    given["domain"] = _domain(domain)
    given["rows"] = _sizes(rows)
    flags: List[str] = []
    if pairs is not None:
        if hasattr(pairs, "example"):  # a strategy of hypothesis
            chosen = _drawn(server, pairs, given, _kinds(kinds))
            _surround([chosen], given)
        else:
            found = _pairs(pairs)
            _surround(found, given)
            chosen = _loudest(server, found, given, _kinds(kinds))
        given["pair"] = json.dumps({"first": _dataset(chosen[0]), "second": _dataset(chosen[1])})
    flags += ["-exec-parent", "-exec", name or command_of(mechanism)]
    with tempfile.TemporaryDirectory(prefix="dpscope-") as folder:
        return execute("audit", _flags(given) + _kinds(kinds) + flags, folder, server, progress)


def scores(
    in_: Any,
    out: Any,
    epsilon: float,
    delta: float = 1e-5,
    *,
    relation: str = "add-remove",
    confidence: Union[float, Fraction] = CONFIDENCE,
    **settings: Unpack[_settings.Scores],
) -> Result:
    """Audits membership scores of one training: ``in_`` are those of canaries that it was
    trained on, ``out`` those of canaries that a coin left out. A larger score means that a canary looks
    like a member. ``confidence`` is that of verdict and bound. Further settings are
    those of ``dpscope scores -h``."""
    given = _known(settings, _settings.Scores, scores)
    given.update(epsilon=epsilon, delta=delta, relation=relation, beta=_error(confidence))
    with tempfile.TemporaryDirectory(prefix="dpscope-") as folder:
        file = os.path.join(folder, "scores.csv")
        with open(file, "w") as f:
            f.write("score,member\n")
            for name, values, label in (("in_", in_, 1), ("out", out, 0)):
                for v in _numbers(name, values):
                    f.write(f"{v!r},{label}\n")
        return execute("scores", _flags(given), folder, None, False, [file])


def _numbers(name: str, values: Any) -> List[float]:
    if hasattr(values, "tolist"):
        values = values.tolist()
    try:
        got = [float(v) for v in values]
    except (TypeError, ValueError) as e:
        raise InputError(f"{name} is not a list of scores ({e}): give a number for each canary") from e
    if not got:
        raise InputError(f"{name} is empty: give a score for each canary")
    return got


def execute(command: str, flags: List[str], folder: str, server: Optional[Serving], progress: Union[bool, _run.Progress, None], files: Sequence[str] = ()) -> Result:
    """Runs an audit and reads its report in all formats."""
    outputs = {form: os.path.join(folder, "report" + ending) for ending, form in FORMATS.items()}
    arguments = [command, *flags]
    for form, file in outputs.items():
        arguments += ["-output", f"{form}={file}"]
    shown = _run.shown(progress)
    try:
        ended = _run.run([*arguments, *files], server, shown)
    finally:
        if shown is not None:
            shown.close()
    result = None
    if os.path.exists(outputs["json"]):
        kept = {form: Path(file).read_bytes() for form, file in outputs.items() if os.path.exists(file)}
        notes = [_run.pythonic(m) for m in ended.messages if m.startswith("dpscope: note: ")]
        result = Result(json.loads(kept["json"]), kept, notes)
    if ended.interrupted:
        raise Stopped(result)
    if result is None or ended.code == 2:
        if server is not None and server.error is not None:
            raise server.error
        raise ended.error()
    for note in result.notes:
        warnings.warn(note, stacklevel=3)
    return result


def command_of(mechanism: Mechanism, *before: str) -> str:
    """A command line that runs the function again, where it can be imported."""
    python = os.path.basename(sys.executable or "python3")
    module, _, name = name_of(mechanism).partition(":")
    main = sys.modules.get("__main__")
    if module == "__main__" and getattr(main, "__file__", None):
        module = str(main.__file__)  # type: ignore[union-attr]
    return shlex.join([python, "-m", "dpscope", *before, f"{module}:{name}"])


def _known(settings: Any, kind: Any, function: Callable[..., Any]) -> Dict[str, Any]:
    """The further settings of a function, which must be those that the binary knows."""
    for name in settings:
        if name not in kind.__annotations__:
            near = difflib.get_close_matches(name, sorted({*kind.__annotations__, *inspect.signature(function).parameters}), 1)
            raise InputError(f"there is no setting {name}; " + (f"did you mean {near[0]}?" if near else f"help(dpscope.{function.__name__}) names all"))
    return dict(settings)


def _error(confidence: Union[float, Fraction]) -> float:
    """1 - confidence, without what binary fractions add."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence}, must be between 0 and 1: for example 0.99")
    return float(1 - Fraction(str(confidence)))


def _sizes(rows: Any) -> Optional[str]:
    """Least and most rows, as a flag has them. Those of a range are its first and last number."""
    if rows is None or isinstance(rows, str):
        return rows
    try:
        if isinstance(rows, range):
            if rows.step != 1:
                raise ValueError
            rows = (rows[0], rows[-1])
        least, most = (rows, rows) if hasattr(rows, "__index__") else rows
        return f"{least.__index__()}:{most.__index__()}"
    except (AttributeError, IndexError, TypeError, ValueError) as e:
        raise InputError(f"rows is {rows!r}, must be a number of rows, 3, the least and the most, (0, 5), or range(0, 6)") from e


def _flags(given: Dict[str, Any]) -> List[str]:
    flags: List[str] = []
    for name, value in given.items():
        flag = "-" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            flags.append(f"{flag}={str(value).lower()}")
        elif isinstance(value, (list, tuple)):
            flags.append(f"{flag}={','.join(str(v) for v in value)}")
        elif isinstance(value, float) or np is not None and isinstance(value, np.floating):
            flags.append(f"{flag}={float(value)!r}")
        else:
            flags.append(f"{flag}={value}")
    return flags


def _kinds(kinds: Optional[Dict[str, str]]) -> List[str]:
    return [f"-kind={column}={kind}" for column, kind in (kinds or {}).items()]


def _domain(domain: Optional[Domain]) -> Optional[str]:
    if domain is None or isinstance(domain, str):
        return domain
    ranges: List[Any] = list(domain)
    if len(ranges) == 2 and all(not hasattr(r, "__len__") for r in ranges):
        ranges = [ranges]
    try:
        return ",".join(f"{float(low)!r}:{float(high)!r}" for low, high in ranges)
    except (TypeError, ValueError) as e:
        raise InputError(f"domain is {domain!r}, must be a range of numbers (0, 1), or one for each column, [(0, 1), (18, 99)]") from e


def _rows(dataset: Any) -> List[List[float]]:
    if hasattr(dataset, "tolist"):
        dataset = dataset.tolist()
    try:
        return [[float(v) for v in row] if hasattr(row, "__len__") else [float(row)] for row in dataset]
    except (TypeError, ValueError) as e:
        raise InputError(f"the dataset {dataset!r} is not a list of rows of numbers ({e})") from e


def _pairs(pairs: Any) -> List[Tuple[List[List[float]], List[List[float]]]]:
    """The pairs, with as many columns in each row."""
    if isinstance(pairs, tuple) and len(pairs) == 2:
        pairs = [pairs]
    found = []
    for p in pairs:
        if not isinstance(p, (tuple, list)) or len(p) != 2:
            raise InputError(f"a pair is {p!r}, must be two datasets: pairs=(first, second), or a list of pairs")
        found.append((_rows(p[0]), _rows(p[1])))
    if not found:
        raise InputError("pairs is empty: leave it out to search for pairs")
    widths = {len(r) for p in found for side in p for r in side}
    if len(widths) > 1 or 0 in widths:
        raise InputError(f"rows of pairs have {sorted(widths)} columns: all must have the same number, at least one")
    return found


def _surround(pairs: List[Tuple[List[List[float]], List[List[float]]]], given: Dict[str, Any]) -> None:
    """Says what datasets there are, as narrow as the pairs allow, where the caller does not."""
    every = [r for p in pairs for side in p for r in side]
    if given["domain"] is None and every:
        columns = list(zip(*every))
        given["domain"] = _domain([(min(0.0, *c), max(1.0, *c)) for c in columns])
    if given["rows"] is None:
        sizes = [len(side) for p in pairs for side in p]
        given["rows"] = f"{min(sizes)}:{max(sizes)}"


def _dataset(rows: List[List[float]]) -> Dict[str, Any]:
    return {"columns": len(rows[0]) if rows else 1, "values": [v for r in rows for v in r]}


def _explored(server: Server, pair: Any, given: Dict[str, Any], kinds: List[str], turn: int) -> float:
    """What a small audit of one pair certifies. What is drawn for it serves nothing else,
    so that the bound of a pair chosen by it holds as it is."""
    given = dict(given, samples=4000, trials=None, until_refuted=None, seed=7_000_000 + turn)
    given["pair"] = json.dumps({"first": _dataset(pair[0]), "second": _dataset(pair[1])})
    with tempfile.TemporaryDirectory(prefix="dpscope-") as folder:
        file = os.path.join(folder, "report.json")
        ended = _run.run(["audit", *_flags(given), *kinds, "-exec-parent", "-exec", "exploration", "-output", f"json={file}"], server)
        if ended.interrupted:
            raise Stopped(None)
        if not os.path.exists(file):
            if server.error is not None:
                raise server.error
            raise ended.error()
        return float(json.loads(Path(file).read_bytes()).get("lowerBound") or 0.0)


def _loudest(server: Server, pairs: List[Any], given: Dict[str, Any], kinds: List[str]) -> Any:
    """The pair that leaks most, as far as exploration can tell."""
    if len(pairs) == 1:
        return pairs[0]
    bounds = [_explored(server, p, given, kinds, i) for i, p in enumerate(pairs)]
    return pairs[bounds.index(max(bounds))]


def _drawn(server: Server, strategy: Any, given: Dict[str, Any], kinds: List[str]) -> Any:
    """The loudest of pairs that hypothesis draws, which aims at what is loud."""
    import hypothesis

    best: List[Any] = [-1.0, None]
    refused: List[Error] = []
    known: Dict[str, float] = {}  # hypothesis draws some pairs again and again

    @hypothesis.settings(max_examples=5 * _DRAWN, phases=[hypothesis.Phase.generate, hypothesis.Phase.target], database=None, derandomize=True, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(strategy)
    def explore(pair: Any) -> None:
        found = _pairs([pair])
        around = dict(given)
        _surround(found, around)
        key = json.dumps(found[0])
        try:
            if key not in known:
                if len(known) == _DRAWN:
                    hypothesis.reject()
                known[key] = 0.0
                known[key] = _explored(server, found[0], around, kinds, len(known) - 1)
            bound = known[key]
        except Error as e:
            if server.error is not None:
                raise
            refused.append(e)  # no neighbours, for example
            hypothesis.reject()
        hypothesis.target(bound)
        if bound > best[0]:
            best[:] = [bound, found[0]]

    try:
        explore()
    except hypothesis.errors.Unsatisfiable:
        pass
    if best[1] is None:
        raise InputError(f"no pair that the strategy draws could be audited: {refused[0] if refused else 'it draws none'}")
    return best[1]


#: How many different pairs of a strategy are explored.
_DRAWN = 20
