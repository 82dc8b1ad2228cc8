package mechanisms

import (
	"math"
	"math/rand/v2"

	"github.com/dpscope/dpscope/audit"
)

// A twin is a mechanism written out row by row as its table has it, with a
// generator and samplers of its own: slow and obviously right.
type twin func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64

func lap(r *rand.Rand, scale float64) float64 { return scale * (r.ExpFloat64() - r.ExpFloat64()) }

var twins = map[string]twin{
	"randomised-response": func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		truthful := p.Num("p")
		if truthful == 0 {
			truthful = math.Exp(p.Num("epsilon")) / (1 + math.Exp(p.Num("epsilon")))
		}
		if r.Float64() < truthful {
			return []float64{d.Values[0]}
		}
		return []float64{1 - d.Values[0]}
	},

	"laplace-count": func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		yes := 0.0
		for _, v := range d.Values {
			if v > 0.5 {
				yes++
			}
		}
		return []float64{yes + lap(r, 1/p.Num("epsilon"))}
	},

	"laplace-mean":           privateMeanTwin,
	"laplace-mean-raw-count": rawCountTwin, "laplace-mean-raw-denominator": rawDenominatorTwin,
	"laplace-mean-clamped-scale": clampedScaleTwin,
	"gaussian-mean":              privateMeanTwin, "gaussian-mean-raw-count": rawCountTwin, "gaussian-mean-raw-denominator": rawDenominatorTwin,
	"gaussian-mean-renyi": privateMeanTwin, "gaussian-mean-raw-count-renyi": rawCountTwin, "gaussian-mean-raw-denominator-renyi": rawDenominatorTwin,

	"svt1": svtTwin("svt1"), "svt2": svtTwin("svt2"), "svt3": svtTwin("svt3"),
	"svt4": svtTwin("svt4"), "svt5": svtTwin("svt5"), "svt6": svtTwin("svt6"),

	"noisy-max-laplace":           maxTwin(lap, false),
	"noisy-max-exponential":       maxTwin(func(r *rand.Rand, mean float64) float64 { return mean * r.ExpFloat64() }, false),
	"noisy-max-value-laplace":     maxTwin(lap, true),
	"noisy-max-value-exponential": maxTwin(func(r *rand.Rand, mean float64) float64 { return mean * r.ExpFloat64() }, true),

	"noisy-histogram":             histogramTwin(func(e float64) float64 { return 1 / e }),
	"noisy-histogram-wrong-scale": histogramTwin(func(e float64) float64 { return e }),
	"count-replace-as-add":        histogramTwin(func(e float64) float64 { return 1 / e }),
	"noisy-histogram-replace":     histogramTwin(func(e float64) float64 { return 2 / e }),
	"domain-from-data":            presentTwin,

	"exponential-median":  medianTwin,
	"truncated-geometric": geoSampleTwin(math.Log),
	"geo-sample":          geoSampleTwin(math.Log2),
	"rappor-once":         rapporTwin,
	"rappor":              rapporTwin,
	"numeric-svt":         svtTwin("numeric-svt"),
	"svt34-parallel":      bothTwins(svtTwin("svt3"), svtTwin("svt4"), 1),
	"svt-parallel":        bothTwins(svtTwin("numeric-svt"), svtTwin("svt1"), 2),
	"prefix-sum":          prefixSumTwin,
	"laplace-parallel":    copiesTwin(func(p audit.Params) (int, float64) { return p.Int("copies"), p.Num("copies") / p.Num("epsilon") }),
	"budget-spent-twice":  copiesTwin(func(p audit.Params) (int, float64) { return p.Int("copies"), 1 / p.Num("epsilon") }),
	"laplace-float":       copiesTwin(func(p audit.Params) (int, float64) { return 1, 1 / p.Num("epsilon") }),
	"laplace-snapping":    snappingTwin,
	"sum-clipped":         sumTwin(1),
	"sum-unclipped":       sumTwin(math.Inf(1)),
	"sum-ratios":          ratiosTwin(1),
	"sum-nan":             ratiosTwin(0),
	"size-leak": func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		return append(privateMeanTwin(p, d, r), float64(d.Len()))
	},
	"dp-sgd": descentTwin("dp-sgd"), "dp-sgd-scaled-noise": descentTwin("dp-sgd-scaled-noise"), "dp-sgd-microbatch": descentTwin("dp-sgd-microbatch"),
	"dp-sgd-reused-key": descentTwin("dp-sgd-reused-key"), "dp-sgd-clip-late": descentTwin("dp-sgd-clip-late"),
}

var (
	privateMeanTwin = meanTwin(func(sum, n, noisy, scale float64, noise func(float64) float64) float64 {
		return sum/noisy + noise(scale/noisy)
	})
	rawCountTwin = meanTwin(func(sum, n, noisy, scale float64, noise func(float64) float64) float64 {
		return sum/n + noise(scale/n)
	})
	// The count is the noisy one without its lower end.
	clampedScaleTwin = func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		sum, scale := 0.0, 2/p.Num("epsilon")
		for _, v := range d.Values {
			sum += math.Min(1, math.Max(0, v))
		}
		count := float64(d.Len()) + lap(r, scale)
		return []float64{sum/count + lap(r, math.Max(1e-12, scale/count))}
	}
	rawDenominatorTwin = meanTwin(func(sum, n, noisy, scale float64, noise func(float64) float64) float64 {
		return sum/n + noise(scale/noisy)
	})
)

func meanTwin(output func(sum, n, noisy, scale float64, noise func(float64) float64) float64) twin {
	return func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		epsilon := p.Num("epsilon")
		var sum float64
		for _, v := range d.Values {
			switch {
			case v > 1:
				sum++
			case v > 0:
				sum += v
			}
		}
		n := float64(d.Len())
		noisy := math.Max(1e-12, n+lap(r, 2/epsilon))
		scale, noise := 2/epsilon, func(scale float64) float64 { return lap(r, scale) }
		if has(p, "alpha") {
			scale *= math.Sqrt(p.Num("alpha")*epsilon) / 2
			noise = func(sd float64) float64 { return sd * r.NormFloat64() }
		}
		if delta, gaussian := p["delta"]; gaussian {
			scale *= math.Sqrt(2 * math.Log(1.25/delta.Number))
			noise = func(sd float64) float64 { return sd * r.NormFloat64() }
		}
		return []float64{output(sum, n, noisy, scale, noise)}
	}
}

func svtTwin(name string) twin {
	return func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		epsilon, c, sens, t := p.Num("epsilon"), p.Num("c"), p.Num("sensitivity"), p.Num("threshold")
		e1 := epsilon / 2
		if name == "svt4" {
			e1 = epsilon / 4
		}
		e2 := epsilon - e1
		rho := lap(r, sens/e1)
		switch name {
		case "svt2":
			rho = lap(r, c*sens/e1)
		case "numeric-svt":
			rho = lap(r, 3*sens/epsilon)
		}
		var out []float64
		count, stopped := 0, false
		for _, q := range slowAnswers(p, d.Values) {
			symbol, value := 0.0, 0.0
			if stopped {
				symbol = -1
			} else {
				var nu float64
				switch name {
				case "svt1":
					nu = lap(r, 2*c*sens/e2)
				case "svt2":
					nu = lap(r, 2*c*sens/e1)
				case "svt3":
					nu = lap(r, c*sens/e2)
				case "numeric-svt":
					nu = lap(r, 6*c*sens/epsilon)
				case "svt4", "svt6":
					nu = lap(r, sens/e2)
				}
				if q+nu >= t+rho {
					symbol, value = 1, q+nu
					if name == "numeric-svt" {
						value = q + lap(r, 3*c*sens/epsilon)
					}
					count++
					if name == "svt2" {
						rho = lap(r, c*sens/e2)
					}
					if name != "svt5" && name != "svt6" && count == int(c) {
						stopped = true
					}
				}
			}
			out = append(out, symbol)
			if name == "svt3" || name == "numeric-svt" {
				out = append(out, value)
			}
		}
		return out
	}
}

func slowAnswers(p audit.Params, records []float64) []float64 {
	m := p.Int("m")
	q := make([]float64, m)
	record := func(fromEnd int) float64 {
		if len(records) < fromEnd {
			return 0
		}
		return records[len(records)-fromEnd]
	}
	for i := range q {
		switch p.Word("queries") {
		case "direct":
			q[i] = records[i]
		case "sum":
			for _, v := range records {
				q[i] += v
			}
		case "reveal-records":
			q[i] = record(1)
			if i == m-1 {
				q[i] = record(2)
			}
		case "count-above":
			for _, v := range records {
				if v*float64(2*m) > float64(2*i+1) {
					q[i]++
				}
			}
		}
	}
	return q
}

func maxTwin(noise func(r *rand.Rand, scale float64) float64, value bool) twin {
	return func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		at, most := -1, math.Inf(-1)
		for i, q := range d.Values {
			if z := q + noise(r, 2/p.Num("epsilon")); z > most {
				at, most = i, z
			}
		}
		if value {
			return []float64{most}
		}
		return []float64{float64(at)}
	}
}

func histogramTwin(scale func(epsilon float64) float64) twin {
	return func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		out := make([]float64, p.Int("bins"))
		for bin := range out {
			for _, v := range d.Values {
				if int(v) == bin {
					out[bin]++
				}
			}
			out[bin] += lap(r, scale(p.Num("epsilon")))
		}
		return out
	}
}
