"""Answers requests for outputs of a Python function, by the command protocol of
docs/command.md: the first request and answer are lines of JSON, then frames."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import random
import struct
from array import array
from typing import IO, Any, Callable, Iterator, Optional, Protocol, Tuple

from . import _outputs
from ._errors import InputError, noted
from ._numpy import np

Mechanism = Callable[..., Any]


class Serving(Protocol):
    """Answers requests of the binary. ``error`` is what the user's function raised."""

    error: Optional[BaseException]

    def serve(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        """Answers until the requests end."""


def takes(mechanism: Mechanism) -> bool:
    """Whether the function is called as f(dataset, n, rng), rather than as f(dataset)."""
    if not callable(mechanism):
        raise InputError(f"the mechanism is {mechanism!r}, must be a function f(dataset, n, rng) or f(dataset)")
    if inspect.iscoroutinefunction(mechanism) or inspect.isgeneratorfunction(mechanism):
        raise InputError(f"{name_of(mechanism)} is asynchronous or a generator: give a function that returns its outputs")
    try:
        parameters = inspect.signature(mechanism).parameters.values()
    except (TypeError, ValueError) as e:
        raise InputError(f"the parameters of {name_of(mechanism)} cannot be determined ({e}): wrap it, as lambda dataset: {name_of(mechanism)}(dataset)") from e
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keyword = [p.name for p in parameters if p.default is p.empty and p.kind is p.KEYWORD_ONLY]
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not keyword:
        if len(needed) == 3 or [p.name for p in places[:3]][1:] == ["n", "rng"] and len(needed) <= 3:
            return True
        if len(needed) == 1 or not needed and places:
            return False
    raise InputError(
        f"{name_of(mechanism)}{inspect.signature(mechanism)} is neither f(dataset, n, rng), which returns n outputs, nor f(dataset), which returns one: "
        f"wrap it, as lambda dataset: {getattr(mechanism, '__name__', 'f')}(dataset, ...)"
    )


def name_of(mechanism: Mechanism) -> str:
    """What a report calls the function."""
    module = getattr(mechanism, "__module__", None) or "?"
    name = getattr(mechanism, "__qualname__", None) or type(mechanism).__qualname__
    return f"{module}:{name}"


def answered(server: Serving, what: str, returns: str, once: Callable[[], Any]) -> Tuple[Any, Optional[str]]:
    """What ``once`` returns, and None; None, and why the user's function failed; or None
    twice where it called sys.exit. The server keeps the error. An interrupt goes through,
    and the child of a fork that comes back ends. ``what`` the function is and what it
    ``returns`` stand in the error."""
    process = os.getpid()
    try:
        answer = once()
        if os.getpid() != process:
            os._exit(0)
        return answer, None
    except Exception as e:
        if os.getpid() != process:
            os._exit(1)
        server.error = server.error or e
        return None, str(e) if isinstance(e, InputError) else f"{type(e).__name__}: {e}"
    except SystemExit as e:
        if os.getpid() != process:
            raise
        server.error = InputError(f"the {what} called sys.exit({e.code!r}): return {returns} instead")
        return None, None


@contextlib.contextmanager
def put_back() -> Iterator[None]:
    """Leaves the generators of the modules random and numpy.random as they were."""
    state, states = random.getstate(), np.random.get_state() if np is not None else None
    try:
        yield
    finally:
        random.setstate(state)
        if np is not None:
            np.random.set_state(states)


def worded(rows: Any) -> str:
    """A dataset as reports write it, a long one by its beginning."""
    rows = rows.tolist() if hasattr(rows, "tolist") else rows
    if not rows:
        return "{} (no rows)"
    shown = ["(" + ", ".join(f"{v:g}" for v in r) + ")" if len(r) > 1 else f"{r[0]:g}" for r in rows[:20]]
    return "{" + ", ".join(shown) + (f", ... ({len(rows)} rows)" if len(rows) > 20 else "") + "}"


class Server:
    """Answers for one mechanism. ``error`` is what it raised."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.vectorized = mechanism, takes(mechanism)
        self.error: Optional[BaseException] = None
        self.outputs = 0

    def serve(self, requests: IO[bytes], answers: IO[bytes], frames: bool = True, agreed: bool = True) -> None:
        """Answers until the requests end, in frames: once they are agreed upon, where
        they are wanted. What the mechanism raises is kept, and told; an interrupt goes
        through."""
        with put_back():
            self._serve(requests, answers, frames, agreed)

    def _serve(self, requests: IO[bytes], answers: IO[bytes], frames: bool, agreed: bool) -> None:
        while True:
            if agreed:
                head = requests.read(8)
                if len(head) < 8:
                    return
                (size,) = struct.unpack("<I", head[4:])
                body = requests.read(size)
                if len(body) < size:
                    return
                seed, n, rows, columns = struct.unpack_from("<QIII", body)
                flat = body[24:]
            else:
                line = requests.readline()
                if not line.endswith(b"\n"):
                    return
                request = json.loads(line)
                seed, n = request["seed"], request["n"]
                rows, columns = len(request["dataset"]), len(request["dataset"][0]) if request["dataset"] else int(os.environ.get("DPSCOPE_COLUMNS", "1"))
                flat = array("d", [v for row in request["dataset"] for v in row]).tobytes()
            answer, why = answered(self, "mechanism", "outputs", lambda: self.draw(flat, rows, columns, n, seed))
            if why is not None:
                if agreed:
                    data = why.encode()
                    answers.write(struct.pack("<4sI", b"FAIL", len(data)) + data)
                else:
                    answers.write(json.dumps({"error": why}).encode() + b"\n")
                answers.flush()
                continue
            if answer is None:
                return
            if agreed:
                head, body = answer.frame()
                answers.write(head)
                answers.write(body)
            elif frames:
                answers.write(b'{"outputs": ' + answer.line() + b', "frames": 1}\n')
                agreed = True
            else:
                answers.write(b'{"outputs": ' + answer.line() + b"}\n")
            answers.flush()

    def draw(self, flat: bytes, rows: int, columns: int, n: int, seed: int) -> _outputs.Answer:
        """n outputs on the dataset whose rows follow each other in flat."""
        self.outputs += n
        if np is not None:
            dataset: Any = np.frombuffer(flat, dtype="<f8").reshape(rows, columns).astype(float)
        else:
            values = array("d", flat)
            dataset = [list(values[i * columns : (i + 1) * columns]) for i in range(rows)]
        # A mechanism may draw from the generators of the modules, too. With numpy they are
        # of another kind than rng; without, another seed keeps them apart from it.
        random.seed(f"{seed}")
        if np is not None:
            np.random.seed([seed & 0xFFFFFFFF, seed >> 32])
        try:
            if self.vectorized:
                rng: Any = np.random.default_rng(seed) if np is not None else random.Random(seed)
                return _outputs.many(self.mechanism(dataset.copy() if np is not None else [list(r) for r in dataset], n, rng), n)
            return _outputs.single([self.once(dataset) for _ in range(n)])
        except Exception as e:
            noted(e, f"dpscope asked for {n} outputs on the dataset {worded(dataset)}, with seed {seed}.")
            raise

    def once(self, dataset: Any) -> Any:
        """One output of f(dataset), or the error that it raised, an outcome too."""
        try:
            return self.mechanism(dataset.copy() if np is not None else [list(r) for r in dataset])
        except Exception as e:
            return e
