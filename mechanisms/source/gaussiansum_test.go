package source

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
	"github.com/dpscope/dpscope/internal/must"
)

// alarm is the false-alarm rate of each check in this file over the choice of the
// seeds, which are fixed; there are about 250 checks.
const alarm = 1e-6

// direct draws a run of the Gaussian sum by forming every vector.
type direct struct {
	d        int
	sigma    float64
	relation audit.Relation
	ball     bool
}

func (g direct) canary(st *stream.Stream) []float64 {
	v := make([]float64, g.d)
	st.Gaussian(v, 1)
	length := math.Sqrt(linalg.Dot(v, v))
	radius := 1.0
	if g.ball {
		radius = math.Pow(1-st.Float64(), 1/float64(g.d))
	}
	for i := range v {
		v[i] *= radius / length
	}
	return v
}

func (g direct) Run(st *stream.Stream, in, out []float64) (bool, error) {
	inside := make([][]float64, len(in))
	with, but := make([]float64, g.d), make([]float64, g.d)
	st.Gaussian(with, g.sigma)
	st.Gaussian(but, g.sigma)
	for k := range inside {
		inside[k] = g.canary(st)
		for i, x := range inside[k] {
			with[i] += x
			if k < len(in)-1 {
				but[i] += x
			}
		}
	}
	if g.relation == audit.Replace {
		but = with
	}
	for k, c := range inside {
		in[k] = linalg.Dot(c, with)
	}
	for k := range out {
		out[k] = linalg.Dot(g.canary(st), but)
	}
	return false, nil
}

// statistics of a run whose distributions are compared: single scores, and what
// shows how they depend on each other.
var statistics = []struct {
	name string
	of   func(in, out []float64) float64
}{
	{"first score inside", func(in, out []float64) float64 { return in[0] }},
	{"least score inside", func(in, out []float64) float64 { return slices.Min(in) }},
	{"first inside less second", func(in, out []float64) float64 { return in[0] - in[min(1, len(in)-1)] }},
	{"product of last two inside", func(in, out []float64) float64 { return in[len(in)-1] * in[max(0, len(in)-2)] }},
	{"last score inside", func(in, out []float64) float64 { return in[len(in)-1] }},
	{"sum inside", func(in, out []float64) float64 { return total(in) }},
	{"sum of squares inside", func(in, out []float64) float64 { return linalg.Dot(in, in) }},
	{"product inside", func(in, out []float64) float64 { return in[0] * in[len(in)-1] }},
	{"first fresh score", func(in, out []float64) float64 { return out[0] }},
	{"sum of fresh", func(in, out []float64) float64 { return total(out) }},
	{"sum of squares of fresh", func(in, out []float64) float64 { return linalg.Dot(out, out) }},
	{"product of fresh", func(in, out []float64) float64 { return out[0] * out[len(out)-1] }},
	{"lengths of both", func(in, out []float64) float64 { return math.Sqrt(linalg.Dot(in, in) * linalg.Dot(out, out)) }},
	{"largest inside less largest fresh", func(in, out []float64) float64 { return slices.Max(in) - slices.Max(out) }},
}

func total(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum
}

// requireSame fails if two samples of equal size are farther apart than chance
// allows. Two-sample Kolmogorov-Smirnov: P(D > sqrt(log(2/a)/n)) <= a for
// samples of equal size n (Wei and Dudley 2012, with constant 2, from n = 458 on).
func requireSame(t *testing.T, name string, x, y []float64) {
	t.Helper()
	for i := range x { // what is the same but for rounding is a tie
		x[i], y[i] = math.Round(x[i]*1e9), math.Round(y[i]*1e9)
	}
	slices.Sort(x)
	slices.Sort(y)
	d := stat.KolmogorovSmirnov(x, nil, y, nil)
	if limit := math.Sqrt(math.Log(2/alarm) / float64(len(x))); d > limit {
		t.Errorf("%s: Kolmogorov-Smirnov distance %.4f, limit %.4f", name, d, limit)
	}
}

// TestSumAgainstDirect: the inner products that are drawn without vectors have the
// distribution of those drawn with them, below, at and above d = K.
func TestSumAgainstDirect(t *testing.T) {
	const runs = 4000
	for i, c := range []struct {
		d, k, m  int
		sigma    float64
		relation audit.Relation
		ball     bool
	}{
		{2, 1, 1, 0.5, audit.AddRemove, false},
		{1, 3, 2, 0.7, audit.AddRemove, false},
		{3, 3, 4, 0.3, audit.AddRemove, false},
		{3, 5, 2, 0.3, audit.AddRemove, false},
		{12, 4, 3, 0.4, audit.AddRemove, false},
		{40, 6, 6, 0.1, audit.AddRemove, false},
		{5, 3, 3, 0.3, audit.AddRemove, true},
		{2, 4, 3, 0.5, audit.Replace, false},
		{4, 4, 4, 0.2, audit.Replace, false},
		{20, 5, 3, 0.3, audit.Replace, true},
	} {
		fast := &gaussianSum{D: c.d, Sigma: c.sigma, Relation: c.relation, ball: c.ball}
		slow := direct{c.d, c.sigma, c.relation, c.ball}
		values := make([][2][]float64, len(statistics))
		in, out := make([]float64, c.k), make([]float64, c.m)
		for side, src := range []Source{fast, slow} {
			st := stream.New(stream.Key{Purpose: "test/sum", Trial: i, Side: side})
			for range runs {
				src.Run(st, in, out)
				for s := range statistics {
					values[s][side] = append(values[s][side], statistics[s].of(in, out))
				}
			}
		}
		for s, x := range statistics {
			requireSame(t, fmt.Sprintf("%+v: %s", c, x.name), values[s][0], values[s][1])
		}
	}
}

// TestChiSquare: mean and variance, n and 2n, within what chance allows by the
// fourth moment (normal limit, false alarm below 1e-6 each), and the distribution
// function at 2 degrees of freedom, which is exponential.
func TestChiSquare(t *testing.T) {
	const draws = 200_000
	for _, n := range []int{1, 2, 8, 9, 10, 37, 1000, 999_937} {
		st := stream.New(stream.Key{Purpose: "test/chi", Trial: n})
		sum, square := 0.0, 0.0
		for range draws {
			x := (chiSquare(st, n) - float64(n)) / math.Sqrt(2*float64(n))
			sum += x
			square += x * x
		}
		// The standardised variate has fourth moment 3 + 12/n.
		if mean := sum / draws; math.Abs(mean) > 5.5/math.Sqrt(draws) {
			t.Errorf("%d degrees: standardised mean %.4f", n, mean)
		}
		if v := square / draws; math.Abs(v-1) > 6*math.Sqrt((2+12/float64(n))/draws) {
			t.Errorf("%d degrees: standardised variance %.4f", n, v)
		}
	}
	if x := chiSquare(stream.New(stream.Key{}), 0); x != 0 {
		t.Errorf("0 degrees: %v", x)
	}
	// Large n against sums of squares.
	const n, few = 30, 20_000
	x, y := make([]float64, few), make([]float64, few)
	st := stream.New(stream.Key{Purpose: "test/chi", Side: 1})
	z := make([]float64, n)
	for i := range x {
		x[i] = chiSquare(st, n)
		st.Gaussian(z, 1)
		y[i] = linalg.Dot(z, z)
	}
	requireSame(t, "30 degrees", x, y)
}

// TestSigma holds the calibrations to the figures of the paper's simulation
// (2.149 at epsilon 2) and of Balle and Wang's mechanism (1.994).
func TestSigma(t *testing.T) {
	for relation, times := range map[audit.Relation]float64{audit.AddRemove: 1, audit.Replace: 2} { // how far a canary moves the sum
		p := audit.Params{"calibration": {Text: ByAnalytic}, "epsilon": {Number: 2}, "delta": {Number: 1e-5}, "noise": {Number: 0.5}}
		if got, want := sumSigma(Setup{Relation: relation, Params: p}), times*0.5*Sigma(ByAnalytic, 2, 1e-5); got != want {
			t.Errorf("under %s the deviation is %v, want %v", relation, got, want)
		}
	}
	for _, c := range []struct {
		how       string
		eps, want float64
	}{{ByRenyi, 2, 2.149}, {ByAnalytic, 2, 1.994}} {
		if got := Sigma(c.how, c.eps, 1e-5); math.Abs(got-c.want) > 6e-4 {
			t.Errorf("%s: sigma %v, want %v", c.how, got, c.want)
		}
	}
	for _, eps := range []float64{0.01, 1, 4, 8, 50} {
		if r, a := Sigma(ByRenyi, eps, 1e-5), Sigma(ByAnalytic, eps, 1e-5); r < a {
			t.Errorf("epsilon %v: Rényi calibration %v is below the exact one, %v", eps, r, a)
		}
	}
	if x := sevenDigits(2.14912345678); x != 2.149124 {
		t.Errorf("rounded up to %v", x)
	}
	if x := sevenDigits(0.00123456789); x != 0.001234568 {
		t.Errorf("rounded up to %v", x)
	}
}

// TestOneRunSphere: the score of a canary on the sphere has mean 1 if it is in and 0
// if it is out, and the variance of the noise and of the others', 1/d each of half
// of them. The first and the last of 20 in 5 dimensions, 6000 runs; 5 deviations
// each: false alarm below 1e-5 in all.
func TestOneRunSphere(t *testing.T) {
	const m, d, sigma, runs = 20, 5, 1.5, 6000
	var n [2][2]float64
	var sum, square [2][2]float64
	scores, member := make([]float64, m), make([]bool, m)
	for i := range runs {
		must.Get((&gaussianSum{D: d, Sigma: sigma}).OneRun(stream.New(stream.Key{Seed: 3, Purpose: "test/one run", Trial: i}), scores, member))(t)
		for at, k := range []int{0, m - 1} {
			in := 0
			if member[k] {
				in = 1
			}
			x := scores[k] - float64(in)
			n[at][in]++
			sum[at][in] += x
			square[at][in] += x * x
		}
	}
	variance := sigma*sigma + float64(m-1)/2/d
	for at := range 2 {
		for in := range 2 {
			count := n[at][in]
			mean, v := sum[at][in]/count, square[at][in]/count
			if math.Abs(mean) > 5*math.Sqrt(variance/count) {
				t.Errorf("canary %d, in %d: mean is off by %v", at, in, mean)
			}
			// Its square has a variance of at most 2 variance^2, as the score has no
			// heavier tails than a normal one but for the number of others.
			if math.Abs(v-variance) > 5*variance*math.Sqrt(2.5/count) {
				t.Errorf("canary %d, in %d: variance %v, want %v", at, in, v, variance)
			}
		}
	}
}

// BenchmarkRun is one run with k canaries inside and as many fresh ones. "normals" is what
// drawing the triangle of k(k+1)/2 normal numbers alone takes.
func BenchmarkRun(b *testing.B) {
	st := stream.New(stream.Key{Purpose: "bench/run"})
	for _, k := range []int{64, 256, 1024} {
		in, out, triangle := make([]float64, k), make([]float64, k), make([]float64, k*(k+1)/2)
		g := &gaussianSum{D: 2000, Sigma: 2, Relation: audit.AddRemove}
		orthogonal := &gaussianSum{D: 2000, Sigma: 2, orthogonal: true}
		for _, s := range []struct {
			name string
			run  func()
		}{
			{"sphere", func() { g.Run(st, in, out) }},
			{"orthogonal", func() { orthogonal.Run(st, in, out) }},
			{"normals", func() { st.Gaussian(triangle, 1) }},
		} {
			b.Run(fmt.Sprintf("%s/k=%d", s.name, k), func(b *testing.B) {
				for b.Loop() {
					s.run()
				}
			})
		}
	}
}
