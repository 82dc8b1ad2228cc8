package threshold

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
)

// Choice is a threshold on scores, with the direction in which it tells most.
type Choice struct {
	Threshold float64
	above     bool // the event is {score > threshold}, else {score <= threshold}
	reversed  bool // the event is likelier on the second dataset
	Value     float64
}

// Constants of the search for a threshold. They weigh power only: whatever
// they are, the certificate holds.
const (
	// cutZ is the normal quantile of the Wilson limits that rank thresholds.
	// Larger favours events with many counts.
	cutZ = 2.5
	// cutStep is the relative distance between the ranks that are tried,
	// counted from either end: all of the first hundred, then every per cent.
	cutStep = 0.01
)

// bestCut returns the threshold on the sorted scores s1 of the first and s2 of the second
// dataset whose event shows the largest lower limit for log((p1-delta)/p0), for both events
// of a threshold and both directions. Limits are Wilson's at cutZ, each side for itself.
// Only the four operations and the square root decide, so the choice is the same on every
// platform.
func bestCut(s1, s2 []float64, delta float64) Choice {
	n1, n2 := len(s1), len(s2)
	best, most := Choice{Value: Worthless, above: true, Threshold: max(s1[n1-1], s2[n2-1])}, 0.0
	all := steps(s1, s2)
	for _, s := range all[:len(all)-1] {
		for _, above := range []bool{true, false} {
			c := bounds.Counts{X: s.below[0], N1: n1, Y: s.below[1], N0: n2}
			if above {
				c.X, c.Y = n1-c.X, n2-c.Y
			}
			for _, reversed := range []bool{false, true} {
				if r := ratioLimit(c, delta); r > most {
					best, most = Choice{Threshold: s.threshold, above: above, reversed: reversed, Value: max(stream.Log(r), Worthless)}, r
				}
				c = bounds.Counts{X: c.Y, N1: c.N0, Y: c.X, N0: c.N1}
			}
		}
	}
	return best
}

// smallest is the smaller of s1[i] and s2[j].
func smallest(s1, s2 []float64, i, j int) float64 {
	switch {
	case i == len(s1):
		return s2[j]
	case j == len(s2) || s1[i] < s2[j]:
		return s1[i]
	}
	return s2[j]
}

// between is a threshold t with u <= t < v.
func between(u, v float64) float64 {
	t := float64(u*0.5) + float64(v*0.5)
	if t >= u && t < v {
		return t
	}
	return u
}

// Wilson gives the Wilson limits of k successes in n at cutZ.
func Wilson(k, n int) (lo, up float64) { return wilson(float64(k), float64(n), cutZ) }

// wilson gives the limits at z of a rate by x successes, not all of them whole, in n.
func wilson(x, n, z float64) (lo, up float64) {
	z2 := float64(z * z)
	mid := x + float64(z2/2)
	spread := float64(z * math.Sqrt(float64(x*(n-x))/n+float64(z2/4)))
	return max(0, (mid-spread)/(n+z2)), (mid + spread) / (n + z2)
}

// ratioLimit is the lower limit of (p1-delta)/p0 at Wilson limits.
func ratioLimit(c bounds.Counts, delta float64) float64 {
	lo, _ := Wilson(c.X, c.N1)
	_, up := Wilson(c.Y, c.N0)
	return (lo - delta) / up
}

// scoreBin is a bin of scores: counts of both sides and the mean score.
type scoreBin struct {
	n     [2]float64
	score float64
}

// lineThrough fits the logistic regression: log odds a + b (score - mean) scale.
func lineThrough(bins []scoreBin) (a, b, mean, scale float64, ok bool) {
	var squares, all float64
	for _, b := range bins {
		n := b.n[0] + b.n[1]
		all += n
		mean += float64(n * b.score)
	}
	mean /= all
	for _, b := range bins {
		d := b.score - mean
		squares += float64((b.n[0] + b.n[1]) * float64(d*d))
	}
	if !(squares > 0) || len(bins) < 4 {
		return 0, 0, 0, 0, false
	}
	scale = 1 / math.Sqrt(squares/all)
	for step := 0; step < 30; step++ {
		var g0, g1, h00, h01, h11 float64
		for _, bin := range bins {
			x := float64((bin.score - mean) * scale)
			p := 1 / (1 + stream.Exp(-(a + float64(b*x))))
			n := bin.n[0] + bin.n[1]
			r := bin.n[0] - float64(n*p)
			w := float64(n * float64(p*(1-p)))
			g0 += r
			g1 += float64(r * x)
			h00 += w
			h01 += float64(w * x)
			h11 += float64(float64(w*x) * x)
		}
		det := float64(h00*h11) - float64(h01*h01)
		if !(det > 0) {
			return 0, 0, 0, 0, false
		}
		da := (float64(h11*g0) - float64(h01*g1)) / det
		db := (float64(h00*g1) - float64(h01*g0)) / det
		if math.Abs(da)+math.Abs(db) < 1e-9 {
			return a, b, mean, scale, true
		}
		a, b = a+da, b+db
	}
	return 0, 0, 0, 0, false
}

// CountsOf are the counts of the event in other scores, sorted.
func (c Choice) CountsOf(s1, s2 []float64) bounds.Counts {
	count := func(s []float64) int {
		below, _ := slices.BinarySearchFunc(s, c.Threshold, func(v, t float64) int {
			if v <= t {
				return -1
			}
			return 1
		})
		if c.above {
			return len(s) - below
		}
		return below
	}
	x := bounds.Counts{X: count(s1), N1: len(s1), Y: count(s2), N0: len(s2)}
	if c.reversed {
		x = bounds.Counts{X: x.Y, N1: x.N0, Y: x.X, N0: x.N1}
	}
	return x
}
