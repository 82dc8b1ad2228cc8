package mechanisms

import (
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// descent is differentially private gradient descent on the loss Σ w x over
// records x in [-2, 2], whose gradients are the records. It starts at w = 0 with
// rate 1 and releases w after each step. With clip(g) = min(max(g, -G), G) and
// z = N(0, σ²G²), new for each output, a step is
//
//	dp-sgd               w - (Σ clip(x) + z)
//	dp-sgd-scaled-noise  w - (Σ clip(x) + s z), 0 < s < 1
//	dp-sgd-microbatch    w - (Σ clip(mean of x in the micro-batch) + z), sum over the micro-batches
//	dp-sgd-reused-key    w - (Σ clip(x) over the step's batch + z), the same z in each of T steps
//	dp-sgd-clip-late     w - (clip(Σ x/B) + z/B), B the nominal batch size
//
// Micro-batches and the batches of T steps are parts that each record falls into
// with equal probability, whatever its place in the dataset. All claim what
// clipping each record's gradient and adding z to the sum costs when a record is
// added or removed: order-alpha Rényi divergence T alpha/(2σ²), for every alpha.
type descent struct {
	name, title, source, fault string

	extra *audit.ParamSpec           // of this variant
	parts string                     // parameter that says how many parts the records fall into; none where empty
	steps bool                       // one step a part
	noise func(audit.Params) float64 // factor of z
	// gradient of one part, before noise
	gradient func(r *descentRun, part partSums) float64
	// ratio of the true sensitivity to the claimed one at clip norm G; nil
	// where no noise is left
	ratio func(p audit.Params, clip float64) float64
	first func(clip float64) audit.Pair // the best pair
}

// partSums are sums over the records of a part.
type partSums struct{ n, sum, clipped float64 }

const (
	gradientReach = 2 // records lie in [-2, 2]
	descentRows   = 20

	descentSource  = "Abadi et al., Deep Learning with Differential Privacy, CCS 2016, algorithm 1; Kong, Muñoz Medina and Ribero, RényiTester (2023), sections 5 and B.5"
	descentAuditor = "; Kong, Muñoz Medina, Ribero and Syed, DP-Auditorium (2023), section 6.5"
)

var (
	dpSGD = descent{name: "dp-sgd", title: "Gradient descent with clipped gradients and Gaussian noise", source: descentSource,
		gradient: clippedEach, ratio: clippedRatio, first: loneGradient}
	dpSGDScaledNoise = descent{name: "dp-sgd-scaled-noise", title: "Gradient descent with less noise than is accounted for",
		source:   "ScaledSGD, ScaleGD: " + descentSource + descentAuditor,
		fault:    "adds noise with the multiplier s σ and accounts for σ",
		extra:    &audit.ParamSpec{Name: "s", Doc: "share of the noise that is added", Default: 0.5, Min: 0.01, Max: 1},
		noise:    func(p audit.Params) float64 { return p.Num("s") },
		gradient: clippedEach, first: loneGradient,
		ratio: func(p audit.Params, clip float64) float64 { return clippedRatio(p, clip) / p.Num("s") }}
	dpSGDMicrobatch = descent{name: "dp-sgd-microbatch", title: "Gradient descent that clips the averages of micro-batches",
		source: "WrongSensitivitySGD: " + descentSource,
		fault:  "clips the average of a micro-batch, which a record may turn round, and accounts for clipped records: the sensitivity is up to 2G, not G",
		extra:  &audit.ParamSpec{Name: "microbatches", Doc: "number of micro-batches that the records fall into", Default: 1, Min: 1, Max: 16, Integer: true},
		parts:  "microbatches",
		gradient: func(r *descentRun, part partSums) float64 {
			if part.n == 0 {
				return 0
			}
			return r.clipped(part.sum / part.n)
		},
		ratio: microbatchRatio,
		first: func(clip float64) audit.Pair {
			return audit.Pair{Label: "{-G} against {-G, 2}", First: audit.Records(-clip), Second: audit.Records(-clip, gradientReach)}
		}}
	dpSGDReusedKey = descent{name: "dp-sgd-reused-key", title: "Gradient descent that draws the noise of all steps from one key",
		source: descentSource,
		fault:  "draws the noise of each step from the same key: the difference of two steps is free of noise",
		extra:  &audit.ParamSpec{Name: "steps", Doc: "number of steps, one for each part that the records fall into", Default: 2, Min: 2, Max: 16, Integer: true},
		parts:  "steps", steps: true,
		gradient: clippedEach, first: loneGradient}
	dpSGDClipLate = descent{name: "dp-sgd-clip-late", title: "Gradient descent that clips the average of the batch",
		source:   descentSource + descentAuditor,
		fault:    "clips the average of the batch and accounts for clipped records: the clip does not bound what one record does",
		extra:    &audit.ParamSpec{Name: "batch", Doc: "nominal batch size B that sums are divided by", Default: 4, Min: 1, Max: 1000},
		noise:    func(p audit.Params) float64 { return 1 / p.Num("batch") },
		gradient: func(r *descentRun, part partSums) float64 { return r.clipped(part.sum / r.batch) },
		ratio:    func(p audit.Params, clip float64) float64 { return min(gradientReach/clip, 2*p.Num("batch")) },
		first:    loneGradient}
)

func clippedEach(_ *descentRun, part partSums) float64 { return part.clipped }

func clippedRatio(_ audit.Params, clip float64) float64 { return min(gradientReach/clip, 1) }

// microbatchRatio: a record of 2 that joins one of -G moves the clipped average
// from -G to min((2-G)/2, G). Other sizes and values move it less, and where G is
// beyond 2 nothing is clipped and -2 joined by 2 moves it by 2. So it is 2G for G
// up to 2/3 only, and 1.5 for G = 1.
func microbatchRatio(_ audit.Params, clip float64) float64 {
	return min(2*clip, (gradientReach+clip)/2, gradientReach) / clip
}

func loneGradient(float64) audit.Pair {
	return audit.Pair{Label: "none against {2}", First: audit.Records(), Second: audit.Records(gradientReach)}
}

func (f descent) spec() audit.MechanismSpec {
	params := []audit.ParamSpec{
		{Name: "sigma", Doc: "noise multiplier σ that is accounted for", Default: 2, Min: 0.01, Max: 1000},
		{Name: "clip", Doc: "clip norm G", Default: 1, Min: 0.01, Max: 100},
		{Name: "notion", Doc: "what the claim is written in; all three say the same at every order", Choices: []string{"renyi", "zcdp", "gaussian-dp"}},
		alphaParam(),
	}
	if f.extra != nil {
		params = append(params, *f.extra)
	}
	return audit.MechanismSpec{
		Name: f.name, Title: f.title, Source: f.source, Fault: f.fault, Params: params,
		Relations: only(audit.AddRemove),
		Claim:     func(p audit.Params) audit.Claim { return f.cost(p, 1) },
		Truth: func(p audit.Params) string {
			if f.ratio == nil {
				return neverPrivate("")(p)
			}
			return f.cost(p, f.ratio(p, p.Num("clip"))).String()
		},
		Domain: func(audit.Params, audit.Relation) audit.Domain {
			return audit.Domain{Columns: 1, MaxRows: descentRows, Lower: []float64{-gradientReach}, Upper: []float64{gradientReach}}
		},
		Pairs: func(p audit.Params, _ audit.Relation) []audit.Pair {
			return []audit.Pair{
				f.first(min(p.Num("clip"), gradientReach)),
				{Label: "{-2} against {-2, 2}", First: audit.Records(-2), Second: audit.Records(-2, 2)},
				{Label: "{1} against {1, 2}", First: audit.Records(1), Second: audit.Records(1, 2)},
			}
		},
		New: f.build,
	}
}

// cost is the guarantee of T steps with ratio times the claimed sensitivity G
// against noise of σG, in the terms that are asked for.
func (f descent) cost(p audit.Params, ratio float64) audit.Claim {
	perStep := ratio / p.Num("sigma")
	square := float64(perStep * perStep)
	if f.steps {
		square *= p.Num("steps")
	}
	switch p.Word("notion") {
	case "zcdp":
		return audit.Claim{Kind: audit.ZCDP, Rho: square / 2}
	case "gaussian-dp":
		return audit.Claim{Kind: audit.GaussianDP, Mu: math.Sqrt(square)}
	}
	return audit.Claim{Kind: audit.Renyi, Alpha: p.Num("alpha"), Epsilon: p.Num("alpha") * square / 2}
}

func (f descent) build(p audit.Params) (audit.Mechanism, error) {
	r := &descentRun{descent: f, clip: p.Num("clip"), sd: float64(p.Num("sigma") * p.Num("clip")), count: 1}
	if f.noise != nil {
		r.sd *= f.noise(p)
	}
	if f.parts != "" {
		r.count = p.Int(f.parts)
	}
	if batch, ok := p["batch"]; ok {
		r.batch = batch.Number
	}
	return r, nil
}

// descentRun is a descent at fixed parameters. A block draws the noise of its
// rows, then, where there is more than one part, the parts of all records of
// all its rows.
type descentRun struct {
	descent
	clip, sd, batch float64
	count           int // of parts
}

func (r *descentRun) clipped(g float64) float64 { return min(max(g, -r.clip), r.clip) }

func (r *descentRun) width() int {
	if r.steps {
		return r.count
	}
	return 1
}

func (r *descentRun) Columns() []audit.Column {
	return columnsOf(r.width(), audit.Real, "weight after step %d")
}

func (r *descentRun) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkShape(d, 0, anyRows); err != nil {
		return err
	}
	n, width := d.Len(), r.width()
	most := min(len(out)/width, blockRows)
	noise, parts := make([]float64, most), make([]partSums, r.count)
	var dealt []float64 // the part of each record, row after row
	if r.count == 1 {
		r.sums(d.Values, vector(n, 0), parts)
	} else {
		dealt = make([]float64, most*n)
	}
	eachBlock(out, width, func(block []float64, rows int) {
		s.Gaussian(noise[:rows], r.sd)
		if r.count > 1 {
			s.Uniform(dealt[:rows*n], 0, float64(r.count))
		}
		for i, z := range noise[:rows] {
			if r.count > 1 {
				r.sums(d.Values, dealt[i*n:(i+1)*n], parts)
			}
			var w, g float64
			for k, part := range parts {
				g += r.gradient(r, part)
				if r.steps {
					w -= g + z
					block[i*width+k], g = w, 0
				}
			}
			if !r.steps {
				block[i] = -(g + z)
			}
		}
	})
	return nil
}

// sums fills parts; record i is in part ⌊part[i]⌋.
func (r *descentRun) sums(records, part []float64, parts []partSums) {
	clear(parts)
	for i, x := range records {
		p := &parts[int(part[i])]
		p.n++
		p.sum += x
		p.clipped += r.clipped(x)
	}
}
