"""numpy, where it is installed."""

from __future__ import annotations

from typing import Any

np: Any
try:
    import numpy

    np = numpy
except ImportError:  # works without, slower
    np = None
