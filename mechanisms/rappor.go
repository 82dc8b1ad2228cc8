package mechanisms

import (
	"math/bits"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// rapporFamily reports one value through a Bloom filter. The permanent response replaces
// each bit, with probability f, by a fair coin; the instantaneous one then reports 1 with
// probability q where that is 1 and p where it is 0. The bits of one report are independent
// and drawn so, one word a bit. rappor-once has p = 0 and q = 1.
type rapporFamily struct {
	mechanism

	steps, published string // of the paper; f
	instant          bool
}

const rapporValues = 100 // values are 0 to 99

var (
	rapporOnce = rapporFamily{steps: "1 and 2", published: "0.95", mechanism: mechanism{
		Name: "rappor-once", Title: "RAPPOR, permanent response only", Epsilon: 0.8}}
	rappor = rapporFamily{steps: "1 to 3", published: "0.75", instant: true, mechanism: mechanism{
		Name: "rappor", Title: "RAPPOR, permanent and instantaneous response", Epsilon: 0.4}}
)

func (f rapporFamily) complete() mechanism {
	m := f.mechanism
	m.Source = "Erlingsson, Pihur and Korolova, RAPPOR: Randomized Aggregatable Privacy-Preserving Ordinal Response, CCS 2014, steps " + f.steps + ", theorems 1 and 2; parameters of " + dpSniper
	m.Params = []audit.ParamSpec{
		{Name: "f", Doc: "probability that the permanent response replaces a bit, in (0, 1), published with " + f.published + "; 0 derives it from epsilon", Min: 0, Max: 1},
		{Name: "hashes", Doc: "number of hash functions", Default: 4, Min: 1, Max: 16, Integer: true},
		{Name: "bits", Doc: "number of bits of the Bloom filter", Default: 20, Min: 2, Max: 64, Integer: true},
	}
	if f.instant {
		m.Params = append(m.Params,
			audit.ParamSpec{Name: "p", Doc: "probability of reporting 1 for a permanent 0, below q", Default: 0.45, Min: 0.001, Max: 0.999},
			audit.ParamSpec{Name: "q", Doc: "probability of reporting 1 for a permanent 1", Default: 0.55, Min: 0.001, Max: 0.999})
	}
	m.Check = func(p audit.Params) error {
		zero, one := p["p"].Number, p["q"].Number
		return audit.First(demand(p.Num("f") != 1, p, "f", "0 derives it from epsilon", "a number in (0, 1), or 0"),
			demand(!f.instant || zero < one, p, "q", "", "above p = %s", audit.Number(zero)))
	}
	m.Tight = &audit.Tight{Params: audit.Params{"hashes": {Number: 1}}, Pair: 1, Why: "the two bits that differ, in opposite directions"}
	m.Relations = only(audit.Replace)
	m.Claim = func(p audit.Params) audit.Claim {
		if p.Num("f") != 0 {
			return audit.DPClaim(upToNano(float64(p.Num("hashes")*f.noise(p).loss(1, 1))), 0)
		}
		return pureClaim(p)
	}
	m.Truth = func(p audit.Params) string {
		_, gone, come := rapporPair(p)
		n := f.noise(p)
		return "epsilon = " + audit.Number(max(n.loss(gone, come), n.loss(come, gone))) + " on the values 0 to 99"
	}
	m.Domain = in(whole(1, 1, rapporValues-1))
	m.Pairs = func(p audit.Params, _ audit.Relation) pairs {
		pair, _, _ := rapporPair(p)
		return pairs{pair}
	}
	m.Output = func(p audit.Params) []audit.Column { return columnsOf(p.Int("bits"), audit.Symbol, "bit %d", 1) }
	m.Release = f.release
	return m
}

// bitNoise is the probability of reporting 1 for a bit that is 1, and for one that is 0.
type bitNoise struct{ one, zero float64 }

// loss is the largest log ratio of the probabilities of a report between values of which the
// first alone sets gone bits, and the second alone come.
func (n bitNoise) loss(gone, come int) float64 {
	return float64(float64(gone)*stream.Log(n.one/n.zero)) + float64(float64(come)*stream.Log((1-n.zero)/(1-n.one)))
}

// noise is that of f, or else of the smallest f whose loss (theorems 1 and 2) is at most epsilon.
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
	enough := func(f float64) bool { return float64(p.Num("hashes")*with(f).loss(1, 1)) <= p.Num("epsilon") }
	if f.instant && enough(0) {
		return with(0)
	}
	lo, hi := 0.0, 1.0
	for range 60 {
		if mid := float64((lo + hi) * 0.5); enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return with(hi)
}

func (f rapporFamily) release(p audit.Params, d audit.Dataset) sampler {
	noise := f.noise(p)
	filter := bloom(int(d.Values[0]), p.Int("bits"), p.Int("hashes"))
	likely := audit.Listed(p.Int("bits"), func(i int) float64 { return audit.Pick(filter>>i&1 != 0, noise.one, noise.zero) })
	return func(b *block) {
		b.Uniform(b.out, 0, 1)
		for out := b.out; len(out) > 0; out = out[len(likely):] {
			for i, p := range likely {
				out[i] = audit.Pick(out[i] < p, 1.0, 0)
			}
		}
	}
}

// bloom is the Bloom filter of a value. Hash i is SplitMix64's output function (Steele, Lea
// and Flood 2014) of 64 times the value plus i.
func bloom(value, size, hashes int) (filter uint64) {
	for i := range hashes {
		z := (uint64(value*64+i) + 1) * 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		filter |= 1 << ((z ^ z>>31) % uint64(size))
	}
	return filter
}

// rapporPair is the first pair of values whose filters differ in most bits, with the numbers
// of bits that only the first and only the second sets.
func rapporPair(p audit.Params) (pair neighbours, gone, come int) {
	size, hashes := p.Int("bits"), p.Int("hashes")
	best := -1
	for a := range rapporValues {
		for b := range a {
			x, y := bloom(a, size, hashes), bloom(b, size, hashes)
			if n := bits.OnesCount64(x ^ y); n > best {
				best, gone, come = n, bits.OnesCount64(x&^y), bits.OnesCount64(y&^x)
				pair = neighbours{"the values whose filters differ in most bits", of(float64(a)), of(float64(b))}
			}
		}
	}
	return pair, gone, come
}
