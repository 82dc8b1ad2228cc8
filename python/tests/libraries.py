"""The libraries that exporters are for, at pinned commits. Tests run them where a folder,
named by DPSCOPE_LIBRARIES, holds a checkout of each below its name; else they hold exporters
against what record.py wrote down of such a run."""

import importlib
import importlib.util
import os
import sys
from pathlib import Path

#: Name of the folder, repository of GitHub, commit, folder inside that is imported from.
PINS = {
    "opacus": ("pytorch/opacus", "637b26a4f090bab590f3c8a902dc6f1663799d6e", ""),  # 1.4.0, for torch 1.13
    "opt_einsum": ("dgasmith/opt_einsum", "c826bb7df16f470a69f7bf90598fc27586209d11", ""),  # 3.3.0, which Opacus needs
    "differential-privacy": ("google/differential-privacy", "b5b0286e313b64a692abfc8c528d54ef47d960a0", "python/dp_accounting"),
    "jax_privacy": ("google-deepmind/jax_privacy", "8967688c26d46f3b74bfdfe61ef1f984b887abab", ""),
}


def put_on_path():
    """Makes them importable; returns what is missing, or nothing."""
    folder = os.environ.get("DPSCOPE_LIBRARIES", "")
    if not folder:
        return "DPSCOPE_LIBRARIES names no folder with checkouts of " + ", ".join(f"{r} at {c[:8]}" for r, c, _ in PINS.values())
    for name, (repository, commit, inside) in PINS.items():
        there = Path(folder, name, inside)
        if not there.is_dir():
            return f"{there} is no folder: check out {repository} at {commit} below {folder}/{name}"
        if str(there) not in sys.path:
            sys.path.append(str(there))
    return ""


def auditing():
    """The module jax_privacy.auditing by itself: the package around it imports JAX."""
    file = Path(os.environ["DPSCOPE_LIBRARIES"], "jax_privacy", "jax_privacy", "auditing.py")
    spec = importlib.util.spec_from_file_location("jax_privacy_auditing", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
