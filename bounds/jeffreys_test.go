package bounds

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// Against limits by scipy 1.10, beta.ppf(.025, 40.5, 10.5), beta.ppf(.975, 2.5, 48.5),
// and so on; of upper limits at small beta beta.isf.
func TestJeffreys(t *testing.T) {
	for _, k := range []struct {
		c           Counts
		delta, beta float64
		want        float64
	}{
		{Counts{40, 50, 2, 50}, 1e-05, 0.05, 1.707985},
		{Counts{40, 50, 2, 50}, 0, 0.05, 1.708000},
		{Counts{50, 50, 0, 50}, 1e-05, 0.1, 3.245151},
		{Counts{900, 1000, 30, 2000}, 0.001, 0.05, 3.732087},
		{Counts{0, 10, 0, 10}, 0, 0.05, math.Inf(-1)},
		{Counts{500, 1000, 0, 1000}, 0, 1e-8, 3.186538},
		{Counts{1, 50, 0, 50}, 0, 1e-8, -15.216102},
		{Counts{99_999, 99_999, 1, 99_999}, 1e-05, 1e-8, 8.479098},
		{Counts{40, 50, 2, 50}, 0, 5e-10, -0.125725},
	} {
		if got := Jeffreys(k.c, k.delta, k.beta); math.Abs(got-k.want) > 2e-6 && got != k.want {
			t.Errorf("%+v: %v, want %v", k, got, k.want)
		}
	}
	must.Panic(t, "many", func() { Jeffreys(Counts{1, MostJeffreys + 1, 1, 1}, 0, nominal) })
}
