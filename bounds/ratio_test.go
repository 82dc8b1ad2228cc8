package bounds

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/internal/testsize"
)

// slowProportions scans a grid for the proportions that the mixture has not refuted, with
// the mixture as the product of its predictions: (k+1/2)/(n+1), one output after another.
func slowProportions(k, n int, beta float64, steps int) (low, up float64) {
	mixed := 0.0
	for i := range n { // any order of the outputs gives the same product
		hits, share := float64(i), 0.0
		if i < k {
			share = (hits + 0.5) / (hits + 1)
		} else {
			share = (hits - float64(k) + 0.5) / (hits + 1)
		}
		mixed += math.Log(share)
	}
	low, up = 1, 0
	for i := range steps + 1 {
		p := float64(i) / float64(steps)
		against := 0.0
		if k > 0 {
			against += float64(k) * math.Log(p)
		}
		if k < n {
			against += float64(n-k) * math.Log(1-p)
		}
		if mixed-against < -math.Log(beta) {
			low, up = min(low, p), max(up, p)
		}
	}
	return low, up
}

func TestProportionSequenceTwin(t *testing.T) {
	const steps = 4000
	for _, c := range []struct {
		k, n int
		beta float64
	}{{0, 1, 0.05}, {1, 1, 0.05}, {0, 40, 0.01}, {40, 40, 0.01}, {3, 50, 0.05}, {25, 50, 1e-6}, {180, 200, 0.2}, {7, 1000, 1e-3}} {
		low, up := ProportionSequence(c.k, c.n, c.beta)
		slowLow, slowUp := slowProportions(c.k, c.n, c.beta, steps)
		if low > slowLow || low < slowLow-1.01/steps || up < slowUp || up > slowUp+1.01/steps {
			t.Errorf("%+v: %v to %v, on the grid %v to %v", c, low, up, slowLow, slowUp)
		}
	}
}

// TestProportionSequenceCoverage enumerates all paths of a coin: the limits miss at any
// of the first outputs with probability at most beta, and not hopelessly seldom.
func TestProportionSequenceCoverage(t *testing.T) {
	n, beta, most := testsize.Of(120, 600), 0.1, 0.0
	for _, p := range []float64{0.003, 0.02, 0.1, 0.27, 0.5, 0.8, 0.97} {
		missed := 0.0
		alive := []float64{1} // probability of k so far, of paths that were never missed
		for i := 1; i <= n; i++ {
			next := make([]float64, i+1)
			for k, v := range alive {
				next[k] += v * (1 - p)
				next[k+1] += v * p
			}
			for k, v := range next {
				if v == 0 {
					continue
				}
				if low, up := ProportionSequence(k, i, beta); p < low || p > up {
					missed, next[k] = missed+v, 0
				}
			}
			alive = next
		}
		if missed > beta {
			t.Errorf("p = %v: missed with probability %v, allowed %v", p, missed, beta)
		}
		most = max(most, missed)
	}
	if most < beta/10 {
		t.Errorf("missed with probability %v at most, far below %v", most, beta)
	}
}
