"""What the cases of several libraries share."""

import sys
import types

import numpy as np


def package(name, folder):
    """Makes a package of a folder without running its __init__, which may import
    siblings that need other versions of other libraries. Modules run as they are."""
    p = types.ModuleType(name)
    p.__path__ = [folder]
    sys.modules[name] = p
    return p


def column(rows, i=0):
    return np.array([row[i] for row in rows], dtype=float)
