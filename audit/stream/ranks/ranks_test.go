package ranks

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Ranks are those that a search among all distinct values finds.
func TestRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	laws := map[string]func() float64{
		"few values": func() float64 { return float64(rng.IntN(5)) - 2 },
		"all sizes":  func() float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(1800)-900) },
		"one":        func() float64 { return 7 },
		"extremes": func() float64 {
			return []float64{math.MaxFloat64, -math.MaxFloat64, 0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, -1, 1}[rng.IntN(7)]
		},
	}
	for name, law := range laws {
		for _, size := range []int{1, 2, 100, 3000} {
			lists := make([][]float64, 2)
			for i := range lists {
				for range rng.IntN(size + 1) {
					lists[i] = append(lists[i], law())
				}
			}
			all := slices.Concat(lists...)
			slices.Sort(all)
			distinct := slices.Compact(slices.Clone(all))
			r := Rank(lists...)
			if r.Distinct() != len(distinct) {
				t.Fatalf("%s: %d distinct values, want %d", name, r.Distinct(), len(distinct))
			}
			for k, list := range lists {
				got := r.Load(k)
				for i, v := range list {
					want := slices.Index(distinct, v)
					if int(got[i]) != want || r.Value(got[i]) != v || r.Below(v) != got[i] || r.Below(math.Nextafter(v, math.Inf(1))) != got[i]+1 {
						t.Fatalf("%s: rank %d of %v, want %d", name, got[i], v, want)
					}
				}
				slices.Sort(got)
				if !slices.Equal(got, r.Sorted(k)) || len(got) != r.Len(k) {
					t.Fatalf("%s: %v are not the sorted ranks of list %d", name, r.Sorted(k), k)
				}
			}
			for i, want := range all {
				if got := r.Value(Nth(i, r.Sorted(0), r.Sorted(1))); got != want {
					t.Fatalf("%s: number %d of both is %v, want %v", name, i, got, want)
				}
			}
		}
	}
}
