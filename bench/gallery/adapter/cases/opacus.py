"""Opacus (pytorch/opacus)."""

import importlib


def step(name, *settings):
    """A case of opacus_steps, which imports PyTorch."""
    return lambda folder, epsilon: getattr(importlib.import_module("opacus_steps"), name)(*settings)


CASES = {
    "opacus-closure": step("closure"),
    "opacus-ghost": step("ghost"),
    "opacus-bias": step("bias"),
    "opacus-cardinality": step("cardinality", 1),
    "opacus-cardinality-dimensions": step("cardinality", 32, 5),
    "opacus-sum": step("cardinality", 1, None, "sum"),
}
