package chart

import (
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

func TestChartBins(t *testing.T) {
	ch := Chart{Kind: Histogram, Edges: Edges(innerBins, []float64{0, 1, 2, 3}, []float64{4, 5, 10})}
	b := must.Get(ch.Binner([]audit.Column{{Name: "x", Kind: audit.Real}}))(t)
	for _, v := range []float64{-1e300, -1, 0, 0.1, 3.3, 9.999, 10, 11, 1e300} {
		want := 0
		for want < len(ch.Edges) && v >= ch.Edges[want] {
			want++
		}
		if got := b.Bin(v); got != want {
			t.Errorf("bin(%v) = %d, want %d", v, got, want)
		}
	}
	if e := Edges(innerBins, []float64{7, 7}, []float64{7}); len(e) != innerBins+1 || e[0] >= 7 || e[len(e)-1] <= 7 {
		t.Errorf("edges of a constant: %v", e)
	}
	if e := Edges(innerBins, []float64{-1.7e308, 1}, []float64{1.7e308}); audit.NonFinite(e) >= 0 {
		t.Errorf("edges over the whole range of floats are not finite: %v", e)
	}
}

// TestGrowingBins: where much of the outputs lies far out, bins grow outwards, are in
// order, reach the tails, and are found by the same rule as others; else there are none.
func TestGrowingBins(t *testing.T) {
	st := stream.New(stream.Key{Seed: 3})
	heavy := func(n int, centre float64) []float64 {
		out, by := make([]float64, n), make([]float64, n)
		st.Laplace(out, 1)
		st.Laplace(by, 1)
		for i := range out {
			out[i] = centre + out[i]/by[i]
			if i%50 == 0 {
				out[i] *= 1e12
			}
		}
		return out
	}
	light := make([]float64, 3000)
	st.Laplace(light, 1)
	if e := GrowingEdges(innerBins, light, light); e != nil {
		t.Errorf("edges of light tails: %v", e)
	}
	wide := audit.Each(light, func(v float64) float64 { return 1e304 * v }) // its tails' span is no number
	for i := range 100 {
		wide[i] = math.Copysign(1.7e308, float64(i%2)-0.5)
	}
	for _, sample := range [][]float64{{1}, {2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 1e300}, {-1.7e308, -1, 0, 1, 1.7e308}, wide, nil} {
		if e := GrowingEdges(innerBins, sample, sample); e != nil && audit.NonFinite(append(e, e[len(e)-1]-e[0])) >= 0 {
			t.Errorf("%v: edges %v", sample[:min(8, len(sample))], e)
		}
	}
	for _, centre := range []float64{0, 1e6} {
		first, second := heavy(4000, centre), heavy(4000, centre)
		e := GrowingEdges(innerBins, first, second)
		if len(e) != innerBins+1 || !slices.IsSorted(e) {
			t.Fatalf("about %v: %d edges: %v", centre, len(e), e)
		}
		inside := 0
		a := newAxis(e)
		for _, v := range slices.Concat(first, second, e) {
			want := 0
			for want < len(e) && v >= e[want] {
				want++
			}
			if got := a.Bin(v); got != want {
				t.Fatalf("bin(%v) = %d, want %d", v, got, want)
			}
			if want > 0 && want < len(e) {
				inside++
			}
		}
		if all := len(first) + len(second); inside < all*98/100 {
			t.Errorf("about %v: only %d of %d lie between the edges %v", centre, inside, all, e)
		}
		middle, ends := e[len(e)/2+1]-e[len(e)/2], e[len(e)-1]-e[len(e)-2]
		if !(ends > 100*middle) {
			t.Errorf("about %v: bins of %v in the middle and %v at the end", centre, middle, ends)
		}
	}
}
