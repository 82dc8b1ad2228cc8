package mechanisms

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

func specOf(t testing.TB, name string) audit.MechanismSpec {
	t.Helper()
	return must.Get(audit.Catalogue{Mechanisms: All()}.Mechanism(name))(t)
}

// Ties go to the lowest index, and every index can win.
func TestNoisyMaxTies(t *testing.T) {
	for want, noise := range [][]float64{{0, 0, 0}, {-1, 2, 2}, {1, 0, 3}} {
		if at, _ := largest(noise, []float64{1, 1, 1}); at != want {
			t.Errorf("index %d, want %d", at, want)
		}
	}
}

// The truth of noisy-max-value-laplace, m epsilon/2, is never passed by the
// ratio of the exact densities on any candidate pair, and is reached on the
// first.
func TestNoisyMaxValueLaplaceTruth(t *testing.T) {
	const m, epsilon = 5, 1.0
	density := func(x float64, q []float64) float64 {
		var sum float64
		for i := range q {
			term := epsilon / 4 * math.Exp(-math.Abs(x-q[i])*epsilon/2)
			for j := range q {
				if j != i {
					term *= laplaceCDF(x-q[j], 2/epsilon)
				}
			}
			sum += term
		}
		return sum
	}
	for k, p := range shapePairs(valueLaplaceShapes, m, -10).of(1) {
		worst := 0.0
		for x := -30.0; x < 30; x += 0.01 {
			worst = math.Max(worst, math.Abs(math.Log(density(x, p.First.Values)/density(x, p.Second.Values))))
		}
		if worst > m*epsilon/2+1e-9 {
			t.Errorf("%s: loss %.6f, want at most %g", p.Label, worst, m*epsilon/2)
		}
		if k == 0 && worst < m*epsilon/2-1e-9 {
			t.Errorf("%s: loss %.6f, want %g", p.Label, worst, m*epsilon/2)
		}
	}
}

// A claim is never below the truth, and derived from epsilon not above it.
func TestRandomisedResponse(t *testing.T) {
	spec := randomisedResponse.spec()
	s := stream.New(stream.Key{Seed: 1, Purpose: "claims"})
	for range 10_000 {
		epsilon := 30 * s.Float64()
		params := numbers("epsilon", max(epsilon, 1e-6), "p", 0)
		if p := truthfulProbability(epsilon); p < 0.5 || logOddsUp(p) > epsilon+3e-9+math.Exp(epsilon)*0x1p-50 {
			t.Fatalf("epsilon %v derives p = %v with log odds %v", epsilon, p, logOddsUp(p))
		} else if odds := math.Log(p) - math.Log1p(-p); odds > spec.Claim(params).Epsilon*(1+0x1p-51) {
			t.Fatalf("epsilon %v derives p = %v with log odds %v above it", epsilon, p, odds)
		}
		p := 0.5 + s.Float64()/2
		params["p"] = number(p)
		if claim, odds := spec.Claim(params).Epsilon, math.Log(p)-math.Log1p(-p); claim < odds || claim > odds+3e-9 {
			t.Fatalf("p = %v claims %v, has log odds %v", p, claim, odds)
		}
	}
}
