"""Errors that say what was found and what to do next."""

from __future__ import annotations

from typing import Any, Optional


class Error(Exception):
    """The audit could not be done. The message says why and what to do next."""


class InputError(Error, ValueError):
    """Something given to dpscope, or returned by the mechanism, is invalid."""


def noted(e: BaseException, note: str) -> None:
    """Adds to what somebody's code raised a line that a traceback shows below it."""
    try:
        e.add_note(note)  # type: ignore[attr-defined]
    except AttributeError:  # before Python 3.11; pytest shows it all the same
        e.__notes__ = [*getattr(e, "__notes__", []), note]  # type: ignore[attr-defined]


class Stopped(KeyboardInterrupt):
    """The audit was interrupted (Ctrl-C). ``result`` holds what was found until then, or
    None."""

    def __init__(self, result: Optional[Any]) -> None:
        super().__init__("the audit was stopped")
        self.result = result
