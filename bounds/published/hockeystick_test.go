package published

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/internal/testsize"
)

// The estimate is that of the divergence, and less the slack it exceeds it with
// probability beta at most: X and Y are binomial.
func TestHockeyStick(t *testing.T) {
	const n, p, q, eps, beta = 2000, 0.3, 0.1, 0.5, 0.05
	truth := p - math.Exp(eps)*q
	r := rand.New(rand.NewPCG(71, 72))
	count := func(rate float64) (k int) {
		for range n {
			if r.Float64() < rate {
				k++
			}
		}
		return k
	}
	wrong, sum := 0, 0.0
	const runs = 400
	for range runs {
		v := HockeyStickEstimate(bounds.Counts{X: count(p), N1: n, Y: count(q), N0: n}, eps)
		sum += v / runs
		if v-HockeyStickSlack(n, eps, beta) > truth {
			wrong++
		}
	}
	testsize.Chance(t, "hockey-stick", wrong, runs, beta, 1e-6)
	if math.Abs(sum-truth) > 0.005 {
		t.Errorf("mean %v, want %v", sum, truth)
	}
	// A classifier of m = n (1 + e)/e outputs that errs on its own draws, by definition.
	e := math.Exp(eps)
	if got, want := HockeyStickSlack(n, eps, beta), (1+e)*math.Sqrt(math.Log(1/beta)/(2*n*(1+e)/e)); math.Abs(got-want) > 1e-12 {
		t.Errorf("slack %v, want %v", got, want)
	}
}
