package learners

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
)

// The private logistic regressions of Chaudhuri, Monteleoni and Sarwate, Differentially
// Private Empirical Risk Minimization, JMLR 12 (2011). A row (x, y) with y in {-1, 1} is
// clipped to |x| <= 1, and v = y x. Without noise the model is, without an intercept,
//
//	argmin over w of  J(w) = 1/n Σ ln(1 + exp(-v·w)) + lambda/2 |w|²
//
// Output perturbation (algorithm 1, theorem 6) releases argmin J + b, density of b ∝
// exp(-beta |b|), beta = n lambda epsilon/2. Proof sketch: the gradients of J on datasets
// that differ in one row differ, at every w, by 1/n times the difference of two vectors of
// norm at most 1, since the loss has |l'| <= 1. J is lambda-strongly convex, so its minimisers
// are at most 2/(n lambda) apart (corollary 8), and the density at any point changes by at
// most exp(beta 2/(n lambda)) = exp(epsilon).
//
// Objective perturbation (algorithm 2, theorem 9) releases argmin J(w) + b·w/n + Delta/2 |w|²,
// density of b ∝ exp(-epsilon'/2 |b|). The loss has |l'| <= 1 and |l”| <= c = 1/4. Where
//
//	epsilon' = epsilon - ln(1 + 2c/(n lambda) + c²/(n lambda)²)
//
// is above 0, Delta = 0; else Delta = c/(n (exp(epsilon/4) - 1)) - lambda and epsilon' =
// epsilon/2. Proof sketch: w and b are in one-to-one correspondence, b = -n(lambda+Delta) w +
// Σ v/(1+exp(v·w)). So the ratio of densities at w is that of the noise at two vectors at most
// 2 apart, at most exp(epsilon'), times that of the determinants of n Hessians, A and A + E
// with E of rank at most 2 and eigenvalues at most c in size, at most
// (1 + c/(n(lambda+Delta)))² = exp(epsilon - epsilon').
type logistic struct {
	name, title, source, fault, mended string

	objective bool    // perturbed is the objective, not the output
	noise     float64 // share of the noise that is added; 0: all of it
	anyLambda bool    // fault: the determinants are left out of the account
}

const (
	logisticSource = "Chaudhuri, Monteleoni and Sarwate, Differentially Private Empirical Risk Minimization, JMLR 12 (2011), "

	curvature = 0.25 // c: the largest second derivative of the logistic loss
)

var (
	outputPerturbation = logistic{name: "logistic-output", title: "Logistic regression with output perturbation (noise on its coefficients)",
		source: logisticSource + "algorithm 1"}
	outputHalfNoise = logistic{name: "logistic-output-half-noise", title: "Logistic regression with output perturbation, at half the noise",
		source: logisticSource + "algorithm 1; the fault: a sensitivity of 1/(n lambda), as if a row were added and not replaced",
		fault:  "uses 1/(n lambda) as the sensitivity of the coefficients, which is up to 2/(n lambda): half the noise", mended: "logistic-output", noise: 0.5}
	objectivePerturbation = logistic{name: "logistic-objective", title: "Logistic regression with objective perturbation (a random linear term)",
		source: logisticSource + "algorithm 2", objective: true}
	objectiveAnyLambda = logistic{name: "logistic-objective-any-lambda", title: "Logistic regression with objective perturbation, whatever lambda is",
		source: logisticSource + "algorithm 2 without its first two steps", objective: true, anyLambda: true,
		fault: "ignores the condition on lambda: it spends all of epsilon on noise and nothing on the change that a row makes in the curvature at the optimum", mended: "logistic-objective"}
)

func (f *logistic) spec(tables []*Table) audit.MechanismSpec {
	lambda := audit.ParamSpec{Name: "lambda", Doc: "weight of the squared norm in the objective", Default: 0.01, Min: 1e-6, Max: 10}
	if f.anyLambda {
		lambda.Default = 0.0001
	}
	if f.noise > 0 {
		lambda.Default = 0.02
	}
	if f.anyLambda || f.noise > 0 { // of least dimension the coefficients move most
		tables = slices.Clone(tables)
		slices.SortStableFunc(tables, func(a, b *Table) int { return len(a.Features) - len(b.Features) })
	}
	params := []audit.ParamSpec{epsilonParam, lambda}
	if f.objective && !f.anyLambda {
		params = append(params, audit.ParamSpec{Name: "small-lambda", Doc: "if lambda is too small for epsilon: add to it, as the paper does, or refuse", Choices: []string{"add", "refuse"}})
	}
	return spec{
		MechanismSpec: audit.MechanismSpec{Name: f.name, Title: f.title, Source: f.source, Fault: f.fault, Mended: f.mended, Params: params,
			Relations: func(audit.Params) []audit.Relation { return []audit.Relation{audit.Replace} },
			Truth: func(p audit.Params) string {
				epsilon := p.Num("epsilon")
				switch {
				case f.noise > 0:
					return fmt.Sprintf("at most epsilon = %s, and near it where lambda is small", audit.Number(epsilon/f.noise))
				case f.anyLambda:
					return fmt.Sprintf("at most epsilon = %s + 2 ln(1 + 1/(4 n lambda)); above the claim where n lambda is small", audit.Number(epsilon))
				}
				return "at most epsilon = " + audit.Number(epsilon)
			}},
		fewest: 1,
		pairs:  f.pairs,
		known: func(p audit.Params, t *Table) audit.Table {
			m := &logisticModel{logistic: f, epsilon: p.Num("epsilon"), lambda: p.Num("lambda")}
			_, ridge := m.law(t.Rows.Len())
			return audit.Table{Learning: audit.Logistic, Ridge: ridge, Radius: 1, Probability: func(w, x []float64) float64 {
				return stream.Logistic(linalg.Dot(w, x) / max(1, math.Sqrt(linalg.Dot(x, x))))
			}}
		},
		build: func(p audit.Params, t *Table) (audit.Mechanism, error) {
			m := &logisticModel{logistic: f, table: t, epsilon: p.Num("epsilon"), lambda: p.Num("lambda")}
			m.refuse = p["small-lambda"].Text == "refuse"
			return m, m.checkLambda(t.Rows.Len())
		},
	}.over(tables)
}

// pairs: of the one across nearly all rows agree on the first axis, so far that they are
// without weight, and one row pulls along the second. Its gradients differ by nearly 2, and
// the curvature there is that of lambda.
func (f *logistic) pairs(p audit.Params, t *Table, _ audit.Relation) []audit.Pair {
	n, d := t.Rows.Len(), len(t.Features)
	row := func(x ...float64) []float64 { return ends(append(x, make([]float64, d-len(x))...), 1) }
	lone := crafted("all rows at the origin, and one of them moved to the end of an axis", n-1, row(), row(), row(1))
	flipped := t.flip("the longest row with its label flipped", t.longest())
	if d < 2 {
		return []audit.Pair{flipped, lone}
	}
	across := crafted("all rows alike but one, which is turned round across them", n-1, row(1), row(-0.5, 0.866), row(-0.5, -0.866))
	if f.anyLambda {
		return []audit.Pair{lone, across, flipped}
	}
	return audit.Pick(f.noise > 0, []audit.Pair{across, flipped, lone}, []audit.Pair{flipped, across, lone})
}

type logisticModel struct {
	*logistic
	table           *Table
	epsilon, lambda float64
	refuse          bool
}

func (m *logisticModel) Columns() []audit.Column {
	return audit.Listed(len(m.table.Features), func(j int) audit.Column {
		return audit.Column{Name: "w of " + m.table.Features[j], Kind: audit.Real}
	})
}

// law is the mean of the [sphericalNoise] for n rows, and what the objective is regularised with.
func (m *logisticModel) law(n int) (mean, lambda float64) {
	if !m.objective {
		mean = 2 / float64(float64(float64(n)*m.lambda)*m.epsilon)
		return float64(mean * cmp.Or(m.noise, 1)), m.lambda
	}
	if m.anyLambda {
		return 2 / m.epsilon, m.lambda
	}
	each := curvature / float64(float64(n)*m.lambda)
	if left := m.epsilon - float64(2*stream.Log1p(each)); left > 0 {
		return 2 / left, m.lambda
	}
	return 4 / m.epsilon, max(m.lambda, curvature/float64(float64(n)*stream.Expm1(m.epsilon/4)))
}

// checkLambda refuses, if asked to, a lambda for which the objective would need more.
func (m *logisticModel) checkLambda(n int) error {
	least := curvature / float64(float64(n)*stream.Expm1(m.epsilon/2))
	return audit.At("p.lambda", audit.Remedy("or set small-lambda to add, which raises lambda as needed",
		audit.Require(!m.refuse || m.lambda > least, "parameter lambda", audit.Number(m.lambda),
			"above %s for epsilon = %s and %d rows", audit.Number(least), audit.Number(m.epsilon), n)))
}

// Sample trains. An error says how many trainings did not converge; none is known.
func (m *logisticModel) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	e, err := m.table.examples(d, 1)
	if err == nil {
		err = m.checkLambda(e.n)
	}
	if err != nil {
		return err
	}
	mean, lambda := m.law(e.n)
	r := newRidge(e, lambda)
	optimum, noise := make([]float64, e.d), make([]float64, e.d)
	failed := audit.Pick(r.minimise(nil, optimum), 0, 1)
	for w := out; len(w) > 0; w = w[e.d:] {
		sphericalNoise(s, noise, mean)
		if copy(w, optimum); !m.objective {
			for j, b := range noise {
				w[j] += b
			}
		} else if !r.minimise(noise, w[:e.d]) {
			failed++
		}
	}
	if failed > 0 {
		return &audit.InputError{Field: "training", Found: fmt.Sprintf("not converged %d times of %d", failed, len(out)/e.d), Want: "such that Newton's method converges", Remedy: "take a larger lambda"}
	}
	return nil
}

// Train is the model without noise: its coefficients.
func (m *logisticModel) Train(d audit.Dataset) ([]float64, error) {
	e, err := m.table.examples(d, 1)
	if err != nil {
		return nil, err
	}
	_, lambda := m.law(e.n)
	w := make([]float64, e.d)
	if !newRidge(e, lambda).minimise(nil, w) {
		return nil, fmt.Errorf("the training without noise did not converge")
	}
	return w, nil
}

// sphericalNoise fills b with noise of density ∝ exp(-|b|/mean): its norm is a sum of len(b)
// exponential numbers, its direction that of a normal vector (section 3.2 of the paper).
func sphericalNoise(s *stream.Stream, b []float64, mean float64) {
	s.Exponential(b, mean)
	norm := 0.0
	for _, v := range b {
		norm += v
	}
	for {
		s.Gaussian(b, 1)
		if square := linalg.Dot(b, b); square > 0 {
			scale := norm / math.Sqrt(square)
			for j, v := range b {
				b[j] = float64(v * scale)
			}
			return
		}
	}
}

// ridge is the logistic regression of rows v = y x, multiplied by their number n:
//
//	Σ ln(1 + exp(-v·w)) + n lambda/2 |w|² + b·w
type ridge struct {
	v       []float64 // n rows of d
	d       int
	nLambda float64

	gradient, step, at, trial []float64
	weights                   []float64 // of the rows in the Hessian where the gradient is
	hessian                   []float64 // d x d, lower triangle

	start, startGradient, startWeights []float64 // where the last search began, without b
}

// newRidge clips rows to norm 1 and multiplies them by their label, -1 or 1.
func newRidge(e examples, lambda float64) *ridge {
	zeros := func(n int) []float64 { return make([]float64, n) }
	r := &ridge{v: zeros(len(e.X)), d: e.d, nLambda: float64(float64(e.n) * lambda), weights: zeros(e.n),
		hessian: zeros(e.d * e.d), gradient: zeros(e.d), step: zeros(e.d), at: zeros(e.d), trial: zeros(e.d)}
	for i := range e.n {
		row := e.row(i)
		scale := float64(2*e.Labels[i]-1) / max(1, math.Sqrt(linalg.Dot(row, row)))
		for j, x := range row {
			r.v[i*e.d+j] = float64(x * scale)
		}
	}
	return r
}

// converged is the norm of the gradient, of n times the objective, at which a minimiser is
// taken for exact: it is then off by at most 1e-9/(n lambda), 1e-9 of half the sensitivity.
const converged = 1e-9

// mostSteps ends a training that does not converge. Newton's method with steps halved until
// the gradient shrinks converges on every strongly convex objective; it takes three to eight.
const mostSteps = 200

// minimise moves w to the minimiser with linear term b, nil for none; false if it fails.
func (r *ridge) minimise(b, w []float64) bool {
	size := math.Sqrt(linalg.Dot(b, b))
	enough := converged + float64(1e-14*(float64(len(r.v)/r.d)+size)) // more for what rounding leaves
	copy(r.at, w)
	if !slices.Equal(r.start, w) {
		r.evaluate(w)
		r.start, r.startGradient, r.startWeights = slices.Clone(w), slices.Clone(r.gradient), slices.Clone(r.weights)
	}
	copy(r.gradient, r.startGradient)
	copy(r.weights, r.startWeights)
	r.tilt(b)
	square := linalg.Dot(r.gradient, r.gradient)
	for range mostSteps {
		if math.Sqrt(square) <= enough {
			copy(w, r.at)
			return true
		}
		r.curve()
		if !solve(r.hessian, r.gradient, r.step, r.d) {
			return false
		}
		length := 1.0
		for {
			for j, v := range r.step {
				r.trial[j] = r.at[j] - float64(length*v)
			}
			r.evaluate(r.trial)
			r.tilt(b)
			next := linalg.Dot(r.gradient, r.gradient)
			if next <= float64(square*(1-float64(2e-4*length))) || math.Sqrt(next) <= enough {
				square = next
				copy(r.at, r.trial)
				break
			}
			if length /= 2; length < 1e-9 {
				return false
			}
		}
	}
	return false
}

// evaluate computes the gradient at w without the linear term, and the weights of the Hessian there.
func (r *ridge) evaluate(w []float64) {
	for j, v := range w {
		r.gradient[j] = float64(r.nLambda * v)
	}
	for i := range r.weights {
		row := r.v[i*r.d:][:r.d]
		wrong := stream.Logistic(-linalg.Dot(row, w))
		r.weights[i] = float64(wrong * (1 - wrong))
		for j, v := range row {
			r.gradient[j] -= float64(wrong * v)
		}
	}
}

func (r *ridge) tilt(b []float64) {
	for j, v := range b {
		r.gradient[j] += v
	}
}

// curve computes the Hessian where the gradient is.
func (r *ridge) curve() {
	d := r.d
	clear(r.hessian)
	for j := range d {
		r.hessian[j*d+j] = r.nLambda
	}
	for i, weight := range r.weights {
		row := r.v[i*d:][:d]
		for j, v := range row {
			scaled := float64(weight * v)
			line := r.hessian[j*d:][:j+1]
			for k := range line {
				line[k] += float64(scaled * row[k])
			}
		}
	}
}

// solve writes a^-1 y to x for the symmetric matrix whose lower triangle is a, which becomes
// its Cholesky factor; false where it is not positive definite.
func solve(a, y, x []float64, d int) bool {
	for j := range d {
		line := a[j*d:][:j+1]
		for k := range j {
			line[k] = (line[k] - linalg.Dot(line[:k], a[k*d:])) / a[k*d+k]
		}
		pivot := line[j] - linalg.Dot(line[:j], line)
		if !(pivot > 0) {
			return false
		}
		line[j] = math.Sqrt(pivot)
		x[j] = (y[j] - linalg.Dot(line[:j], x)) / line[j]
	}
	linalg.Back(a, x, d)
	return true
}
