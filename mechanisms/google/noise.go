package google

import (
	"fmt"
	"math"

	"github.com/google/differential-privacy/go/v3/noise"

	"github.com/dpscope/dpscope/audit"
)

var (
	laplaceSpec = noiseFamily(family{name: "google-laplace", title: "Sums with the library's Laplace noise",
		calls: "noise.Laplace().AddNoiseFloat64 on a sum in each partition"}, noise.Laplace(), 0)
	laplaceWrongSensitivity = noiseFamily(family{name: "google-laplace-wrong-sensitivity", title: "Sums with the library's Laplace noise, for a sensitivity that is too small",
		calls: "noise.Laplace().AddNoiseFloat64 on a sum in each partition",
		fault: "gives the library a sensitivity that is smaller than what one unit adds"}, noise.Laplace(), 2)
	gaussianSpec = noiseFamily(family{name: "google-gaussian", title: "Sums with the library's Gaussian noise",
		calls: "noise.Gaussian().AddNoiseFloat64 on a sum in each partition"}, noise.Gaussian(), 0)
	gaussianWrongSensitivity = noiseFamily(family{name: "google-gaussian-wrong-sensitivity", title: "Sums with the library's Gaussian noise, for a sensitivity that is too small",
		calls: "noise.Gaussian().AddNoiseFloat64 on a sum in each partition",
		fault: "gives the library a sensitivity that is smaller than what one unit adds"}, noise.Gaussian(), 4)
)

// noiseFamily is noise on the sum of the units' values in every partition. most,
// above 0, is by default how many times the sensitivity that the library is given
// one value may be.
func noiseFamily(f family, n noise.Noise, most float64) family {
	f.params = []audit.ParamSpec{epsilon}
	normal := noise.ToKind(n) == noise.GaussianNoise
	if normal {
		f.params = append(f.params, delta)
	}
	f.params = append(f.params,
		audit.ParamSpec{Name: "l0-sensitivity", Doc: "l0Sensitivity: partitions that a unit contributes to; an output each", Default: 1, Min: 1, Max: 16, Integer: true},
		audit.ParamSpec{Name: "linf-sensitivity", Doc: "lInfSensitivity: what a unit adds to a partition at most", Default: 1, Min: 1e-6, Max: 1e6})
	if most > 0 {
		f.params = append(f.params, audit.ParamSpec{Name: "most", Doc: "what a unit really adds at most, in multiples of linf-sensitivity", Default: most, Min: 1, Max: 1000, Open: true})
	}
	times := func(p audit.Params) float64 {
		if most > 0 {
			return p.Num("most")
		}
		return 1
	}
	spent := func(p audit.Params) float64 {
		if normal {
			return p.Num("delta")
		}
		return 0
	}
	f.claim = func(p audit.Params) audit.Claim { return audit.DPClaim(p.Num("epsilon"), spent(p)) }
	f.truth = func(p audit.Params) string {
		k := times(p)
		if !normal {
			return "epsilon = " + show(k*p.Num("epsilon"))
		}
		l0 := int64(p.Int("l0-sensitivity"))
		// Of sensitivity 1 in every partition: the noise grows with it.
		mu := k * l2(l0) / noise.SigmaForGaussian(l0, 1, p.Num("epsilon"), p.Num("delta"))
		gdp := audit.Claim{Kind: audit.GaussianDP, Mu: rounded(mu)}.String()
		if most > 0 {
			return "not the claim, but " + gdp
		}
		return fmt.Sprintf("%s, that is %s", f.claim(p), gdp)
	}
	f.unit = func(p audit.Params) []interval {
		reach := times(p) * p.Num("linf-sensitivity")
		return same(p.Int("l0-sensitivity"), interval{-reach, reach})
	}
	f.outputs = func(p audit.Params) []string { return partitions(p.Int("l0-sensitivity"), "sum") }
	f.release = func(p audit.Params) release {
		l0, lInf, eps, del := int64(p.Int("l0-sensitivity")), p.Num("linf-sensitivity"), p.Num("epsilon"), spent(p)
		return func(d audit.Dataset, out []float64) error {
			for j := range out {
				var sum float64
				for i := j; i < len(d.Values); i += d.Columns {
					sum += d.Values[i]
				}
				var err error
				if out[j], err = n.AddNoiseFloat64(sum, l0, lInf, eps, del); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return f
}

// l2 is the L2 norm of n ones.
func l2(n int64) float64 { return math.Sqrt(float64(n)) }

// rounded keeps four digits, downwards.
func rounded(v float64) float64 { return math.Floor(v*1e4) / 1e4 }
