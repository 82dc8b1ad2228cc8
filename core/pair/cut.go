package pair

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/stream"
)

// cut is a threshold on scores, with the direction in which it tells most.
type cut struct {
	threshold float64
	above     bool // the event is {score > threshold}, else {score <= threshold}
	reversed  bool // the event is likelier on the second dataset
	value     float64
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
func bestCut(s1, s2 []float64, delta float64) cut { return bestCutAt(s1, s2, delta, cutZ) }

// bestCutAt is bestCut with limits at z.
func bestCutAt(s1, s2 []float64, delta, z float64) cut {
	n1, n2 := len(s1), len(s2)
	best := search{n1: n1, n2: n2, delta: delta, z: z}
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
		return cut{value: worthless, above: true, threshold: max(s1[n1-1], s2[n2-1]), counts: bounds.Counts{N1: n1, N0: n2}}
	}
	best.value = max(stream.Log(best.ratio), worthless)
	return best.cut
}

// search keeps the event whose limit of the ratio is largest, of n1 and n2 outputs a
// side.
type search struct {
	n1, n2   int
	delta, z float64
	cut
	ratio float64 // 0: none so far is worth anything
}

// try tries the event of so many outputs, both ways.
func (s *search) try(threshold float64, above bool, k1, k2 int) {
	for _, reversed := range []bool{false, true} {
		c := bounds.Counts{X: k1, N1: s.n1, Y: k2, N0: s.n2}
		if reversed {
			c = bounds.Counts{X: k2, N1: s.n2, Y: k1, N0: s.n1}
		}
		if r := ratioLimit(c, s.delta, s.z); r > s.ratio {
			s.ratio, s.cut = r, cut{threshold: threshold, above: above, reversed: reversed, counts: c}
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
func wilson(k, n int) (lo, up float64) { return wilsonAt(k, n, cutZ) }

// wilsonAt gives them at z.
func wilsonAt(k, n int, z float64) (lo, up float64) {
	z2, x, m := float64(z*z), float64(k), float64(n)
	mid := x + float64(z2/2)
	spread := float64(z * math.Sqrt(float64(x*(m-x))/m+float64(z2/4)))
	lo, up = max(0, (mid-spread)/(m+z2)), (mid+spread)/(m+z2)
	return lo, up
}

// ratioLimit is the lower limit of (p1-delta)/p0 at Wilson limits.
func ratioLimit(c bounds.Counts, delta, z float64) float64 {
	lo, _ := wilsonAt(c.X, c.N1, z)
	_, up := wilsonAt(c.Y, c.N0, z)
	return (lo - delta) / up
}

// Where certification sees many more outputs than exploration did, smaller
// events can show more than limits at cutZ let them. Smaller quantiles, boldCuts,
// and a line through the log odds (lineCut) propose some; each is tried, and limits
// at cutZ too, on outputs that did not choose the event.
var boldCuts = [...]float64{1.75, 1.25}

const (
	// boldTrial is the quantile of those trials, and boldLeast how many outputs
	// of the rarer side an event needs there.
	boldTrial = 0.7
	boldLeast = 50
	// boldFactor is how many times more outputs certification must see, and
	// boldExplore how many exploration must have for trials to tell anything.
	boldFactor  = 4
	boldExplore = 200_000
	// lineZ is the quantile that ranks a line's events, about the standard errors
	// that certification takes off.
	lineZ = 1.4
)

// boldCut is the cut for certification with so many outputs a side, or best where
// none does better. scores are in the order in which they were drawn, sorted are the
// same sorted. The value is best's.
func boldCut(best cut, scores, sorted [2][]float64, delta float64, samples int, check func() error) (cut, error) {
	// Halves by when they were drawn: by scores, each would choose on its own values.
	var halves [2][2][]float64
	for side, s := range scores {
		if len(s) < 2 {
			return best, nil
		}
		halves[0][side] = slices.Sorted(slices.Values(s[:len(s)/2]))
		halves[1][side] = without(sorted[side], halves[0][side])
		if err := check(); err != nil {
			return cut{}, err
		}
	}
	type way func(s [2][]float64) (cut, bool)
	counting := func(z float64) way {
		return func(s [2][]float64) (cut, bool) { return bestCutAt(s[0], s[1], delta, z), true }
	}
	// The geometric mean of the two trials, squared.
	trial := func(w way, least int) float64 {
		product := 1.0
		for i, chosen := range halves {
			c, ok := w(chosen)
			counts := c.countsOf(halves[1-i][0], halves[1-i][1])
			if !ok || counts.Y < least {
				return 0
			}
			product *= max(0, ratioLimit(counts, delta, boldTrial))
		}
		return product
	}
	ways := []way{func(s [2][]float64) (cut, bool) { return lineCut(s[0], s[1], delta, samples, math.Inf(1)) }}
	for _, z := range boldCuts {
		ways = append(ways, counting(z))
	}
	most := trial(counting(cutZ), 0)
	value := best.value
	for _, w := range ways {
		if v := trial(w, boldLeast); v > most {
			if c, ok := w(sorted); ok {
				c.value = value
				best, most = c, v
			}
		}
		if err := check(); err != nil {
			return cut{}, err
		}
	}
	return best, nil
}

// without is the sorted list less the members of part, which is sorted too.
func without(sorted, part []float64) []float64 {
	rest := make([]float64, 0, len(sorted)-len(part))
	for _, v := range sorted {
		if len(part) > 0 && part[0] == v {
			part = part[1:]
			continue
		}
		rest = append(rest, v)
	}
	return rest
}

// faint is how far odds may be from even, over all scores, for a line through the
// log odds to be preferred to counts: the choice among events is then ruled by
// noise, and log odds so small are nearly linear in a good score. The line also says
// what small events show in certification of which exploration saw few outputs.
const faint = 0.06

// faintCut is the cut of a line through faint log odds, or else best; line says
// which.
func faintCut(best cut, s1, s2 []float64, delta float64, samples int) (c cut, line bool) {
	if c, line = lineCut(s1, s2, delta, samples, faint); line {
		c.value = best.value
		return c, true
	}
	return best, false
}

// lineCut fits a line to the log odds of the first side over the score, and
// returns the cut at an edge between bins whose event, by the line, shows the
// largest lower limit in certification; false where the line does not fit, or
// strays by more than most from even odds. The cut has no value.
func lineCut(s1, s2 []float64, delta float64, samples int, most float64) (cut, bool) {
	edges := scoreEdges(s1, s2)
	bins := binned(edges, s1, s2)
	odds, ok := fitLine(bins)
	if !ok || max(odds[0], odds[len(odds)-1]) > 0.5+most || min(odds[0], odds[len(odds)-1]) < 0.5-most {
		return cut{}, false
	}
	best := search{n1: samples, n2: samples, delta: delta, z: lineZ}
	n, n1, n2 := float64(samples), float64(len(s1)), float64(len(s2))
	expected := func(share float64) int { return int(max(0, min(n, share*n))) }
	below1, below2 := 0.0, 0.0 // shares of the scores up to an edge, by the line
	for k, threshold := range edges {
		total := bins[k].n[0] + bins[k].n[1]
		below1 += float64(total*odds[k]) / n1
		below2 += float64(total*(1-odds[k])) / n2
		best.try(threshold, true, expected(1-below1), expected(1-below2))
		best.try(threshold, false, expected(below1), expected(below2))
	}
	best.counts = best.countsOf(s1, s2)
	return best.cut, best.ratio > 1
}

// binned counts sorted scores into bins.
func binned(edges, s1, s2 []float64) []scoreBin {
	bins := make([]scoreBin, len(edges)+1)
	for side, sorted := range [2][]float64{s1, s2} {
		k := 0
		for _, v := range sorted {
			for k < len(edges) && v > edges[k] {
				k++
			}
			bins[k].n[side]++
			bins[k].score += v
		}
	}
	for k := range bins {
		bins[k].score /= max(1, bins[k].n[0]+bins[k].n[1])
	}
	return bins
}

// scoreBin is a bin of scores: counts of both sides and the mean score.
type scoreBin struct {
	n     [2]float64
	score float64
}

// fitLine gives, by bin, the share of the first side that a logistic regression on
// the bins' scores predicts. It is false where a chi-squared test says, at about
// two standard deviations, that the counts do not follow it.
func fitLine(bins []scoreBin) (odds []float64, ok bool) {
	a, b, mean, scale, ok := lineThrough(bins)
	if !ok {
		return nil, false
	}
	odds = make([]float64, len(bins))
	chi := 0.0
	for k, bin := range bins {
		x := float64((bin.score - mean) * scale)
		p := 1 / (1 + stream.Exp(-(a + float64(b*x))))
		n := bin.n[0] + bin.n[1]
		r := bin.n[0] - float64(n*p)
		odds[k] = p
		if w := float64(n * float64(p*(1-p))); w > 0 {
			chi += float64(r*r) / w
		}
	}
	df := float64(len(bins) - 2)
	return odds, chi <= df+float64(2*math.Sqrt(2*df))
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

// countsOf are the counts of the event in other scores, sorted.
func (c cut) countsOf(s1, s2 []float64) bounds.Counts {
	count := func(s []float64) int {
		below, _ := slices.BinarySearchFunc(s, c.threshold, func(v, t float64) int {
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
