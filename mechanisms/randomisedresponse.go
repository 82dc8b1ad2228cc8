package mechanisms

import (
	"math"
	"math/bits"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// randomisedResponse tells one bit truthfully with probability truthful, and
// else its opposite. It draws one Bernoulli an output.
type randomisedResponse struct {
	truthful float64 // in (1/2, 1)
}

var randomisedResponseSpec = audit.MechanismSpec{
	Name:   "randomised-response",
	Title:  "Randomised response of one bit",
	Source: "Warner, Randomized response, JASA 60 (1965); Dwork and Roth, The Algorithmic Foundations of Differential Privacy (2014), section 3.2",
	Params: []audit.ParamSpec{
		epsilonParam(1),
		{Name: "p", Doc: "probability of the true answer, in (0.5, 1); 0 derives it from epsilon: e^epsilon/(1+e^epsilon)", Min: 0, Max: 1},
	},
	Relations: only(audit.Replace),
	Claim: func(p audit.Params) audit.Claim {
		if truthful := p.Num("p"); truthful != 0 {
			return audit.DPClaim(logOddsUp(truthful), 0)
		}
		return pureClaim(p)
	},
	Truth: func(p audit.Params) string {
		if truthful := p.Num("p"); truthful != 0 {
			return "epsilon = ln(p/(1-p)) = " + show(logOddsUp(truthful))
		}
		epsilon := p.Num("epsilon")
		if epsilon > coarseFrom {
			return "epsilon = ln(p/(1-p)) = " + show(logOddsUp(truthfulProbability(epsilon))) + ", below what is asked for: 1-p is a few multiples of 2^-53"
		}
		return "epsilon = ln(p/(1-p)) = " + show(epsilon)
	},
	Domain: func(audit.Params, audit.Relation) audit.Domain {
		return audit.Domain{Columns: 1, MinRows: 1, MaxRows: 1, Lower: []float64{0}, Upper: []float64{1}, Integer: true}
	},
	Pairs: func(audit.Params, audit.Relation) []audit.Pair {
		return []audit.Pair{{Label: "the bit 1 against the bit 0", First: audit.Records(1), Second: audit.Records(0)}}
	},
	New: func(p audit.Params) (audit.Mechanism, error) {
		truthful := p.Num("p")
		if truthful == 0 {
			return &randomisedResponse{truthfulProbability(p.Num("epsilon"))}, nil
		}
		if !(truthful > 0.5 && truthful < 1) {
			return nil, &audit.InputError{Field: "parameter p", Path: "p.p", Found: show(truthful), Want: "a number in (0.5, 1), or 0",
				Remedy: "0 derives it from epsilon"}
		}
		return &randomisedResponse{truthful}, nil
	},
}

// coarseFrom is the epsilon above which rounding p to a double shows: at 30 it
// changes epsilon by 1e-3.
const coarseFrom = 30

// truthfulProbability is e^epsilon/(1+e^epsilon) as a multiple of 2^-53, which a
// Bernoulli hits exactly, rounded down so that its log odds stay at or below
// epsilon. It stays above 1/2: below epsilon = 2^-50 there is no such
// multiple, and the range of epsilon ends before.
func truthfulProbability(epsilon float64) float64 {
	// The probability of the lie, rounded up. The logistic function is good
	// to 2 ulp; 4 ulp are added.
	lie := stream.Logistic(-epsilon)
	lie += float64(lie * 0x1p-50)
	return 1 - float64(math.Ceil(float64(lie*0x1p53))*0x1p-53)
}

// logOddsUp is ln(p/(1-p)) rounded up to a multiple of 1e-9, so that a claim of
// it is never below the truth. 1-p is exact for p in [1/2, 1); the quotient and
// the logarithm are good to 1 ulp, far less than the margin of 1e-12.
func logOddsUp(p float64) float64 { return upToNano(stream.Log(p / (1 - p))) }

// upToNano rounds up to a multiple of 1e-9, a margin of 1e-12 added.
func upToNano(x float64) float64 { return math.Ceil((x+1e-12)*1e9) / 1e9 }

func (m *randomisedResponse) Columns() []audit.Column {
	return []audit.Column{{Name: "answer", Kind: audit.Symbol, Labels: []audit.Label{{Value: 0, Text: "no"}, {Value: 1, Text: "yes"}}}}
}

func (m *randomisedResponse) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkShape(d, 1, 1); err != nil {
		return err
	}
	bit := d.Values[0]
	if bit != 0 && bit != 1 {
		return &audit.InputError{Field: "dataset.values[0]", Found: show(bit), Want: "0 or 1"}
	}
	s.Bernoulli(out, m.truthful)
	if bit == 0 {
		for i, truth := range out {
			out[i] = 1 - truth
		}
	}
	return nil
}

// rapporFamily reports one value through a Bloom filter. The permanent response
// replaces each bit, with probability f, by a fair coin; the instantaneous one
// then reports 1 with probability q where that is 1 and p where it is 0. Of one
// report the bits are independent, 1 with probability f(p+q)/2 + (1-f)q or
// f(p+q)/2 + (1-f)p, and are drawn so: one word a bit. rappor-once reports the
// permanent response, p = 0 and q = 1.
type rapporFamily struct {
	name, title, steps string

	byDefault float64 // epsilon
	published string  // f
	instant   bool
}

const rapporValues = 100 // values are 0 to 99

var (
	rapporOnce = rapporFamily{name: "rappor-once", title: "RAPPOR, permanent response only", steps: "1 and 2", byDefault: 0.8, published: "0.95"}
	rappor     = rapporFamily{name: "rappor", title: "RAPPOR, permanent and instantaneous response", steps: "1 to 3", byDefault: 0.4, published: "0.75", instant: true}
)

func (f rapporFamily) spec() audit.MechanismSpec {
	params := []audit.ParamSpec{
		epsilonParam(f.byDefault),
		{Name: "f", Doc: "probability with which the permanent response replaces a bit, in (0, 1), published with " + f.published + "; 0 derives it from epsilon", Min: 0, Max: 1},
		{Name: "hashes", Doc: "number of hash functions", Default: 4, Min: 1, Max: 16, Integer: true},
		{Name: "bits", Doc: "number of bits of the Bloom filter", Default: 20, Min: 2, Max: 64, Integer: true},
	}
	if f.instant {
		params = append(params,
			audit.ParamSpec{Name: "p", Doc: "probability of reporting 1 for a permanent 0, below q", Default: 0.45, Min: 0.001, Max: 0.999},
			audit.ParamSpec{Name: "q", Doc: "probability of reporting 1 for a permanent 1", Default: 0.55, Min: 0.001, Max: 0.999})
	}
	return audit.MechanismSpec{
		Name: f.name, Title: f.title, Params: params,
		Source:    "Erlingsson, Pihur and Korolova, RAPPOR: Randomized Aggregatable Privacy-Preserving Ordinal Response, CCS 2014, steps " + f.steps + ", theorems 1 and 2; parameters of Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, S&P 2021",
		Relations: only(audit.Replace),
		Claim: func(p audit.Params) audit.Claim {
			if p.Num("f") != 0 {
				h := p.Num("hashes")
				return audit.DPClaim(upToNano(float64(h*f.noise(p).loss(1, 1))), 0)
			}
			return pureClaim(p)
		},
		Truth: func(p audit.Params) string {
			_, gone, come := rapporPair(p)
			n := f.noise(p)
			return "epsilon = " + show(max(n.loss(gone, come), n.loss(come, gone))) + " on the values 0 to 99"
		},
		Domain: func(audit.Params, audit.Relation) audit.Domain {
			return audit.Domain{Columns: 1, MinRows: 1, MaxRows: 1, Lower: []float64{0}, Upper: []float64{rapporValues - 1}, Integer: true}
		},
		Pairs: func(p audit.Params, _ audit.Relation) []audit.Pair {
			pair, _, _ := rapporPair(p)
			return []audit.Pair{pair}
		},
		New: f.build,
	}
}

func (f rapporFamily) build(p audit.Params) (audit.Mechanism, error) {
	if p.Num("f") == 1 {
		return nil, &audit.InputError{Field: "parameter f", Path: "p.f", Found: "1", Want: "a number in (0, 1), or 0", Remedy: "0 derives it from epsilon"}
	}
	if f.instant && !(p.Num("p") < p.Num("q")) {
		return nil, &audit.InputError{Field: "parameter q", Path: "p.q", Found: show(p.Num("q")), Want: "above p = " + show(p.Num("p"))}
	}
	return &rapporReport{bits: p.Int("bits"), hashes: p.Int("hashes"), bitNoise: f.noise(p)}, nil
}

// bitNoise is the probability of reporting 1 for a bit that is 1, and for one
// that is 0.
type bitNoise struct{ one, zero float64 }

// loss is the largest log ratio of the probabilities of a report where so many
// bits are 1 and 0 on one side, and so many 0 and 1.
func (n bitNoise) loss(gone, come int) float64 {
	return float64(float64(gone)*stream.Log(n.one/n.zero)) + float64(float64(come)*stream.Log((1-n.zero)/(1-n.one)))
}

// noise is that of f, or else of the smallest f whose loss, hashes times that of
// a bit gone and a bit come (theorems 1 and 2), is at most epsilon; none is too
// large where even f = 0 loses less.
func (f rapporFamily) noise(p audit.Params) bitNoise {
	zero, one := 0.0, 1.0
	if f.instant {
		zero, one = p.Num("p"), p.Num("q")
	}
	with := func(f float64) bitNoise {
		coin := float64(f * (zero + one) / 2)
		return bitNoise{coin + float64((1-f)*one), coin + float64((1-f)*zero)}
	}
	if given := p.Num("f"); given != 0 {
		return with(given)
	}
	lo, hi := 0.0, 1.0
	for range 60 {
		mid := float64((lo + hi) * 0.5)
		if float64(p.Num("hashes")*with(mid).loss(1, 1)) > p.Num("epsilon") {
			lo = mid
		} else {
			hi = mid
		}
	}
	if f.instant && float64(p.Num("hashes")*with(0).loss(1, 1)) <= p.Num("epsilon") {
		hi = 0
	}
	return with(hi)
}

// rapporReport draws one uniform number a bit.
type rapporReport struct {
	bits, hashes int
	bitNoise
}

// bloom is the Bloom filter of a value. Hash i is SplitMix64's output function
// (Steele, Lea and Flood 2014) of 64 times the value plus i.
func bloom(value, size, hashes int) (filter uint64) {
	for i := range hashes {
		z := (uint64(value*64+i) + 1) * 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		filter |= 1 << ((z ^ z>>31) % uint64(size))
	}
	return filter
}

// rapporPair is the first pair of values whose filters differ in most bits, with
// the numbers of bits that are 1 in the first only and in the second only.
func rapporPair(p audit.Params) (pair audit.Pair, gone, come int) {
	size, hashes := p.Int("bits"), p.Int("hashes")
	best := -1
	for a := range rapporValues {
		for b := range a {
			x, y := bloom(a, size, hashes), bloom(b, size, hashes)
			if n := bits.OnesCount64(x ^ y); n > best {
				best, gone, come = n, bits.OnesCount64(x&^y), bits.OnesCount64(y&^x)
				pair = audit.Pair{Label: "the values whose filters differ in most bits", First: audit.Records(float64(a)), Second: audit.Records(float64(b))}
			}
		}
	}
	return pair, gone, come
}

func (m *rapporReport) Columns() []audit.Column { return columnsOf(m.bits, audit.Symbol, "bit %d") }

func (m *rapporReport) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkWhole(d, 1, 1, rapporValues-1); err != nil {
		return err
	}
	filter, likely := bloom(int(d.Values[0]), m.bits, m.hashes), make([]float64, m.bits)
	for i := range likely {
		likely[i] = m.zero
		if filter>>i&1 != 0 {
			likely[i] = m.one
		}
	}
	s.Uniform(out, 0, 1)
	for ; len(out) > 0; out = out[m.bits:] {
		for i, p := range likely {
			bit := 0.0
			if out[i] < p {
				bit = 1
			}
			out[i] = bit
		}
	}
	return nil
}
