package mechanisms

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// noiseless is the step of a descent with one part, without noise.
func (f descent) noiseless(p audit.Params, records []float64) float64 {
	parts := make([]partSums, 1)
	sums(parts, records, make([]float64, len(records)), p.Num("clip"))
	return f.gradient(parts[0], p.Num("clip"), p["batch"].Number)
}

// Sensitivities by brute force over all datasets of up to four records on a
// grid, against the truth that is stated and the claim.
func TestDescentSensitivities(t *testing.T) {
	grid := []float64{-2, -1.5, -1, -2. / 3, -0.5, 0, 0.5, 2. / 3, 1, 1.5, 2}
	for _, f := range []descent{dpSGD, dpSGDScaledNoise, dpSGDMicrobatch, dpSGDClipLate} {
		for _, clip := range []float64{0.5, 2. / 3, 1, 1.5, 2, 3} {
			spec := f.complete().spec()
			p := set(spec, "clip", clip)
			worst := 0.0
			var try func(records []float64)
			try = func(records []float64) {
				before := f.noiseless(p, records)
				for _, x := range grid {
					more := append(records[:len(records):len(records)], x)
					worst = math.Max(worst, math.Abs(f.noiseless(p, more)-before))
					if len(more) < 4 {
						try(more)
					}
				}
			}
			try(nil)
			// Against noise of sd, in units of the claimed G against σG.
			ratio := worst / f.sd(p) * p.Num("sigma")
			if want := f.ratio(p, clip); math.Abs(ratio-want) > 1e-9 {
				t.Errorf("%s at G = %.3g: ratio %v, stated %v", f.Name, clip, ratio, want)
			}
			if f.Fault == "" && ratio > 1+1e-12 {
				t.Errorf("%s at G = %.3g: ratio %v, claims 1", f.Name, clip, ratio)
			}
			if f.Fault != "" && clip == 1 && ratio < 1.4 {
				t.Errorf("%s: ratio %v at the defaults, want a fault", f.Name, ratio)
			}
			pair := spec.Pairs(p, audit.AddRemove)[0]
			gap := math.Abs(f.noiseless(p, pair.First.Values) - f.noiseless(p, pair.Second.Values))
			if gap < worst-1e-9 && !(f.Name == "dp-sgd-clip-late" && clip*8 < 2*2) {
				t.Errorf("%s at G = %.3g: the first pair moves w by %v, the worst by %v", f.Name, clip, gap, worst)
			}
		}
	}
}

// Twice the first step less the second is what the two batches differ by:
// nothing where there is no record, 1 or -1 where there is one.
func TestReusedKeyCancels(t *testing.T) {
	spec := dpSGDReusedKey.complete().spec()
	run := mustNew(t, spec, defaults(spec))
	var signs [2]int
	for side, d := range []audit.Dataset{audit.Records(), audit.Records(2)} {
		s := sample(t, run, d, 10_000, side)
		for i := range s.Len() {
			w := s.Row(i)
			gap := w[1] - 2*w[0]
			if math.Abs(math.Abs(gap)-float64(side)) > 1e-12 {
				t.Fatalf("%d records: the noise leaves %v", side, gap)
			}
			if gap > 0.5 {
				signs[1]++
			} else if gap < -0.5 {
				signs[0]++
			}
		}
	}
	// Each sign in half of the outputs, to 4.5 standard deviations: missed with
	// probability 7e-6.
	if math.Abs(float64(signs[0]-5000)) > 4.5*50 || signs[0]+signs[1] != 10_000 {
		t.Errorf("signs %v", signs)
	}
}

// The claims in the three notions, and with several steps.
func TestDescentClaims(t *testing.T) {
	for _, c := range []struct {
		f      descent
		notion string
		want   audit.Claim
		truth  string
	}{
		{dpSGD, "renyi", audit.Claim{Kind: audit.Renyi, Alpha: 3, Epsilon: 0.375}, "Rényi epsilon = 0.375 at alpha = 3"},
		{dpSGD, "zcdp", audit.Claim{Kind: audit.ZCDP, Rho: 0.125}, "rho = 0.125 (zCDP)"},
		{dpSGD, "gaussian-dp", audit.Claim{Kind: audit.GaussianDP, Mu: 0.5}, "mu = 0.5 (Gaussian DP)"},
		{dpSGDScaledNoise, "gaussian-dp", audit.Claim{Kind: audit.GaussianDP, Mu: 0.5}, "mu = 1 (Gaussian DP)"},
		{dpSGDMicrobatch, "gaussian-dp", audit.Claim{Kind: audit.GaussianDP, Mu: 0.5}, "mu = 0.75 (Gaussian DP)"},
		{dpSGDMicrobatch, "zcdp", audit.Claim{Kind: audit.ZCDP, Rho: 0.125}, "rho = 0.28125 (zCDP)"},
		{dpSGDClipLate, "gaussian-dp", audit.Claim{Kind: audit.GaussianDP, Mu: 0.5}, "mu = 1 (Gaussian DP)"},
		{dpSGDReusedKey, "zcdp", audit.Claim{Kind: audit.ZCDP, Rho: 0.25}, "not private for any epsilon"},
	} {
		spec := c.f.complete().spec()
		p := set(spec, "alpha", 3)
		p["notion"] = text(c.notion)
		if got := spec.Claim(p); got != c.want {
			t.Errorf("%s claims %+v, want %+v", c.f.Name, got, c.want)
		}
		if got := spec.Truth(p); got != c.truth {
			t.Errorf("%s: truth %q, want %q", c.f.Name, got, c.truth)
		}
	}
}
