"""Answers requests for trainings by a Python function, by the protocol of docs/training.md:
a line of JSON each way."""

from __future__ import annotations

import inspect
import json
import random
from typing import IO, Any, Callable, List, Optional

from . import _outputs
from ._errors import InputError, noted
from ._numpy import np
from ._serve import answered, name_of

#: f(members, rng) trains once and returns the score of every canary.
Training = Callable[[Any, Any], Any]


def check(train: Training) -> None:
    """Refuses what is not called as f(members, rng)."""
    if not callable(train):
        raise InputError(f"train is {train!r}, must be a function f(members, rng)")
    if inspect.iscoroutinefunction(train) or inspect.isgeneratorfunction(train):
        raise InputError(f"{name_of(train)} is asynchronous or a generator: give a function that returns the scores")
    try:
        inspect.signature(train).bind(None, None)
    except TypeError as e:
        raise InputError(f"{name_of(train)}{inspect.signature(train)} is not a function f(members, rng), which trains on the canaries that are members and returns the score of every canary ({e})") from e
    except ValueError:
        pass  # of another language: it shows when it is called


def scores(value: Any, n: int) -> List[float]:
    """What a training returned, as a score for each of n canaries."""
    value = _outputs._host(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    try:
        got = [float(v) for v in value]
    except (TypeError, ValueError) as e:
        raise InputError(f"the training returned no list of numbers ({e}): return the score of every canary, members or not") from e
    if len(got) != n:
        raise InputError(f"the training returned {len(got)} scores for {n} canaries: return the score of every canary, members or not")
    return got


class TrainServer:
    """Answers for one function that trains. ``error`` is what it raised."""

    def __init__(self, train: Training) -> None:
        check(train)
        self.train = train
        self.error: Optional[BaseException] = None
        self.trainings = 0

    def serve(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        """Answers until the requests end. What the function raises is kept, and told; an
        interrupt goes through."""
        while True:
            line = requests.readline()
            if not line.endswith(b"\n"):
                return
            request = json.loads(line)
            answer, why = answered(self, "training", "scores", lambda: self.once(request["members"], request["seed"]))
            if why is not None:
                answer = {"error": why}
            elif answer is None:
                return
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()

    def once(self, members: List[int], seed: int) -> Any:
        """One training, as its answer."""
        self.trainings += 1
        try:
            if np is not None:
                got = self.train(np.array(members, dtype=bool), np.random.default_rng(seed))
            else:
                got = self.train([m == 1 for m in members], random.Random(seed))
            return {"seed": seed, "scores": scores(got, len(members))}
        except Exception as e:
            noted(e, f"dpscope asked for a training with the canaries {[i for i, m in enumerate(members) if m == 1]} of {len(members)} as members, with seed {seed}.")
            raise
