package core

import (
	"math"

	"github.com/dpscope/dpscope/core/bound"
	"github.com/dpscope/dpscope/core/stream"
)

// cut is a threshold on scores, with the direction in which it tells most.
type cut struct {
	threshold float64
	above     bool // the event is {score > threshold}, else {score <= threshold}
	reversed  bool // the event is likelier on the second dataset
	value     float64
	counts    bound.Counts // the likelier side first
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
func bestCut(s1, s2 []float64, delta float64) cut {
	n1, n2 := len(s1), len(s2)
	best := cut{value: worthless, above: true, threshold: max(s1[n1-1], s2[n2-1]), counts: bound.Counts{N1: n1, N0: n2}}
	bestRatio := 0.0
	try := func(threshold float64, below1, below2 int) {
		for _, above := range []bool{true, false} {
			k1, k2 := below1, below2
			if above {
				k1, k2 = n1-below1, n2-below2
			}
			for _, reversed := range []bool{false, true} {
				c := bound.Counts{X: k1, N1: n1, Y: k2, N0: n2}
				if reversed {
					c = bound.Counts{X: k2, N1: n2, Y: k1, N0: n1}
				}
				lo, _ := wilson(c.X, c.N1)
				_, up := wilson(c.Y, c.N0)
				if r := (lo - delta) / up; r > bestRatio {
					bestRatio = r
					best = cut{threshold: threshold, above: above, reversed: reversed, counts: c}
				}
			}
		}
	}
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
		try(between(u, smallest(s1, s2, i, j)), i, j)
		step := int(cutStep * float64(min(rank, total-rank)))
		next = rank + max(1, step)
	}
	if bestRatio > 0 {
		best.value = max(stream.Log(bestRatio), worthless)
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

// wilson gives the Wilson limits of k successes in n at cutZ.
func wilson(k, n int) (lo, up float64) {
	const z2 = cutZ * cutZ
	x, m := float64(k), float64(n)
	mid := x + z2/2
	spread := float64(cutZ * math.Sqrt(float64(x*(m-x))/m+z2/4))
	lo, up = max(0, (mid-spread)/(m+z2)), (mid+spread)/(m+z2)
	return lo, up
}
