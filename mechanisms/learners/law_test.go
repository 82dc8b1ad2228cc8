package learners

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/train"
)

func specOf(t testing.TB, name string) audit.MechanismSpec {
	t.Helper()
	return must.Get(audit.Catalogue{Mechanisms: All()}.Mechanism(name))(t)
}

// set are parameters of a learner, as name and value in turns.
func set(t testing.TB, name string, nameValue ...any) audit.Params {
	t.Helper()
	p := audit.Params{}
	for i := 0; i < len(nameValue); i += 2 {
		switch v := nameValue[i+1].(type) {
		case string:
			p[nameValue[i].(string)] = audit.ParamValue{Text: v}
		case float64:
			p[nameValue[i].(string)] = audit.ParamValue{Number: v}
		}
	}
	return resolved(t, specOf(t, name), p)
}

func made(t testing.TB, name string, nameValue ...any) audit.Mechanism {
	t.Helper()
	return must.Get(specOf(t, name).New(set(t, name, nameValue...)))(t)
}

func draw(t testing.TB, m audit.Mechanism, d audit.Dataset, n int) []float64 {
	t.Helper()
	out := make([]float64, n*audit.Width(m.Columns()))
	must.Do(t, m.Sample(d, stream.New(stream.Key{Seed: 5, Purpose: "law"}), out))
	return out
}

// column is every width-th number.
func column(rows []float64, width, at int) []float64 {
	var list []float64
	for ; len(rows) > 0; rows = rows[width:] {
		list = append(list, rows[at])
	}
	return list
}

// follows fails where the distance of Kolmogorov and Smirnov from the law is one that
// chance makes with probability below 1e-6: Massart's constant, 2 exp(-2 n d²).
func follows(t *testing.T, what string, x []float64, cdf func(float64) float64) {
	t.Helper()
	slices.Sort(x)
	n, d := float64(len(x)), 0.0
	for i, v := range x {
		p := cdf(v)
		d = max(d, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
	}
	if limit := math.Sqrt(math.Log(2/1e-6) / (2 * n)); d > limit {
		t.Errorf("%s: distance %.4f from its law, chance makes at most %.4f", what, d, limit)
	}
}

// alike is follows for two samples of equal size: each is further than d/2 from their
// law with probability at most 2 exp(-n d²/2).
func alike(t *testing.T, what string, x, y []float64) {
	t.Helper()
	slices.Sort(x)
	slices.Sort(y)
	d := stat.KolmogorovSmirnov(x, nil, y, nil)
	if limit := math.Sqrt(2 * math.Log(4/1e-6) / float64(len(x))); d > limit {
		t.Errorf("%s: distance %.4f from its twin, chance makes at most %.4f", what, d, limit)
	}
}

const drawn = 20_000

// The norm of the noise is gamma distributed of shape d, its direction uniform: in
// three dimensions each coordinate of it is uniform on [-1, 1] (Archimedes).
func TestSphericalNoise(t *testing.T) {
	s := stream.New(stream.Key{Purpose: "law"})
	for _, d := range []int{1, 3, 7} {
		var norms, first []float64
		b := make([]float64, d)
		for range drawn {
			sphericalNoise(s, b, 0.5)
			norm := math.Sqrt(linalg.Dot(b, b))
			norms, first = append(norms, norm), append(first, b[0]/norm)
		}
		follows(t, fmt.Sprintf("norm of %d", d), norms, distuv.Gamma{Alpha: float64(d), Beta: 2}.CDF)
		if d == 3 {
			follows(t, "direction", first, func(x float64) float64 { return (x + 1) / 2 })
		}
	}
}

// anyRow is a random row, half of the time at corners.
func anyRow(r *rand.Rand, features int) []float64 {
	row := make([]float64, features+1)
	corner := r.IntN(2) == 0
	for j := range features {
		if row[j] = 2*r.Float64() - 1; corner {
			row[j] = float64(2*r.IntN(2) - 1)
		}
	}
	row[features] = float64(r.IntN(2))
	return row
}

// replacedPairs are neighbours of a few rows, most of them equal, in which one is
// replaced.
func replacedPairs(r *rand.Rand, features, count int) []audit.Pair {
	var list []audit.Pair
	for range count {
		n := 1 + r.IntN(30)
		p := audit.Pair{First: repeated(n, anyRow(r, features)...)}
		for i := range n {
			if r.IntN(3) == 0 {
				copy(p.First.Row(i), anyRow(r, features))
			}
		}
		p.Second = audit.Dataset{Columns: features + 1, Values: slices.Clone(p.First.Values)}
		copy(p.Second.Row(n-1), anyRow(r, features))
		list = append(list, p)
	}
	return list
}

// Random and crafted neighbours never move the coefficients by more than 2/(n lambda);
// by more than half of it, what the broken twin accounts for, they do.
func TestSensitivityOfCoefficients(t *testing.T) {
	r, worst := rand.New(rand.NewPCG(1, 2)), 0.0
	for _, lambda := range []float64{0.002, 0.02, 1} {
		spec := specOf(t, "logistic-output")
		p := set(t, spec.Name, "lambda", lambda, "table", "iris-petals")
		m := made(t, spec.Name, "lambda", lambda, "table", "iris-petals").(*logisticModel)
		for _, two := range append(spec.Pairs(p, audit.Replace), replacedPairs(r, 2, 500)...) {
			w0, err0 := m.Train(two.First)
			w1, err1 := m.Train(two.Second)
			if err0 != nil || err1 != nil {
				t.Fatal(err0, err1)
			}
			moved := math.Hypot(w0[0]-w1[0], w0[1]-w1[1]) * lambda * float64(two.First.Len())
			if worst = max(worst, moved); moved > 2*(1+1e-9) {
				t.Errorf("lambda %v, %s: coefficients move by %v/(n lambda)", lambda, two.Label, moved)
			}
		}
	}
	if worst < 1.2 {
		t.Errorf("no pair found moves them by more than %v/(n lambda)", worst)
	}
}

// loss is the privacy loss of objective perturbation at w: the logarithm of the ratio of
// the densities on two datasets, by the change of variables of theorem 9, with dense
// matrices.
func loss(m *logisticModel, two audit.Pair, w []float64) float64 {
	mean, lambda := m.law(two.First.Len())
	d := len(w)
	var logs [2]float64
	for side, data := range []audit.Dataset{two.First, two.Second} {
		n := float64(data.Len())
		b, hessian := make([]float64, d), mat.NewSymDense(d, nil)
		for j := range d {
			b[j] = -n * lambda * w[j]
			hessian.SetSym(j, j, n*lambda)
		}
		for i := range data.Len() {
			x := slices.Clone(data.Row(i)[:d])
			norm := math.Sqrt(linalg.Dot(x, x))
			y, z := 2*data.Row(i)[d]-1, 0.0
			for j := range x {
				x[j] *= y / math.Max(1, norm)
				z += x[j] * w[j]
			}
			p := 1 / (1 + math.Exp(z))
			for j := range d {
				b[j] += p * x[j]
				for k := j; k < d; k++ {
					hessian.SetSym(j, k, hessian.At(j, k)+p*(1-p)*x[j]*x[k])
				}
			}
		}
		det, _ := mat.LogDet(hessian)
		logs[side] = -math.Sqrt(linalg.Dot(b, b))/mean + det
	}
	return math.Abs(logs[0] - logs[1])
}

// The privacy loss of objective perturbation, at random coefficients and at those that
// the gradients of both datasets leave without noise, is never above epsilon; without
// the condition on lambda it is.
func TestLossOfObjectivePerturbation(t *testing.T) {
	for _, c := range []struct {
		name   string
		broken bool
	}{{"logistic-objective", false}, {"logistic-objective-any-lambda", true}} {
		r, worst := rand.New(rand.NewPCG(3, 4)), 0.0
		spec := specOf(t, c.name)
		for _, epsilon := range []float64{0.2, 1, 4} {
			for _, lambda := range []float64{0.0001, 0.01, 1} {
				p := set(t, c.name, "lambda", lambda, "epsilon", epsilon, "table", "iris-petals")
				m := made(t, c.name, "lambda", lambda, "epsilon", epsilon, "table", "iris-petals").(*logisticModel)
				for _, two := range append(spec.Pairs(p, audit.Replace), replacedPairs(r, 2, 60)...) {
					first, _ := m.Train(two.First)
					second, _ := m.Train(two.Second)
					at := [][]float64{{0, 0}, first, second}
					for range 20 {
						size := math.Exp(6*r.Float64() - 3)
						at = append(at, []float64{size * r.NormFloat64(), size * r.NormFloat64()})
					}
					for _, w := range at {
						worst = max(worst, loss(m, two, w)/epsilon)
					}
				}
			}
		}
		if !c.broken && (worst > 1+1e-9 || worst < 0.6) || c.broken && worst < 2 {
			t.Errorf("%s: the largest privacy loss found is %v of epsilon", c.name, worst)
		}
	}
}

// With one feature, what is released follows from b = -n lambda w + Σ v/(1+exp(v w)), a
// falling function of w: the law of w is that of Laplace noise of scale 2/epsilon'.
// And coefficients with noise on them are Laplace about the optimum.
func TestLogisticInOneDimension(t *testing.T) {
	table := &Table{Name: "one", Features: []string{"x"}, Classes: [2]string{"a", "b"}, Lower: []float64{-1}, Upper: []float64{1},
		Rows: audit.Dataset{Columns: 2, Values: []float64{-0.5, 0, 0.25, 1, 0.75, 1, 1, 0}}}
	for _, spec := range On(table)[:4] {
		p := resolved(t, spec, audit.Params{"lambda": {Number: 0.3}})
		built := must.Get(spec.New(p))(t)
		m := built.(*logisticModel)
		n := 4.0
		center := must.Get(m.Train(table.Rows))(t)
		noise, cdf := 0.0, func(w float64) float64 { return 0 }
		switch spec.Name {
		case "logistic-output":
			noise = 2 / (n * 0.3)
		case "logistic-output-half-noise":
			noise = 1 / (n * 0.3)
		default:
			lambda, scale := 0.3, 2.0 // without the condition
			if spec.Name == "logistic-objective" {
				left := 1 - math.Log(1+2*0.25/(n*0.3)+0.25*0.25/(n*n*0.3*0.3))
				if scale = 2 / left; left <= 0 {
					t.Fatal("the case is one of the others")
				}
			}
			cdf = func(w float64) float64 {
				b := -n * lambda * w
				for _, v := range []float64{0.5, 0.25, 0.75, -1} {
					b += v / (1 + math.Exp(v*w))
				}
				return 1 - distuv.Laplace{Scale: scale}.CDF(b)
			}
		}
		if noise > 0 {
			cdf = distuv.Laplace{Mu: center[0], Scale: noise}.CDF
		}
		follows(t, spec.Name, draw(t, m, table.Rows, drawn), cdf)
	}
	// Where epsilon leaves nothing, lambda grows as the paper says.
	m := &logisticModel{logistic: &objectivePerturbation, epsilon: 0.1, lambda: 0.001}
	mean, lambda := m.law(50)
	if want := 0.25 / (50 * (math.Exp(0.1/4) - 1)); mean != 4/0.1 || math.Abs(lambda-want) > 1e-12 {
		t.Errorf("mean %v and lambda %v, want %v and %v", mean, lambda, 4/0.1, want)
	}
}

// moves are the L1 distances of counts, sums and sums of squares on two datasets.
func moves(m *bayesModel, two audit.Pair) (counts, s, q float64) {
	a, _ := m.table.examples(two.First, 0)
	b, _ := m.table.examples(two.Second, 0)
	x, y := m.sums(a), m.sums(b)
	for k := range x.n {
		counts += math.Abs(x.n[k] - y.n[k])
	}
	for k := range x.s {
		s += math.Abs(x.s[k] - y.s[k])
		q += math.Abs(x.q[k] - y.q[k])
	}
	return
}

// A row that is replaced moves n, S and Q by at most 2, 2d and 2d in all, and one at a
// corner whose label is flipped by as much; one that is added by half of that. Sums of
// features that are scaled to the range in the data move by more.
func TestSensitivityOfSums(t *testing.T) {
	const d = 4
	r := rand.New(rand.NewPCG(5, 6))
	pairs := replacedPairs(r, d, 2000)
	for _, c := range []struct {
		neighbours string
		most       float64
	}{{"replace", 2}, {"add-remove", 1}} {
		m := made(t, "naive-bayes", "neighbours", c.neighbours, "epsilon", 1.5).(*bayesModel)
		if want := 3 * c.most / 1.5; m.scale != want {
			t.Errorf("%s: noise of scale %v on counts, want %v", c.neighbours, m.scale, want)
		}
		broken := made(t, "naive-bayes-data-bounds", "neighbours", c.neighbours).(*bayesModel)
		worst, beyond := 0.0, 0.0
		for _, two := range pairs {
			if c.neighbours == "add-remove" {
				two.Second.Values = append(slices.Clone(two.First.Values), two.Second.Row(two.Second.Len()-1)...)
			}
			n, s, q := moves(m, two)
			if n > c.most || s > c.most*d+1e-9 || q > c.most*d+1e-9 {
				t.Errorf("%s: moves by %v, %v and %v", c.neighbours, n, s, q)
			}
			worst = max(worst, min(n/c.most, s/(c.most*d), q/(c.most*d)))
			_, s, q = moves(broken, two)
			beyond = max(beyond, s/(c.most*d), q/(c.most*d))
		}
		if worst < 1-1e-9 || beyond < 1.5 {
			t.Errorf("%s: the worst pair moves all by %v of the bound, with bounds from the data by %v", c.neighbours, worst, beyond)
		}
	}
}

// bayesTwin is naive-bayes row by row, after the comment of its type.
func bayesTwin(table *Table, d audit.Dataset, epsilon, s float64, r *rand.Rand) []float64 {
	f := len(table.Features)
	lap := func(scale float64) float64 { return scale * (r.ExpFloat64() - r.ExpFloat64()) }
	var means, variances []float64
	var n [2]float64
	for y := range 2 {
		for i := range d.Len() {
			if d.Row(i)[f] == float64(y) {
				n[y]++
			}
		}
		n[y] = math.Max(1, n[y]+lap(3*s/epsilon))
	}
	for y := range 2 {
		for j := range f {
			sum, square := lap(3*float64(f)*s/epsilon), lap(3*float64(f)*s/epsilon)
			for i := range d.Len() {
				if d.Row(i)[f] == float64(y) {
					sum += d.Row(i)[j]
					square += d.Row(i)[j] * d.Row(i)[j]
				}
			}
			means = append(means, sum/n[y])
			variances = append(variances, square/n[y]-sum/n[y]*sum/n[y])
		}
	}
	return append(append(means, variances...), n[1]/(n[0]+n[1]))
}

func TestNaiveBayesTwin(t *testing.T) {
	for neighbours, s := range map[string]float64{"replace": 2, "add-remove": 1} {
		m := made(t, "naive-bayes", "epsilon", 2.0, "neighbours", neighbours, "table", "iris-petals").(*bayesModel)
		r, width := rand.New(rand.NewPCG(7, 8)), len(m.Columns())
		var twin []float64
		for range drawn / 2 {
			twin = append(twin, bayesTwin(m.table, m.table.Rows, 2, s, r)...)
		}
		rows := draw(t, m, m.table.Rows, drawn/2)
		for k, c := range m.Columns() {
			alike(t, neighbours+": "+c.Name, column(rows, width, k), column(twin, width, k))
		}
	}
	// The twin without noise has the means of the table.
	m := made(t, "naive-bayes").(*bayesModel)
	model := must.Get(m.Train(m.table.Rows))(t)
	if length := 6 + 2*model[0]; math.Abs(length-5.936) > 1e-9 || model[16] != 0.5 { // Fisher 1936, table II: 5.936
		t.Errorf("the mean sepal length of versicolor is %v, its share %v", length, model[16])
	}
}

// Of many rows at the origin the share tells the noise of the counts, and a mean that of a sum:
// the mean absolute values of the difference of two Laplace variables, and of one, are 3/2 of
// their scale and the scale. Six percent are four standard deviations or more.
func TestNoiseOfNaiveBayes(t *testing.T) {
	const each, draws = 2000, 5000
	m := made(t, "naive-bayes", "epsilon", 2.0, "neighbours", "add-remove", "table", "iris-petals").(*bayesModel)
	features := len(m.table.Features)
	d := audit.Dataset{Columns: features + 1, Values: make([]float64, 2*each*(features+1))}
	for i := range each {
		d.Row(i)[features] = 1
	}
	rows, width, of := draw(t, m, d, draws), len(m.Columns()), map[string]float64{}
	for ; len(rows) > 0; rows = rows[width:] {
		of["counts"] += math.Abs(rows[4*features]-0.5) * 4 * each / 1.5 / draws
		of["sums"] += math.Abs(rows[0]) * each / float64(features) / draws
		of["squares"] += math.Abs(rows[2*features]+rows[0]*rows[0]) * each / float64(features) / draws
	}
	for what, scale := range of {
		if want := 3 / 2.0; math.Abs(scale/want-1) > 0.06 {
			t.Errorf("noise of scale %v on %s, want %v for a count and as much a feature", scale, what, want)
		}
	}
}

// Counts that are exposed sum to the number of rows; without noise to speak of they are
// the true ones.
func TestExposedCounts(t *testing.T) {
	m := made(t, "naive-bayes-counts").(*bayesModel)
	width := len(m.Columns())
	two := specOf(t, "naive-bayes-counts").Pairs(set(t, "naive-bayes-counts"), audit.AddRemove)[0]
	for _, d := range []audit.Dataset{two.First, two.Second} {
		for rows := draw(t, m, d, 2000); len(rows) > 0; rows = rows[width:] {
			n := rows[width-2 : width]
			if n[0]+n[1] != float64(d.Len()) || n[0] < 1 || n[1] < 1 {
				t.Fatalf("counts %v of %d rows", n, d.Len())
			}
		}
	}
	exact := made(t, "naive-bayes-counts", "epsilon", 100.0)
	if rows := draw(t, exact, two.First, 100); slices.Min(column(rows, width, width-1)) != 50 || slices.Max(column(rows, width, width-1)) != 50 {
		t.Error("the counts of 50 and 50 are not told at epsilon = 100")
	}
}

// A row moves the sum of clipped gradients by at most the clipping norm, one that is
// replaced by twice that, at random weights; by more without clipping.
func TestSensitivityOfGradients(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, c := range []struct {
		name string
		most float64
	}{{"sgd-linear", 1}, {"sgd-perceptron", 1}, {"sgd-linear-no-clipping", 3}} {
		m := made(t, c.name, "clip", 0.5).(*dpSGDModel)
		model := train.NewModel(m.config, m.table.shape(), m.table.Rows.Len())
		weights, worst := make([]float64, len(model.Weights())), 0.0
		sums := [2][]float64{make([]float64, len(weights)), make([]float64, len(weights))}
		for _, two := range replacedPairs(r, 4, 300) {
			for i := range weights {
				weights[i] = r.NormFloat64()
			}
			model.At(weights)
			for side, d := range []audit.Dataset{two.First, two.Second} {
				model.ClippedSum(must.Get(m.table.examples(d, 0))(t).Rows, sums[side])
			}
			square := 0.0
			for i, v := range sums[0] {
				square += (v - sums[1][i]) * (v - sums[1][i])
			}
			worst = max(worst, math.Sqrt(square)/(2*0.5))
		}
		if c.most == 1 && (worst > 1+1e-9 || worst < 0.8) || c.most > 1 && worst < c.most {
			t.Errorf("%s: sums move by %v of twice the clipping norm", c.name, worst)
		}
	}
}

// One step on all rows is a Gaussian mechanism: the log likelihood ratio of the sum is
// normal, of mean -mu²/2 without the row and mu²/2 with it, variance mu², with mu the
// norm of the row's clipped gradient over the deviation. Sigma is the least for the
// claim: its own delta at epsilon is the claimed one.
func TestStepsTellALikelihoodRatio(t *testing.T) {
	spec := specOf(t, "sgd-linear")
	p := set(t, spec.Name, "steps", 1.0, "summary", "steps", "epsilon", 1.0, "clip", 0.3)
	m := made(t, spec.Name, "steps", 1.0, "summary", "steps", "epsilon", 1.0, "clip", 0.3).(*dpSGDModel)
	two := spec.Pairs(p, audit.AddRemove)[0] // a corner: its gradient is clipped
	mu := 1 / m.config.Sigma
	for side, d := range []audit.Dataset{two.First, two.Second} {
		mean := audit.Pick(side == 1, 0.5, -0.5) * mu * mu
		follows(t, fmt.Sprint("side ", side), draw(t, m.For(two), d, drawn/2), distuv.Normal{Mu: mean, Sigma: mu}.CDF)
	}
	phi := distuv.UnitNormal.CDF
	if delta := phi(mu/2-1/mu) - math.E*phi(-mu/2-1/mu); delta > 1e-5 || delta < 0.99e-5 {
		t.Errorf("sigma %v gives delta %v at epsilon 1", m.config.Sigma, delta)
	}
	broken := made(t, "sgd-linear-quarter-noise", "steps", 1.0, "epsilon", 1.0, "clip", 0.3).(*dpSGDModel)
	follows(t, "quarter", draw(t, broken.For(two), two.Second, drawn/4), distuv.Normal{Mu: 8 * mu * mu, Sigma: 4 * mu}.CDF)
}

// Where rows take part by chance, sigma is the least for the claim too: of one step by the closed
// form, in which the loss is that of a Gaussian weighed by the rate, of several by composition.
func TestSigmaOfSampledSteps(t *testing.T) {
	const epsilon, delta = 1.0, 1e-5
	for _, rate := range []float64{0.1, 0.6} {
		for _, steps := range []int{1, 30} {
			s := sigma(train.Config{Relation: train.AddRemove, Epsilon: epsilon, Delta: delta, Rate: rate, Steps: steps})
			_, has := accounting.Composition{{Mechanism: accounting.SubsampledGaussian{Sigma: s, Sensitivity: 1, Rate: rate}, Count: steps}}.Delta(epsilon)
			if steps == 1 {
				has = rate * accounting.GaussianDelta(s, 1, math.Log1p(math.Expm1(epsilon)/rate))
			}
			if has > delta*(1+1e-9) || has < 0.98*delta {
				t.Errorf("%d steps at rate %v: sigma %v has delta %v at epsilon 1, must have %v", steps, rate, s, has, delta)
			}
		}
	}
}

// A training on the rows that two datasets share, with the others beside them, is a
// training on the dataset: without noise the weights agree, at every row and group.
func TestFurtherRowsAreRows(t *testing.T) {
	for _, name := range []string{"sgd-linear", "sgd-perceptron"} {
		m := made(t, name).(*dpSGDModel)
		d := m.table.Rows
		want := must.Get(m.Train(d))(t)
		rows := must.Get(m.table.examples(d, 0))(t).Rows
		model := m.on(train.Rows{X: rows.X[:4*92], Labels: rows.Labels[:92]})
		if !model.Train(nil, train.Rows{X: rows.X[4*92:], Labels: rows.Labels[92:]}, nil) {
			t.Fatal("diverged")
		}
		for i, v := range model.Weights() {
			if math.Abs(v-want[i]) > 1e-9 {
				t.Errorf("%s: weight %d is %v, want %v", name, i, v, want[i])
			}
		}
	}
}

// Predictions are those of odds, and the last model's at eight rows of the table: x* is one
// of them where its label was flipped.
func TestPredictions(t *testing.T) {
	odds, all := made(t, "sgd-linear").(*dpSGDModel), made(t, "sgd-linear", "summary", "predictions").(*dpSGDModel)
	for k := range predicted {
		two := all.table.flip("flipped", all.row(k))
		key := stream.Key{Seed: 1, Purpose: "predictions"}
		a, b := make([]float64, 2), make([]float64, 2+predicted)
		must.Do(t, errors.Join(odds.For(two).Sample(two.Second, stream.New(key), a), all.For(two).Sample(two.Second, stream.New(key), b)))
		if !slices.Equal(a, b[:2]) || b[2+k] != b[0] || len(slices.Compact(slices.Sorted(slices.Values(b)))) < predicted {
			t.Errorf("row %d: odds %v, predictions %v", all.row(k)+1, a, b)
		}
	}
	if names := all.Columns(); len(names) != 2+predicted || names[9].Name != "log odds at row 88" {
		t.Errorf("columns %v", names)
	}
}
