"""Runs the binary, and answers its requests."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from typing import IO, Any, Callable, List, Optional, Sequence, Union

from . import _binary, _settings
from ._errors import Error
from ._serve import Serving

#: What is called with each line of progress.
Progress = Callable[[str], None]


class Ended:
    """How a run of the binary ended."""

    def __init__(self, code: int, out: str, messages: List[str], interrupted: bool) -> None:
        self.code, self.out, self.messages, self.interrupted = code, out, messages, interrupted

    def error(self) -> Error:
        """What it says went wrong."""
        text = "\n".join(self.messages) or self.out.strip() or f"dpscope ended with exit code {self.code} and said nothing"
        return Error(pythonic(text))


# Messages name flags of the command line, some with a value.
_ARGUMENTS = {"exec-check": "check", "n": "runs", "exec-timeout": "timeout", "kind": "kinds", "pair": "pairs", "beta": "1 - confidence", "continue": "resume"}
_NAMES = "|".join([*_settings.NAMES, *_ARGUMENTS, "workers"])
_FLAG = re.compile(rf"(?<![\w-])-({_NAMES})(?![\w-])")


def pythonic(text: str) -> str:
    """A message with the names that arguments have here."""
    text = re.sub(r"(?m)^dpscope: (note: )?", "", text)
    text = re.sub(r"(?m)^\S+ -m dpscope '?[^:\n]*:(?:[\w.<>]*\.)?([\w<>]+)'?: ", r"\1: ", text)
    text = re.sub(r"-kind (\w+)=(\w+)", r'kinds={"\1": "\2"}', text)
    text = re.sub(r"-nonfinite (symbol|refuse)", r'nonfinite="\1"', text)
    text = re.sub(r"-exec-timeout (\d+)m", lambda m: f"timeout={60 * int(m.group(1))}", text)
    return _FLAG.sub(lambda m: _ARGUMENTS.get(m.group(1), m.group(1).replace("-", "_")), text)


def run(arguments: Sequence[str], server: Optional[Serving] = None, progress: Optional[Progress] = None) -> Ended:
    """Runs the binary with these arguments until it ends. An interrupt asks it to end
    and tell what it has."""
    file = _binary.path()
    options: Any = {"start_new_session": True}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    try:
        child = subprocess.Popen(
            [file, *arguments],
            stdin=subprocess.PIPE if server else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=1 << 16,
            **options,
        )
    except OSError as e:
        raise _binary.refused(file, e) from e
    assert child.stdout is not None and child.stderr is not None
    messages: List[str] = []
    out: List[bytes] = []
    threads = [threading.Thread(target=_listen, args=(child.stderr, messages, progress), daemon=True)]
    if server is None:
        threads.append(threading.Thread(target=lambda stream: out.append(stream.read()), args=(child.stdout,), daemon=True))
    for t in threads:
        t.start()
    interrupted = False
    try:
        if server is not None and child.stdin is not None:
            try:
                server.serve(child.stdout, child.stdin)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it ended, and says why
        child.wait()
    except KeyboardInterrupt:
        interrupted = True
        _ask_to_end(child)
    except BaseException:
        child.kill()
        raise
    finally:
        if server is not None and child.stdin is not None:
            try:
                child.stdin.close()
            except OSError:
                pass
    code = child.wait()
    for t in threads:
        t.join(5)
    child.stdout.close()
    child.stderr.close()
    return Ended(code, b"".join(out).decode("utf-8", "replace"), messages, interrupted)


def _ask_to_end(child: subprocess.Popen[bytes]) -> None:
    try:
        if sys.platform == "win32":
            child.send_signal(signal.CTRL_BREAK_EVENT)
        else:
            child.send_signal(signal.SIGINT)
        child.wait(20)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        child.kill()


def _listen(stream: IO[bytes], messages: List[str], progress: Optional[Progress]) -> None:
    """Takes progress and messages apart."""
    for raw in stream:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if line.startswith("\r"):
            if progress is not None:
                progress(line[1:])
        else:
            messages.append(line)


class Terminal:
    """Shows progress on one line of the terminal."""

    def __init__(self) -> None:
        self.wide = 0

    def __call__(self, line: str) -> None:
        line = line[:79]
        sys.stderr.write("\r" + line.ljust(self.wide))
        sys.stderr.flush()
        self.wide = len(line)

    def close(self) -> None:
        """Clears the line."""
        if self.wide:
            sys.stderr.write("\r" + " " * self.wide + "\r")
            sys.stderr.flush()


class Notebook:
    """Shows progress below the cell of a notebook."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self.handle: Any = None
        self.display = display

    def __call__(self, line: str) -> None:
        data = {"text/plain": line}
        if self.handle is None:
            self.handle = self.display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)

    def close(self) -> None:
        """Clears the line."""
        if self.handle is not None:
            self.handle.update({"text/plain": ""}, raw=True)


class _Given:
    """Progress that the user's function hears."""

    def __init__(self, tell: Progress) -> None:
        self.tell = tell

    def __call__(self, line: str) -> None:
        self.tell(line)

    def close(self) -> None:
        """Nothing is left."""


Shown = Union[Terminal, Notebook, _Given]


def shown(progress: Union[bool, Progress, None]) -> Optional[Shown]:
    """Where progress goes: by default to a notebook's cell or a terminal, if there is one."""
    if callable(progress):
        return _Given(progress)
    if progress is False:
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None and type(shell).__name__ == "ZMQInteractiveShell":
        from IPython.display import display  # type: ignore[import]

        return Notebook(display)
    if progress or sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return Terminal()
    return None
