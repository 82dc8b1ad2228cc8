"""The dpscope binary that the wheel carries."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

from ._errors import Error

#: Names another binary than the one in the wheel.
VARIABLE = "DPSCOPE_BINARY"


def path() -> str:
    """Where the binary is. ``DPSCOPE_BINARY`` names another one."""
    here = f"{platform.system()} on {platform.machine()}"
    own = os.environ.get(VARIABLE)
    if own:
        if not os.path.isfile(own):
            raise Error(f"{VARIABLE} is {own!r}, but there is no such file: give the path of a dpscope binary, or unset it")
        return own
    name = "dpscope.exe" if sys.platform == "win32" else "dpscope"
    file = Path(__file__).parent / "bin" / name
    if not file.is_file():
        raise Error(
            f"this installation of dpscope has no binary ({file}), which runs the audits: install the wheel for {here}, "
            f"or build one with `go build ./cmd/dpscope` and name it in {VARIABLE}"
        )
    if sys.platform != "win32" and not os.access(file, os.X_OK):
        try:  # some installers lose it
            file.chmod(0o755)
        except OSError as e:
            raise Error(f"{file} may not be run ({e}): chmod +x it, or name another binary in {VARIABLE}") from e
    return str(file)


def refused(file: str, e: OSError) -> Error:
    """Why the system does not start the binary."""
    return Error(
        f"{file} does not start ({e}): it is probably of another platform than {platform.system()} on "
        f"{platform.machine()}; install the wheel for this one, or name a binary in {VARIABLE}"
    )
