# Noise of the analytic Gaussian mechanism at delta = 1e-5 and sensitivity 1 with
# 40 digits, from theorem 8 of Balle and Wang 2018: python3 gaussian.py (needs
# mpmath).
from mpmath import mp, mpf, exp, findroot, ncdf, nstr

mp.dps = 40


def delta(sigma, eps):
    return ncdf(1 / (2 * sigma) - eps * sigma) - exp(eps) * ncdf(-1 / (2 * sigma) - eps * sigma)


for eps, start in [("0.1", 30), ("0.5", 7), ("1", 3.7), ("2", 2), ("4", 1.08), ("8", 0.6)]:
    eps = mpf(eps)
    print(eps, nstr(findroot(lambda s: delta(s, eps) * 10**5 - 1, start), 16))
