package mechanisms

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit"
)

func svtByName(name string) svtVariant {
	for _, v := range []svtVariant{svt1, svt2, svt3, svt4, svt5, svt6} {
		if v.Name == name {
			return v
		}
	}
	panic("no such variant")
}

// svtAt is a variant's run at these parameters and otherwise the defaults.
func svtAt(v svtVariant, epsilon, c float64) svtRun {
	return v.run(set(v.complete().spec(), "epsilon", epsilon, "c", c))
}

// loudness is the larger hockey-stick divergence of the two directions.
func (r svtRun) loudness(p audit.Pair, values bool, epsilon float64) float64 {
	a, b := p.First.Values, p.Second.Values
	if values {
		return math.Max(svt3HockeyStick(a, b, r.threshold, r.rho, r.nu, epsilon), svt3HockeyStick(b, a, r.threshold, r.rho, r.nu, epsilon))
	}
	x := svtOutcomes(a, r.threshold, r.rho, r.nu, r.cutoff)
	y := svtOutcomes(b, r.threshold, r.rho, r.nu, r.cutoff)
	return math.Max(hockeyStick(x, y, epsilon), hockeyStick(y, x, epsilon))
}

// nothing is what quadrature leaves where the exact divergence is 0.
const nothing = 1e-7

// The first direct pair shows the divergence that its comment says, at the
// claim; where the truth is finite, no pair shows any at the truth.
func TestSVTPairsAreAsLoudAsKnown(t *testing.T) {
	for _, c := range []struct {
		name       string
		epsilon, c float64
		want       float64 // at the claim, on the first pair
		truth      float64 // 0: unbounded
	}{
		{"svt1", 1, 1, 0, 1},
		{"svt1", 1, 2, 0, 1},
		{"svt2", 1, 1, 0, 1}, // with c = 1 the threshold is never drawn again
		{"svt3", 1, 1, 0.0287, 0},
		{"svt3", 0.01, 1, 0.0002, 0},
		{"svt4", 1, 1, 0.0296, 1.75},
		{"svt4", 0.01, 1, 0.0002, 0.0175},
		{"svt4", 1, 3, 0.0795, 4.75},
		{"svt5", 1, 1, 1 - math.Exp(-0.25), 0},
		{"svt5", 0.01, 1, 0.0025, 0},
		{"svt6", 1, 1, 0.1229, 0},
		{"svt6", 0.01, 1, 0.0009, 0},
	} {
		v := svtByName(c.name)
		run := svtAt(v, c.epsilon, c.c)
		pairs := v.directPairs(10, 0.5, 1).of(1)
		if h := run.loudness(pairs[0], v.values, c.epsilon); math.Abs(h-c.want) > 6e-5 {
			t.Errorf("%s at epsilon %g, c = %g, %s: divergence %.6f, want %g", c.name, c.epsilon, c.c, pairs[0].Label, h, c.want)
		}
		if c.truth == 0 {
			continue
		}
		for _, p := range pairs {
			if h := run.loudness(p, v.values, c.truth); h > nothing {
				t.Errorf("%s at epsilon %g, c = %g, %s: divergence %.3g at %g, which it should keep", c.name, c.epsilon, c.c, p.Label, h, c.truth)
			}
		}
	}
}

// svt4 comes near its truth: at 98 % of it the 9+1 pair still shows something.
func TestSVT4TruthIsTight(t *testing.T) {
	run := svtAt(svt4, 1, 1)
	p := pairs{flip{9, 1}.pair(10, 0, 1)}.of(1)[0]
	if h := run.loudness(p, false, 0.98*1.75); h < 10*nothing {
		t.Errorf("divergence %.3g at 98 %% of the truth, want some", h)
	}
}
