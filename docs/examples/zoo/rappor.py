"""RAPPOR of Erlingsson, Pihur and Korolova (2014) for a value from 0 to 99: a Bloom
filter of 20 bits with 4 hashes, each bit replaced by a coin with probability f, and
then, unless "once", reported by 0.55 and 0.45.

    dpscope audit -exec 'python3 rappor.py 0.75' -relation replace -rows 1 -domain 0:99 -integer -epsilon 0.1
"""
import hashlib
import sys

from serve import serve

f, once = float(sys.argv[1]), "once" in sys.argv
cache = {}


def bloom(value):
    if value not in cache:
        bits = [0] * 20
        for k in range(4):
            bits[int(hashlib.md5(("%d:%d" % (k, value)).encode()).hexdigest(), 16) % 20] = 1
        cache[value] = bits
    return cache[value]


def rappor(rows, rng):
    out = []
    for bit in bloom(int(rows[0][0])):
        if rng.random() < f:
            bit = rng.random() < 0.5
        if not once:
            bit = rng.random() < (0.55 if bit else 0.45)
        out.append(bool(bit))
    return out


serve(rappor)
