package bounds

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// The limits solve the binomial tail, summed the slow way, and err outwards.
func TestProportionsSolveTheTail(t *testing.T) {
	for _, n := range []int{1, 2, 10, 137, 1000} {
		for _, k := range []int{0, 1, n / 3, n / 2, n - 1, n} {
			for _, beta := range []float64{0.05, 0.7, 1e-6, 1e-30} {
				lower, upper := LowerProportion(k, n, beta), UpperProportion(k, n, beta)
				if rate := float64(k) / float64(n); beta < 0.3 && (lower > rate || upper < rate) {
					t.Errorf("k %d n %d beta %v: [%v, %v] misses the rate", k, n, beta, lower, upper)
				}
				sum := func(p float64, from, to int) float64 { return floats.Sum(pmf(n, p)[from : to+1]) }
				if k == 0 && lower != 0 || k == n && upper != 1 {
					t.Errorf("k %d n %d: [%v, %v], want the closed end", k, n, lower, upper)
				}
				// margin moves a limit back across its rounding.
				const margin, summing = 4e-11, 1e-8
				for _, side := range []struct {
					name          string
					closed        bool
					limit, inside float64
					from, to      int
				}{
					{"lower", k == 0, lower, math.Min(1, lower*(1+margin)), k, n},
					{"upper", k == n, upper, upper * (1 - margin), 0, k},
				} {
					at, inside := sum(side.limit, side.from, side.to), sum(side.inside, side.from, side.to)
					if !side.closed && (at > beta*(1+summing) || inside < beta*(1-summing)) {
						t.Errorf("k %d n %d beta %v: tail %v at the %s limit, %v inside it", k, n, beta, at, side.name, inside)
					}
				}
			}
		}
	}
}

// At sizes where gonum's continued fraction ends early, against the normal
// approximation, whose error is O(1/n), and against the definition.
func TestProportionsOfManyTrials(t *testing.T) {
	for _, n := range []int{1_000_000, 100_000_000} {
		k := n / 3
		for _, beta := range []float64{0.05, 0.4, 1e-5} {
			z, p := upperNormal(beta), float64(k)/float64(n)
			sd := math.Sqrt(p * (1 - p) / float64(n))
			got := LowerProportion(k, n, beta)
			want := p - z*sd
			if math.Abs(got-want) > 8/float64(n) {
				t.Errorf("LowerProportion(%d, %d, %v) = %v, about %v expected", k, n, beta, got, want)
			}
			_, above := tails(k, n, got, math.Log(1/beta)+32)
			if above > beta || above < beta*(1-1e-6) {
				t.Errorf("P(K >= k) = %v at LowerProportion(%d, %d, %v)", above, k, n, beta)
			}
		}
	}
}

func TestTails(t *testing.T) {
	for _, n := range []int{1, 9, 400} {
		for _, p := range []float64{0, 1e-7, 0.3, 0.999, 1} {
			w := pmf(n, p)
			for _, k := range []int{0, 1, n / 2, n, n + 1} {
				want := floats.Sum(w[:k])
				below, above := tails(k, n, p, 60)
				if math.Abs(below-want) > 1e-11 || math.Abs(above-(1-want)) > 1e-11 {
					t.Errorf("tails(%d, %d, %v) = %v, %v, want %v, %v", k, n, p, below, above, want, 1-want)
				}
			}
		}
	}
}
