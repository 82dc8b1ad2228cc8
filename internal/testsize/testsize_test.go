package testsize

import (
	"math"
	"testing"
)

// TestMost: as many events as Most says come up with probability of alarm or more, and
// one more does not, by the sum of the binomial law.
func TestMost(t *testing.T) {
	above := func(n, k int, p float64) (sum float64) { // P(X > k)
		for i := k + 1; i <= n; i++ {
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(i + 1))
			c, _ := math.Lgamma(float64(n - i + 1))
			sum += math.Exp(a - b - c + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		}
		return sum
	}
	for _, n := range []int{1, 5, 16, 30, 100, 1000} {
		for _, p := range []float64{0.05, 0.1, 0.5} {
			for _, alarm := range []float64{1e-2, 1e-4, 4e-6} {
				k := Most(n, p, alarm)
				if above(n, k, p) >= alarm || k > int(float64(n)*p) && above(n, k-1, p) < alarm {
					t.Errorf("Most(%d, %v, %v) = %d: P(X > %[4]d) = %.3g, P(X >= %[4]d) = %.3g", n, p, alarm, k, above(n, k, p), above(n, k-1, p))
				}
			}
		}
	}
}

// failures counts those of a test that goes on.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Errorf(string, ...any) { f.n++ }

// TestChance: as many events as Most says pass, and one more does not.
func TestChance(t *testing.T) {
	f, most := &failures{TB: t}, Most(100, 0.05, 1e-6)
	if Chance(f, "of", most, 100, 0.05, 1e-6); f.n != 0 {
		t.Errorf("%d of 100 fails", most)
	}
	if Chance(f, "of", most+1, 100, 0.05, 1e-6); f.n != 1 {
		t.Errorf("%d of 100 passes", most+1)
	}
}

func TestOf(t *testing.T) {
	t.Setenv(Variable, "")
	if All() || Of(1, 2) != 1 {
		t.Error("short tests are not the default")
	}
	t.Setenv(Variable, "1")
	if !All() || Of(1, 2) != 2 {
		t.Errorf("%s=1 does not choose the full tests", Variable)
	}
}
