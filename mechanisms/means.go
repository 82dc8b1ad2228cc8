package mechanisms

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// meanFamily is a mean of records clipped to [0, 1], with noise on the sum and
// on the count n:
//
//	ñ = max(1e-12, n + Lap(2/epsilon))
//	private:          sum/ñ + noise/ñ, the same ñ in both
//	raw-count:        sum/n + noise/n
//	raw-denominator:  sum/n + noise/ñ
//	clamped-scale:    sum/m + noise·max(1e-12, s/m)/s,  m = n + Lap(2/epsilon)
//
// where noise is of scale s: Lap(s), s = 2/epsilon; or N(0, s²), s = sqrt(2 ln(1.25/delta))
// 2/epsilon under an (epsilon, delta) claim, s = sqrt(alpha/epsilon) under a Rényi claim, so
// that the sum, of sensitivity 1, costs alpha/(2s²) = epsilon/2 at order alpha, and the
// count at most the other epsilon/2.
type meanFamily struct {
	mechanism

	gaussian     bool
	renyi        bool // gaussian, under a Rényi claim
	rawMean      bool // the sum is divided by the true n
	rawNoise     bool // so is the noise
	clampedScale bool // not the noisy count has a lower end, but the noise's scale over it
}

const (
	leastCount = 1e-12 // lower end of the noisy count
	leastScale = 1e-12 // lower end of the noise's scale in clamped-scale

	// A Gaussian mean divided by the true count breaks its claim at both.
	smallEpsilon, smallDelta = 0.1, 0.01

	gaussianNoiseSource = "; Gaussian noise: Dwork and Roth (2014), theorem 3.22"
	meanSource          = "Kong, Muñoz Medina, Ribero and Syed, DP-Auditorium (2023), section 6.1; Kong, Muñoz Medina and Ribero, RényiTester (2023), section 5"

	rawCountFault = "divides by the true number of records and scales the noise by it: the noise reveals the number of records" +
		" (under add/remove; under replace it is private)"
	rawDenominatorFault = "divides the sum by the true number of records, and only the noise by a private number," +
		" which may be far larger than the true one"
)

var (
	laplaceMean = meanFamily{mechanism: mechanism{
		Name: "laplace-mean", Title: "Mean with Laplace noise on sum and count", Source: "DPLaplace, DPMean: " + meanSource,
		Tight: &audit.Tight{Pair: 3, Floats: true,
			Why: "a negative mean with the count at its lower end: the count's noise and the sum's cost epsilon/2 each; on the first pair only the count moves, epsilon/2"},
	}}
	laplaceMeanRawCount = meanFamily{rawMean: true, rawNoise: true, mechanism: mechanism{
		Name: "laplace-mean-raw-count", Title: "Mean with Laplace noise, scaled by the true count",
		Source: "NonDPLaplace1, NonDPMean1: " + meanSource, Fault: rawCountFault, Mended: "laplace-mean",
	}}
	laplaceMeanRawDenominator = meanFamily{rawMean: true, mechanism: mechanism{
		Name: "laplace-mean-raw-denominator", Title: "Mean with Laplace noise, sum divided by the true count",
		Source: "NonDPLaplace2, NonDPMean2: " + meanSource, Fault: rawDenominatorFault, Mended: "laplace-mean",
	}}
	laplaceMeanClampedScale = meanFamily{clampedScale: true, mechanism: mechanism{
		Name: "laplace-mean-clamped-scale", Title: "Mean with Laplace noise, its scale clamped instead of the noisy count",
		Source: "private_mean of google/differential-privacy, python/dp_auditorium 0.0.1, mechanisms/mean.py, lines 100 to 110",
		Fault:  "clamps the noise scale after dividing by the noisy count, instead of the count itself: if the noisy count is negative the noise almost vanishes", Mended: "laplace-mean",
	}}
	gaussianMean = meanFamily{gaussian: true, mechanism: mechanism{
		Name: "gaussian-mean", Title: "Mean with Gaussian noise on the sum, Laplace noise on the count",
		Source: meanSource + gaussianNoiseSource,
		Tight:  &audit.Tight{Floats: true, Why: "not known to be met; on the first pair only the count moves, epsilon/2"},
	}}
	gaussianMeanRawCount = meanFamily{gaussian: true, rawMean: true, rawNoise: true, mechanism: mechanism{
		Name: "gaussian-mean-raw-count", Title: "Mean with Gaussian noise, scaled by the true count",
		Source: "NonDPGaussian1, NonADPMean: " + meanSource, Fault: rawCountFault, Mended: "gaussian-mean",
	}}
	gaussianMeanRawDenominator = meanFamily{gaussian: true, rawMean: true, mechanism: mechanism{
		Name: "gaussian-mean-raw-denominator", Title: "Mean with Gaussian noise, sum divided by the true count",
		Source: "NonDPGaussian2: " + meanSource, Fault: rawDenominatorFault, Mended: "gaussian-mean",
	}}

	gaussianMeanRenyi               = renyiMean(gaussianMean)
	gaussianMeanRawCountRenyi       = renyiMean(gaussianMeanRawCount)
	gaussianMeanRawDenominatorRenyi = renyiMean(gaussianMeanRawDenominator)
)

func renyiMean(f meanFamily) meanFamily {
	f.Name, f.Title, f.renyi = f.Name+"-renyi", f.Title+", under a Rényi claim", true
	f.Source = strings.TrimSuffix(f.Source, gaussianNoiseSource) + "; Gaussian noise: Mironov, Rényi Differential Privacy, CSF 2017, corollary 3"
	if f.Mended != "" {
		f.Mended += "-renyi"
	}
	if f.Tight != nil {
		f.Tight = &audit.Tight{Floats: true, Why: "not known to be met; on the first pair only the count moves, half of the claim"}
	}
	return f
}

func (f meanFamily) complete() mechanism {
	m := f.mechanism
	m.Params = []audit.ParamSpec{epsilonParam(1)}
	switch {
	case f.renyi:
		m.Params[0].Default, m.Params[0].Doc = smallEpsilon, "Rényi epsilon at order alpha that sets the noise"
		m.Params = append(m.Params, alphaParam)
	case f.gaussian:
		m.Params = append(m.Params, audit.ParamSpec{Name: "delta", Doc: "privacy parameter that sets the noise", Default: 0.01, Min: 1e-300, Max: 0.5})
	}
	m.Relations, m.Claim, m.Truth = only(audit.AddRemove, audit.Replace), f.claim, f.truth
	if f.gaussian && f.rawMean && !f.rawNoise && !f.renyi {
		// At 1 it keeps its claim (TestGaussianRawDenominator). It leaks most where a
		// record is replaced.
		m.Params[0].Default, m.Relations = smallEpsilon, only(audit.Replace, audit.AddRemove)
	}
	domain := records(0, 1)
	domain.MinRows = audit.Pick(f.rawMean, 1, 0)
	m.Domain, m.Pairs = in(domain), f.pairs
	m.Output, m.Release = oneColumn(audit.Real, "mean"), f.release
	return m
}

func (f meanFamily) claim(p audit.Params) audit.Claim {
	if f.renyi {
		return audit.Claim{Kind: audit.Renyi, Alpha: p.Num("alpha"), Epsilon: p.Num("epsilon")}
	}
	return audit.DPClaim(p.Num("epsilon"), p["delta"].Number)
}

func (f meanFamily) truth(p audit.Params) string {
	half := "epsilon/2 = " + audit.Number(p.Num("epsilon")/2)
	switch {
	case f.renyi:
		half += " at alpha = " + audit.Number(p.Num("alpha"))
	case f.gaussian:
		half += " at delta = " + audit.Number(p.Num("delta"))
	}
	switch {
	case f.rawNoise:
		return "not private when a record is added or removed, for any epsilon; " + half + " when one is replaced"
	case f.rawMean && f.renyi && p.Num("epsilon") > 0.5:
		return "unknown: at small epsilon, such as 0.5, it breaks the claim on datasets of few records"
	case f.rawMean && f.gaussian && !f.renyi && !(p.Num("epsilon") <= smallEpsilon && p.Num("delta") >= 1e-9 && p.Num("delta") <= smallDelta):
		return "unknown: at small epsilon, such as 0.1 with delta = 0.01, it breaks the claim on datasets of few records"
	case f.clampedScale:
		// The densities at 0 on {0} and {0, 1}: e^(-e/2)/2 / (2·leastScale) against
		// e/4·e^(-e/2)·E max(0, 2 + Lap(2/e)). Of {0} against {1} the ratio is no smaller.
		e := p.Num("epsilon")
		return "epsilon at least " + audit.Number(math.Floor(10*math.Log(1/(leastScale*(2*e+math.Exp(-e)))))/10) + ", whether a record is added, removed or replaced"
	case f.rawMean:
		return "breaks the claim on datasets of few records, whether one is added, removed or replaced"
	case f.renyi:
		return "at most " + f.claim(p).String()
	case f.gaussian && p.Num("epsilon") >= 2:
		return "unknown: the theorem behind the noise requires epsilon/2 < 1"
	}
	return f.claim(p).String()
}

// pairs puts small datasets first: every fault fades as n grows.
func (f meanFamily) pairs(_ audit.Params, r audit.Relation) pairs {
	if r == audit.Replace {
		return pairs{
			{"{0} against {1}", of(0), of(1)},
			{"{0, 0} against {0, 1}", of(0, 0), of(0, 1)},
			{"five zeros, one of them replaced by 1", of(0, 0, 0, 0, 0), of(0, 0, 0, 0, 1)},
		}
	}
	list := pairs{
		{"{1} against {1, 0}", of(1), of(1, 0)},
		{"{1} against {1, 1}", of(1), of(1, 1)},
		{"{0} against {0, 1}", of(0), of(0, 1)},
		{"{1} against none", of(1), of()},
		{"five ones against five ones and a zero", of(1, 1, 1, 1, 1), of(1, 1, 1, 1, 1, 0)},
	}
	if f.clampedScale { // loudest where one of the sums is 0
		list[0], list[2] = list[2], list[0]
	}
	if f.rawMean {
		list = slices.Delete(list, 3, 4)
	}
	return list
}

// scales are those of the Laplace noise, and of the Gaussian noise on the sum.
func (f meanFamily) scales(p audit.Params) (laplace, sigma float64) {
	laplace = 2 / p.Num("epsilon")
	switch {
	case f.renyi:
		sigma = math.Sqrt(p.Num("alpha") / p.Num("epsilon"))
	case f.gaussian:
		sigma = math.Sqrt(2*stream.Log(1.25/p.Num("delta"))) * laplace
	}
	return laplace, sigma
}

// release draws, for each block, the noise of the counts, where it has any, then that of the
// sums. Outputs are at most about 1e20: finite also where ñ is at its lower end.
func (f meanFamily) release(p audit.Params, d audit.Dataset) sampler {
	scale, sigma := f.scales(p)
	sum, n := clippedSum(d.Values), float64(d.Len())
	least := audit.Pick(f.clampedScale, math.Inf(-1), leastCount)
	return func(b *block) {
		counts := b.room(1)
		if f.rawNoise {
			clear(counts)
		} else {
			b.Laplace(counts, scale)
		}
		noisyCounts(counts, n, least)
		if f.gaussian {
			b.Gaussian(b.out, sigma)
		} else {
			b.Laplace(b.out, scale)
		}
		out := b.out[:len(counts)]
		switch mean := sum / n; {
		case f.rawMean && !f.rawNoise:
			for i, z := range out {
				out[i] = mean + z/counts[i]
			}
		case f.clampedScale:
			for i, z := range out {
				count := cmp.Or(counts[i], leastCount) // by 0 nothing can be divided
				out[i] = sum/count + float64(z/scale*max(leastScale, scale/count))
			}
		default:
			for i, z := range out {
				out[i] = (sum + z) / counts[i]
			}
		}
	}
}

func noisyCounts(noise []float64, n, least float64) {
	for i, z := range noise {
		noise[i] = max(least, z+n)
	}
}

var alphaParam = audit.ParamSpec{Name: "alpha", Doc: "order of the Rényi claim, above 1", Default: 2, Min: 1, Max: 1000, Open: true}

func sizeLeak() mechanism {
	m := laplaceMean.complete()
	m.Name, m.Title = "size-leak", "Private mean released with the exact number of records"
	m.Source += "; the fault: an exposed count, as of classes in a naive Bayes classifier or of a batch in a training log"
	m.Fault, m.Mended = "releases the exact number of records, which reveals a record that is added or removed (under replace it is private)", laplaceMean.Name
	m.Tight = nil
	m.Truth = func(p audit.Params) string {
		return neverPrivate("")(p) + " when a record is added or removed; epsilon/2 = " + audit.Number(p.Num("epsilon")/2) + " when one is replaced"
	}
	m.Output = func(audit.Params) []audit.Column {
		return []audit.Column{{Name: "mean", Kind: audit.Real}, {Name: "records", Kind: audit.Symbol}}
	}
	m.Release = func(p audit.Params, d audit.Dataset) sampler {
		return sideBySide(laplaceMean.release(p, d), 1, func(b *block) {
			for i := range b.out {
				b.out[i] = float64(d.Len())
			}
		}, 1)
	}
	return m
}
