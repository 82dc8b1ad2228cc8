package threshold

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/internal/must"
)

// The bins hold what the comments say, and every pair is counted once.
func TestScoreBins(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		n := 50 + rng.IntN(3000)
		draw := func(discrete bool) []float64 {
			xs := make([]float64, n)
			for i := range xs {
				if xs[i] = rng.NormFloat64(); discrete {
					xs[i] = float64(int(2 * xs[i]))
				}
			}
			return xs
		}
		discrete := rng.IntN(2) == 0
		first, second := draw(discrete), draw(discrete)
		s1, s2 := slices.Sorted(slices.Values(first)), slices.Sorted(slices.Values(second))
		cut := bestCut(s1, s2, 0)
		edges := Edges(s1, s2, cut.Threshold)
		must.Do(t, CheckEdges(edges))
		if len(edges) > 90 {
			t.Errorf("%d edges", len(edges))
		}
		bins := [2][]uint16{make([]uint16, n), make([]uint16, n)}
		for side, xs := range [][]float64{first, second} {
			BinScores(edges, xs, bins[side])
			for i, x := range xs {
				k := int(bins[side][i])
				if k != BinOf(edges, x) || k > 0 && !(x > edges[k-1]) || k < len(edges) && !(x <= edges[k]) {
					t.Fatalf("score %v lies in bin %d of %v", x, k, edges)
				}
			}
		}
		table := bounds.NewTable(len(edges) + 1)
		CountPairs(table, bins[0], bins[1])
		if other := TableOf(edges, first, second); !slices.Equal(table.N, other.N) || table.Pairs() != n {
			t.Fatal("two ways to count pairs differ")
		}
		// The event of the threshold is the same by bins and by scores.
		in := func(xs []float64) (k int) {
			for _, x := range xs {
				if (x > cut.Threshold) == cut.above {
					k++
				}
			}
			return k
		}
		c := Event{Edge: slices.Index(edges, cut.Threshold), Above: cut.above, Reversed: cut.reversed}.Counts(table)
		x, y := in(first), in(second)
		if cut.reversed {
			x, y = y, x
		}
		if c.X != x || c.Y != y {
			t.Fatalf("the event holds %d and %d, its bins %d and %d", x, y, c.X, c.Y)
		}
	}
}
