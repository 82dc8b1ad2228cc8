"""Answers dpscope's requests with the code of published libraries.

    python3 main.py CASE EPSILON FOLDER [FOLDER ...]

The first FOLDER holds the library at the commit that catalogue.json names, the
others what it imports. Nothing of a library is changed or copied here: a case
imports it and calls it as its users do. The cases of a library are in cases/, in
the module that the first word of CASE names. Each is a function of the first
folder and epsilon, which returns f(rows, n, rng) -> outputs.
"""

import enum
import importlib
import json
import os
import pkgutil
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")


def plain(value):
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def cases(module):
    return importlib.import_module("cases." + module).CASES


def usage():
    modules = [m.name for m in pkgutil.iter_modules([os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")])]
    names = sorted(name for module in modules for name in cases(module))
    sys.exit("usage: main.py CASE EPSILON FOLDER [FOLDER ...]; cases: " + " ".join(names))


def main():
    if len(sys.argv) < 4:
        usage()
    name, folders = sys.argv[1], [os.path.abspath(f) for f in sys.argv[3:]]
    sys.path[0:0] = folders
    answer = cases(name.split("-")[0])[name](folders[0], float(sys.argv[2]))
    for line in sys.stdin:
        request = json.loads(line)
        out = answer(request["dataset"], request["n"], np.random.default_rng(request["seed"]))
        out = plain(out.tolist() if isinstance(out, np.ndarray) else list(out))
        if out and isinstance(out[0], list) and len(out[0]) == 1:
            out = [v[0] for v in out]
        print(json.dumps({"outputs": out}), flush=True)


main()
