package mechanisms

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
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

// Outcomes against their exact probabilities, by chi-square; a right mechanism
// fails one of the eight comparisons with probability 8 * falseAlarm.
func TestSVTOutcomesAreExact(t *testing.T) {
	const rows = 50_000
	for _, name := range []string{"svt1", "svt4", "svt5", "svt6"} {
		v := svtByName(name)
		run := svtAt(v, 2, 2)
		spec := v.complete().spec()
		m := mustNew(t, spec, set(spec, "epsilon", 2, "c", 2))
		for side, d := range []audit.Dataset{audit.Records(flip{5, 5}.pair(10, 0, 1).first...), audit.Records(flip{3, 1}.pair(10, 0, 1).second...)} {
			want := svtOutcomes(d.Values, run.threshold, run.rho, run.nu, run.cutoff)
			seen := map[string]float64{}
			out := make([]float64, rows*10)
			must.Do(t, m.Sample(d, stream.New(stream.Key{Seed: 3, Purpose: name, Side: side}), out))
			for i := 0; i < len(out); i += 10 {
				word := make([]byte, 10)
				for k, symbol := range out[i : i+10] {
					word[k] = "-FT"[int(symbol)+1]
				}
				seen[string(word)]++
			}
			var counts, prob []float64
			for word, p := range want {
				counts, prob = append(counts, seen[word]), append(prob, p)
				delete(seen, word)
			}
			if p := fits(counts, prob, rows); p < falseAlarm || len(seen) > 0 {
				t.Errorf("%s, dataset %v: p = %.2g, and %v cannot be", name, d.Values, p, seen)
			}
		}
	}
}
