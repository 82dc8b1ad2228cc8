package mechanisms

import (
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// The query families on random records against their definitions; records of
// many sizes, some at the ends of [0, 1].
func TestQueryFamilies(t *testing.T) {
	s := stream.New(stream.Key{Seed: 5, Purpose: "records"})
	for _, f := range queryFamilies {
		for trial := range 200 {
			m := 1 + trial%7
			records := make([]float64, s.Intn(6))
			s.Uniform(records, -0.2, 1.2)
			for i, v := range records {
				records[i] = min(max(v, 0), 1)
			}
			p := defaults(svt1.complete().spec())
			p["m"], p["queries"] = number(float64(m)), audit.ParamValue{Text: f.name}
			got := f.answers(records, m)
			if want := slowAnswers(p, records); !slices.Equal(got, want) {
				t.Fatalf("%s on %v: %v, want %v", f.name, records, got, want)
			}
		}
	}
}

// Records outside [0, 1] are clipped, also where they are revealed.
func TestClipping(t *testing.T) {
	if sum := clippedSum([]float64{-3, 0.25, 7, math.Copysign(0, -1)}); sum != 1.25 {
		t.Errorf("clipped sum %v, want 1.25", sum)
	}
	if q := queryFamilies[1].answers([]float64{-3, 7}, 3); !slices.Equal(q, []float64{1, 1, 0}) {
		t.Errorf("revealed records %v, want [1 1 0]", q)
	}
}

func TestNoisyCountsHaveALowerEnd(t *testing.T) {
	z := []float64{0, 1.5, -2, -3, -1.96875, math.Inf(-1)}
	noisyCounts(z, 2, leastCount)
	if want := []float64{2, 3.5, 1e-12, 1e-12, 0.03125, 1e-12}; !slices.Equal(z, want) {
		t.Errorf("noisy counts %v, want %v", z, want)
	}
}

// An SVT at its edges: stopping at the last query, at the first, and ties,
// which count as above.
func TestCompare(t *testing.T) {
	for _, c := range []struct {
		noise, want []float64
		cutoff      int
	}{
		{[]float64{0, -1, 0}, []float64{1, 0, 1}, 2},
		{[]float64{0, 0, 0}, []float64{1, -1, -1}, 1},
		{[]float64{-1, -1, 0}, []float64{0, 0, 1}, 1},
		{[]float64{0, -1, 0}, []float64{1, 0, 1}, 4},
	} {
		symbols := slices.Clone(c.noise)
		compare(symbols, []float64{0.5}, []float64{1, 1, 1}, 0.5, c.cutoff)
		if !slices.Equal(symbols, c.want) {
			t.Errorf("noise %v, cut-off %d: %v, want %v", c.noise, c.cutoff, symbols, c.want)
		}
		mixed := make([]float64, 6)
		compareMore(mixed, []float64{0.5}, c.noise, c.noise, []float64{1, 1, 1}, 0.5, c.cutoff)
		for i, w := range c.want {
			value := 0.0
			if w == above {
				value = 1 + c.noise[i]
			}
			if mixed[2*i] != w || mixed[2*i+1] != value {
				t.Errorf("noise %v, cut-off %d, query %d: (%v, %v), want (%v, %v)", c.noise, c.cutoff, i, mixed[2*i], mixed[2*i+1], w, value)
			}
		}
	}
	// The threshold falls to 0 after the first ⊤.
	symbols := []float64{0, -1, 0}
	compareMore(symbols, []float64{0.5}, symbols, []float64{-0.5}, []float64{1, 1, 1}, 0.5, 2)
	if want := []float64{1, 1, -1}; !slices.Equal(symbols, want) {
		t.Errorf("threshold drawn again: %v, want %v", symbols, want)
	}
}
