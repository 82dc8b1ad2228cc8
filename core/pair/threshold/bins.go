// Package threshold has the bins of a witness's score, the events {score above an edge} and
// their complements, and the choice among them on explored outputs. Bounds are functions of
// counts of bins; what is chosen here weighs power only.
package threshold

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

// Scores are counted in bins: bin k holds the scores above Edges[k-1] and at or
// below Edges[k], the first bin all up to Edges[0], the last all above the last
// edge. So {score > Edges[k]} is a union of bins, and every bound is a function
// of one table of pairs of bins.
const (
	// scoreBins is how many bins there are, about. More carry more of a
	// divergence, fewer are easier to learn from.
	scoreBins = 48
	// binOutputs is the least number of exploration outputs a bin, both sides
	// together, on average; binTail is the size of the smallest bin at either
	// end, from which bins double until they have the usual size. The ends
	// are where a Rényi divergence and a small delta live.
	binOutputs = 24
	binTail    = 32
	// maxEdges keeps what certification holds in memory small.
	maxEdges = 255
)

// Worthless is the value of a witness that shows nothing. It is finite, as
// JSON has no infinity.
const Worthless = -99.0

// ValueMargin is how much better a trial must be to displace an earlier one:
// differences in the last bits between platforms decide nothing.
const ValueMargin = 2.5e-9

// Edges cuts the scores of both sides, which are sorted, at ranks that are
// dense at the ends. The edges in keep are always among them.
func Edges(first, second []float64, keep ...float64) []float64 {
	total := len(first) + len(second)
	usual := max(total/scoreBins, binOutputs)
	edges := append([]float64{}, keep...)
	next := binTail
	for i, j := 0, 0; i+j < total; {
		u := smallest(first, second, i, j)
		for i < len(first) && first[i] == u {
			i++
		}
		for j < len(second) && second[j] == u {
			j++
		}
		rank := i + j
		if rank < next || rank == total {
			continue
		}
		edges = append(edges, between(u, smallest(first, second, i, j)))
		// The bin that begins here is as wide as what lies beyond it, at
		// either end, and at most of the usual size.
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
	if len(edges) == 0 || len(edges) > maxEdges {
		return &audit.InputError{Field: "edges", Found: fmt.Sprintf("%d numbers", len(edges)), Want: fmt.Sprintf("1 to %d", maxEdges)}
	}
	for i, e := range edges {
		if e-e != 0 || i > 0 && !(e > edges[i-1]) {
			return &audit.InputError{Field: fmt.Sprintf("edges[%d]", i), Found: audit.Number(e), Want: "finite, and above the one before it"}
		}
	}
	return nil
}

// BinOf is the bin of a score: the number of edges below it.
func BinOf(edges []float64, score float64) int {
	lo, hi := 0, len(edges)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if edges[mid] < score {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// BinScores writes the bins of the scores into out.
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
	for i := range first {
		t.N[BinOf(edges, first[i])*t.Bins+BinOf(edges, second[i])]++
	}
	return t
}

// Event is one: the scores above Edges[Edge], or, if Above is false, all
// others. Reversed: it is likelier on the second dataset than on the first.
type Event struct {
	Edge     int  `json:"edge"`
	Above    bool `json:"above"`
	Reversed bool `json:"reversed,omitempty"`
}

// Bins says which bins lie in the event.
func (c Event) Bins(n int) []bool {
	in := make([]bool, n)
	for k := range in {
		in[k] = (k > c.Edge) == c.Above
	}
	return in
}

// Counts of the event, the side that it is likelier on first.
func (c Event) Counts(t bounds.Table) bounds.Counts {
	return c.Side(t).Event(c.Bins(t.Bins))
}

// Side turns the table so that the side in the numerator is the first.
func (c Event) Side(t bounds.Table) bounds.Table { return Turned(t, c.Reversed) }

func Turned(t bounds.Table, reversed bool) bounds.Table {
	if reversed {
		return t.Swap()
	}
	return t
}

func (c Event) Direction() string { return DirectionOf(c.Reversed) }

func DirectionOf(reversed bool) string {
	if reversed {
		return report.SecondOverFirst
	}
	return report.FirstOverSecond
}

func (c Event) Check(edges int) error {
	if c.Edge < 0 || c.Edge >= edges {
		return &audit.InputError{Field: "event: edge", Found: fmt.Sprint(c.Edge), Want: fmt.Sprintf("in [0, %d]", edges-1)}
	}
	return nil
}

// Best is the event of bins for which worth is largest. worth sees the
// Counts of an event on a table, the numerator's side first.
func Best(t bounds.Table, worth func(bounds.Counts) float64) (best Event, value float64) {
	value = math.Inf(-1)
	first, second := t.First(), t.Second()
	n := t.Pairs()
	below := [2]int{}
	for k := range t.Bins - 1 {
		below[0] += first[k]
		below[1] += second[k]
		for _, above := range []bool{true, false} {
			x, y := below[0], below[1]
			if above {
				x, y = n-x, n-y
			}
			for _, reversed := range []bool{false, true} {
				c := bounds.Counts{X: x, N1: n, Y: y, N0: n}
				if reversed {
					c.X, c.Y = y, x
				}
				if v := worth(c); v > value+ValueMargin {
					best, value = Event{Edge: k, Above: above, Reversed: reversed}, v
				}
			}
		}
	}
	return best, value
}
