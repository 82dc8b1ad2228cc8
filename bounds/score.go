package bounds

import "math"

// nullFit is the maximum-likelihood fit under p1 = th p0 + delta, written for
// one pair of counts with X/N1 > delta. Its path over all th has a closed form
// in e = p1 - delta:
//
//	lambda = (x - n1 p1)/(p1 q1)             slope of the first log likelihood
//	p0     = (y + lambda e)/(n0 + lambda e)  from th lambda + l0'(p0) = 0
//	th     = e/p0
//
// and the score statistic of Miettinen and Nurminen (1985), T = excess/sqrt(V)
// with excess = x/n1 - th y/n0 - delta and V = p1 q1/n1 + th^2 p0 q0/n0 at the
// fit, satisfies excess = lambda V, hence
//
//	T^2 = lambda * excess.
//
// That gives the three monotonicities on which [Exact] rests. Where T > 0 both
// factors are positive, and
//   - as th grows, excess falls, and so does lambda, because p1 of the fit grows
//     (at fixed p1 the slope l1' + l0'/th of the profile has derivative
//     (-1/th^2) d(p0 l0')/dp0 = (n0-y)(1/q0 + p0/q0^2)/th^2 >= 0 in th) and l1' is
//     decreasing: T falls with th;
//   - as x grows, excess grows, and p0 of the fit grows, so lambda = -l0'(p0)/th
//     grows, l0 being concave: T grows with x;
//   - as y grows, excess falls, p1 of the fit grows, lambda = l1'(p1) falls:
//     T falls with y.
//
// On the edges of the square (p0 = 0 with y = 0; p1 = 1 with x = n1) the fit
// stays on the edge, lambda is read off the other coordinate, and the same
// signs hold.
type nullFit struct {
	x, n1, y, n0, delta float64
}

func newNullFit(c Counts, delta float64) nullFit {
	return nullFit{float64(c.X), float64(c.N1), float64(c.Y), float64(c.N0), delta}
}

// top is the largest e of the path: the unconstrained estimate.
func (f nullFit) top() float64 { return f.x/f.n1 - f.delta }

// at returns th and T at the point e of the path, 0 < e < top().
func (f nullFit) at(e float64) (th, t float64) {
	p1 := f.delta + e
	lambda := f.n1 / p1
	if f.x < f.n1 {
		lambda = (f.x - f.n1*p1) / (p1 * (1 - p1))
	}
	pull := lambda * e
	excess := f.top()
	if f.y == 0 {
		th = (f.n0 + pull) / lambda
	} else {
		th = e * (f.n0 + pull) / (f.y + pull)
		excess -= th * f.y / f.n0
	}
	return th, math.Sqrt(math.Max(0, lambda) * math.Max(0, excess))
}

// limit returns the largest th with T >= z > 0, 0 if there is none.
func (f nullFit) limit(z float64) float64 {
	if f.top() <= 0 {
		return 0
	}
	if f.x == f.n1 {
		if _, t := f.at(f.top()); t >= z {
			// (p - s)^2 n0 = z^2 p (1-p): Wilson's upper limit.
			s, k := f.y/f.n0, z*z/f.n0
			p := (s + k/2 + math.Sqrt(k*k/4+k*s*(1-s))) / (1 + k)
			return (1 - f.delta) / p
		}
	}
	lo, hi := 0.0, f.top()
	for range 200 {
		mid := (lo + hi) / 2
		if mid <= lo || mid >= hi {
			break
		}
		if _, t := f.at(mid); t >= z {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return 0
	}
	th, _ := f.at(lo)
	return th
}

// Score returns the lower score limit of Koopman (1984) for delta = 0 and
// Miettinen and Nurminen (1985): the largest epsilon that the score test at
// level beta rejects. Asymptotic: its true error at beta = .05 reaches .059
// (n = 500) and .071 (with delta = .01), so it must not certify; [Exact]
// corrects it. beta above .4 is taken as .4. -Inf if no epsilon is rejected.
func Score(c Counts, delta, beta float64) float64 {
	mustBeSound(c, delta, beta)
	return math.Log(newNullFit(c, delta).limit(scoreCut(beta)))
}

// scoreCut is the cut of the score statistic at level beta, kept positive: the
// monotonicities above hold for T > 0.
func scoreCut(beta float64) float64 {
	return upperNormal(math.Min(beta, 0.4))
}
