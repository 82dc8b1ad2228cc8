package bounds

import (
	"math"
	"math/cmplx"

	"github.com/dpscope/dpscope/audit"
	"gonum.org/v1/gonum/dsp/fourier"
)

// OneRunCeiling is what no lower bound on epsilon at delta that is valid at level beta for every
// mechanism exceeds in half of all audits, if an audit is runs independent runs (1 to 8) with m
// canaries whose independent scores are N(mu, 1) in and N(0, 1) out.
//
// It is the least eps, to .001, at which [OneRunMostPower] is below 1/2: bounds above eps are tests
// of eps. Cost: some seconds.
func OneRunCeiling(m, runs int, mu, delta, beta float64) float64 {
	_, least := Bisect(0, GaussianEpsilon(mu, delta)+2e-6, 1e-3, func(eps float64) bool { return OneRunMostPower(m, runs, mu, eps, delta, beta) >= 0.5 })
	return least
}

// OneRunMostPower is an upper bound on the probability with which any test of level beta of the
// claim (eps, delta) refutes it in such an audit.
//
// Proof. Let x be the log-odds of a canary's coin given its score, |x| how loud it is, and say that
// it tells right where its sign is that of the coin. Under the truth G a canary of loudness x tells
// right with probability s(x) = 1/(1 + e^-x). Let K be the mechanism whose canaries are as loud,
// independently, and tell right with probability min(s(x), s(e)), with an e >= eps. Each keeps
// (eps, d) with
//
//	d = E max(0, min(s, s(e)) - e^eps (1 - min(s, s(e)))), the mean over the loudness,
//
// d = 0 at e = eps. The mechanism N is G for all canaries with probability p, and else K for all.
// As p D + (1-p) d = delta with the D of G at eps, it keeps (eps, delta) for every canary in every
// run, so the test refutes in it with probability at most beta, and in G, for every kappa >= 0,
// with at most
//
//	kappa beta + E max(0, 1 - kappa dN/dG), the mean under G,
//
// as in the lemma of Neyman and Pearson. dN/dG is p + (1-p) e^-X in a run, X the sum of log dG/dK
// over its canaries, computed on a lattice: what lies between two of its points, of mass g under G
// and k under K, is moved to both so that g and k stay. So the lattice tells G and N apart better
// than the scores do, and the bound stays one; sums beyond its ends are moved up.
//
// The least of five e is taken, at which K has 0, 1/4, 1/2, 3/4 or all but a hundredth of delta.
func OneRunMostPower(m, runs int, mu, eps, delta, beta float64) float64 {
	mustBeOneRun(m, 1, 0, delta)
	Must(CheckClaim(mu), CheckClaim(eps), CheckBeta(beta))
	Refuse(mu == 0 || runs < 1 || runs > 8, "mu or runs out of range")
	all := GaussianDelta(mu, eps)
	if all <= delta {
		return beta
	}
	least := 1.0
	for _, share := range []float64{0, 0.25, 0.5, 0.75, 0.99} {
		at, _ := Bisect(eps, eps+60, 1e-6, func(e float64) bool { return cappedDelta(mu, eps, e) <= share*delta })
		d := cappedDelta(mu, eps, at)
		p := max(0, (delta-d)/(all-d))
		least = min(least, oneRunRatio(m, mu, at).mix(p).power(runs, beta))
		if delta == 0 {
			break
		}
	}
	return least
}

func cappedDelta(mu, eps, cap float64) float64 {
	// Louder than eps, and not than cap: as G. Louder than cap: right with s(cap).
	below := func(x float64) float64 { return normalCDF(mu/2 - x/mu) } // right and louder than x
	above := func(x float64) float64 { return normalCDF(-mu/2 - x/mu) }
	odds, q := math.Exp(eps), 1/(1+math.Exp(-cap))
	between := below(eps) - below(cap) - odds*(above(eps)-above(cap))
	return max(0, between) + max(0, (q-odds*(1-q))*(below(cap)+above(cap)))
}

// ratio is the law under G of the log likelihood ratio of G to another law: law[i] of (i - zero)
// step.
type ratio struct {
	law  []float64
	step float64
}

const (
	ratioSize = 1 << 16
	zero      = ratioSize / 2
)

// newRatio is one whose lattice ends at most; it goes as far down.
func newRatio(most float64) ratio { return ratio{make([]float64, ratioSize), most / (zero - 1)} }

// add moves mass g under G and k under the other, of ratios between point i and the next, to both.
func (r ratio) add(i int, g, k float64) {
	i = min(max(i, 1-zero), zero-2)
	lo, hi := math.Exp(-float64(i)*r.step), math.Exp(-float64(i+1)*r.step)
	down := min(g, max(0, (k-g*hi)/(lo-hi)))
	r.law[zero+i] += down
	r.law[zero+i+1] += g - down
}

// oneRunRatio is that of G to K, whose cap is e, of one run.
func oneRunRatio(m int, mu, e float64) ratio {
	q := 1 / (1 + math.Exp(-e))
	// Mean and variance of one canary by sums over its loudness, for the size of the lattice.
	mean, square := 0.0, 0.0
	right := func(x float64) float64 { return normalCDF(mu/2 - x/mu) }
	wrong := func(x float64) float64 { return normalCDF(-mu/2 - x/mu) }
	for x := e; x < e+40; x += 0.05 {
		g, b := right(x)-right(x+0.05), wrong(x)-wrong(x+0.05)
		u, v := -math.Log1p(math.Exp(-x-0.05))-math.Log(q), -x-math.Log1p(math.Exp(-x))+e+math.Log1p(math.Exp(-e))
		mean, square = mean+g*u+b*v, square+g*u*u+b*v*v
	}
	n := float64(m)
	r := newRatio(max(8, n*mean+12*math.Sqrt(n*square)+2))
	rest := 1 - right(e) - wrong(e)
	// Right: from point to point of the lattice, as far as any is.
	loud := func(x float64) float64 { // of the loudness whose right ones have the ratio x
		if y := q * math.Exp(x); y < 1 {
			return math.Log(y / (1 - y))
		}
		return inf
	}
	for i := 0; ; i++ {
		from, to := loud(float64(i)*r.step), loud(float64(i+1)*r.step)
		g := right(from) - right(to)
		r.add(i, g, q*(g+wrong(from)-wrong(to)))
		if to == inf {
			break
		}
	}
	hush := func(x float64) float64 { // of the loudness whose wrong ones have the ratio x
		y := (1 - q) * math.Exp(x)
		return math.Log((1 - y) / y)
	}
	for i := -1; i > -zero; i-- {
		from, to := hush(float64(i+1)*r.step), hush(float64(i)*r.step)
		if i == 1-zero {
			to = inf
		}
		g := wrong(from) - wrong(to)
		if wrong(from) == 0 {
			break
		}
		r.add(i, g, (1-q)*(g+right(from)-right(to)))
	}
	r.law[zero] += rest
	return r.sum(m)
}

func (r ratio) sum(n int) ratio {
	if n == 1 {
		return r
	}
	turned := make([]float64, ratioSize)
	for i, p := range r.law {
		turned[(i+zero)%ratioSize] = p
	}
	f := fourier.NewFFT(ratioSize)
	c := f.Coefficients(nil, turned)
	for i, x := range c {
		c[i] = cmplx.Pow(x, complex(float64(n), 0))
	}
	f.Sequence(turned, c)
	return ratio{audit.Listed(ratioSize, func(i int) float64 {
		return max(0, turned[(i+zero)%ratioSize]/ratioSize)
	}), r.step}
}

// mix makes the other law one that is G with probability p.
func (r ratio) mix(p float64) ratio {
	most := min((zero-1)*r.step, -math.Log(p))
	out := newRatio(max(8*most, 1)) // for as many runs as are allowed
	for i, g := range r.law {
		k := p*g + (1-p)*g*math.Exp(-float64(i-zero)*r.step)
		if g > 0 {
			out.add(int(math.Floor(math.Log(g/k)/out.step)), g, k)
		}
	}
	return out
}

// power is the least of kappa beta + E max(0, 1 - kappa dN/dG) for so many runs.
func (r ratio) power(runs int, beta float64) float64 {
	sum := r.sum(runs)
	least, truth, other := 1.0, 0.0, 0.0
	for i := len(sum.law) - 1; i >= 0; i-- {
		x := float64(i-zero) * sum.step
		if x < -3 {
			break
		}
		least = min(least, truth+math.Exp(x)*(beta-other))
		truth, other = truth+sum.law[i], other+sum.law[i]*math.Exp(-x)
	}
	return max(beta, min(1, least))
}
