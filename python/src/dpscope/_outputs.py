"""What a mechanism returned, as a frame of the command protocol (docs/command.md)."""

from __future__ import annotations

import json
import struct
import sys
from array import array
from typing import Any, List, Optional, Tuple

from ._errors import InputError
from ._numpy import np

FLOATS, INTS, JSON = b"F64 ", b"I64 ", b"JSON"


class Answer:
    """Outputs as a frame has them."""

    __slots__ = ("kind", "n", "columns", "body")

    def __init__(self, kind: bytes, n: int, columns: int, body: Any) -> None:
        self.kind, self.n, self.columns, self.body = kind, n, columns, body

    def frame(self) -> Tuple[bytes, Any]:
        """Head and body of the frame."""
        size = memoryview(self.body).nbytes
        if self.kind == JSON:
            return struct.pack("<4sI", self.kind, size), self.body
        return struct.pack("<4sIII", self.kind, 8 + size, self.n, self.columns), self.body

    def line(self) -> bytes:
        """The answer as JSON, which the first one of a program is."""
        if self.kind == JSON:
            return bytes(self.body)
        values: List[Any] = array("d" if self.kind == FLOATS else "q", bytes(self.body)).tolist()
        if self.columns > 1:
            values = [values[i : i + self.columns] for i in range(0, len(values), self.columns)]
        return json.dumps(values).encode()


def _refuse(found: str, remedy: str) -> InputError:
    return InputError(f"the mechanism returned {found}: {remedy}")


def many(value: Any, n: int) -> Answer:
    """What f(dataset, n, rng) returned."""
    return _checked(_host(value), n, "f(dataset, n, rng) returns n outputs, an array of n numbers or of n rows")


def single(values: List[Any]) -> Answer:
    """What f(dataset) returned or raised, called once for each output."""
    raised = [v for v in values if isinstance(v, Exception)]
    if raised:
        if len(raised) == len(values):
            raise raised[0]
        want = "f(dataset) returns one output"
        return Answer(JSON, len(values), 0, json.dumps([{"error": f"{type(v).__name__}: {v}"} if isinstance(v, Exception) else _word(_host(v), want) for v in values]).encode())
    first = _host(values[0])
    if isinstance(first, (list, tuple)) or np is not None and isinstance(first, np.ndarray):
        values = [_row(_host(v)) for v in values]
        width = len(values[0])
        for i, v in enumerate(values):
            if len(v) != width:
                raise _refuse(f"an output of {len(v)} values after ones of {width}", "every output has the same columns")
        if width == 1:
            values = [v[0] for v in values]
        elif width and all(type(x) is float for v in values for x in v):
            return _floats([x for v in values for x in v], len(values), width)
    return _list(values, len(values), "f(dataset) returns one output")


def _row(value: Any) -> List[Any]:
    if np is not None and isinstance(value, np.ndarray):
        if value.ndim > 1:
            raise _refuse(f"an array of shape {value.shape} as one output", "an output is a number, or a row of at most one dimension: flatten it")
        _dtype(value)
        got = value.tolist()
        return got if isinstance(got, list) else [got]
    return [value] if not isinstance(value, (list, tuple)) else [_word(v, "an output holds numbers and words") for v in value]


def _host(value: Any) -> Any:
    """The value as numpy or a list has it, where it is a tensor or of pandas."""
    if value is None:
        raise _refuse("None", "does it lack a return statement?")
    if np is not None and isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise _refuse("a masked array with masked values", "a masked value is not an output: return value.filled(x), with the x that users see")
        return value.data
    if hasattr(value, "isna") and hasattr(value, "to_numpy"):
        a = value.to_numpy()
        if a.dtype.kind != "O":
            return a
        if np.any(value.isna()):
            raise _refuse(f"a {type(value).__name__} with missing values", 'return a number, or a word such as "none", by value.fillna(...)')
        return a.tolist()
    if hasattr(value, "detach") and hasattr(value, "device"):
        if getattr(value.device, "type", "cpu") != "cpu":
            raise _refuse(f"a tensor on the device {value.device}", "return tensor.cpu()")
        return value.detach().numpy()
    if hasattr(value, "__cuda_array_interface__"):
        raise _refuse(f"a {type(value).__name__} in the memory of a GPU", "copy it to the host first, with .get() or .cpu()")
    return value


def _checked(value: Any, n: int, want: str) -> Answer:
    if isinstance(value, (list, tuple)):
        return _list(value, n, want)
    if np is None:
        if isinstance(value, array):
            return _list(value.tolist(), n, want)
        raise _refuse(f"a {type(value).__name__}", want)
    if isinstance(value, (str, bytes, dict, set)) or callable(value) or hasattr(value, "__next__"):
        raise _refuse(f"a {type(value).__name__}", want)
    a = np.asarray(value)
    _dtype(a)
    if a.ndim == 0:
        raise _refuse(f"one value ({a.item()!r}) for a request of {n}", want + "; a function of the dataset alone, f(dataset), is called once for each output")
    if a.ndim > 2:
        raise _refuse(f"an array of shape {a.shape}", "an output is a row of numbers: reshape it to (n, columns)")
    if a.shape[0] != n:
        raise _refuse(f"{a.shape[0]} outputs for a request of {n}", want)
    columns = 1 if a.ndim == 1 else a.shape[1]
    if columns == 0:
        raise _refuse(f"an array of shape {a.shape}", "an output has at least one value")
    if a.dtype.kind == "f":
        return Answer(FLOATS, n, columns, memoryview(np.ascontiguousarray(a, dtype="<f8")).cast("B"))
    if a.dtype.kind in "iu":
        if a.dtype == np.uint64 and a.size and int(a.max()) >= 1 << 63:
            raise _refuse(f"a whole number of 2^63 or more ({int(a.max())})", "return its high and its low part as two columns")
        return Answer(INTS, n, columns, memoryview(np.ascontiguousarray(a, dtype="<i8")).cast("B"))
    return _words(a.tolist(), n)


def _dtype(a: Any) -> None:
    kind, words = a.dtype.kind, {
        "O": "an object array (numpy found no numeric type for it)",
        "c": "complex numbers",
        "M": "dates",
        "m": "time spans",
        "S": "bytes",
        "V": "a structured array",
    }
    remedies = {
        "O": "return numbers of one type; where rows differ in length, pad them; words go in a list or an array of strings",
        "c": "return the real and the imaginary part as two columns",
        "M": "return numbers, such as seconds",
        "m": "return numbers, such as seconds",
        "S": "decode them to strings",
        "V": "return a plain array with a column for each field",
    }
    if kind in words:
        raise _refuse(words[kind] + (f" of type {a.dtype}" if kind != "O" else ""), remedies[kind])
    if kind == "f" and a.dtype.itemsize > 8:
        raise _refuse(f"numbers of type {a.dtype}", "an audit sees float64: round them as your mechanism's users see them, with .astype(float)")


def _list(values: Any, n: int, want: str) -> Answer:
    if len(values) != n:
        raise _refuse(f"{len(values)} outputs for a request of {n}", want)
    types = set(map(type, values))
    if types == {float}:
        return _floats(values, n, 1)
    if types == {int}:
        try:
            return Answer(INTS, n, 1, _little(array("q", values)))
        except OverflowError:
            pass
    elif np is not None and types and all(issubclass(t, (np.generic, np.ndarray)) for t in types):
        values = [_host(v) for v in values]
        if len({getattr(v, "shape", ()) for v in values}) > 1:
            raise _refuse("outputs of several shapes", "every output has the same columns")
        a = np.asarray(values)
        if a.ndim > 0 and {v.dtype.kind for v in values} <= set("fiu"):
            return _checked(a, n, want)
    return _words([_word(v, want) for v in values], n)


def _floats(values: List[float], n: int, columns: int) -> Answer:
    return Answer(FLOATS, n, columns, _little(array("d", values)))


def _little(a: array[Any]) -> bytes:
    if sys.byteorder == "big":
        a.byteswap()
    return a.tobytes()


def _words(values: List[Any], n: int) -> Answer:
    return Answer(JSON, n, 0, json.dumps(values).encode())


def _word(value: Any, want: str, deep: bool = True) -> Any:
    """A number, a word, or a row of them, as JSON has it."""
    if value is None:
        raise _refuse("None among its outputs", 'return a number, or a word such as "none"')
    if isinstance(value, (bool, int, float, str)):
        return value if type(value) in (bool, int, float, str) else _plain(value)
    if np is not None and isinstance(value, (np.generic, np.ndarray)):
        _dtype(value)
        return _word(value.tolist() if isinstance(value, np.ndarray) else value.item(), want, deep)
    if deep and isinstance(value, (list, tuple)):
        return [_word(v, want, False) for v in value]
    host: Optional[Any] = _host(value)
    if host is not value:
        return _word(host, want, deep)
    if isinstance(value, complex):
        raise _refuse("complex numbers", "return the real and the imaginary part as two columns")
    raise _refuse(f"a {type(value).__name__} as an output", want + "; an output is a number, a word, or a row of them")


def _plain(value: Any) -> Any:
    for t in (int, float, str):
        if isinstance(value, t):
            return t(value)
    return value

