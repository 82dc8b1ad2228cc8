package estimators

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
)

const (
	chebyshevDegree = 8
	degreeMost      = 32 // of a model that is read
	chebyshevAlpha  = 2  // where the claim has none
)

// chebyshev fits a polynomial of one real column, in the Chebyshev basis of an
// interval between quantiles outside of which it is constant, and cut to the bound
// of a perceptron, for the Rényi objective. The interval, from a few, and the
// degree, 1, 2, 4 or 8, are chosen on held-out outputs. Fitting works on counts in
// a fine grid and takes some tens of milliseconds, whatever the number of outputs.
//
// Coefficients are rounded to 20 significant bits: platforms, whose sums differ
// in the last bits, almost always agree on them.
var chebyshev = audit.LearnerSpec{
	Name:    "chebyshev",
	Title:   fmt.Sprintf("Chebyshev polynomial of degree %d at most on the Rényi objective", chebyshevDegree),
	Source:  "Polynomial witnesses of DP-Auditorium (Kong et al. 2023), section 4.1.2; L-BFGS (Nocedal and Wright 2006, algorithm 7.5)",
	ByName:  true,
	Applies: oneReal("polynomials need outputs of one real column"),
	Learn:   learnChebyshev,
	Decode:  decodeChebyshev,
}

// chebyshevModel scores an output x by a polynomial of t = 2 (x - low) / (high
// - low) - 1, cut to [-1, 1] before and to [-bound, bound] after.
type chebyshevModel struct {
	Low          float64   `json:"low"`
	High         float64   `json:"high"`
	Bound        float64   `json:"bound"`
	Coefficients []float64 `json:"coefficients"` // of T_0, T_1, ...

	columns []audit.Column
}

// ramp is the interval as a feature.
func (m *chebyshevModel) ramp() feature {
	return feature{Kind: valueFeature, Low: m.Low, High: m.High}
}

// Score writes the polynomial's value at each row into out.
func (m *chebyshevModel) Score(rows, out []float64) {
	var v, one, two floats
	ramp := m.ramp()
	for len(out) > 0 {
		n := min(block, len(out))
		copy(v[:n], rows[:n])
		ramp.ramps(&v, n)
		for i, r := range v[:n] {
			v[i] = float64(2*r) - 1
		}
		clear(one[:n])
		clear(two[:n])
		// Clenshaw's recurrence, b_k = c_k + 2 t b_{k+1} - b_{k+2}.
		for k := len(m.Coefficients) - 1; k > 0; k-- {
			c := m.Coefficients[k]
			for i, t := range v[:n] {
				b := c + float64(float64(2*t)*one[i]) - two[i]
				two[i], one[i] = one[i], b
			}
		}
		for i, t := range v[:n] {
			out[i] = within(m.Coefficients[0]+float64(t*one[i])-two[i], -m.Bound, m.Bound)
		}
		rows, out = rows[n:], out[n:]
	}
}

// Describe gives the threshold and the interval.
func (m *chebyshevModel) Describe(threshold float64, above bool) string {
	return fmt.Sprintf("polynomial of degree %d of %s, cut to [%s, %s], %s %s", len(m.Coefficients)-1,
		columnName(m.columns, 0), figure(m.Low), figure(m.High), side(above), figure(threshold))
}

func decodeChebyshev(data json.RawMessage, columns []audit.Column) (audit.Model, error) {
	m := new(chebyshevModel)
	if err := decodeModel(data, m); err != nil {
		return nil, err
	}
	if len(columns) != 1 || columns[0].Kind != audit.Real {
		return nil, &audit.InputError{Field: "model", Found: "a polynomial", Want: "a learner of these columns: a polynomial is of one real column"}
	}
	if !m.ramp().sound() {
		return nil, &audit.InputError{Field: "model.low, high", Found: fmt.Sprintf("%g, %g", m.Low, m.High), Want: "ascending, finite and neither too near nor too far from each other"}
	}
	if !(m.Bound > 0 && m.Bound <= boundMost) {
		return nil, &audit.InputError{Field: "model.bound", Found: fmt.Sprint(m.Bound), Want: fmt.Sprintf("in (0, %d]", boundMost)}
	}
	if k := len(m.Coefficients); k < 1 || k > degreeMost+1 {
		return nil, wrongCount("model.coefficients", k, degreeMost+1)
	}
	for i, c := range m.Coefficients {
		if !(math.Abs(c) <= mostWeight) {
			return nil, &audit.InputError{Field: fmt.Sprintf("model.coefficients[%d]", i), Found: fmt.Sprint(c), Want: fmt.Sprintf("in [%g, %g]", -mostWeight, mostWeight)}
		}
	}
	m.columns = columns
	return m, nil
}
