// Package threshold has the bins of a witness's score, the events {score above an edge} and their
// complements, and the choice among them on explored outputs, which weighs power only.
package threshold

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

// Choice is a threshold on scores, with the direction in which it tells most.
type Choice struct {
	Threshold float64
	above     bool // the event is {score > threshold}, else {score <= threshold}
	reversed  bool // the event is likelier on the second dataset
	Value     float64
}

// Whatever these are, the certificate holds.
const (
	cutZ    = 2.5  // normal quantile of the Wilson limits: larger favours events with many counts
	cutStep = 0.01 // relative distance, from either end, between the ranks that are tried
)

// bestCut is the threshold on sorted scores whose event, in either direction, has the largest lower
// limit for log((p1-delta)/p0), at Wilson limits of each side. Only the four operations and the
// square root decide: it is the same on every platform.
func bestCut(s1, s2 []float64, delta float64) Choice {
	n1, n2 := len(s1), len(s2)
	best, most := Choice{Value: Worthless, above: true, Threshold: max(s1[n1-1], s2[n2-1])}, 0.0
	all := steps(s1, s2)
	for _, s := range all[:len(all)-1] {
		eachEvent(bounds.Counts{X: s.below[0], N1: n1, Y: s.below[1], N0: n2}, func(above, reversed bool, c bounds.Counts) {
			lo, _ := Wilson(c.X, c.N1)
			_, up := Wilson(c.Y, c.N0)
			if r := (lo - delta) / up; r > most {
				best, most = Choice{Threshold: s.threshold, above: above, reversed: reversed, Value: max(stream.Log(r), Worthless)}, r
			}
		})
	}
	return best
}

// eachEvent tells the counts of both events of a threshold, in both directions, from those below.
func eachEvent(below bounds.Counts, tell func(above, reversed bool, c bounds.Counts)) {
	for _, above := range []bool{true, false} {
		c := below
		if above {
			c.X, c.Y = c.N1-c.X, c.N0-c.Y
		}
		tell(above, false, c)
		tell(above, true, swapped(c))
	}
}

func swapped(c bounds.Counts) bounds.Counts { return bounds.Counts{X: c.Y, N1: c.N0, Y: c.X, N0: c.N1} }

// Values are those of two sorted lists, ascending, each with how many of either are not above it.
func Values(s1, s2 []float64) iter.Seq2[float64, [2]int] {
	return func(yield func(float64, [2]int) bool) {
		for n := [2]int{}; n[0]+n[1] < len(s1)+len(s2); {
			v := smallest(s1, s2, n)
			for n[0] < len(s1) && s1[n[0]] == v {
				n[0]++
			}
			for n[1] < len(s2) && s2[n[1]] == v {
				n[1]++
			}
			if !yield(v, n) {
				return
			}
		}
	}
}

func smallest(s1, s2 []float64, n [2]int) float64 {
	switch {
	case n[0] == len(s1):
		return s2[n[1]]
	case n[1] == len(s2) || s1[n[0]] < s2[n[1]]:
		return s1[n[0]]
	}
	return s2[n[1]]
}

// between is a threshold t with u <= t < v.
func between(u, v float64) float64 {
	t := float64(u*0.5) + float64(v*0.5)
	return audit.Pick(t >= u && t < v, t, u)
}

// Wilson are the Wilson limits of k successes in n at cutZ.
func Wilson(k, n int) (lo, up float64) { return wilson(float64(k), float64(n), cutZ) }

// wilson are the limits at z of a rate by x successes, not all of them whole, in n.
func wilson(x, n, z float64) (lo, up float64) {
	z2 := float64(z * z)
	mid := x + float64(z2/2)
	spread := float64(z * math.Sqrt(float64(x*(n-x))/n+float64(z2/4)))
	return max(0, (mid-spread)/(n+z2)), (mid + spread) / (n + z2)
}

type scoreBin struct {
	n     [2]float64
	score float64
}

// fit fits the line by logistic regression.
func (m *bend) fit(bins []scoreBin) bool {
	var squares, all float64
	for _, b := range bins {
		n := b.n[0] + b.n[1]
		all += n
		m.mean += float64(n * b.score)
	}
	m.mean /= all
	for _, b := range bins {
		d := b.score - m.mean
		squares += float64((b.n[0] + b.n[1]) * float64(d*d))
	}
	if !(squares > 0) || len(bins) < 4 {
		return false
	}
	m.scale = 1 / math.Sqrt(squares/all)
	for range 30 {
		var g0, g1, h00, h01, h11 float64
		for _, bin := range bins {
			x := float64((bin.score - m.mean) * m.scale)
			p := 1 / (1 + stream.Exp(-(m.a + float64(m.b*x))))
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
			return false
		}
		da := (float64(h11*g0) - float64(h01*g1)) / det
		db := (float64(h00*g1) - float64(h01*g0)) / det
		if math.Abs(da)+math.Abs(db) < 1e-9 {
			return true
		}
		m.a, m.b = m.a+da, m.b+db
	}
	return false
}

// Has says whether a score lies in the event.
func (c Choice) Has(score float64) bool { return (score > c.Threshold) == c.above }

// CountsOf are the counts of the event in sorted scores.
func (c Choice) CountsOf(s1, s2 []float64) bounds.Counts {
	count := func(s []float64) int {
		below := sort.Search(len(s), func(i int) bool { return s[i] > c.Threshold })
		return audit.Pick(c.above, len(s)-below, below)
	}
	x := bounds.Counts{X: count(s1), N1: len(s1), Y: count(s2), N0: len(s2)}
	return audit.Pick(c.reversed, swapped(x), x)
}

// {score > Edges[k]} is a union of bins, and every bound is a function of a table of pairs of bins.
const (
	scoreBins  = 48 // about: more carry more, fewer are easier to learn from
	binOutputs = 24 // exploration outputs a bin, both sides together, on average and at least
	// binTail is the smallest bin at either end, where a Rényi divergence and a small delta live:
	// from there bins double until they have the usual size.
	binTail  = 32
	maxEdges = 255 // keeps what certification holds in memory small

	Worthless   = -99.0  // the value of a witness that shows nothing: JSON has no infinity
	ValueMargin = 2.5e-9 // by which a trial must beat an earlier one: last bits decide nothing
)

// Edges cuts sorted scores at ranks that are dense at the ends, and at those in keep.
func Edges(first, second []float64, keep ...float64) []float64 {
	total := len(first) + len(second)
	usual := max(total/scoreBins, binOutputs)
	edges := append([]float64{}, keep...)
	next := binTail
	for u, below := range Values(first, second) {
		rank := below[0] + below[1]
		if rank < next || rank == total {
			continue
		}
		edges = append(edges, between(u, smallest(first, second, below)))
		// The bin that begins here is as wide as what lies beyond it, and at most of the usual size.
		width := min(rank, usual)
		if left := total - rank; left < 2*usual {
			width = min(width, max(left/2, binTail))
		}
		next = rank + width
	}
	slices.Sort(edges)
	return slices.Compact(edges)
}

// CheckEdges refuses edges that do not cut scores into bins.
func CheckEdges(edges []float64) error {
	if i := audit.Unordered(edges); i >= 0 {
		return &audit.InputError{Field: fmt.Sprintf("edges[%d]", i), Found: audit.Number(edges[i]), Want: "finite, and above the one before it"}
	}
	return audit.Require(len(edges) > 0 && len(edges) <= maxEdges, "edges", fmt.Sprintf("%d numbers", len(edges)), "1 to %d", maxEdges)
}

// BinOf is the bin of a score: the number of edges below it.
func BinOf(edges []float64, score float64) int { return sort.SearchFloat64s(edges, score) }

// BinScores writes the bins of scores.
func BinScores(edges, scores []float64, out []uint16) {
	for i, s := range scores {
		out[i] = uint16(BinOf(edges, s))
	}
}

// CountPairs adds the pairs (first[i], second[i]) to a table.
func CountPairs(t bounds.Table, first, second []uint16) {
	for i, a := range first {
		t.N[int(a)*t.Bins+int(second[i])]++
	}
}

// TableOf counts pairs of scores.
func TableOf(edges, first, second []float64) bounds.Table {
	t := bounds.NewTable(len(edges) + 1)
	for i, a := range first {
		t.N[BinOf(edges, a)*t.Bins+BinOf(edges, second[i])]++
	}
	return t
}

// Event is the scores above Edges[Edge] or, if Above is false, all others.
type Event struct {
	Edge     int  `json:"edge"`
	Above    bool `json:"above"`
	Reversed bool `json:"reversed,omitempty"` // it is likelier on the second dataset
}

// Bins says which bins lie in the event.
func (c Event) Bins(n int) []bool {
	return audit.Listed(n, func(k int) bool { return (k > c.Edge) == c.Above })
}

// Counts of the event, the side that it is likelier on first.
func (c Event) Counts(t bounds.Table) bounds.Counts { return c.Side(t).Event(c.Bins(t.Bins)) }

// Side is the table with the numerator's side first.
func (c Event) Side(t bounds.Table) bounds.Table { return Turned(t, c.Reversed) }

// Turned is the table with its sides swapped, where the direction is reversed.
func Turned(t bounds.Table, reversed bool) bounds.Table {
	if reversed {
		return t.Swap()
	}
	return t
}

func (c Event) Direction() string { return DirectionOf(c.Reversed) }

// DirectionOf is a direction as rows of a report name it.
func DirectionOf(reversed bool) string {
	return audit.Pick(reversed, report.SecondOverFirst, report.FirstOverSecond)
}

func (c Event) Check(edges int) error { return audit.Within("event: edge", c.Edge, 0, edges-1) }

// Best is the event of bins whose counts, the numerator's side first, are worth most.
func Best(t bounds.Table, worth func(bounds.Counts) float64) (best Event, value float64) {
	value = math.Inf(-1)
	first, second := t.First(), t.Second()
	n := t.Pairs()
	below := bounds.Counts{N1: n, N0: n}
	for k := range t.Bins - 1 {
		below.X += first[k]
		below.Y += second[k]
		eachEvent(below, func(above, reversed bool, c bounds.Counts) {
			if v := worth(c); v > value+ValueMargin {
				best, value = Event{Edge: k, Above: above, Reversed: reversed}, v
			}
		})
	}
	return best, value
}
