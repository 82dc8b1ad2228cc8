package google

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/google/differential-privacy/go/v3/dpagg"
	"github.com/google/differential-privacy/go/v3/noise"
)

var (
	countSpec = countFamily(family{name: "google-count", title: "The library's count of privacy units",
		calls: "dpagg.Count, Increment for every unit"}, false)
	countRepeated = countFamily(family{name: "google-count-repeated", title: "The library's count, of records instead of privacy units",
		calls: "dpagg.Count, Increment for every record",
		fault: "counts a unit once for each of its records: Count takes one contribution of a unit to a partition, and its caller must ensure that", mended: "google-count"}, true)
	boundedSumSpec      = sumFamily(family{name: "google-bounded-sum", title: "The library's sum of clamped values"}, false)
	boundedSumUnbounded = sumFamily(family{name: "google-bounded-sum-unbounded-contribution", title: "The library's sums, in more partitions than declared",
		fault: "lets a unit contribute to more partitions than MaxPartitionsContributed declares: the caller of the library must bound that", mended: "google-bounded-sum"}, true)
)

func countFamily(f family, repeated bool) family {
	f.params = with(maxPartitions)
	if repeated {
		f.params = append(f.params, audit.ParamSpec{Name: "contributions", Doc: "largest number of records of one unit in a partition", Default: 3, Min: 2, Max: 16, Integer: true, Fault: true})
	}
	most := func(p audit.Params) float64 { return cmp.Or(p["contributions"].Number, 1) }
	f.truth = func(p audit.Params) string {
		return audit.Pick(repeated, times(most(p), p, "one unit counts for "+audit.Number(most(p))), exactly(p))
	}
	f.shape = func(p audit.Params) (int, interval, []string) {
		return declared(p), interval{0, most(p)}, partitions(declared(p), "count")
	}
	f.whole = always
	f.release = func(p audit.Params) release {
		o := optionsOf(p)
		return each(func(d audit.Dataset, j int) (float64, error) { return o.count(int(sum(d, j))) })
	}
	return f
}

func (o options) count(n int) (float64, error) {
	c, err := dpagg.NewCount(&dpagg.CountOptions{Epsilon: o.epsilon, Delta: o.delta, MaxPartitionsContributed: o.l0, Noise: o.noise})
	for range n {
		if err == nil {
			err = c.Increment()
		}
	}
	return told(err, c.Result)
}

// told is the result of an object of the library, unless something failed before.
func told[T int64 | float64](err error, result func() (T, error)) (float64, error) {
	if err != nil {
		return 0, err
	}
	v, err := result()
	return float64(v), err
}

func sumFamily(f family, unbounded bool) family {
	f.calls = "dpagg.BoundedSumFloat64 or BoundedSumInt64, Add for every unit"
	f.params = with(maxPartitions, lowerBound, upperBound,
		audit.ParamSpec{Name: "type", Doc: "float64: BoundedSumFloat64; int64: BoundedSumInt64, of whole numbers", Choices: []string{"float64", "int64"}})
	if unbounded {
		f.expensive = true
		f.params = append(f.params, audit.ParamSpec{Name: "contributed", Doc: "partitions that a unit really contributes to, in multiples of max-partitions-contributed; one output each", Default: 2, Min: 2, Max: 16, Integer: true, Fault: true})
	}
	whole := func(p audit.Params) bool { return p.Word("type") == "int64" }
	width := func(p audit.Params) int { return declared(p) * int(cmp.Or(p["contributed"].Number, 1)) }
	f.truth = func(p audit.Params) string {
		if unbounded {
			return times(p.Num("contributed"), p, "one unit is in "+audit.Number(float64(width(p)))+" partitions")
		}
		if gaussian(p) && !whole(p) {
			return noFloat64
		}
		return exactly(p)
	}
	f.shape = func(p audit.Params) (int, interval, []string) {
		return width(p), beyond(p), partitions(width(p), "sum")
	}
	f.whole = whole
	f.release = func(p audit.Params) release {
		o := optionsOf(p)
		return each(audit.Pick(whole(p), o.sumInt64, o.sumFloat64))
	}
	return f
}

func (o options) sumFloat64(d audit.Dataset, j int) (float64, error) {
	sum, err := dpagg.NewBoundedSumFloat64(&dpagg.BoundedSumFloat64Options{Epsilon: o.epsilon, Delta: o.delta, MaxPartitionsContributed: o.l0, Lower: o.lower, Upper: o.upper, Noise: o.noise})
	return told(contributions(err, d, j, 1, sum.Add), sum.Result)
}

func (o options) sumInt64(d audit.Dataset, j int) (float64, error) {
	if o.lower != math.Floor(o.lower) || o.upper != math.Floor(o.upper) {
		return 0, fmt.Errorf("lower %s and upper %s for a sum of whole numbers", audit.Number(o.lower), audit.Number(o.upper))
	}
	sum, err := dpagg.NewBoundedSumInt64(&dpagg.BoundedSumInt64Options{Epsilon: o.epsilon, Delta: o.delta, MaxPartitionsContributed: o.l0, Lower: int64(o.lower), Upper: int64(o.upper), Noise: o.noise})
	return told(contributions(err, d, j, 1, func(v float64) error { return sum.Add(int64(v)) }), sum.Result)
}

var boundedMeanSpec = family{
	name: "google-bounded-mean", title: "The library's mean of clamped values", calls: "dpagg.BoundedMean, Add for every contribution",
	expensive: true,
	params:    with(maxPartitions, maxContributions, lowerBound, upperBound),
	shape: func(p audit.Params) (int, interval, []string) {
		return declared(p) * p.Int(maxContributions.Name), beyond(p), partitions(declared(p), "mean")
	},
	release: func(p audit.Params) release {
		o := optionsOf(p)
		return each(func(d audit.Dataset, j int) (float64, error) {
			m, err := dpagg.NewBoundedMean(&dpagg.BoundedMeanOptions{Epsilon: o.epsilon, Delta: o.delta, Noise: o.noise, Lower: o.lower, Upper: o.upper,
				MaxPartitionsContributed: o.l0, MaxContributionsPerPartition: o.each})
			return told(contributions(err, d, j, int(o.each), m.Add), m.Result)
		})
	},
}

// contributions hands on the values of partition j, so many of every unit, unless there is an error.
func contributions(err error, d audit.Dataset, j, each int, add func(float64) error) error {
	for i := range d.Len() {
		for _, v := range d.Row(i)[j*each : (j+1)*each] {
			if err == nil {
				err = add(v)
			}
		}
	}
	return err
}

var boundedMeanBudgetTwice = family{
	name: "google-bounded-mean-budget-twice", title: "A mean from the library's sum and count, each with the full budget",
	calls: "dpagg.Count and dpagg.BoundedSumFloat64",
	fault: "spends the budget twice: sum and count each get all of epsilon, while BoundedMean gives each half", mended: "google-bounded-mean",
	expensive: true,
	params:    with(maxPartitions, lowerBound, upperBound),
	truth:     func(p audit.Params) string { return times(2, p, "the budget is spent on the sum and on the count") },
	shape: func(p audit.Params) (int, interval, []string) {
		n := declared(p)
		return n, beyond(p), append(partitions(n, "sum"), partitions(n, "count")...)
	},
	release: func(p audit.Params) release {
		o := optionsOf(p)
		return each(func(d audit.Dataset, j int) (float64, error) {
			if j < int(o.l0) {
				return o.sumFloat64(d, j)
			}
			return o.count(d.Len())
		})
	},
}

var (
	quantilesSpec = quantilesFamily(family{name: "google-quantiles", title: "The library's quantiles of clamped values",
		calls: "dpagg.BoundedQuantiles, one object that answers every rank"}, false)
	quantilesBudgetTwice = quantilesFamily(family{name: "google-quantiles-budget-twice", title: "The library's quantiles, each rank with the full budget",
		calls: "dpagg.BoundedQuantiles, an object for every rank",
		fault: "spends the budget once for every rank, while one object would answer all ranks with one budget", mended: "google-quantiles"}, true)
)

func quantilesFamily(f family, anew bool) family {
	f.expensive = true
	f.params = with(maxPartitions, maxContributions, lowerBound, upperBound,
		audit.ParamSpec{Name: "ranks", Doc: "quantiles of a partition, at evenly spaced ranks; one output each", Default: 2, Min: 1, Max: 9, Integer: true, Fault: anew},
		audit.ParamSpec{Name: "tree-height", Doc: "TreeHeight; the library's default of 4 costs more than ten times the time", Default: 1, Min: 1, Max: 8, Integer: true},
		audit.ParamSpec{Name: "branching-factor", Doc: "BranchingFactor; the library's default is 16", Default: 2, Min: 2, Max: 32, Integer: true})
	if anew {
		f.params[len(f.params)-3].Min = 2
		f.truth = func(p audit.Params) string {
			return "at most " + p["ranks"].String() + " times the claim, because every rank spends it"
		}
	}
	f.shape = func(p audit.Params) (int, interval, []string) {
		columns, of, _ := boundedMeanSpec.shape(p)
		return columns, of, partitions(declared(p)*p.Int("ranks"), "quantile")
	}
	f.release = func(p audit.Params) release {
		o, ranks := optionsOf(p), p.Int("ranks")
		options := dpagg.BoundedQuantilesOptions{Epsilon: o.epsilon, Delta: o.delta, Noise: o.noise, Lower: o.lower, Upper: o.upper,
			MaxPartitionsContributed: o.l0, MaxContributionsPerPartition: o.each,
			TreeHeight: p.Int("tree-height"), BranchingFactor: p.Int("branching-factor")}
		return func(d audit.Dataset, out []float64) (err error) {
			var q *dpagg.BoundedQuantiles
			for k := range out {
				j, rank := k/ranks, k%ranks
				if rank == 0 || anew {
					q, err = dpagg.NewBoundedQuantiles(&options)
					err = contributions(err, d, j, int(o.each), q.Add)
				}
				if err == nil {
					out[k], err = q.Result(float64(rank+1) / float64(ranks+1))
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	return f
}

var (
	laplaceSpec             = noiseFamily(family{name: "google-laplace", title: "Sums with the library's Laplace noise"}, noise.Laplace(), 0)
	laplaceWrongSensitivity = noiseFamily(family{name: "google-laplace-wrong-sensitivity", title: "Sums with the library's Laplace noise, with too small a sensitivity",
		mended: "google-laplace"}, noise.Laplace(), 2)
	gaussianSpec = noiseFamily(family{name: "google-gaussian", title: "Whole sums with the library's Gaussian noise",
		whole: always}, noise.Gaussian(), 0)
	gaussianFloat64 = noiseFamily(family{name: "google-gaussian-float64", title: "Sums with the library's Gaussian noise",
		fault: "adds noise of more bits than a double holds, so that the last bits of an output tell the sum", mended: "google-gaussian"}, noise.Gaussian(), 0)
	gaussianWrongSensitivity = noiseFamily(family{name: "google-gaussian-wrong-sensitivity", title: "Whole sums with the library's Gaussian noise, with too small a sensitivity",
		whole: always, mended: "google-gaussian"}, noise.Gaussian(), 4)
)

// noiseFamily is noise on the sum of the units' values in every partition. most, above 0, is
// by default how many times the sensitivity that the library is given one value may be.
func noiseFamily(f family, n noise.Noise, most float64) family {
	f.params = []audit.ParamSpec{epsilon}
	normal, whole := noise.ToKind(n) == noise.GaussianNoise, f.whole != nil
	f.calls = fmt.Sprintf("noise.%s().AddNoise%s on a sum in each partition",
		audit.Pick(normal, "Gaussian", "Laplace"), audit.Pick(whole, "Int64", "Float64"))
	if normal {
		f.params = append(f.params, delta)
	}
	f.params = append(f.params,
		audit.ParamSpec{Name: "l0-sensitivity", Doc: "l0Sensitivity: partitions that a unit contributes to; one output each", Default: 1, Min: 1, Max: 16, Integer: true},
		audit.ParamSpec{Name: "linf-sensitivity", Doc: "lInfSensitivity: largest amount that a unit adds to a partition", Default: 1, Min: audit.Pick(whole, 1, 1e-6), Max: 1e6, Integer: whole})
	if most > 0 {
		f.fault = "gives the library a smaller sensitivity than the largest amount that one unit adds"
		f.params = append(f.params, audit.ParamSpec{Name: "most", Doc: "largest amount that a unit really adds, in multiples of linf-sensitivity", Default: most, Min: 1, Max: 1000, Open: !whole, Integer: whole, Fault: true})
	}
	times := func(p audit.Params) float64 { return cmp.Or(p["most"].Number, 1) }
	f.claim = func(p audit.Params) audit.Claim { return audit.DPClaim(p.Num("epsilon"), p["delta"].Number) }
	f.truth = func(p audit.Params) string {
		k := times(p)
		switch {
		case !normal:
			return "epsilon = " + audit.Number(k*p.Num("epsilon"))
		case !whole:
			return noFloat64
		}
		l0 := int64(p.Int("l0-sensitivity"))
		// Of sensitivity 1 in every partition: the noise grows with it.
		mu := k * math.Sqrt(float64(l0)) / noise.SigmaForGaussian(l0, 1, p.Num("epsilon"), p.Num("delta"))
		gdp := audit.Claim{Kind: audit.GaussianDP, Mu: math.Floor(mu*1e4) / 1e4}
		return audit.Pick(most > 0, "not the claim, but ", f.claim(p).String()+", that is ") + gdp.String()
	}
	f.shape = func(p audit.Params) (int, interval, []string) {
		n, reach := p.Int("l0-sensitivity"), times(p)*p.Num("linf-sensitivity")
		return n, interval{-reach, reach}, partitions(n, "sum")
	}
	f.release = func(p audit.Params) release {
		l0, lInf, eps, del := int64(p.Int("l0-sensitivity")), p.Num("linf-sensitivity"), p.Num("epsilon"), p["delta"].Number
		return each(func(d audit.Dataset, j int) (float64, error) {
			if whole {
				v, err := n.AddNoiseInt64(int64(sum(d, j)), l0, int64(lInf), eps, del)
				return float64(v), err
			}
			return n.AddNoiseFloat64(sum(d, j), l0, lInf, eps, del)
		})
	}
	return f
}

func sum(d audit.Dataset, j int) (sum float64) {
	for i := j; i < len(d.Values); i += d.Columns {
		sum += d.Values[i]
	}
	return sum
}
