package mechanisms

import (
	"cmp"
	"math"

	"github.com/dpscope/dpscope/audit"
)

// descent is private gradient descent on the loss Σ w x over records x in [-2, 2], whose
// gradients are the records. It starts at w = 0 with rate 1 and releases w after each step.
// With clip(g) = min(max(g, -G), G) and z = N(0, σ²G²), new for each output, a step is
//
//	dp-sgd               w - (Σ clip(x) + z)
//	dp-sgd-scaled-noise  w - (Σ clip(x) + s z), 0 < s < 1
//	dp-sgd-microbatch    w - (Σ clip(mean of x in the micro-batch) + z), sum over the micro-batches
//	dp-sgd-reused-key    w - (Σ clip(x) over the step's batch + z), the same z in each of T steps
//	dp-sgd-clip-late     w - (clip(Σ x/B) + z/B), B the nominal batch size
//
// Micro-batches and the batches of T steps are parts that each record falls into with equal
// probability. All claim what clipping each record's gradient and adding z to the sum costs
// when a record is added or removed: Rényi divergence T alpha/(2σ²) at every order alpha.
type descent struct {
	mechanism

	gradient func(part partSums, clip, batch float64) float64 // of one part, before noise
	ratio    func(p audit.Params, clip float64) float64       // of true to claimed sensitivity; nil: no noise is left
	first    func(clip float64) neighbours                    // the best pair
}

type partSums struct{ n, sum, clipped float64 }

const (
	gradientReach = 2 // records lie in [-2, 2]

	descentSource  = "Abadi et al., Deep Learning with Differential Privacy, CCS 2016, algorithm 1; Kong, Muñoz Medina and Ribero, RényiTester (2023), sections 5 and B.5"
	descentAuditor = "; Kong, Muñoz Medina, Ribero and Syed, DP-Auditorium (2023), section 6.5"
)

var (
	dpSGD = descent{gradient: clippedEach, ratio: clippedRatio, first: loneGradient, mechanism: mechanism{
		Name: "dp-sgd", Title: "Gradient descent with clipped gradients and Gaussian noise", Source: descentSource,
		Tight: &audit.Tight{Pair: 1, Floats: true, Why: "Gaussians 1/sigma apart, at every order"},
	}}
	dpSGDScaledNoise = descent{mechanism: mechanism{
		Name: "dp-sgd-scaled-noise", Title: "Gradient descent with less noise than is accounted for",
		Source: "ScaledSGD, ScaleGD: " + descentSource + descentAuditor,
		Fault:  "adds noise with the multiplier s σ and accounts for σ", Mended: "dp-sgd",
		Params: []audit.ParamSpec{{Name: "s", Doc: "share of the noise that is added", Default: 0.5, Min: 0.01, Max: 1, Fault: true}},
	},
		gradient: clippedEach, first: loneGradient,
		ratio: func(p audit.Params, clip float64) float64 { return clippedRatio(p, clip) / p.Num("s") },
	}
	dpSGDMicrobatch = descent{mechanism: mechanism{
		Name: "dp-sgd-microbatch", Title: "Gradient descent that clips the averages of micro-batches",
		Source: "WrongSensitivitySGD: " + descentSource,
		Fault:  "clips the average of each micro-batch but accounts for clipped records: one record can reverse an average, so the sensitivity is up to 2G, not G", Mended: "dp-sgd",
		Params: []audit.ParamSpec{{Name: "microbatches", Doc: "number of micro-batches that the records fall into", Default: 1, Min: 1, Max: 16, Integer: true, Fault: true}},
	},
		gradient: func(part partSums, clip, _ float64) float64 {
			if part.n == 0 {
				return 0
			}
			return clipped(part.sum/part.n, clip)
		},
		// A record of 2 that joins one of -G moves the clipped average from -G to
		// min((2-G)/2, G). Other sizes and values move it less, and where G is beyond 2
		// nothing is clipped and -2 joined by 2 moves it by 2.
		ratio: func(_ audit.Params, clip float64) float64 {
			return min(2*clip, (gradientReach+clip)/2, gradientReach) / clip
		},
		first: func(clip float64) neighbours {
			return neighbours{"{-G} against {-G, 2}", of(-clip), of(-clip, gradientReach)}
		},
	}
	dpSGDReusedKey = descent{mechanism: mechanism{
		Name: "dp-sgd-reused-key", Title: "Gradient descent that reuses one key for the noise of all steps", Source: descentSource,
		Fault: "draws the noise of every step from the same key: the difference of two steps has no noise", Mended: "dp-sgd",
		Params: []audit.ParamSpec{{Name: "steps", Doc: "number of steps, one for each part that the records fall into", Default: 2, Min: 2, Max: 16, Integer: true, Fault: true}},
	}, gradient: clippedEach, first: loneGradient}
	dpSGDClipLate = descent{mechanism: mechanism{
		Name: "dp-sgd-clip-late", Title: "Gradient descent that clips the average of the batch",
		Source: descentSource + descentAuditor,
		Fault:  "clips the average of the batch but accounts for clipped records: clipping does not bound the effect of one record", Mended: "dp-sgd",
		Params: []audit.ParamSpec{{Name: "batch", Doc: "nominal batch size B, by which sums are divided", Default: 4, Min: 1, Max: 1000, Fault: true}},
	},
		gradient: func(part partSums, clip, batch float64) float64 { return clipped(part.sum/batch, clip) },
		ratio:    func(p audit.Params, clip float64) float64 { return min(gradientReach/clip, 2*p.Num("batch")) },
		first:    loneGradient,
	}
)

func clipped(g, clip float64) float64 { return min(max(g, -clip), clip) }

func clippedEach(part partSums, _, _ float64) float64 { return part.clipped }

func clippedRatio(_ audit.Params, clip float64) float64 { return min(gradientReach/clip, 1) }

func loneGradient(float64) neighbours { return neighbours{"none against {2}", of(), of(gradientReach)} }

func (f descent) complete() mechanism {
	m := f.mechanism
	m.Params = append([]audit.ParamSpec{
		{Name: "sigma", Doc: "noise multiplier σ in the accounting", Default: 2, Min: 0.01, Max: 1000},
		{Name: "clip", Doc: "clip norm G", Default: 1, Min: 0.01, Max: 100},
		{Name: "notion", Doc: "what the claim is written in; all three say the same at every order", Choices: []string{"renyi", "zcdp", "gaussian-dp"}},
		alphaParam,
	}, m.Params...)
	m.Relations = only(audit.AddRemove)
	m.Claim = func(p audit.Params) audit.Claim { return f.cost(p, 1) }
	m.Truth = neverPrivate("")
	if f.ratio != nil {
		m.Truth = func(p audit.Params) string { return f.cost(p, f.ratio(p, p.Num("clip"))).String() }
	}
	m.Domain = in(records(-gradientReach, gradientReach))
	m.Pairs = func(p audit.Params, _ audit.Relation) pairs {
		return pairs{
			f.first(min(p.Num("clip"), gradientReach)),
			{"{-2} against {-2, 2}", of(-2), of(-2, 2)},
			{"{1} against {1, 2}", of(1), of(1, 2)},
		}
	}
	m.Output = func(p audit.Params) []audit.Column {
		return columnsOf(int(steps(p)), audit.Real, "weight after step %d", 1)
	}
	m.Release = f.release
	return m
}

// cost is the guarantee of T steps with ratio times the claimed sensitivity, as notion asks for it.
func (f descent) cost(p audit.Params, ratio float64) audit.Claim {
	perStep := ratio / p.Num("sigma")
	square := float64(perStep*perStep) * steps(p)
	switch p.Word("notion") {
	case "zcdp":
		return audit.Claim{Kind: audit.ZCDP, Rho: square / 2}
	case "gaussian-dp":
		return audit.Claim{Kind: audit.GaussianDP, Mu: math.Sqrt(square)}
	}
	return audit.Claim{Kind: audit.Renyi, Alpha: p.Num("alpha"), Epsilon: p.Num("alpha") * square / 2}
}

func steps(p audit.Params) float64 { return cmp.Or(p["steps"].Number, 1) }

func (f descent) sd(p audit.Params) float64 {
	return float64(p.Num("sigma")*p.Num("clip")) * (cmp.Or(p["s"].Number, 1) / cmp.Or(p["batch"].Number, 1))
}

// release draws, for each block, the noise of its rows, then, where there is more than one
// part, the parts of all records of all its rows.
func (f descent) release(p audit.Params, d audit.Dataset) sampler {
	n, width, clip, sd := d.Len(), int(steps(p)), p.Num("clip"), f.sd(p)
	count := int(cmp.Or(p["microbatches"].Number, steps(p)))
	batch := p["batch"].Number // of those that have one
	parts, gradients := make([]partSums, count), make([]float64, count)
	deal := func(dealt []float64) { // the part of each record
		sums(parts, d.Values, dealt, clip)
		for k, part := range parts {
			gradients[k] = f.gradient(part, clip, batch)
		}
	}
	deal(vector(n, 0))
	return func(b *block) {
		noise, out := b.room(1), b.out
		b.Gaussian(noise, sd)
		var dealt []float64 // row after row
		if count > 1 {
			dealt = b.room(n)
			b.Uniform(dealt, 0, float64(count))
		}
		for i, z := range noise {
			if count > 1 {
				deal(dealt[i*n : (i+1)*n])
			}
			var w, g float64
			for k, gradient := range gradients {
				if g += gradient; width > 1 || k == count-1 {
					w -= g + z
					out[i*width+min(k, width-1)], g = w, 0
				}
			}
		}
	}
}

// sums fills parts; record i is in part ⌊dealt[i]⌋.
func sums(parts []partSums, records, dealt []float64, clip float64) {
	clear(parts)
	for i, x := range records {
		p := &parts[int(dealt[i])]
		p.n++
		p.sum += x
		p.clipped += clipped(x, clip)
	}
}
