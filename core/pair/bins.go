package pair

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/core/report"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
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

// scoreEdges cuts the scores of both sides, which are sorted, at ranks that are
// dense at the ends. The edges in keep are always among them.
func scoreEdges(first, second []float64, keep ...float64) []float64 {
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

// checkEdges refuses edges that do not cut scores into bins.
func checkEdges(edges []float64) error {
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

// binOf is the bin of a score: the number of edges below it.
func binOf(edges []float64, score float64) int {
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

// binScores writes the bins of the scores into out. It is binOf written out, for
// every output passes through here.
func binScores(edges, scores []float64, out []uint16) {
	for i, s := range scores {
		lo, hi := 0, len(edges)
		for lo < hi {
			mid := int(uint(lo+hi) >> 1)
			if edges[mid] < s {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		out[i] = uint16(lo)
	}
}

// countPairs adds the pairs (first[i], second[i]) to a table.
func countPairs(t bounds.Table, first, second []uint16) {
	for i, a := range first {
		t.N[int(a)*t.Bins+int(second[i])]++
	}
}

// tableOf counts pairs of scores.
func tableOf(edges, first, second []float64) bounds.Table {
	t := bounds.NewTable(len(edges) + 1)
	for i := range first {
		t.N[binOf(edges, first[i])*t.Bins+binOf(edges, second[i])]++
	}
	return t
}

// Cut is an event: the scores above Edges[Edge], or, if Above is false, all
// others. Reversed: it is likelier on the second dataset than on the first.
type Cut struct {
	Edge     int  `json:"edge"`
	Above    bool `json:"above"`
	Reversed bool `json:"reversed,omitempty"`
}

// bins says which bins lie in the event.
func (c Cut) bins(n int) []bool {
	in := make([]bool, n)
	for k := range in {
		in[k] = (k > c.Edge) == c.Above
	}
	return in
}

// counts of the event, the side that it is likelier on first.
func (c Cut) counts(t bounds.Table) bounds.Counts {
	return c.side(t).Event(c.bins(t.Bins))
}

// side turns the table so that the side in the numerator is the first.
func (c Cut) side(t bounds.Table) bounds.Table { return turned(t, c.Reversed) }

func turned(t bounds.Table, reversed bool) bounds.Table {
	if reversed {
		return t.Swap()
	}
	return t
}

func (c Cut) direction() string { return directionOf(c.Reversed) }

func directionOf(reversed bool) string {
	if reversed {
		return report.SecondOverFirst
	}
	return report.FirstOverSecond
}

func (c Cut) check(edges int) error {
	if c.Edge < 0 || c.Edge >= edges {
		return &audit.InputError{Field: "event: edge", Found: fmt.Sprint(c.Edge), Want: fmt.Sprintf("in [0, %d]", edges-1)}
	}
	return nil
}

// tableCut is the event of bins for which worth is largest. worth sees the
// counts of an event on a table, the numerator's side first.
func tableCut(t bounds.Table, worth func(bounds.Counts) float64) (best Cut, value float64) {
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
				if v := worth(c); v > value+valueMargin {
					best, value = Cut{Edge: k, Above: above, Reversed: reversed}, v
				}
			}
		}
	}
	return best, value
}

// packed are counts that JSON has as variable-length numbers: most are small.
type packed []int

// MarshalJSON implements [json.Marshaler].
func (p packed) MarshalJSON() ([]byte, error) {
	out := make([]byte, 0, len(p))
	for _, k := range p {
		out = binary.AppendUvarint(out, uint64(k))
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *packed) UnmarshalJSON(text []byte) error {
	var data []byte
	if err := json.Unmarshal(text, &data); err != nil {
		return err
	}
	*p = nil
	for len(data) > 0 {
		k, size := binary.Uvarint(data)
		if size <= 0 || k > MaxSamples {
			return fmt.Errorf("packed counts end at number %d", len(*p))
		}
		*p, data = append(*p, int(k)), data[size:]
	}
	return nil
}

// packSparse packs counts of which most are 0: how many zeros are passed over, then a
// count, and so on.
func packSparse(n []int) []byte {
	var out []byte
	zeros := 0
	for _, k := range n {
		if k == 0 {
			zeros++
			continue
		}
		out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(zeros)), uint64(k))
		zeros = 0
	}
	return out
}

func unpackSparse(data []byte, n int) ([]int, error) {
	out := make([]int, n)
	at := -1
	for len(data) > 0 {
		zeros, a := binary.Uvarint(data)
		k, b := binary.Uvarint(data[max(a, 0):])
		if a <= 0 || b <= 0 || zeros >= uint64(n) || k == 0 || k > MaxSamples {
			return nil, errors.New("packed counts are cut off or out of range")
		}
		if at += int(zeros) + 1; at >= n {
			return nil, fmt.Errorf("packed counts go beyond number %d", n)
		}
		out[at], data = int(k), data[a+b:]
	}
	return out, nil
}
