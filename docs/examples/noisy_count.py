#!/usr/bin/env python3
"""Writes outputs of a noisy count on two neighbouring datasets as CSV.

    python3 noisy_count.py correct > count.csv
    dpscope audit -samples-file count.csv -epsilon 1

Forms: correct (Laplace noise of scale 1/epsilon), half (half the noise that
epsilon needs), exact (the noisy count, and beside it the exact one).
"""
import argparse
import random
import sys


def laplace(rng, scale):
    return rng.expovariate(1 / scale) - rng.expovariate(1 / scale)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("form", choices=["correct", "half", "exact"])
    parser.add_argument("-n", type=int, default=20_000, help="runs on each dataset")
    parser.add_argument("--epsilon", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    rng = random.Random(args.seed)
    scale = 1 / args.epsilon
    if args.form == "half":
        scale /= 2
    columns = ["noisy", "exact", "dataset"] if args.form == "exact" else ["noisy", "dataset"]
    print(",".join(columns))
    for _ in range(args.n):
        for dataset, count in enumerate([42, 41]):
            noisy = count + laplace(rng, scale)
            row = [repr(noisy), count, dataset] if args.form == "exact" else [repr(noisy), dataset]
            print(",".join(map(str, row)))


if __name__ == "__main__":
    sys.exit(main())
