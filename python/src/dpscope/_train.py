"""dpscope.canaries and dpscope.one_run."""

from __future__ import annotations

import os
import tempfile
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

from . import _run, _settings
from ._audit import CONFIDENCE, _error, _flags, _known, command_of, execute
from ._errors import InputError
from ._result import Result
from ._trainings import Training, TrainServer

if TYPE_CHECKING:
    from typing_extensions import Unpack


def canaries(
    train: Training,
    epsilon: Optional[float] = None,
    delta: float = 1e-5,
    *,
    runs: Optional[int] = None,
    k: Optional[int] = None,
    m: Optional[int] = None,
    relation: Optional[str] = None,
    confidence: Union[float, Fraction, None] = None,
    seed: Optional[int] = None,
    until_refuted: bool = False,
    check: bool = True,
    resume: Union[Result, str, "os.PathLike[str]", None] = None,
    timeout: Optional[float] = None,
    name: Optional[str] = None,
    progress: Union[bool, _run.Progress, None] = None,
    **settings: Unpack[_settings.Canaries],
) -> Result:
    """Trains many times with canaries, and certifies a lower bound on what the
    training leaks about one of them.

    ``train`` is ``f(members, rng)``: it trains once on its data and on those canaries that
    are members, and returns a score for every canary, member or not; a higher score means
    more likely a member. members is an array of booleans, one for each canary (a list without
    numpy); rng is ``numpy.random.default_rng(seed)``, or ``random.Random(seed)``, from which
    canaries, batches and noise are drawn. Canaries must not depend on members, and scores may
    depend on them only through the model: docs/training.md says why that is enough. A score
    that is not finite counts as the lowest; if the model diverged, return only such scores.
    It runs in this process, one training at a time.

    ``runs`` is the largest number of runs, by default 256, each of two trainings, or
    of one with ``relation="replace"``; ``k`` canaries are members, ``m`` more are not.
    ``until_refuted`` stops when the claim is refuted. ``check=False`` leaves out the two
    trainings that show whether trainings can be drawn again. ``resume`` continues from the
    result of such an audit: claim and settings are those of that audit, and ``runs`` is the number in
    all. ``confidence`` is that of verdict and bound, 0.999 by default. ``timeout`` is how long
    one training may take, in seconds, an hour by default. Further settings are those of
    ``dpscope canaries -h``, with _ for -.

    Raises what ``train`` raised; :class:`dpscope.InputError` for invalid
    scores; :class:`dpscope.Error` for an audit that cannot be done; :class:`dpscope.Stopped`,
    a KeyboardInterrupt, on Ctrl-C.
    """
    server = TrainServer(train)
    given = _known(settings, _settings.Canaries, canaries)
    given.update(n=runs, until_refuted=until_refuted or None)
    if resume is None:
        if epsilon is None:
            raise InputError("epsilon is missing: give the epsilon that is claimed, for example 2")
        given.update(epsilon=epsilon, delta=delta, k=k, m=m, relation=relation, seed=seed, beta=_error(CONFIDENCE if confidence is None else confidence))
    elif any(v is not None for v in (epsilon, k, m, relation, confidence, seed)):
        raise InputError("resume is given with settings of the audit: leave them out, because the report has them; runs is the total number of runs")
    with tempfile.TemporaryDirectory(prefix="dpscope-") as folder:
        flags: List[str] = []
        if resume is not None:
            file = os.path.join(folder, "before.json")
            if isinstance(resume, Result):
                resume.save(file)
            else:
                file = os.fspath(resume)
            flags = ["-continue", file]
        return _execute("canaries", given, check, timeout, name or command_of(train, "train"), flags, folder, server, progress)


def one_run(
    train: Training,
    epsilon: float,
    delta: float = 1e-5,
    *,
    canaries: Optional[int] = None,
    confidence: Union[float, Fraction] = CONFIDENCE,
    seed: Optional[int] = None,
    check: bool = True,
    timeout: Optional[float] = None,
    name: Optional[str] = None,
    progress: Union[bool, _run.Progress, None] = None,
    **settings: Unpack[_settings.OneRun],
) -> Result:
    """Trains once with many canaries, each of which a fair coin makes a member, and
    certifies a lower bound on what the training leaks.

    ``train`` is that of :func:`dpscope.canaries`; ``canaries`` is their number, by default
    1000. ``check=False`` leaves out the two trainings that show whether the training can be
    drawn again. Further settings are those of ``dpscope one-run -h``, with _ for -. It
    raises what :func:`dpscope.canaries` raises.
    """
    server = TrainServer(train)
    given = _known(settings, _settings.OneRun, one_run)
    given.update(epsilon=epsilon, delta=delta, m=canaries, seed=seed, beta=_error(confidence))
    with tempfile.TemporaryDirectory(prefix="dpscope-") as folder:
        return _execute("one-run", given, check, timeout, name or command_of(train, "train"), [], folder, server, progress)


def _execute(
    command: str,
    given: Dict[str, Any],
    check: bool,
    timeout: Optional[float],
    name: str,
    flags: List[str],
    folder: str,
    server: TrainServer,
    progress: Union[bool, _run.Progress, None],
) -> Result:
    if timeout is not None:
        given["exec_timeout"] = f"{timeout:.9f}s"
    if not check:
        flags = [*flags, "-exec-check=false"]
    return execute(command, [*_flags(given), "-exec-parent", "-exec", name, *flags], folder, server, progress)
