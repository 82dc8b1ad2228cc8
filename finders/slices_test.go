package finders

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms"
	"github.com/dpscope/dpscope/stream"
)

// twin is a Gaussian process by the textbook: an explicit inverse, mean k'Ky and
// variance s²(1 - k'Kk), s² the mean of y'Ky over the first n points.
type twin struct {
	kernel func(a, b []float64) float64
	noise  float64
	x      [][]float64
	y      []float64
	n      int
	signal float64    // once known
	inv    *mat.Dense // of as many points as were there
}

func (w *twin) inverse(t *testing.T, n int) *mat.Dense {
	t.Helper()
	if w.inv != nil && w.inv.RawMatrix().Rows == n {
		return w.inv
	}
	k := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			k.Set(i, j, w.kernel(w.x[i], w.x[j]))
		}
		k.Set(i, i, 1+w.noise)
	}
	w.inv = new(mat.Dense)
	if err := w.inv.Inverse(k); err != nil {
		t.Fatal(err)
	}
	return w.inv
}

func (w *twin) predict(t *testing.T, at []float64) (mean, sd float64) {
	t.Helper()
	if w.signal == 0 {
		first := mat.NewVecDense(w.n, w.y[:w.n])
		w.signal = max(mat.Inner(first, w.inverse(t, w.n), first)/float64(w.n), leastSignal)
	}
	row := mat.NewVecDense(len(w.x), nil)
	for i, x := range w.x {
		row.SetVec(i, w.kernel(at, x))
	}
	inv := w.inverse(t, len(w.x))
	mean = mat.Inner(row, inv, mat.NewVecDense(len(w.y), w.y))
	return mean, math.Sqrt(w.signal * max(0, 1-mat.Inner(row, inv, row)))
}

// slowScore is a value's score by counting, slowValue a score's value by walking
// from trial to trial.
func slowScore(v float64, all []float64) float64 {
	p := 0.0
	for _, w := range all {
		switch {
		case w < v:
			p++
		case w == v:
			p += 0.5
		}
	}
	p /= float64(len(all))
	return math.Log(p / (1 - p))
}

func slowValue(score float64, all []float64) float64 {
	sorted := slices.Compact(slices.Sorted(slices.Values(all)))
	if score <= slowScore(sorted[0], all) {
		return sorted[0]
	}
	for i := 1; i < len(sorted); i++ {
		if a, b := slowScore(sorted[i-1], all), slowScore(sorted[i], all); score <= b {
			t := (score - a) / (b - a)
			if sorted[i-1] < audit.Silence {
				t = math.Round(t)
			}
			return sorted[i-1]*(1-t) + sorted[i]*t
		}
	}
	return sorted[len(sorted)-1]
}

func close6(a, b float64) bool { return math.Abs(a-b) <= 6e-6*max(1, math.Abs(b)) }

// hears runs the search of a problem against an objective; each is called with what
// was heard before every batch.
func hears(t *testing.T, p audit.FinderProblem, value func(audit.Pair) float64, each func(b *bandit, history []audit.Trial, pairs []audit.Pair)) (*bandit, []audit.Trial) {
	t.Helper()
	f, err := gpUCB().New(p)
	if err != nil {
		t.Fatal(err)
	}
	b := f.(*bandit)
	var history []audit.Trial
	for len(history) < p.Trials {
		pairs := b.Propose(history, p.Trials-len(history))
		if len(pairs) == 0 {
			break
		}
		each(b, history, pairs)
		for _, neighbours := range pairs {
			history = append(history, audit.Trial{Index: len(history), Pair: neighbours, Value: value(neighbours)})
		}
	}
	return b, history
}

// bump is loud where the row that changes lies near 1 and there are few rows, and
// silent where they are many.
func bump(p audit.Pair) float64 {
	n := p.First.Len()
	if n > 15 {
		return -99
	}
	var sum float64
	for _, v := range p.Second.Values {
		sum += v
	}
	for _, v := range p.First.Values {
		sum -= v
	}
	return 2 - math.Abs(sum-1) - float64(n)/10
}

func problem(seed uint64, trials int) audit.FinderProblem {
	return audit.FinderProblem{Relation: audit.AddRemove, Domain: audit.Domain{Columns: 1, MaxRows: 20, Lower: []float64{-1}, Upper: []float64{2}},
		Stream: stream.New(stream.Key{Seed: seed, Purpose: "test"}), Trials: trials}
}

// What is said of a pair is what the textbook says of it from the trials before its
// batch and from the pairs before it in the batch, imagined at their means.
func TestPredictionsAgainstTextbook(t *testing.T) {
	said, beyond := 0, 0
	_, history := hears(t, problem(11, 60), bump, func(b *bandit, history []audit.Trial, pairs []audit.Pair) {
		if len(history) == 0 {
			for _, p := range pairs {
				if b.Predicted(p) != nil {
					t.Errorf("%s: predicted before anything was heard", p.Label)
				}
			}
			return
		}
		var values []float64
		for _, h := range history {
			values = append(values, h.Value)
		}
		fresh := &bandit{ledger: newLedger(b.space, "gp-ucb")}
		fresh.tried = b.tried[:len(history)]
		g := fresh.fit() // for its lengths and its noise
		w := &twin{kernel: g.kernel, noise: g.noise, n: len(history)}
		for i, v := range values {
			w.x, w.y = append(w.x, b.space.features(b.tried[i].at)), append(w.y, slowScore(v, values))
		}
		for _, p := range pairs {
			i, _ := b.find(p)
			x := b.space.features(b.tried[i].at)
			mean, sd := w.predict(t, x)
			w.x, w.y = append(w.x, x), append(w.y, mean)
			got := b.Predicted(p)
			if got == nil {
				t.Fatalf("%s: nothing is said", p.Label)
			}
			want := audit.Prediction{Mean: mean, SD: sd, Low: slowValue(mean-sd, values), Middle: slowValue(mean, values), High: slowValue(mean+sd, values)}
			for _, c := range [][2]float64{{got.Mean, want.Mean}, {got.SD, want.SD}, {got.Low, want.Low}, {got.Middle, want.Middle}, {got.High, want.High}} {
				if !close6(c[0], c[1]) {
					t.Errorf("%s: said %+v, want %+v", p.Label, *got, want)
					break
				}
			}
			if got.Beyond != (mean+sd > slowScore(slices.Max(values), values)) {
				t.Errorf("%s: beyond: %v", p.Label, got.Beyond)
			}
			if said++; got.Beyond {
				beyond++
			}
		}
	})
	if said < 30 || said >= len(history) || beyond == 0 || beyond == said {
		t.Errorf("%d of %d pairs were predicted, %d beyond the loudest", said, len(history), beyond)
	}
}

// The slices are the textbook's too, and trials lie on them where their pairs do.
func TestSlicesAgainstTextbook(t *testing.T) {
	b, history := hears(t, problem(12, 120), bump, func(*bandit, []audit.Trial, []audit.Pair) {})
	through := 0
	for i, h := range history {
		if h.Value > history[through].Value {
			through = i
		}
	}
	m := b.Model(history, through)
	if m == nil || m.Through != through || m.SqrtBeta != 1.8 || len(m.Trials) != mostFitted || !slices.Contains(m.Trials, through) {
		t.Fatalf("model %+v", m)
	}
	var values []float64
	for _, k := range m.Trials {
		values = append(values, history[k].Value)
	}
	g := b.fit()
	w := &twin{kernel: g.kernel, noise: g.noise, n: len(values)}
	for i, k := range m.Trials {
		w.x, w.y = append(w.x, b.space.features(b.tried[k].at)), append(w.y, slowScore(values[i], values))
		if !close6(m.Scores[i], w.y[i]) {
			t.Errorf("trial %d has score %v, want %v", k, m.Scores[i], w.y[i])
		}
	}
	best := b.tried[through].at
	seen := map[string]bool{}
	for _, s := range m.Slices {
		seen[s.Parameter] = true
		i := 0
		for b.space.parameter(i) != s.Parameter {
			i++
		}
		for k, x := range s.Positions {
			// Of 257 points, and the one where a record stands for x, that whose pair
			// has x.
			u := slices.Clone(best)
			at, off := 0.0, math.Inf(1)
			for v := range 256 + 2 {
				u[i] = min(float64(v)/256, 1)
				if v == 256+1 {
					u[i] = 0.25 + 0.5*(x+1)/3
				}
				if d := math.Abs(b.space.position(u, i) - x); d < off {
					at, off = u[i], d
				}
			}
			u[i] = at
			if mean, sd := w.predict(t, b.space.features(u)); !close6(s.Mean[k], mean) || !close6(s.SD[k], sd) {
				t.Errorf("%s at %v: %v ± %v, want %v ± %v", s.Parameter, x, s.Mean[k], s.SD[k], mean, sd)
			}
		}
		for j, k := range m.Trials {
			p := history[k].Pair
			var want float64
			switch {
			case s.Parameter == "rows of the smaller dataset":
				want = float64(p.First.Len())
			case s.Parameter == "row that is added":
				for r, v := range p.Second.Values {
					if r >= len(p.First.Values) || p.First.Values[r] != v {
						want = v
						break
					}
				}
			case strings.HasPrefix(s.Parameter, "rows of run 1"):
				if p.First.Len() > 0 {
					want = p.First.Values[0]
				}
			default:
				continue
			}
			if !close6(s.At[j], want) {
				t.Errorf("%s: trial %d lies at %v, want %v", s.Parameter, k, s.At[j], want)
			}
			if s.Near[j] < 0 || s.Near[j] > 1 || k == through && s.Near[j] != 1 {
				t.Errorf("%s: trial %d is near by %v", s.Parameter, k, s.Near[j])
			}
		}
	}
	if !seen["rows of the smaller dataset"] || !seen["row that is added"] {
		t.Errorf("slices along %v", seen)
	}
}

// Whatever the mechanism, a model has slices whose lists fit together, through a
// trial that lies on each.
func TestEveryMechanismHasSlices(t *testing.T) {
	for _, spec := range mechanisms.All() {
		params := audit.Params{}
		for _, p := range spec.Params {
			params[p.Name] = audit.ParamValue{Number: p.Default}
			if len(p.Choices) > 0 {
				params[p.Name] = audit.ParamValue{Text: p.Choices[0]}
			}
		}
		for _, r := range spec.Relations(params) {
			p := problem(3, 10)
			p.Relation, p.Domain = r, spec.Domain(params, r)
			if spec.Name == "svt4" {
				p.Domain.MaxRows += 30 // some stand alone far up
			}
			b, history := hears(t, p, func(p audit.Pair) float64 { return float64(len(p.First.Values)) / 100 }, func(*bandit, []audit.Trial, []audit.Pair) {})
			m := b.Model(history, len(history)/2)
			what := spec.Name + ", " + string(r)
			if len(m.Slices) == 0 || len(m.Slices) > mostSlices || len(m.Trials) != len(history) || len(m.Scores) != len(history) {
				t.Errorf("%s: %d slices of %d trials", what, len(m.Slices), len(m.Trials))
			}
			names := map[string]bool{}
			for _, s := range m.Slices {
				n := len(s.Positions)
				if n < 2 || n > sliceParts+1 || len(s.Mean) != n || len(s.SD) != n || len(s.At) != len(history) || len(s.Near) != len(history) || names[s.Parameter] || s.Near[len(history)/2] != 1 {
					t.Errorf("%s: slice %+v", what, s)
				}
				names[s.Parameter] = true
				for i, x := range s.Positions {
					if i > 0 && !(x > s.Positions[i-1]) || !(s.SD[i] >= 0) || math.IsInf(x, 0) {
						t.Errorf("%s: %s: positions %v, deviations %v", what, s.Parameter, s.Positions, s.SD)
						break
					}
				}
				for j, at := range s.At {
					if s.Near[j] > 0 && (at < s.Positions[0] || at > s.Positions[n-1]) {
						t.Errorf("%s: %s: trial %d lies at %v, the slice goes from %v to %v", what, s.Parameter, j, at, s.Positions[0], s.Positions[n-1])
					}
				}
			}
		}
	}
}
