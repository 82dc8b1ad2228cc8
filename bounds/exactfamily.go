package bounds

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// family is a family of null hypotheses about two proportions,
//
//	H(th): p1 <= g(p0; th),  th >= 0,
//
// where g grows with p0 and th, weakly. A lower confidence bound on th is one on the function of p0
// and p1 whose level sets are the edges p1 = g(p0; th): lines, by slope or height, and Gaussian
// trade-off curves.
type family interface {
	rise(th, p0 float64) float64    // g(p0; th); above 1 stands for 1
	back(th, p1 float64) float64    // the p0 at which g is p1; to its left g is below
	through(p0, p1 float64) float64 // the th whose edge holds the point; below 0 where none does
	// curvature bounds the information along the edge over the cell of p0 in [l, r], inside (0, 1),
	// with g inside (0, 1) too.
	curvature(th, l, r float64) curvature
	// limit orders the counts: the largest th with T >= z > 0, 0 if there is none, for a statistic
	// T that grows with x and falls with y and with th.
	limit(c Counts, z float64) float64
	edge(c Counts, th, z float64) edge // of the region {T(.; th) >= z} = {limit >= th}
}

// curvature is the bound K at [sweep.bend] of a cell this wide in the parameter of the edge.
type curvature struct{ width, hit0, miss0, hit1, miss1 float64 }

// line is the family p1 <= slope p0 + height with one of the two for th. Along it p0 is the
// parameter; the information in a success at p is 1/p^2, in a failure 1/(1-p)^2. Counts are ordered
// by the score statistic (Miettinen and Nurminen 1985).
type line struct {
	slope, height float64
	rising        bool // th is the slope, else the height
}

// ratioFamily has epsilon at delta: th = e^epsilon; deltaFamily delta at epsilon: th = delta.
func ratioFamily(delta float64) family { return line{height: delta, rising: true} }

func deltaFamily(eps float64) family { return line{slope: math.Exp(eps)} }

func (f line) at(th float64) (slope, height float64) {
	if f.rising {
		return th, f.height
	}
	return f.slope, th
}

func (f line) rise(th, p0 float64) float64 {
	slope, height := f.at(th)
	return slope*p0 + height
}

func (f line) back(th, p1 float64) float64 {
	slope, height := f.at(th)
	return (p1 - height) / slope
}

func (f line) through(p0, p1 float64) float64 {
	if f.rising {
		return (p1 - f.height) / p0
	}
	return p1 - f.slope*p0
}

func (f line) curvature(th, l, r float64) curvature {
	slope, _ := f.at(th)
	p1l, p1r, sq := f.rise(th, l), f.rise(th, r), slope*slope
	return curvature{r - l, 1 / (l * l), 1 / ((1 - r) * (1 - r)), sq / (p1l * p1l), sq / ((1 - p1r) * (1 - p1r))}
}

func (f line) limit(c Counts, z float64) float64 {
	if f.rising {
		return newNullFit(c, f.height).limit(z)
	}
	// T falls with the height as it does with the slope (proof at nullFit): by bisection.
	in := func(height float64) bool { return newNullFit(c, height).limit(z) > f.slope }
	top := float64(c.X)/float64(c.N1) - f.slope*float64(c.Y)/float64(c.N0)
	height, _ := Bisect(0, max(0, top), 0, in)
	return height
}

func (f line) edge(c Counts, th, z float64) edge {
	slope, height := f.at(th)
	return &cutCurve{n1: float64(c.N1), n0: float64(c.N0), delta: height, th: slope, z: z}
}

// gaussian is the family p1 <= Phi(Phi^-1(p0) + mu): th = mu. Along it u = Phi^-1(p0) is the
// parameter; the information in a success is drag(u), in a failure drag(-u), and drag falls with u.
// Counts are ordered by the signed root of the likelihood ratio,
//
//	T = sqrt(2 (l(x/n1, y/n0) - sup over the null set of th of l)).
//
// It falls with th, since the null sets grow. The fit on the null set has p0 >= y/n0 and p1 <=
// x/n1: to move a coordinate to the estimate would stay in the set and gain. So by the envelope
// theorem T^2/2 grows with x, by logit(x/n1) - logit(p1), and falls with y, by logit(y/n0) -
// logit(p0).
type gaussian struct{}

const quarter = 0.25

// mostMu is above any mu that fewer than 2^40 outputs show.
const mostMu = 40

func (gaussian) rise(th, p0 float64) float64 {
	if p0 <= 0 || p0 >= 1 {
		return p0
	}
	return normalCDF(mathext.NormalQuantile(p0) + th)
}

func (g gaussian) back(th, p1 float64) float64 { return g.rise(-th, p1) }

func (gaussian) through(p0, p1 float64) float64 {
	switch {
	case p1 <= 0 || p0 >= 1:
		return -mostMu
	case p1 >= 1 || p0 <= 0:
		return mostMu
	}
	return min(mostMu, mathext.NormalQuantile(p1)-mathext.NormalQuantile(p0))
}

func (gaussian) curvature(th, l, r float64) curvature {
	ul, ur := mathext.NormalQuantile(l), mathext.NormalQuantile(r)
	return curvature{(ur - ul) * (1 + 1e-9), drag(ul), drag(-ur), drag(ul + th), drag(-ur - th)}
}

func (g gaussian) limit(c Counts, z float64) float64 {
	f := fitted(float64(c.X), c.N1, float64(c.Y), c.N0)
	top := min(mostMu, f.second()-f.first())
	if !(top > 0) {
		return 0
	}
	mu, _ := Bisect(0, top, 1e-13, func(mu float64) bool { return f.root(mu) >= z })
	return mu
}

func (gaussian) edge(c Counts, th, z float64) edge {
	return &gaussianCurve{n1: c.N1, n0: c.N0, th: th, z: z}
}

// slopeOf is (log Phi)'(u) = phi(u)/Phi(u), the pull of a success.
func slopeOf(u float64) float64 {
	if u < 0 {
		return 1 / mills(-u)
	}
	return math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) / normalCDF(u)
}

// drag is -(log Phi)”(u), 1 less the variance of a normal variable known to lie below u: from 1
// down to 0.
func drag(u float64) float64 {
	if u < -9 {
		return 1 // it is above .98
	}
	m := slopeOf(u)
	return min(1, m*(m+u)*(1+1e-9))
}

// gaussianFit are counts with quarters added. On the probit scale their log likelihood is concave.
type gaussianFit struct{ x, n1, y, n0 float64 }

func fitted(x float64, n1 int, y float64, n0 int) gaussianFit {
	return gaussianFit{x: x + quarter, n1: float64(n1) + 2*quarter, y: y + quarter, n0: float64(n0) + 2*quarter}
}

func (f gaussianFit) first() float64  { return mathext.NormalQuantile(f.y / f.n0) }
func (f gaussianFit) second() float64 { return mathext.NormalQuantile(f.x / f.n1) }

// pull is the derivative of the log likelihood of k of n at u, and drawn less its second.
func pull(k, n, u float64) (first, second float64) {
	up, down := slopeOf(u), slopeOf(-u)
	return k*up - (n-k)*down, k*up*(up+u) + (n-k)*down*(down-u)
}

// root is T at mu: the fit lies between the estimates, and Newton's steps find it.
func (f gaussianFit) root(mu float64) float64 {
	lo, hi := f.first(), f.second()-mu
	if lo >= hi {
		return 0
	}
	u := lo + (hi-lo)*f.n1/(f.n1+f.n0)
	for range 100 {
		a, da := pull(f.y, f.n0, u)
		b, db := pull(f.x, f.n1, u+mu)
		if a+b > 0 {
			lo = u
		} else {
			hi = u
		}
		next := u + (a+b)/(da+db)
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		if math.Abs(next-u) <= 1e-13*(1+math.Abs(u)) || next <= lo || next >= hi {
			break
		}
		u = next
	}
	return math.Sqrt(2 * (misfit(f.y, f.n0, u) + misfit(f.x, f.n1, u+mu)))
}

// misfit is n times the Kullback-Leibler divergence of k/n from Phi(u), without cancellation: the
// sum of m ((1+r) log(1+r) - r) of expected counts m.
func misfit(k, n, u float64) float64 {
	return deviance(k, n*normalCDF(u)) + deviance(n-k, n*normalCDF(-u))
}

func deviance(k, m float64) float64 {
	if k <= 0 {
		return m
	}
	r := (k - m) / m
	if math.Abs(r) < 1e-3 {
		return m * r * r * (0.5 - r*(1.0/6-r*(1.0/12-r*(1.0/20-r/30))))
	}
	return m * ((1+r)*math.Log1p(r) - r)
}

// gaussianCurve solves T = z for x at given y. The fits with this y are told by the u of their p0,
// from Phi^-1(y/n0) upwards: the derivative along the edge vanishes at x, so both grow with u.
type gaussianCurve struct {
	n1, n0 int
	th, z  float64
	last   float64 // how far from the estimate the previous solution lay
}

func (k *gaussianCurve) at(y float64) (x float64, ok bool) {
	f := fitted(float64(k.n1), k.n1, y, k.n0)
	if t := f.root(k.th); t < k.z {
		return 0, false // not even at x = n1
	}
	top := f.x
	start := f.first()
	lo, hi := start, f.second()
	u := start + k.last
	if !(k.last > 0 && u < hi) {
		u = min(start+0.5, start+(hi-start)/2)
	}
	for range 100 {
		v := u + k.th
		a, da := pull(f.y, f.n0, u)
		up, down := slopeOf(v), slopeOf(-v)
		f.x = (f.n1*down - a) / (up + down)
		beyond := f.x >= top
		if beyond {
			f.x = top
		}
		t := math.Sqrt(2 * (misfit(f.y, f.n0, u) + misfit(f.x, f.n1, v)))
		if beyond || t >= k.z {
			hi = u
		} else {
			lo = u
		}
		next := lo + (hi-lo)/2
		if !beyond {
			// T T' = (logit of the estimate - logit of the fit) x'.
			slope := (math.Log(f.x/(f.n1-f.x)) - math.Log(normalCDF(v)/normalCDF(-v))) / t *
				(da + f.x*up*(up+v) + (f.n1-f.x)*down*(down-v)) / (up + down)
			if n := u - (t-k.z)/slope; n > lo && n < hi {
				next = n
			}
		}
		if math.Abs(next-u) <= 1e-13*(1+math.Abs(u)) {
			break
		}
		u = next
	}
	k.last = u - start
	return f.x - quarter, true
}

// ExactDelta is an exact lower confidence bound on p1 - e^eps p0, hence on the delta for which
// (eps, delta) can hold, by the construction of [Exact]. Rounded down to nine decimals.
func ExactDelta(c Counts, eps, beta float64) float64 {
	mustBeSound(c, 0, beta)
	Refuse(!(math.Abs(eps) <= 700), "epsilon must be at most 700")
	return max(0, math.Floor((bound(c, deltaFamily(eps), beta)-1e-12)*1e9)/1e9)
}

// ExactMu is an exact lower confidence bound on Phi^-1(p1) - Phi^-1(p0), hence on the mu of GDP, by
// the construction of [Exact]. A mu-GDP mechanism has p1 <= Phi(Phi^-1(p0) + mu) for every event
// (Dong, Roth and Su 2022), so it refutes every smaller mu of any mechanism.
func ExactMu(c Counts, beta float64) float64 {
	mustBeSound(c, 0, beta)
	return max(0, RoundDown(bound(c, gaussian{}, beta)))
}

// MuPValue is a p-value of the claim of mu-GDP whose verdict at level beta is that of [ExactMu].
func MuPValue(c Counts, mu, beta float64) float64 {
	mustBeSound(c, 0, beta)
	Must(CheckClaim(mu))
	return pValueOf(c, gaussian{}, mu, beta, func() bool { return ExactMu(c, beta) > mu })
}

// RatioLimits are limits of log(p1/p0) for pictures: they miss with probability at most beta, by
// the union bound, for a fixed number of outputs, or, with anytime, by [ProportionSequence].
func RatioLimits(c Counts, beta float64, anytime bool) (low, high float64) {
	var b box
	if anytime {
		b.low1, b.high1 = ProportionSequence(c.X, c.N1, beta/2)
		b.low0, b.high0 = ProportionSequence(c.Y, c.N0, beta/2)
	} else {
		b = nuisance(c, beta)
	}
	return math.Log(b.low1 / b.high0), math.Log(b.high1 / b.low0)
}

// ProportionSequence are limits of a binomial proportion that hold at all n at once with
// probability 1 - beta: the p against which a mixture of bets, with the arcsine distribution of
// Krichevsky and Trofimov, has never made more than 1/beta by k of n outputs (Robbins 1970; Ville
// 1939), a relative 1e-9 wider.
func ProportionSequence(k, n int, beta float64) (low, up float64) {
	mustBeProportion(k, n, beta)
	x, y := float64(k), float64(n-k)
	lg := func(v float64) float64 { l, _ := math.Lgamma(v); return l }
	// Of the mixture; B(1/2, 1/2) is pi.
	mixed := lg(x+0.5) + lg(y+0.5) - lg(x+y+1) - math.Log(math.Pi)
	most := -math.Log(beta)
	// The log of what the bets made against p; it falls until k/n and rises beyond.
	made := func(p float64) float64 {
		v := mixed
		if k > 0 {
			v -= float64(x * math.Log(p))
		}
		if k < n {
			v -= float64(y * math.Log1p(-p))
		}
		return v
	}
	estimate := x / float64(n)
	up = 1
	if k > 0 {
		last, _ := Bisect(0, estimate, 0, func(p float64) bool { return made(p) > most })
		low = last * (1 - 1e-9)
	}
	if k < n {
		last, _ := Bisect(-1, -estimate, 0, func(p float64) bool { return made(-p) > most })
		up = min(1, -last*(1+1e-9))
	}
	return low, up
}
