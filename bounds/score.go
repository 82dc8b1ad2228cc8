package bounds

import "math"

// nullFit is the maximum-likelihood fit under p1 = th p0 + delta, for one pair of counts with X/N1
// > delta. Its path over all th has a closed form in e = p1 - delta:
//
//	lambda = (x - n1 p1)/(p1 q1)             slope of the first log likelihood
//	p0     = (y + lambda e)/(n0 + lambda e)  from th lambda + l0'(p0) = 0
//	th     = e/p0
//
// and the score statistic of Miettinen and Nurminen (1985), T = excess/sqrt(V) with excess = x/n1 -
// th y/n0 - delta and V = p1 q1/n1 + th^2 p0 q0/n0 at the fit, satisfies excess = lambda V, hence
//
//	T^2 = lambda * excess.
//
// That gives the three monotonicities on which [Exact] rests. Where T > 0 both factors are
// positive, and
//   - as th grows, excess falls, and so does lambda = l1'(p1), because p1 of the fit grows (at
//     fixed p1 the slope l1' + l0'/th of the profile has derivative (-1/th^2) d(p0 l0')/dp0 =
//     (n0-y)(1/q0 + p0/q0^2)/th^2 >= 0 in th): T falls with th;
//   - as x grows, excess grows, and p0 of the fit grows, so lambda = -l0'(p0)/th grows, l0 being
//     concave: T grows with x;
//   - as y grows, excess falls, p1 of the fit grows, lambda falls: T falls with y.
//
// On the edges of the square (p0 = 0 with y = 0; p1 = 1 with x = n1) the fit stays on the edge,
// lambda is read off the other coordinate, and the same signs hold.
type nullFit struct{ x, n1, y, n0, delta float64 }

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
	return th, math.Sqrt(max(0, lambda) * max(0, excess))
}

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
	lo, _ := Bisect(0, f.top(), 0, func(e float64) bool {
		if e == 0 {
			return true // where T is largest
		}
		_, t := f.at(e)
		return t >= z
	})
	if lo == 0 {
		return 0
	}
	th, _ := f.at(lo)
	return th
}

// Score is the lower score limit of Koopman (1984) for delta = 0 and of Miettinen and Nurminen
// (1985): the largest epsilon that the score test at level beta, at most .4, rejects. Asymptotic:
// its true error at beta = .05 reaches .071. Not rounded.
func Score(c Counts, delta, beta float64) float64 {
	mustBeSound(c, delta, beta)
	return math.Log(newNullFit(c, delta).limit(scoreCut(beta)))
}

// scoreCut is the cut of the score statistic at level beta, kept positive for nullFit.
func scoreCut(beta float64) float64 { return upperNormal(min(beta, 0.4)) }

// region is a set of counts {(x, y): x >= cut(y)}, tabulated where y can fall.
type region struct {
	n1, n0 int
	yLow   int
	cuts   []int // cut(yLow+i); beyond the table the region is empty
	width  float64
	w1, w0 []float64
	evals  int // how often prob ran
}

// edge is where a region begins: the least real x of a member at y, false if none is there and
// beyond.
type edge interface {
	at(y float64) (x float64, ok bool)
}

// newRegion tabulates the region of an edge for the y that can occur when p0 lies in [pLow, pHigh],
// up to a probability of 2 e^-width. c is a member whatever the rounding. Cuts are of real x, less
// slack: two statistics that are equal in exact arithmetic are both in, on every platform, and
// regions stay nested in (th, z).
func newRegion(c Counts, edge edge, pLow, pHigh, width float64) *region {
	r := &region{n1: c.N1, n0: c.N0, width: width}
	low, _ := window(c.N0, pLow, width)
	_, high := window(c.N0, pHigh, width)
	r.yLow = min(low, c.Y)
	high = max(high, c.Y)
	for y := r.yLow; y <= high; y++ {
		x, ok := edge.at(float64(y))
		cut := c.N1 + 1
		if ok {
			cut = int(max(0, math.Ceil(x-cutSlack)))
		}
		if y == c.Y {
			cut = min(cut, c.X)
		}
		if cut > c.N1 && y >= c.Y {
			break // no larger y has a member, except, by rounding only, the observed one
		}
		r.cuts = append(r.cuts, min(cut, c.N1+1))
	}
	return r
}

const cutSlack = 1e-5

// cutCurve solves T = z for x at given y. Along the fits with this y, with e = p0 - y/n0,
//
//	lambda = n0 e/(th p0 q0),  V = p1 q1/n1 + th^2 p0 q0/n0,  T = lambda sqrt(V),
//	x = n1 p1 + lambda p1 q1,
//
// and T grows with e as long as x <= n1, that is lambda p1 <= n1.
type cutCurve struct {
	n1, n0, delta, th, z float64
	last                 float64 // the previous solution, where the next search starts
}

// fit returns T, its derivative in e, and x; beyond reports x > n1.
func (k *cutCurve) fit(s, e float64) (t, slope, x float64, beyond bool) {
	p0 := s + e
	q0 := 1 - p0
	p1 := k.delta + k.th*p0
	q1 := max(0, 1-p1)
	lambda := k.n0 * e / (k.th * p0 * q0)
	v := p1*q1/k.n1 + k.th*k.th*p0*q0/k.n0
	t = lambda * math.Sqrt(v)
	vSlope := k.th*(q1-p1)/k.n1 + k.th*k.th*(q0-p0)/k.n0
	slope = t * (1/q0 + s/(e*p0) + vSlope/(2*v))
	return t, slope, k.n1*p1 + lambda*p1*q1, lambda*p1 > k.n1*(1+1e-12)
}

// at returns the real x with T(x, y) = z, ok = false if T < z up to x = n1.
func (k *cutCurve) at(y float64) (x float64, ok bool) {
	s := y / k.n0
	if y == 0 && k.delta > 0 {
		// On p0 = 0, lambda <= n0/th: T is the statistic of x against delta.
		v := k.delta * (1 - k.delta) / k.n1
		if k.n0/k.th*math.Sqrt(v) >= k.z {
			x = k.n1*k.delta + k.z*k.n1*math.Sqrt(v)
			return x, x <= k.n1
		}
	}
	if p1 := k.th + k.delta; y == k.n0 && p1 < 1 {
		// On p0 = 1 likewise.
		x = k.n1*p1 + k.z*math.Sqrt(k.n1*p1*(1-p1))
		return x, x <= k.n1
	}
	top := (1 - k.delta) / k.th
	full := top >= 1 // p0 ends at 1 before p1 does
	top = min(1, top) - s
	if top <= 0 {
		return 0, false
	}
	if !full {
		if t, _, _, beyond := k.fit(s, top); !beyond && t < k.z {
			return 0, false
		}
	}
	lo, hi := 0.0, top
	e := k.last
	if !(e > 0 && e < top) {
		e = top / 2
	}
	var t float64
	for range 200 {
		var slope float64
		var beyond bool
		t, slope, x, beyond = k.fit(s, e)
		if beyond || t >= k.z {
			hi = e
		} else {
			lo = e
		}
		next := e - (t-k.z)/slope
		if beyond || !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if math.Abs(next-e) <= 1e-14*e {
			break
		}
		e = next
	}
	k.last = e
	return x, t >= k.z*(1-1e-9)
}

// prob is an upper bound of P(region) at (p0, p1), tight to a relative 1e-7 and an absolute 4
// e^-width: what leaves the windows is added, and the roundings of the sums (4 ulp a step, fewer
// than 10^6 steps) and of 1-p1 (n1 ulp).
func (r *region) prob(p0, p1 float64) float64 {
	r.evals++
	rounding := 1 + max(1e-7, 4e-16*float64(r.n1+r.n0))
	rest := 4 * math.Exp(-r.width)

	// First count: w1[j] becomes proportional to P(X >= lo1+j).
	lo1, hi1 := window(r.n1, p1, r.width)
	w1 := mass(r.w1, r.n1, lo1, hi1, p1)
	r.w1 = w1
	sum := 0.0
	for j := len(w1) - 1; j >= 0; j-- {
		sum += w1[j]
		w1[j] = sum
	}

	// Second count.
	lo0, hi0 := window(r.n0, p0, r.width)
	w0 := mass(r.w0, r.n0, lo0, hi0, p0)
	r.w0 = w0
	total := 0.0
	for _, v := range w0 {
		total += v
	}
	// y below the table falls into the rest: it begins at the window of the smallest p0.
	first := max(lo0, r.yLow)
	last := min(hi0, r.yLow+len(r.cuts)-1)
	if last < first {
		return rest
	}
	cuts := r.cuts[first-r.yLow : last-r.yLow+1]
	w0 = w0[first-lo0 : last-lo0+1]
	hit := 0.0
	for i, v := range w0[:len(cuts)] {
		if j := max(0, cuts[i]-lo1); j < len(w1) {
			hit += v * w1[j]
		}
	}
	return hit/(sum*total)*rounding + rest
}
