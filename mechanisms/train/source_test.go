package train

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/matmul"
	"github.com/dpscope/dpscope/internal/must"
)

// kinds are all sorts of canaries, access and relation.
func kinds() []Config {
	var all []Config
	for _, canary := range []string{Gradient, Poison, Tail} {
		for _, access := range []string{Steps, Final} {
			for _, relation := range []string{AddRemove, Replace} {
				c := small()
				c.Canary, c.Access, c.Relation = canary, access, relation
				if canary == Tail { // of few components many canaries would be the same
					c.Data.Features, c.Tail, c.Scale = 40, 30, Median
				}
				all = append(all, c)
			}
		}
	}
	return all
}

func name(c Config) string { return c.Canary + "/" + c.Access + "/" + c.Relation }

// Scores have these bits on every platform and do not depend on what the source
// did before. To write the table anew: take it from the failure.
func TestSameBitsOfScores(t *testing.T) {
	golden := map[string]string{
		"gradient/steps/add-remove": "c53f45ee309fd08e",
		"gradient/steps/replace":    "82f4ff01b9eaa7ab",
		"gradient/final/add-remove": "ef056084724a8859",
		"gradient/final/replace":    "ebac5c239bda8aab",
		"poison/steps/add-remove":   "842ae3a14ef2e783",
		"poison/steps/replace":      "1fd15f4d74d8cdbd",
		"poison/final/add-remove":   "005c62f5882913d3",
		"poison/final/replace":      "da708af3850cf410",
		"tail/steps/add-remove":     "09dca3aa7c75a9da",
		"tail/steps/replace":        "6ab57fa4d985fcdd",
		"tail/final/add-remove":     "585a2dc7f956ada0",
		"tail/final/replace":        "fcf8faa25e86fe39",
	}
	for _, c := range kinds() {
		s := source(t, c)
		var sums [2]string
		for i := range sums {
			h := fnv.New64a()
			in, out := make([]float64, 3), make([]float64, 4)
			st := stream.New(stream.Key{Seed: 7, Purpose: "golden"})
			if diverged, err := s.Run(st, in, out); diverged || err != nil {
				t.Fatal(name(c), diverged, err)
			}
			scores, member := make([]float64, 5), make([]bool, 5)
			if diverged, err := s.OneRun(st, scores, member); diverged || err != nil {
				t.Fatal(name(c), diverged, err)
			}
			for _, v := range slices.Concat(in, out, scores) {
				binary.Write(h, binary.BigEndian, v)
			}
			sums[i] = fmt.Sprintf("%016x", h.Sum64())
		}
		if sums[0] != sums[1] {
			t.Errorf("%s: the second run differs", name(c))
		}
		if golden[name(c)] != sums[0] {
			t.Errorf("%q: %q,", name(c), sums[0])
		}
	}
}

// A step's score is the logarithm of the ratio of the densities.
func TestLogLikelihood(t *testing.T) {
	for _, q := range []float64{1e-3, 0.2, 1} {
		for _, sigma := range []float64{0.1, 1, 5} {
			for _, z := range []float64{-3, -0.4, 0, 0.5, 1, 4} {
				g := 0.7 // |g|; inner is z|g|
				want := math.Log(1 - q + q*math.Exp((2*z*g-g*g)/(2*sigma*sigma)))
				if math.IsInf(want, 0) {
					want = (2*z*g-g*g)/(2*sigma*sigma) + math.Log(q)
				}
				if got := LogLikelihood(z*g, g*g, sigma*sigma, q); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
					t.Errorf("q %v, sigma %v, z %v: %v, want %v", q, sigma, z, got, want)
				}
			}
		}
	}
}

// moments are mean and variance over runs, of run means: runs are independent,
// the canaries of one are not.
func moments(values []float64) (mean, variance float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return mean, variance
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v / float64(len(list))
	}
	return sum
}

// With access to the steps the audit of gradient canaries is that of T Gaussian
// mechanisms: at rate 1 the scores of canaries inside and fresh ones have the
// means ±T/(2 sigma^2) and the variance T/sigma^2, whatever the model, the data
// and the other canaries do. The variance is estimated from each step, which
// moves the means by a factor of at most 1 ± 5/p. Eight tests at 5 deviations and
// that allowance: false alarm 5e-6.
func TestStepScoresAreGaussian(t *testing.T) {
	for _, relation := range []string{AddRemove, Replace} {
		c := small()
		c.Relation, c.Rate, c.Sigma, c.Steps = relation, 1, 6, 12
		s := source(t, c)
		want := float64(c.Steps) / (c.Sigma * c.Sigma)
		const runs = 150
		var ins, outs []float64
		in, out := make([]float64, 6), make([]float64, 6)
		squares := [2]float64{}
		for i := range runs {
			if diverged, err := s.Run(stream.New(stream.Key{Seed: 3, Purpose: relation, Trial: i}), in, out); diverged || err != nil {
				t.Fatal(diverged, err)
			}
			ins, outs = append(ins, mean(in)), append(outs, mean(out))
			for k := range in {
				squares[0] += (in[k] - want/2) * (in[k] - want/2) / (runs * 6)
				squares[1] += (out[k] + want/2) * (out[k] + want/2) / (runs * 6)
			}
		}
		slack := 5 * want / float64(s.Parameters())
		for side, scores := range [][]float64{ins, outs} {
			expect := want / 2
			if side == 1 {
				expect = -expect
			}
			got, variance := moments(scores)
			if math.Abs(got-expect) > slack+5*math.Sqrt(variance/runs) {
				t.Errorf("%s, side %d: mean %v, want %v", relation, side, got, expect)
			}
			// Canaries of a run are nearly independent: 900 values.
			if ratio := squares[side] / want; math.Abs(ratio-1) > 0.05+5*math.Sqrt(2.0/(6*runs)) {
				t.Errorf("%s, side %d: variance %v, want %v", relation, side, squares[side], want)
			}
		}
	}
}

// Canaries that were trained on have the larger scores, of every kind, also in
// one run; the faults make them larger still. Differences of means over
// independent runs at 4 deviations: under no difference each passes with
// probability 3e-5.
func TestScoresTell(t *testing.T) {
	for _, c := range kinds() {
		c.Sigma, c.Steps = 1, 30
		s := source(t, c)
		var gaps, coins []float64
		in, out := make([]float64, 5), make([]float64, 5)
		scores, member := make([]float64, 20), make([]bool, 20)
		for i := range 40 {
			if diverged, err := s.Run(stream.New(stream.Key{Seed: 5, Purpose: "tell", Trial: i}), in, out); diverged || err != nil {
				t.Fatal(diverged, err)
			}
			gaps = append(gaps, mean(in)-mean(out))
			if diverged, err := s.OneRun(stream.New(stream.Key{Seed: 5, Purpose: "coins", Trial: i}), scores, member); diverged || err != nil {
				t.Fatal(diverged, err)
			}
			var sums, counts [2]float64
			for k, v := range scores {
				side := 0
				if member[k] {
					side = 1
				}
				sums[side] += v
				counts[side]++
			}
			if counts[0] > 0 && counts[1] > 0 {
				coins = append(coins, sums[1]/counts[1]-sums[0]/counts[0])
			}
		}
		for what, gap := range map[string][]float64{"runs": gaps, "one run": coins} {
			m, v := moments(gap)
			if z := m / math.Sqrt(v/float64(len(gap))); z < 4 {
				t.Errorf("%s, %s: in and out differ by %v deviations", name(c), what, z)
			}
		}
	}
}

// The distance of the scores in and out, in deviations, grows where clipping is
// forgotten (a gradient canary is ten times as long) or noise is saved.
func TestFaultsShow(t *testing.T) {
	distance := func(c Config) float64 {
		s := source(t, c)
		var ins, outs []float64
		in, out := make([]float64, 8), make([]float64, 8)
		for i := range 25 {
			must.Get(s.Run(stream.New(stream.Key{Seed: 9, Trial: i}), in, out))(t)
			ins, outs = append(ins, in...), append(outs, out...)
		}
		a, _ := moments(ins)
		b, v := moments(outs)
		return (a - b) / math.Sqrt(v)
	}
	c := small()
	c.Relation, c.Sigma, c.Rate, c.Steps = Replace, 4.5, 0.5, 20
	right := distance(c)
	c.NoClipping = true
	late := distance(c)
	c.NoClipping, c.NoiseFactor = false, 0.25
	quiet := distance(c)
	// About 0.5, 5 and 2, each of deviation 0.1.
	if !(right > 0.1 && right < 0.9 && late > 3 && quiet > 1.5) {
		t.Errorf("distances %v, without clipping %v, with a quarter of the noise %v", right, late, quiet)
	}
}

// A model that diverges gives the worst scores to those that are scored under
// it, and to no others.
func TestDivergence(t *testing.T) {
	c := small()
	c.NoClipping, c.LearningRate = true, 200
	s := source(t, c)
	s.t.config.Strength = 1e308 // past what a user may ask for
	in, out := make([]float64, 1), make([]float64, 3)
	one := 0
	for i := range 20 {
		diverged := must.Get(s.Run(stream.New(stream.Key{Purpose: "diverge", Trial: i}), in, out))(t)
		bad := [2]bool{in[0] == -math.MaxFloat64, slices.Contains(out, -math.MaxFloat64)}
		if diverged != (bad[0] || bad[1]) {
			t.Errorf("diverged %v, scores %v %v", diverged, in, out)
		}
		if bad[1] && slices.Max(out) != -math.MaxFloat64 {
			t.Errorf("some scores of a diverged model stand: %v", out)
		}
		if bad[0] && !bad[1] {
			one++
		}
		for _, v := range slices.Concat(in, out) {
			if v-v != 0 {
				t.Errorf("score %v", v)
			}
		}
	}
	if one == 0 {
		t.Error("no run in which only the model with the canary diverges: no test")
	}
	wild := NewSynthetic(Synthetic{Examples: 60, Features: 6, Classes: 3})
	for i := range wild.X {
		wild.X[i] *= 1e300
	}
	c = Config{Access: Final, Model: Linear, Sigma: 2, NoClipping: true}
	must.Input(t, must.Err(New(c, wild)), "", "a reference that diverges")
	c.Access = Steps
	s = must.Get(New(c, wild))(t)
	if finite, err := s.t.run(stream.New(stream.Key{}), s.t.draw(nil, 0), s.t.noise(), nil, nil); err != nil || finite {
		t.Errorf("%v, %v", finite, err)
	}
	if diverged, err := s.OneRun(stream.New(stream.Key{}), out, make([]bool, 3)); err != nil || !diverged || slices.Max(out) != -math.MaxFloat64 {
		t.Errorf("one run: %v, %v, %v", diverged, out, err)
	}
}

func TestCheckEndsARun(t *testing.T) {
	s := source(t, small())
	stop, calls := errors.New("stop"), 0
	s.Check = func() error {
		if calls++; calls == 25 {
			return stop
		}
		return nil
	}
	in, out := make([]float64, 2), make([]float64, 2)
	if _, err := s.Run(stream.New(stream.Key{}), in, out); err != stop || calls != 25 {
		t.Errorf("%v after %d calls", err, calls)
	}
	must.Get(s.Run(stream.New(stream.Key{}), in, out))(t)
}

func TestCheckCanaries(t *testing.T) {
	s := source(t, Config{Model: Linear, Data: Synthetic{Features: 1000, Classes: 100}})
	must.Do(t, s.CheckCanaries(300))
	must.Input(t, s.CheckCanaries(400), "", "400 canaries of 100,100 weights")
	if s.Parameters() != 100100 {
		t.Error(s.Parameters())
	}
}

// TestTailPool: tail canaries have one norm, are orthogonal to each other, see less of the
// examples than any direction that is orthogonal to all of them, and carry the label that
// the model fits least.
func TestTailPool(t *testing.T) {
	c := small()
	c.Canary, c.Scale, c.Tail = Tail, Median, 3
	s := source(t, c)
	pool, x, d := s.t.pool, s.t.data.X, len(s.t.data.Features)
	if pool.count() != 3 {
		t.Fatalf("%d canaries", pool.count())
	}
	norms := make([]float64, s.t.data.Len())
	for i := range norms {
		norms[i] = math.Sqrt(matmul.Dot(x[i*d:(i+1)*d], x[i*d:(i+1)*d]))
	}
	slices.Sort(norms)
	norm := norms[(len(norms)-1)/2]
	seen := func(v []float64) (sum float64) { // squares of the examples along a unit vector
		for i := range norms {
			along := matmul.Dot(x[i*d:(i+1)*d], v) / math.Sqrt(matmul.Dot(v, v))
			sum += along * along
		}
		return sum
	}
	most := 0.0
	for k := range 3 {
		v := pool.X[k*d : (k+1)*d]
		for j := range k + 1 {
			want := 0.0
			if j == k {
				want = norm * norm
			}
			if got := matmul.Dot(v, pool.X[j*d:(j+1)*d]); math.Abs(got-want) > 1e-4 {
				t.Errorf("vectors %d and %d: inner product %v, want %v", k, j, got, want)
			}
		}
		most = max(most, seen(v))
		for y := range s.t.data.Classes {
			one := points{Rows: Rows{v, []int32{int32(y)}}, features: d}
			other := one.losses(s.reference)[0]
			one.Labels = pool.Labels[k : k+1]
			if own := one.losses(s.reference)[0]; other > own {
				t.Errorf("vector %d: label %d has the loss %v, its own %v", k, y, other, own)
			}
		}
	}
	st := stream.New(stream.Key{Purpose: "test/tail"})
	for range 20 {
		v := make([]float64, d)
		st.Gaussian(v, 1)
		for k := range 3 {
			u := pool.X[k*d : (k+1)*d]
			matmul.AddScaled(v, u, -matmul.Dot(u, v)/(norm*norm))
		}
		if got := seen(v); got < most*(1-1e-4) {
			t.Errorf("a direction outside sees %v of the examples, the tail up to %v", got, most)
		}
	}
	for _, bad := range []Config{{Canary: Tail, Tail: 21}, {Canary: Tail, Tail: -1}, {Canary: Tail, Scale: "own"}, {Tail: 2}, {Canary: Poison, Scale: Unit}} {
		must.Input(t, must.Err(bad.Resolve(nil)), "", bad)
	}
}
