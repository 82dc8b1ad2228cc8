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
	counts    bounds.Counts // the likelier side first
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

// bestCut sweeps thresholds over the sorted scores s1 of the first and s2 of the
// second dataset and returns the one whose event shows the largest lower limit for
// log((p1-delta)/p0), for both events of a threshold and both directions.
// Limits are Wilson's at cutZ, each side for itself. Only the four operations
// and the square root decide, so the choice is the same on every platform.
func bestCut(s1, s2 []float64, delta float64) Choice {
	n1, n2 := len(s1), len(s2)
	best := search{n1: n1, n2: n2, delta: delta}
	total := n1 + n2
	next := 1
	for i, j := 0, 0; i+j < total; {
		u := smallest(s1, s2, i, j)
		for i < n1 && s1[i] == u {
			i++
		}
		for j < n2 && s2[j] == u {
			j++
		}
		rank := i + j
		if rank == total || rank < next {
			continue
		}
		threshold := between(u, smallest(s1, s2, i, j))
		best.try(threshold, true, n1-i, n2-j)
		best.try(threshold, false, i, j)
		step := int(cutStep * float64(min(rank, total-rank)))
		next = rank + max(1, step)
	}
	if !(best.ratio > 0) {
		return Choice{Value: Worthless, above: true, Threshold: max(s1[n1-1], s2[n2-1]), counts: bounds.Counts{N1: n1, N0: n2}}
	}
	best.Value = max(stream.Log(best.ratio), Worthless)
	return best.Choice
}

// search keeps the event whose limit of the ratio is largest, of n1 and n2 outputs a
// side.
type search struct {
	n1, n2 int
	delta  float64
	Choice
	ratio float64 // 0: none so far is worth anything
}

// try tries the event of so many outputs, both ways.
func (s *search) try(threshold float64, above bool, k1, k2 int) {
	for _, reversed := range []bool{false, true} {
		c := bounds.Counts{X: k1, N1: s.n1, Y: k2, N0: s.n2}
		if reversed {
			c = bounds.Counts{X: k2, N1: s.n2, Y: k1, N0: s.n1}
		}
		if r := ratioLimit(c, s.delta); r > s.ratio {
			s.ratio, s.Choice = r, Choice{Threshold: threshold, above: above, reversed: reversed, counts: c}
		}
	}
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

// wilson gives the Wilson limits of k successes in n at cutZ.
func Wilson(k, n int) (lo, up float64) {
	const z2 = cutZ * cutZ
	x, m := float64(k), float64(n)
	mid := x + float64(z2/2)
	spread := float64(cutZ * math.Sqrt(float64(x*(m-x))/m+float64(z2/4)))
	lo, up = max(0, (mid-spread)/(m+z2)), (mid+spread)/(m+z2)
	return lo, up
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
