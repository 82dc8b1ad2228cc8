package membership

import (
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
)

// TestTableOfScores: counts by binary search are those by counting, ties and
// diverged runs among them.
func TestTableOfScores(t *testing.T) {
	const k, m, runs = 5, 3, 400
	st := stream.New(stream.Key{Purpose: "test/cut"})
	scores := make([]float64, runs*(k+m))
	for i := range scores {
		scores[i] = float64(st.Intn(7))
		if st.Intn(30) == 0 {
			scores[i] = -math.MaxFloat64
		}
	}
	e := NewExplored(k, m, slices.Clone(scores))
	for _, at := range []float64{-1, 0, 0.5, 3, 6, 7} {
		want := bounds.NewCanaryTable(k, m)
		for i := range runs {
			var above [2]int
			for j, x := range scores[i*(k+m):][:k+m] {
				if x > at {
					above[min(1, j/k)]++
				}
			}
			want.Add(above[0], above[1], 1)
		}
		if got := e.Table(at); !slices.Equal(got.Cells, want.Cells) {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
	if e.pooled[0] == -math.MaxFloat64 || !slices.IsSorted(e.pooled) {
		t.Error("pooled scores hold diverged runs or are not sorted")
	}
}
