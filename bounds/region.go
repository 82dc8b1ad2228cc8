package bounds

import "math"

// region is a set of counts that is an upper set in x for every y:
// {(x, y): x >= cut(y)}, tabulated where y can fall.
type region struct {
	n1, n0 int
	yLow   int
	cuts   []int // cut(yLow+i); beyond the table the region is empty
	width  float64
	w1, w0 []float64 // work space
	evals  int       // how often prob ran
}

// newRegion tabulates {T(x, y; th, delta) >= z} for the y that can occur when
// p0 lies in [pLow, pHigh], up to a probability of 2 e^-width. observed is a
// member and stays one whatever the rounding.
//
// The cut is found where T = z on the line of real x, less slack: two
// statistics that are equal in exact arithmetic are both in, on every platform,
// and slack, the same for every region, keeps regions nested in (th, z).
func newRegion(c Counts, delta, th, z, pLow, pHigh, width float64) *region {
	r := &region{n1: c.N1, n0: c.N0, width: width}
	low, _ := window(c.N0, pLow, width)
	_, high := window(c.N0, pHigh, width)
	r.yLow = min(low, c.Y)
	high = max(high, c.Y)
	edge := cutCurve{n1: float64(c.N1), n0: float64(c.N0), delta: delta, th: th, z: z}
	for y := r.yLow; y <= high; y++ {
		x, ok := edge.at(float64(y))
		cut := c.N1 + 1
		if ok {
			cut = int(math.Max(0, math.Ceil(x-cutSlack)))
		}
		if y == c.Y {
			cut = min(cut, c.X)
		}
		if cut > c.N1 {
			// T falls with y: no larger y has a member, except, by rounding
			// only, the observed one.
			if y >= c.Y {
				break
			}
			cut = c.N1 + 1
		}
		r.cuts = append(r.cuts, cut)
	}
	return r
}

const cutSlack = 1e-5

// lastY is the largest y with a member.
func (r *region) lastY() int { return r.yLow + len(r.cuts) - 1 }

// cutCurve solves T = z for x at given y. Along the fits with this y,
// e = p0 - y/n0 parametrises everything:
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
	q1 := math.Max(0, 1-p1)
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
	top = math.Min(1, top) - s
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

// prob returns an upper bound of P(region) at (p0, p1), tight to a relative
// 1e-7 and an absolute 4 e^-width: the probability that either count leaves its
// window is added, and so are the roundings of the sums (4 ulp a step, fewer
// than 10^6 steps) and of 1-p1 (n1 ulp).
func (r *region) prob(p0, p1 float64) float64 {
	r.evals++
	const rounding = 1 + 1e-7
	rest := 4 * math.Exp(-r.width)

	// First count: w1[j] becomes proportional to P(X >= lo1+j).
	lo1, hi1 := window(r.n1, p1, r.width)
	w1 := sized(&r.w1, hi1-lo1+1)
	mass(w1, r.n1, lo1, mode(r.n1, p1), p1)
	sum := 0.0
	for j := len(w1) - 1; j >= 0; j-- {
		sum += w1[j]
		w1[j] = sum
	}

	// Second count.
	lo0, hi0 := window(r.n0, p0, r.width)
	w0 := sized(&r.w0, hi0-lo0+1)
	mass(w0, r.n0, lo0, mode(r.n0, p0), p0)
	total := 0.0
	for _, v := range w0 {
		total += v
	}
	// y below the table falls into the rest: the table begins at the window of
	// the smallest p0.
	first := max(lo0, r.yLow)
	last := min(hi0, r.lastY())
	if last < first {
		return rest
	}
	cuts := r.cuts[first-r.yLow : last-r.yLow+1]
	w0 = w0[first-lo0 : last-lo0+1]
	hit := 0.0
	for i, v := range w0[:len(cuts)] {
		j := cuts[i] - lo1
		if j < 0 {
			j = 0
		}
		if j < len(w1) {
			hit += v * w1[j]
		}
	}
	return hit/(sum*total)*rounding + rest
}

// sized returns the work space cut to n, grown if need be.
func sized(buf *[]float64, n int) []float64 {
	if cap(*buf) < n {
		*buf = make([]float64, n+n/4)
	}
	return (*buf)[:n]
}
