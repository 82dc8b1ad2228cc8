"""GaussianNB of diffprivlib 0.6.4 on two datasets that differ in one example.

    python3 diffprivlib_bayes.py FOLDER

FOLDER is IBM/differential-privacy-library at commit 78522a57527ddfdc5e7aa7a7f8272bdfe7f8b182;
it needs scikit-learn 1.2. It prints the class counts of 200 models of each dataset:
always [4, 0] for the first, never for the second.
"""

import collections
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from diffprivlib.models import GaussianNB  # noqa: E402

for y in ([0, 0, 0, 0], [0, 0, 0, 1]):
    counts = collections.Counter()
    for seed in range(200):
        model = GaussianNB(epsilon=1.0, bounds=(0, 1), random_state=seed)
        model.partial_fit(np.zeros((4, 1)), np.array(y), classes=[0, 1])
        counts[tuple(int(c) for c in model.class_count_)] += 1
    print(y, dict(counts))
