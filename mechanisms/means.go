package mechanisms

import (
	"math"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
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
// where noise is Lap(2/epsilon), or N(0, s²): s = sqrt(2 ln(1.25/delta)) 2/epsilon
// under an (epsilon, delta) claim; s = sqrt(alpha/epsilon) under a Rényi claim, so
// that the sum, of sensitivity 1, costs alpha/(2s²) = epsilon/2 at order alpha, and
// the count at most the other epsilon/2.
// Dividing noise by n scales it, so this is the published sum/n + Lap(2/(n epsilon)).
// In clamped-scale, s is the scale of the noise: the count m may be negative.
type meanFamily struct {
	name, title, source, fault string

	gaussian bool
	renyi    bool // gaussian, under a Rényi claim
	rawMean  bool // the sum is divided by the true n
	rawNoise bool // the noise is divided by the true n
	// The noisy count has no lower end, but the scale of the noise that is
	// divided by it has.
	clampedScale bool
}

const (
	leastCount = 1e-12 // lower end of the noisy count
	leastScale = 1e-12 // lower end of the noise's scale in clamped-scale
	meanRows   = 20    // most records that a finder proposes

	meanSource = "Kong, Muñoz Medina, Ribero and Syed, DP-Auditorium (2023), section 6.1; Kong, Muñoz Medina and Ribero, RényiTester (2023), section 5"

	rawCountFault = "divides by the true number of records and scales the noise with it: the noise tells how many records there are" +
		" (add/remove; where a record is replaced it is private)"
	rawDenominatorFault = "divides the sum by the true number of records, and only the noise by a private one," +
		" which may be far larger than the true one"
	clampedScaleFault = "where the noisy count is negative the noise almost vanishes: not the count is clamped but the scale of the noise that was divided by it"
)

var (
	laplaceMean = meanFamily{name: "laplace-mean", title: "Mean with Laplace noise on sum and count",
		source: "DPLaplace, DPMean: " + meanSource}
	laplaceMeanRawCount = meanFamily{name: "laplace-mean-raw-count", title: "Mean with Laplace noise, scaled by the true count",
		source: "NonDPLaplace1, NonDPMean1: " + meanSource, fault: rawCountFault, rawMean: true, rawNoise: true}
	laplaceMeanRawDenominator = meanFamily{name: "laplace-mean-raw-denominator", title: "Mean with Laplace noise, sum divided by the true count",
		source: "NonDPLaplace2, NonDPMean2: " + meanSource, fault: rawDenominatorFault, rawMean: true}
	gaussianMean = meanFamily{name: "gaussian-mean", title: "Mean with Gaussian noise on the sum, Laplace noise on the count",
		source: meanSource + "; Gaussian noise: Dwork and Roth (2014), theorem 3.22", gaussian: true}
	gaussianMeanRawCount = meanFamily{name: "gaussian-mean-raw-count", title: "Mean with Gaussian noise, scaled by the true count",
		source: "NonDPGaussian1, NonADPMean: " + meanSource, fault: rawCountFault, gaussian: true, rawMean: true, rawNoise: true}
	gaussianMeanRawDenominator = meanFamily{name: "gaussian-mean-raw-denominator", title: "Mean with Gaussian noise, sum divided by the true count",
		source: "NonDPGaussian2: " + meanSource, fault: rawDenominatorFault, gaussian: true, rawMean: true}
	laplaceMeanClampedScale = meanFamily{name: "laplace-mean-clamped-scale", title: "Mean with Laplace noise, its scale clamped instead of the noisy count",
		source: "private_mean of google/differential-privacy, python/dp_auditorium 0.0.1, mechanisms/mean.py, lines 100 to 110", fault: clampedScaleFault, clampedScale: true}

	gaussianMeanRenyi               = renyiMean(gaussianMean)
	gaussianMeanRawCountRenyi       = renyiMean(gaussianMeanRawCount)
	gaussianMeanRawDenominatorRenyi = renyiMean(gaussianMeanRawDenominator)
)

// renyiMean is a Gaussian mean with its noise scaled for a Rényi claim.
func renyiMean(f meanFamily) meanFamily {
	f.name, f.title, f.renyi = f.name+"-renyi", f.title+", under a Rényi claim", true
	f.source = strings.TrimSuffix(f.source, "; Gaussian noise: Dwork and Roth (2014), theorem 3.22") + "; Gaussian noise: Mironov, Rényi Differential Privacy, CSF 2017, corollary 3"
	return f
}

func (f meanFamily) spec() audit.MechanismSpec {
	params := []audit.ParamSpec{epsilonParam(1)}
	switch {
	case f.renyi:
		params[0].Default, params[0].Doc = 0.1, "Rényi epsilon at order alpha that the noise is scaled for"
		params = append(params, alphaParam())
	case f.gaussian:
		params = append(params, audit.ParamSpec{Name: "delta", Doc: "privacy parameter that the noise is scaled for", Default: 0.01, Min: 1e-300, Max: 0.5})
	}
	return audit.MechanismSpec{
		Name: f.name, Title: f.title, Source: f.source, Fault: f.fault,
		Params:    params,
		Relations: only(audit.AddRemove, audit.Replace),
		Claim:     f.claim,
		Truth:     f.truth,
		Domain: func(_ audit.Params, r audit.Relation) audit.Domain {
			return audit.Domain{Columns: 1, MinRows: f.minRows(r), MaxRows: meanRows, Lower: []float64{0}, Upper: []float64{1}}
		},
		Pairs: func(_ audit.Params, r audit.Relation) []audit.Pair { return f.pairs(r) },
		New:   f.build,
	}
}

func (f meanFamily) claim(p audit.Params) audit.Claim {
	if f.renyi {
		return audit.Claim{Kind: audit.Renyi, Alpha: p.Num("alpha"), Epsilon: p.Num("epsilon")}
	}
	if f.gaussian {
		return audit.DPClaim(p.Num("epsilon"), p.Num("delta"))
	}
	return pureClaim(p)
}

func (f meanFamily) truth(p audit.Params) string {
	half := "epsilon/2 = " + show(p.Num("epsilon")/2)
	switch {
	case f.renyi:
		half += " at alpha = " + show(p.Num("alpha"))
	case f.gaussian:
		half += " at delta = " + show(p.Num("delta"))
	}
	switch {
	case f.rawNoise:
		return "not private when a record is added or removed, for any epsilon; " + half + " when one is replaced"
	case f.rawMean && f.renyi && p.Num("epsilon") > 0.5:
		return "unknown: at small epsilon, such as 0.5, it breaks the claim on few records"
	case f.clampedScale:
		// The densities at 0 on {0} and {0, 1}: e^(-e/2)/2 / (2·leastScale) against
		// e/4·e^(-e/2)·E max(0, 2 + Lap(2/e)). Of {0} against {1} the ratio is no smaller.
		e := p.Num("epsilon")
		return "epsilon at least " + show(math.Floor(10*math.Log(1/(leastScale*(2*e+math.Exp(-e)))))/10) + ", whether a record is added, removed or replaced"
	case f.rawMean:
		return "not private at the claim on few records, whether one is added, removed or replaced"
	case f.renyi:
		return "at most " + f.claim(p).String()
	case f.gaussian && p.Num("epsilon") >= 2:
		return "unknown: the theorem behind the noise asks for epsilon/2 < 1"
	}
	return f.claim(p).String()
}

// minRows is 1 where the mean of no records is not defined (0/0), or where a
// record has to be replaced.
func (f meanFamily) minRows(r audit.Relation) int {
	if f.rawMean || r == audit.Replace {
		return 1
	}
	return 0
}

// pairs puts small datasets first: every fault fades as n grows.
func (f meanFamily) pairs(r audit.Relation) []audit.Pair {
	if r == audit.Replace {
		five := audit.Records(0, 0, 0, 0, 0)
		return []audit.Pair{
			{Label: "{0} against {1}", First: audit.Records(0), Second: audit.Records(1)},
			{Label: "{0, 0} against {0, 1}", First: audit.Records(0, 0), Second: audit.Records(0, 1)},
			{Label: "five zeros, one of them replaced by 1", First: five, Second: audit.Records(0, 0, 0, 0, 1)},
		}
	}
	pairs := []audit.Pair{
		{Label: "{1} against {1, 0}", First: audit.Records(1), Second: audit.Records(1, 0)},
		{Label: "{1} against {1, 1}", First: audit.Records(1), Second: audit.Records(1, 1)},
		{Label: "{0} against {0, 1}", First: audit.Records(0), Second: audit.Records(0, 1)},
	}
	if f.clampedScale {
		// Loudest where one of the sums is 0.
		pairs[0], pairs[2] = pairs[2], pairs[0]
	}
	if f.minRows(r) == 0 {
		pairs = append(pairs, audit.Pair{Label: "{1} against none", First: audit.Records(1), Second: audit.Records()})
	}
	return append(pairs, audit.Pair{Label: "five ones against five ones and a zero",
		First: audit.Records(1, 1, 1, 1, 1), Second: audit.Records(1, 1, 1, 1, 1, 0)})
}

func (f meanFamily) build(p audit.Params) (audit.Mechanism, error) {
	m := &mean{meanFamily: f, scale: 2 / p.Num("epsilon")}
	switch {
	case f.renyi:
		m.sigma = math.Sqrt(p.Num("alpha") / p.Num("epsilon"))
	case f.gaussian:
		m.sigma = math.Sqrt(2*stream.Log(1.25/p.Num("delta"))) * m.scale
	}
	return m, nil
}

// mean is a meanFamily at fixed parameters. For each block it draws the noise
// of the counts, where it has any, then that of the sums.
type mean struct {
	meanFamily
	scale float64 // of the Laplace noise: 2/epsilon
	sigma float64 // of the Gaussian noise on the sum
}

func (m *mean) Columns() []audit.Column { return oneColumn(audit.Real, "mean") }

// Sample makes outputs of at most about 1e20 at the smallest epsilon: finite
// also where ñ is at its lower end. A raw mean of no records is an error.
func (m *mean) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	least := pick(m.rawMean, 1, 0)
	if err := checkShape(d, least, anyRows); err != nil {
		return err
	}
	sum, n := clippedSum(d.Values), float64(d.Len())
	counts := make([]float64, min(len(out), blockRows))
	eachBlock(out, 1, func(block []float64, rows int) {
		counts := counts[:rows]
		if !m.rawNoise {
			s.Laplace(counts, m.scale)
			if m.clampedScale {
				unclampedCounts(counts, n)
			} else {
				noisyCounts(counts, n)
			}
		}
		if m.gaussian {
			s.Gaussian(block, m.sigma)
		} else {
			s.Laplace(block, m.scale)
		}
		switch {
		case m.rawNoise:
			rawCountMeans(block, sum, n)
		case m.rawMean:
			rawDenominatorMeans(block, counts, sum/n)
		case m.clampedScale:
			clampedScaleMeans(block, counts, sum, m.scale)
		default:
			privateMeans(block, counts, sum)
		}
	})
	return nil
}

// clippedSum is the sum of the values clipped to [0, 1].
func clippedSum(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += min(max(v, 0), 1)
	}
	return sum
}

// noisyCounts turns noise into max(1e-12, n + noise).
func noisyCounts(noise []float64, n float64) {
	for i, z := range noise {
		if z += n; z < leastCount {
			z = leastCount
		}
		noise[i] = z
	}
}

// unclampedCounts turns noise into n + noise; a count of 0, by which nothing can
// be divided, into 1e-12.
func unclampedCounts(noise []float64, n float64) {
	for i, z := range noise {
		if z += n; z == 0 {
			z = leastCount
		}
		noise[i] = z
	}
}

func privateMeans(noise, counts []float64, sum float64) {
	counts = counts[:len(noise)]
	for i, z := range noise {
		noise[i] = (sum + z) / counts[i]
	}
}

func rawCountMeans(noise []float64, sum, n float64) {
	for i, z := range noise {
		noise[i] = (sum + z) / n
	}
}

func rawDenominatorMeans(noise, counts []float64, mean float64) {
	counts = counts[:len(noise)]
	for i, z := range noise {
		noise[i] = mean + z/counts[i]
	}
}

// clampedScaleMeans turns noise of this scale into sum/count plus noise of scale
// max(1e-12, scale/count).
func clampedScaleMeans(noise, counts []float64, sum, scale float64) {
	counts = counts[:len(noise)]
	for i, z := range noise {
		noise[i] = sum/counts[i] + float64(z/scale*max(leastScale, scale/counts[i]))
	}
}

// alphaParam is the order of a Rényi claim.
func alphaParam() audit.ParamSpec {
	return audit.ParamSpec{Name: "alpha", Doc: "order of the Rényi claim, above 1", Default: 2, Min: 1, Max: 1000, Open: true}
}

// sizeLeakSpec is laplace-mean with the number of records beside it.
func sizeLeakSpec() audit.MechanismSpec {
	spec := laplaceMean.spec()
	spec.Name, spec.Title = "size-leak", "Private mean released beside the exact number of records"
	spec.Source = laplaceMean.source + "; the fault: an exposed count, as of classes in a naive Bayes classifier or of a batch in a training log"
	spec.Fault = "the exact number of records is an output: a record that is added or removed shows (where one is replaced it is private)"
	spec.Truth = func(p audit.Params) string {
		return neverPrivate("")(p) + " when a record is added or removed; epsilon/2 = " + show(p.Num("epsilon")/2) + " when one is replaced"
	}
	spec.New = func(p audit.Params) (audit.Mechanism, error) {
		m, err := laplaceMean.build(p)
		return &sideBySide{parts: []audit.Mechanism{m, exactSize{}}}, err
	}
	return spec
}

// exactSize is the number of rows.
type exactSize struct{}

func (exactSize) Columns() []audit.Column { return oneColumn(audit.Symbol, "records") }

func (exactSize) Sample(d audit.Dataset, _ *stream.Stream, out []float64) error {
	for i := range out {
		out[i] = float64(d.Len())
	}
	return nil
}
