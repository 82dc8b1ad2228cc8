package source

import (
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
)

// TestVectorSum: of orthonormal canaries and no noise, the score of one is how often it is
// inside; under add-remove a fresh one does not see the last that is inside.
func TestVectorSum(t *testing.T) {
	const p, k, m = 12, 30, 40
	vectors := make([][]float64, p)
	for i := range vectors {
		vectors[i] = make([]float64, p)
		vectors[i][i] = 1
	}
	for _, relation := range []audit.Relation{audit.AddRemove, audit.Replace} {
		g := &vectorSum{gaussianSum: &gaussianSum{D: p, Relation: relation}, vectors: vectors}
		in, out := make([]float64, k), make([]float64, m)
		g.Run(stream.New(stream.Key{Purpose: "test/vectors"}), in, out)
		seen := k
		if relation == audit.AddRemove {
			seen--
		}
		// Canaries inside see their own number; each number n comes n times.
		times := map[float64]int{}
		for _, x := range in {
			times[x]++
		}
		var counts []float64
		for x, n := range times {
			if x < 1 || x != math.Trunc(x) || n%int(x) != 0 {
				t.Errorf("%s: %d canaries inside score %v", relation, n, x)
			}
			for range n / int(x) {
				counts = append(counts, x)
			}
		}
		if total(counts) != k || len(counts) > p {
			t.Errorf("%s: the numbers inside are %v", relation, counts)
		}
		if mean := total(out) / m; mean < float64(seen)/p/2 || mean > float64(seen)/p*2 {
			t.Errorf("%s: fresh canaries see %v on average, of %d inside", relation, mean, seen)
		}
	}
}

// TestVectorFile: rows of a file are scaled as asked, and what is wrong with one is named.
func TestVectorFile(t *testing.T) {
	for _, c := range []struct {
		file  string
		scale Scale
		norm  float64
		want  string
	}{
		{"x,y\n.3,0\n\n0,.6\n.9,0\n", MedianNorm, 0.6, ""},
		{"3;4\n0;2\n", UnitNorm, 1, ""},
		{"\n\n3;4\n0;2\n", UnitNorm, 1, ""},
		{"", UnitNorm, 0, "empty"},
		{"a,b\n", UnitNorm, 0, "empty"},
		{"1,2\n3\n", UnitNorm, 0, "line 2 is of 1 numbers"},
		{"1,2\n3,x\n", UnitNorm, 0, `line 2, column 2 is "x"`},
		{"1,2\nNaN,1\n", UnitNorm, 0, `line 2, column 1 is "NaN"`},
		{"1,0\n0,0\n", UnitNorm, 0, "vector 2 is zero"},
		{"3,4\n", MedianNorm, 0, "median norm of 5"},
		{strings.Repeat("1,", mostDimensions) + "1\n", UnitNorm, 0, "line 1 is of 1000001 numbers"},
	} {
		rows, err := canaryVectors([]byte(c.file), c.scale)
		if (err == nil) != (c.want == "") || err != nil && !(audit.IsInput(err) && strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.40q: %v, want %q in it", c.file, err, c.want)
		}
		for i, row := range rows {
			if norm := math.Sqrt(linalg.Dot(row, row)); math.Abs(norm-c.norm) > 1e-12 {
				t.Errorf("%q: vector %d has norm %v, must be %v", c.file, i+1, norm, c.norm)
			}
		}
	}
}
