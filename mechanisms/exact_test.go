package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// set is the mechanism's defaults with some values changed.
func set(spec audit.MechanismSpec, nameValue ...any) audit.Params {
	p := defaults(spec)
	for name, v := range numbers(nameValue...) {
		p[name] = v
	}
	return p
}

// worstLoss is the largest |log p/q|.
func worstLoss(p, q []float64) (worst float64) {
	for i := range p {
		worst = math.Max(worst, math.Abs(math.Log(p[i]/q[i])))
	}
	return worst
}

// On no pair of a thousand is the loss of the median's probabilities, by which its twin
// draws, above epsilon (replace) or epsilon/2 (add/remove); the first pair comes near.
func TestExponentialMedianIsExact(t *testing.T) {
	median := exponentialMedian.spec()
	s := stream.New(stream.Key{Seed: 6, Purpose: "medians"})
	for _, epsilon := range []float64{0.1, 1, 4} {
		p := set(median, "epsilon", epsilon)
		for _, r := range median.Relations(p) {
			most, pairs := epsilon, median.Pairs(p, r)
			if r == audit.AddRemove {
				most = epsilon / 2
			}
			for range 500 {
				n := 1 + s.Intn(6)
				v := make([]float64, n+1)
				s.Uniform(v, 0, 1)
				if s.Intn(2) == 0 { // records on points of the grid
					for i := range v {
						v[i] = math.Round(v[i]*20) / 20
					}
				}
				pair := audit.Pair{First: audit.Records(v[:n]...), Second: audit.Records(v[1:]...)}
				if r == audit.AddRemove {
					pair.Second = audit.Records(v...)
				}
				pairs = append(pairs, pair)
			}
			for k, pair := range pairs {
				_, a := medianProbabilities(p, pair.First.Values)
				_, b := medianProbabilities(p, pair.Second.Values)
				loss := worstLoss(a, b)
				if loss > most+1e-12 || k == 0 && loss < 0.9*most {
					t.Errorf("epsilon %g, %s, %v against %v: loss %.4f, want at most %g", epsilon, r, pair.First.Values, pair.Second.Values, loss, most)
				}
			}
		}
	}
}

// The clamped two-sided geometric distribution is GeoSample's in exact rational
// numbers; its loss is ln(1+2^-k), and above the claim at epsilon = 0.1.
func TestTruncatedGeometricIsGeoSample(t *testing.T) {
	geometric := truncatedGeometric.spec()
	pow := func(base int64, e int) *big.Int { return new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(e)), nil) }
	for _, n := range []int{1, 2, 5, 12} {
		for k := 1; k <= 8; k++ {
			two, more := int64(1)<<k, int64(1)<<k+1
			d := new(big.Int).Mul(big.NewInt(2*two+1), pow(more, n-1))
			cdf := func(c, z int) *big.Rat {
				f := new(big.Int).Set(d)
				if z < c {
					f.Mul(pow(two, c-z), pow(more, n-(c-z)))
				} else if z < n {
					f.Sub(d, new(big.Int).Mul(pow(two, z-c+1), pow(more, n-1-(z-c))))
				}
				return new(big.Rat).SetFrac(f, d)
			}
			mass := func(c int) []float64 {
				var prob []float64
				last := new(big.Rat)
				for z := 0; z <= n; z++ {
					f := cdf(c, z)
					x, _ := new(big.Rat).Sub(f, last).Float64()
					prob, last = append(prob, x), f
				}
				return prob
			}
			a := float64(two) / float64(more)
			tail := func(m int) float64 { return math.Pow(a, float64(m)) / (1 + a) } // P(Z >= m), m >= 1: a^m/(1+a)
			for c := 0; c <= n; c++ {
				exact := mass(c)
				for z, x := range exact {
					want := (1 - a) / (1 + a) * math.Pow(a, math.Abs(float64(z-c)))
					switch {
					case z == 0 && c == 0, z == n && c == n:
						want = 1 / (1 + a)
					case z == 0:
						want = tail(c)
					case z == n:
						want = tail(n - c)
					}
					if math.Abs(x-want) > 1e-14 {
						t.Errorf("n = %d, k = %d: P(%d on %d) = %v, clamped noise gives %v", n, k, z, c, x, want)
					}
				}
				if c > 0 {
					if loss, want := worstLoss(mass(c-1), exact), math.Log1p(1/float64(two)); math.Abs(loss-want) > 1e-9 {
						t.Errorf("n = %d, k = %d, counts %d and %d: loss %v, want %v", n, k, c-1, c, loss, want)
					}
				}
			}
			for _, epsilon := range []float64{1.999 / float64(two), 2 / float64(two), 2.001 / float64(two)} { // log2(2/epsilon) is about k: GeoSample rounds it up
				truth := specOf(t, "geo-sample").Truth(numbers("epsilon", epsilon))
				if want := fmt.Sprintf("k = %d:", k+audit.Pick(epsilon < 2/float64(two), 1, 0)); !strings.Contains(truth, want) {
					t.Errorf("geo-sample at %v: %s, want %s", epsilon, truth, want)
				}
			}
			if n == 5 && k == 3 {
				if loss := worstLoss(mass(0), mass(1)); math.Abs(loss-0.1178) > 1e-4 || loss < set(geometric).Num("epsilon") {
					t.Errorf("loss %v, known as 0.1178 and above the claim", loss)
				}
			}
		}
	}
}

// The published losses, and what f costs when it is derived from epsilon.
func TestRAPPOR(t *testing.T) {
	for _, c := range []struct {
		family       rapporFamily
		f, published float64
	}{{rapporOnce, 0.95, 0.801}, {rappor, 0.75, 0.400}} {
		spec := c.family.complete().spec()
		p := set(spec, "f", c.f)
		_, gone, come := rapporPair(p)
		if gone != 4 || come != 4 {
			t.Errorf("the best pair loses %d bits and gains %d, want 4", gone, come)
		}
		f := c.f
		one, zero := 1-f/2, f/2
		if c.family.instant {
			one, zero = f/2+(1-f)*0.55, f/2+(1-f)*0.45
		}
		exact := 4 * math.Log(one*(1-zero)/(zero*(1-one)))
		if claim := spec.Claim(p).Epsilon; math.Abs(exact-c.published) > 5e-4 || claim < exact || claim > exact+2e-9 {
			t.Errorf("%s: claims %v, exactly %v, published %v", spec.Name, claim, exact, c.published)
		}
		for _, epsilon := range []float64{1e-6, 0.01, 0.4, 1, 1.6} {
			n := c.family.noise(set(spec, "epsilon", epsilon))
			if loss := 4 * n.loss(1, 1); loss > epsilon || loss < epsilon*(1-1e-5) {
				t.Errorf("%s at epsilon %g: loss %v", spec.Name, epsilon, loss)
			}
		}
	}
	if n := rappor.noise(set(rappor.complete().spec(), "epsilon", 5)); n.one != 0.55 || n.zero != 0.45 {
		t.Errorf("at epsilon 5 the noise is %v, want f = 0", n)
	}
}

// numeric-svt: the loss of a sequence of symbols, and of the values beside ⊤, is
// at most epsilon together; the exact probabilities of the symbols are also what
// is sampled.
func TestNumericSVTKeepsItsClaim(t *testing.T) {
	spec := numericSVT.complete().spec()
	for _, c := range []float64{1, 2} {
		p := set(spec, "epsilon", 2, "c", c, "m", 7)
		m := numericSVT.run(p)
		if m.rho != 1.5 || m.nu != 3*c || m.more != 1.5*c {
			t.Errorf("c = %g: scales %v, %v, %v", c, m.rho, m.nu, m.more)
		}
		worst := 0.0
		for _, pair := range spec.Pairs(p, audit.LInfinity) {
			a := svtOutcomes(pair.First.Values, 0.5, m.rho, m.nu, m.cutoff)
			b := svtOutcomes(pair.Second.Values, 0.5, m.rho, m.nu, m.cutoff)
			for word, prob := range a {
				values := 0.0
				for i, symbol := range word {
					if symbol == 'T' {
						values += math.Abs(pair.First.Values[i]-pair.Second.Values[i]) / m.more
					}
				}
				worst = math.Max(worst, math.Abs(math.Log(prob/b[word]))+values)
			}
		}
		if worst > 2+1e-9 || worst < 1 {
			t.Errorf("c = %g: loss %v, want at most 2, and not far less", c, worst)
		}
	}
}

// Where noise is added and nothing else happens to it, the same noise on both
// datasets shows by how much the answers differ, and the loss is the sum of
// those over the scale, which is the mean distance from the median.
func TestLossesOfAddedNoise(t *testing.T) {
	for _, c := range []struct {
		name        string
		params      []any
		word        string // of prefix-sum
		scale, loss float64
		keeps       bool
	}{
		{"laplace-parallel", []any{"epsilon", 0.5}, "", 40, 0.5, true},
		{"laplace-parallel", []any{"epsilon", 0.5, "copies", 1}, "", 2, 0.5, true},
		{"budget-spent-twice", []any{"epsilon", 0.5}, "", 2, 1, false},
		{"budget-spent-twice", []any{"epsilon", 0.5, "copies", 5}, "", 2, 2.5, false},
		{"count-replace-as-add", []any{"epsilon", 0.5}, "", 2, 1, false},
		{"noisy-histogram-replace", []any{"epsilon", 0.5, "bins", 3}, "", 4, 0.5, true},
		{"noisy-histogram", []any{"epsilon", 0.5}, "", 2, 0.5, true},
		{"laplace-count", []any{"epsilon", 0.5}, "", 2, 0.5, true},
		{"sum-clipped", []any{"epsilon", 0.5}, "", 2, 0.5, true},
		{"sum-unclipped", []any{"epsilon", 0.5}, "", 2, 2.5, false},
		{"sum-unclipped", []any{"epsilon", 0.5, "most", 40}, "", 2, 20, false},
		{"prefix-sum", []any{"epsilon", 0.5}, "events", 2, 0.5, true},
		{"prefix-sum", []any{"epsilon", 0.1, "m", 10}, "answers", 10, 1, true},
	} {
		spec := specOf(t, c.name)
		p := set(spec, c.params...)
		if c.word != "" {
			p["data"] = text(c.word)
		}
		m, r := mustNew(t, spec, p), spec.Relations(p)[0]
		if keeps := spec.Claim(p).Epsilon >= c.loss; keeps != c.keeps {
			t.Errorf("%s %v: claims %v, loses %g", c.name, c.params, spec.Claim(p), c.loss)
		}
		unsum := func(row []float64) {
			for i := len(row) - 1; i > 0 && c.word != ""; i-- {
				row[i] -= row[i-1]
			}
		}
		most := 0.0
		for k, pair := range spec.Pairs(p, r) {
			a, b := sample(t, m, pair.First, 4_000, 0), sample(t, m, pair.Second, 4_000, 0)
			for i := range a.Len() {
				unsum(a.Row(i))
				unsum(b.Row(i))
				loss := 0.0
				for j, v := range a.Row(i) {
					loss += math.Abs(v-b.Row(i)[j]) / c.scale
				}
				if loss > c.loss+1e-9 {
					t.Fatalf("%s %v: pair %q loses %v, want at most %g", c.name, c.params, pair.Label, loss, c.loss)
				}
				most = math.Max(most, loss)
			}
			width, spread := len(a.Row(0)), 0.0
			for j := range width {
				column := audit.Listed(a.Len(), func(i int) float64 { return a.Row(i)[j] })
				slices.Sort(column)
				for _, v := range column {
					spread += math.Abs(v-column[len(column)/2]) / float64(len(column)*width)
				}
			}
			if math.Abs(spread/c.scale-1) > 0.06 { // four standard deviations of a single column
				t.Errorf("%s %v: noise of scale %v, want %v", c.name, c.params, spread, c.scale)
			}
			if k == 0 && most < c.loss-1e-9 {
				t.Errorf("%s %v: the first pair loses %v, want %g", c.name, c.params, most, c.loss)
			}
		}
	}
}

// What shows for certain: NaN, a category that occurs, the number of records.
func TestCertainLeaks(t *testing.T) {
	for _, c := range []struct {
		name   string
		r      audit.Relation
		column int // of the row, which has one value on one side and another on the other
		first  float64
		second float64
	}{
		{"sum-nan", audit.AddRemove, 0, above, below},
		{"sum-nan", audit.Replace, 0, above, below},
		{"domain-from-data", audit.AddRemove, 0, below, above},
		{"size-leak", audit.AddRemove, 1, 1, 2},
	} {
		spec := specOf(t, c.name)
		p := defaults(spec)
		pair := spec.Pairs(p, c.r)[0]
		for side, d := range []audit.Dataset{pair.First, pair.Second} {
			want := c.first
			if side == 1 {
				want = c.second
			}
			s := sample(t, mustNew(t, spec, p), d, 2000, side)
			for i := range s.Len() {
				if got := s.Row(i)[c.column]; got != want {
					t.Fatalf("%s, side %d: %v, want %v", c.name, side, got, want)
				}
			}
		}
	}
	// Infinite ratios are clipped, and 0/0 is 0 where it is no leak.
	for name, rows := range map[string][]float64{"sum-nan": {3, 0, 5, 4, 1, 4}, "sum-ratios": {3, 0, 5, 4, 1, 4, 0, 0}} {
		spec := specOf(t, name)
		m := mustNew(t, spec, defaults(spec))
		a := sample(t, m, audit.Dataset{Columns: 2, Values: rows}, 100, 0)
		b := sample(t, m, audit.Dataset{Columns: 2, Values: []float64{}}, 100, 0)
		for i := range a.Len() {
			if gap := a.Row(i)[1] - b.Row(i)[1]; math.Abs(gap-2.25) > 1e-12 || a.Row(i)[0] != above {
				t.Fatalf("%s: 3/0 + 5/4 + 1/4 sum to %v, want 2.25", name, gap)
			}
		}
	}
}

// With value 1 and scale 1/epsilon, what is within 1/8 of 0 is a multiple of
// 2^-53, for the noise added to 1 is; with value 0 most is not. The share of all
// outputs that are such, at least 5/6 of P(|Lap| < 1/8) less 4 standard
// deviations, is missed with probability below 4e-5.
func TestLowBitsTell(t *testing.T) {
	const rows = 50_000
	for _, epsilon := range []float64{0.1, 1, 3} {
		m := mustNew(t, laplaceFloat.spec(), numbers("epsilon", epsilon))
		var seen [2]float64
		for value := range seen {
			for _, v := range sample(t, m, audit.Records(float64(value)), rows, value).Rows {
				if k := v * 0x1p53; math.Abs(v) < 0.125 && k != math.Floor(k) {
					seen[value]++
				}
			}
		}
		near := -math.Expm1(-epsilon / 8)
		if least := rows*near*5/6 - 4*math.Sqrt(rows*near); seen[0] < least || seen[1] != 0 {
			t.Errorf("epsilon %g: %v outputs off the grid, want at least %.0f and none", epsilon, seen, least)
		}
	}
}

// Snapping gives multiples of Λ, whose cells under Laplace noise lose at most epsilon; and λ < B < 2^46 λ, as the theorem
// asks.
func TestSnappingIsExact(t *testing.T) {
	// At epsilon = 1 the value 0 stays 0 where the noise is within half of the grid, 1.
	drawn := sample(t, mustNew(t, laplaceSnapping.spec(), set(laplaceSnapping.spec())), audit.Records(0), 20_000, 0)
	share := float64(audit.Count(drawn.Rows, func(v float64) bool { return v == 0 })) / 20_000
	if want := 1 - math.Exp(-0.5); math.Abs(share-want) > 0.017 { // five standard deviations
		t.Errorf("a share of %v stays, want %v", share, want)
	}
	const rows = 1000
	spec := specOf(t, "laplace-snapping")
	for _, epsilon := range []float64{1e-6, 0.3, 0.5, 1, 2.5, 100} {
		p := set(spec, "epsilon", epsilon)
		m := newSnapping(p)
		if fraction, _ := math.Frexp(m.grid); fraction != 0.5 || m.grid < m.scale || m.grid >= 2*m.scale || m.bound <= m.scale || m.bound >= 0x1p46*m.scale || math.Mod(m.bound, m.grid) != 0 {
			t.Errorf("epsilon %g: scale %v, grid %v, bound %v", epsilon, m.scale, m.grid, m.bound)
		}
		if claim := spec.Claim(p).Epsilon; claim <= epsilon || claim > epsilon*(1+0x1p-40) && epsilon > 1e-3 {
			t.Errorf("epsilon %g claims %v", epsilon, claim)
		}
		cells := int(math.Round(m.bound / m.grid))
		mass := func(value float64) []float64 {
			prob := make([]float64, 2*cells+1)
			// From the nearer tail, so that small probabilities keep their digits.
			below := func(x float64) float64 { return math.Exp(-math.Abs(x)/m.scale) / 2 }
			for i := range prob {
				lo, hi := float64(i-cells)*m.grid-m.grid/2-value, float64(i-cells)*m.grid+m.grid/2-value
				switch {
				case i == 0:
					prob[i] = laplaceCDF(hi, m.scale)
				case i == 2*cells:
					prob[i] = below(lo)
				case hi <= 0:
					prob[i] = below(hi) - below(lo)
				case lo >= 0:
					prob[i] = below(lo) - below(hi)
				default:
					prob[i] = 1 - below(lo) - below(hi)
				}
			}
			return prob
		}
		for side, value := range []float64{0, 1, -9.7} {
			for _, v := range sample(t, mustNew(t, spec, p), audit.Records(value), rows, side).Rows {
				i := v / m.grid
				if i != math.Floor(i) || math.Abs(v) > m.bound {
					t.Fatalf("epsilon %g: %v is not on the grid", epsilon, v)
				}
			}
		}
		a, b := mass(0.25), mass(1.25)
		for i := range a {
			if min(a[i], b[i]) < 1e-290 { // digits are lost
				a[i], b[i] = 1, 1
			}
		}
		if loss := worstLoss(a, b); loss > epsilon+1e-12 || loss < epsilon*0.99 && epsilon < 1 {
			t.Errorf("epsilon %g: the cells lose %v", epsilon, loss)
		}
	}
}

// svt34-parallel is svt3's columns and then svt4's, with noise of their own.
func TestSVT34Parallel(t *testing.T) {
	spec := specOf(t, "svt34-parallel")
	p := set(spec, "c", 2, "m", 3)
	m := mustNew(t, spec, p)
	third, fourth := mustNew(t, svt3.complete().spec(), p), mustNew(t, svt4.complete().spec(), p)
	const rows = blockRows // one block: first all of svt3's noise, then all of svt4's
	d := audit.Records(1, 0, 0.5)
	whole := sample(t, m, d, rows, 5)
	s := stream.New(stream.Key{Seed: 42, Purpose: "test", Shard: 5})
	a, b := make([]float64, 6*rows), make([]float64, 3*rows)
	if third.Sample(d, s, a) != nil || fourth.Sample(d, s, b) != nil {
		t.Fatal("a part does not sample")
	}
	for i := range rows {
		if row := whole.Row(i); !slices.Equal(row[:6], a[6*i:6*i+6]) || !slices.Equal(row[6:], b[3*i:3*i+3]) {
			t.Fatalf("row %d is %v, want %v and %v", i, row, a[6*i:6*i+6], b[3*i:3*i+3])
		}
	}
	var names []string
	for _, c := range whole.Columns {
		names = append(names, c.Name)
	}
	if want := "[svt3 query 1 svt3 query 2 svt3 query 3 svt4 query 1 svt4 query 2 svt4 query 3]"; fmt.Sprint(names) != want {
		t.Errorf("columns %v", names)
	}
}
