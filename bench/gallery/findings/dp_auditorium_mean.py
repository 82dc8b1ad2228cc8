"""The mean of DP-Auditorium that is configured as private, on two datasets of one record.

    python3 dp_auditorium_mean.py FOLDER

FOLDER is google/differential-privacy at commit b5b0286e313b64a692abfc8c528d54ef47d960a0.
It prints how often the output lies within 1e-6 of 0: about 0.30 for [0]. For [1] the
probability is 4.9e-7; of these 100 000 outputs one does by chance.
"""

import importlib
import os
import sys
import types

import numpy as np

root = os.path.join(sys.argv[1], "python", "dp_auditorium", "dp_auditorium")
for name, folder in (("dp_auditorium", root), ("dp_auditorium.mechanisms", os.path.join(root, "mechanisms")),
                     ("dp_auditorium.configs", os.path.join(root, "configs"))):
    package = types.ModuleType(name)  # its __init__ imports TensorFlow, which this does not need
    package.__path__ = [folder]
    sys.modules[name] = package

utils = importlib.import_module("dp_auditorium.mechanisms.mechanisms_utils")
mean = importlib.import_module("dp_auditorium.mechanisms.mean")
config = utils.default_mean_mechanism_config_generator("private_mean", epsilon=1.0)
for record in (0.0, 1.0):
    outputs = mean.MeanMechanism(config, np.random.default_rng(7))(np.array([record]), 100000)
    print([record], np.mean(np.abs(outputs) < 1e-6))
