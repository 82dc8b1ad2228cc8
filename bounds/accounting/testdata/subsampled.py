# Renyi divergence of the Poisson-sampled Gaussian mechanism by integration with
# 60 digits: python3 subsampled.py > subsampled.json (needs mpmath).
import json
from mpmath import mp, mpf, exp, log, quad, npdf, linspace

mp.dps = 60


def divergence(q, sigma, alpha):
    q, sigma, alpha = mpf(q), mpf(sigma), mpf(alpha)

    def excess(z):
        w = q * (exp((2 * z - 1) / (2 * sigma**2)) - 1)
        if alpha == 1:
            return npdf(z, 0, sigma) * ((1 + w) * log(1 + w) - w)
        return npdf(z, 0, sigma) * ((1 + w) ** alpha - 1 - alpha * w)

    ends = linspace(-16 * sigma, alpha + 16 * sigma, 2 + int((alpha + 32 * sigma) / min(sigma, 4 * sigma**2)))
    mean = quad(excess, ends, maxdegree=6)
    return mean if alpha == 1 else log(1 + mean) / (alpha - 1)


rows = []
for q, sigma, alpha in [
    ("1e-7", "0.1", "1.01"), ("1e-6", "0.1", "1.5"), ("1e-5", "0.1", "6.1"), ("1e-6", "1", "27"),
    ("1e-4", "1", "1.5"), ("1e-3", "1", "2"), ("0.01", "10", "20"), ("0.1", "100", "20.5"),
    ("0.99", "0.1", "6"), ("0.999", "100", "56.1"), ("0.01", "1", "1"), ("0.5", "0.4", "1"),
    ("0.04", "1.5", "3.9"), ("0.04", "1.5", "4"), ("1e-9", "50", "1.001"), ("1e-4", "1000", "300.5"),
    ("0.2", "0.3", "2.2"), ("0.9", "3", "40"), ("0.3", "2.9", "63.5"), ("1e-12", "2", "2"),
]:
    rows.append({"rate": float(q), "sigma": float(sigma), "alpha": float(alpha),
                 "divergence": float(divergence(q, sigma, alpha))})
print("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]")
