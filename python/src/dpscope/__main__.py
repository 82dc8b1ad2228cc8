"""python -m dpscope MODULE:FUNCTION answers requests for outputs of a function, for
``dpscope audit -exec``, and python -m dpscope train MODULE:FUNCTION for trainings, for
``dpscope canaries -exec`` and ``one-run -exec``. MODULE may be the path of a file. Any other arguments go to the
binary."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from typing import Any, List

from . import _binary
from ._errors import Error, InputError
from ._serve import Server
from ._trainings import TrainServer


def find(name: str) -> Any:
    """The function that MODULE:FUNCTION names."""
    where, _, path = name.rpartition(":")
    if where.endswith(".py"):
        spec = importlib.util.spec_from_file_location("audited", where)
        if spec is None or spec.loader is None or not os.path.exists(where):
            raise InputError(f"there is no file {where}")
        thing: Any = importlib.util.module_from_spec(spec)
        sys.modules["audited"] = thing
        spec.loader.exec_module(thing)
    else:
        sys.path.insert(0, os.getcwd())
        thing = importlib.import_module(where)
    for part in path.split("."):
        try:
            thing = getattr(thing, part)
        except AttributeError as e:
            raise InputError(f"{where} has no {part!r}: a function inside another, a lambda or one of a notebook cannot be found by its name; call dpscope.audit in Python") from e
    return thing


def main(arguments: List[str]) -> int:
    """Serves a function, or runs the binary."""
    trains = len(arguments) == 2 and arguments[0] == "train"
    if (len(arguments) == 1 or trains) and re.fullmatch(r".+:[\w.<>]+", arguments[-1]):
        requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb", buffering=1 << 16)
        os.dup2(2, 1)  # what the mechanism prints is no answer
        try:
            if trains:
                TrainServer(find(arguments[-1])).serve(requests, answers)
                return 0
            server = Server(find(arguments[0]))
        except (Error, ImportError) as e:
            print(e, file=sys.stderr)
            return 2
        server.serve(requests, answers, frames=os.environ.get("DPSCOPE_FRAMES") == "1", agreed=False)
        return 0
    try:
        return subprocess.call([_binary.path(), *arguments])
    except Error as e:
        print(e, file=sys.stderr)
        return 2


def command() -> None:
    """The command dpscope of an environment."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    command()
