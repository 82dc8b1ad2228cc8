"""The layouts of the files: docs/samples.md and docs/claims.md."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import random
from typing import Any, Dict, Iterable, List, Tuple, Union

from .._errors import InputError
from .._numpy import np

#: The name of a file.
File = Union[str, "os.PathLike[str]"]


def coins(n: int, seed: int) -> List[bool]:
    """A fair coin for each of n canaries: whether it goes into the training data. Bounds
    from one training hold only for such coins. Choose the seed beforehand, different from
    the seed of the training."""
    if n < 1:
        raise InputError(f"there are {n} canaries, must be at least 1")
    rng = random.Random(seed)
    return [rng.random() < 0.5 for _ in range(n)]


def write_scores(file: File, scores: Any, members: Any) -> None:
    """Writes membership scores: a number for each canary, higher if it looks more like a
    member, and whether it was one. Both of shape (canaries) for one training, or of
    (trainings, canaries); lists, numpy arrays or tensors. The name ends with .npz, which
    needs numpy, or with .csv."""
    flat, values = _table("scores", scores)
    once, inside = _table("members", members)
    if flat != once or [len(r) for r in values] != [len(r) for r in inside]:
        raise InputError(f"scores have the shape {_shape(flat, values)} and members {_shape(once, inside)}: give one of each for each canary")
    if not all(math.isfinite(v) for r in values for v in r):
        raise InputError(
            "scores hold NaN or infinity: where a training diverged, give all of its canaries the lowest score; leaving the training out biases the bound"
        )
    if {v for r in inside for v in r} != {0.0, 1.0}:
        raise InputError("members must be 1 for canaries that were in and 0 for those that were out, and some of each")
    name = os.fspath(file)
    if name.endswith(".npz"):
        if np is None:
            raise InputError(f"{name} needs numpy: install it, or end the name with .csv")
        if len({len(r) for r in values}) != 1:
            raise InputError("trainings have different numbers of canaries: end the name with .csv")
        out = io.BytesIO()
        np.savez(out, score=np.array(values[0] if flat else values), member=np.array(inside[0] if flat else inside) == 1)
        _write(name, out.getvalue())
    elif name.endswith(".csv"):
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(["score", "member"] if flat else ["run", "score", "member"])
        for i, (row, was) in enumerate(zip(values, inside)):
            lines.writerows(([] if flat else [i]) + [repr(v), int(m)] for v, m in zip(row, was))
        _write(name, text.getvalue().encode())
    else:
        raise InputError(f"{name} has no known ending: end it with .npz or .csv")


def write_curve(file: File, points: Iterable[Tuple[float, float]], source: str) -> None:
    """Writes a claim as a curve, pairs of epsilon and the delta that is claimed there.
    ``source`` says in words who claims it."""
    kept: List[Dict[str, float]] = []
    for epsilon, delta in points:
        if math.isnan(epsilon) or math.isnan(delta) or epsilon < 0 or delta < 0:
            raise InputError(f"a point of the curve is epsilon {epsilon} at delta {delta}: both must be numbers of at least 0")
        if math.isfinite(epsilon) and delta < 1:  # others claim nothing
            kept.append({"epsilon": float(epsilon), "delta": float(delta)})
    if not kept:
        raise InputError(f"the curve of {source} has no point with a finite epsilon and a delta below 1, so it claims nothing")
    write_json(file, {"points": sorted(kept, key=lambda p: (p["epsilon"], p["delta"])), "source": source})


def write_json(file: File, value: Any) -> None:
    """Writes a value as JSON."""
    _write(os.fspath(file), (json.dumps(value, indent=1) + "\n").encode())


def _write(name: str, data: bytes) -> None:
    """Writes a file whole or not at all."""
    beside = f"{name}.{os.getpid()}.part"
    try:
        with open(beside, "wb") as f:
            f.write(data)
        os.replace(beside, name)
    except BaseException:
        if os.path.exists(beside):
            os.remove(beside)
        raise


def _plain(values: Any) -> Any:
    for step in ("detach", "cpu", "tolist"):  # of tensors, tensors of a GPU, arrays
        if hasattr(values, step):
            values = getattr(values, step)()
    return values


def _table(name: str, values: Any) -> Tuple[bool, List[List[float]]]:
    """Rows of numbers; one row, and true, of a list of numbers."""
    try:
        rows = [_plain(r) for r in _plain(values)]
        flat = not any(hasattr(r, "__len__") for r in rows)
        table = [[float(v) for v in row] for row in ([rows] if flat else rows)]
    except (TypeError, ValueError) as e:
        raise InputError(f"{name} are not numbers of shape (canaries) or (trainings, canaries) ({e})") from e
    if not all(table):
        raise InputError(f"{name} are empty: give a number for each canary")
    return flat, table


def _shape(flat: bool, table: List[List[float]]) -> Tuple[int, ...]:
    return (len(table[0]),) if flat else (len(table), len(table[0]))
