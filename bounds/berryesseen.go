package bounds

import "math"

// berryEsseen tests E W <= 0 for the W of renyiWager, whose mean and variance
// are quadratic in g = e^(-e0/k): W = g Z1 - C, C = Z2/k + 1/alpha.
//
// With n pairs, sample mean m, sample deviation s, R the range of W and
// t = R sqrt(2 log(1/b2)/(n-1)), b2 = beta/50, Maurer and Pontil (2009, theorem
// 10) give s - t <= sigma with probability 1 - b2 and sigma <= s + t likewise.
// |W - E W| <= R, so the third absolute moment is at most R sigma^2, and by
// Berry and Esseen P(m - E W > z sigma/sqrt n) differs from 1 - Phi(z) by at
// most K R/(sigma sqrt n), K = .4748 (Shevtsova 2011; she has .4690 since).
// Reject if
//
//	m > z_r (s + t)/sqrt n,  r = beta - 2 b2 - K R/((s - t) sqrt n) > 0,
//
// z_r the upper r quantile, at least 0. Where both limits hold, r is at most the
// same expression with sigma, r', and rejection means m - E W > z_r' sigma/sqrt n,
// of probability at most r' + K R/(sigma sqrt n) = beta - 2 b2. Together beta.
// The b of rejection are an interval up to 1: t falls and r grows with beta.
type berryEsseen struct {
	n              float64
	mean1, meanC   float64
	var1, varC     float64 // unbiased
	cov            float64
	range1, rangeC float64
	k              float64
	reach          float64
}

const berryEsseenConstant = 0.4748

func berryEsseenOf(t Table, w renyiWager) berryEsseen {
	return pairMoments(t.cells(), float64(t.Pairs()), float64(t.Pairs()), w)
}

// pairMoments takes cells of total weight, standing for n pairs.
func pairMoments(cells []tableCell, total, n float64, w renyiWager) berryEsseen {
	b := berryEsseen{
		n: n, k: w.k, reach: w.reach(),
		range1: largest(w.z1) - smallest(w.z1), rangeC: (largest(w.z2) - smallest(w.z2)) / w.k,
	}
	c := func(bin int) float64 { return w.z2[bin]/w.k + 1/w.alpha }
	for _, k := range cells {
		b.mean1 += k.n / total * w.z1[k.a]
		b.meanC += k.n / total * c(k.b)
	}
	for _, k := range cells {
		d1, dC := w.z1[k.a]-b.mean1, c(k.b)-b.meanC
		b.var1 += k.n / total * d1 * d1
		b.varC += k.n / total * dC * dC
		b.cov += k.n / total * d1 * dC
	}
	unbias := n / math.Max(1, n-1)
	b.var1, b.varC, b.cov = b.var1*unbias, b.varC*unbias, b.cov*unbias
	return b
}

// rejects reports whether D_alpha <= e0 is rejected at beta. Overflow, and
// anything else that is not a number, does not reject.
func (b berryEsseen) rejects(e0, beta float64) bool {
	if b.n < 2 {
		return false
	}
	g := math.Exp(-e0 / b.k)
	width := g*b.range1 + b.rangeC
	s := math.Sqrt(math.Max(0, g*g*b.var1+b.varC-2*g*b.cov))
	share := beta / 50
	t := width * math.Sqrt(2*math.Log(1/share)/(b.n-1))
	rest := beta - 2*share - berryEsseenConstant*width/((s-t)*math.Sqrt(b.n))
	if !(s > t && rest > 0) {
		return false
	}
	z := upperNormal(math.Min(0.5, rest))
	return g*b.mean1-b.meanC > z*(s+t)/math.Sqrt(b.n)+1e-12*(g*b.mean1+b.meanC)
}

// The grid of lower: e0 from finest upwards by a factor.
const (
	finestDivergence = 1e-6
	divergenceStep   = 1.0005
)

// lower returns the last e0 of a fixed grid before the first that is not
// rejected, 0 if that is the first. The hypotheses D_alpha <= e0 are nested, so
// this exceeds D_alpha only if the first true hypothesis of the grid is rejected
// (fixed-sequence testing): no monotonicity of the test in e0 is needed.
func (b berryEsseen) lower(beta float64) float64 {
	last := 0.0
	for e0 := finestDivergence; e0 < b.reach && b.rejects(e0, beta); e0 *= divergenceStep {
		last = e0
	}
	return last
}

func (b berryEsseen) pValue(e0 float64) float64 {
	if !b.rejects(e0, 0.5) {
		return 1
	}
	log, _ := bisect(-math.Log(0.5), -math.Log(minBeta), 1e-9, func(l float64) bool { return b.rejects(e0, math.Exp(-l)) })
	return math.Exp(-log)
}
