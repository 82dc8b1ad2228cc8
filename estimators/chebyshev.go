package estimators

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
)

// ChebyshevOptions set up polynomials. Zero values mean the defaults.
type ChebyshevOptions struct {
	Degree int     // at most this; 1 to 32; default 8
	Bound  float64 // C: witnesses are cut to [-C, C]; above 0, at most 700/alpha; default 8, or half of that if less
	Loss   Loss    // AutoLoss: the Rényi objective at the claim's alpha, else 2; RenyiLoss the same but 1.5; HockeyStickLoss
}

const (
	degreeMost     = 32
	chebyshevAlpha = 2
)

// Chebyshev is a learner that fits a polynomial of one real column, in the
// Chebyshev basis of an interval between quantiles outside of which it is
// constant, and cut to [-C, C]. The interval, from a few, and the degree, 1, 2,
// 4, ... up to what is set, are chosen on held-out outputs. Fitting works on counts in a fine grid and takes some tens of
// milliseconds, whatever the number of outputs.
//
// Coefficients are rounded to 20 significant bits: platforms, whose sums differ
// in the last bits, almost always agree on them. It returns an error if an
// option is out of range.
func Chebyshev(name string, o ChebyshevOptions) (audit.LearnerSpec, error) {
	bad := func(field string, found any, want string) (audit.LearnerSpec, error) {
		return audit.LearnerSpec{}, &audit.InputError{Field: name + "." + field, Found: fmt.Sprint(found), Want: want}
	}
	if o.Degree == 0 {
		o.Degree = 8
	}
	if o.Degree < 1 || o.Degree > degreeMost {
		return bad("degree", o.Degree, fmt.Sprintf("in [1, %d]", degreeMost))
	}
	if !(o.Bound >= 0 && o.Bound <= boundMost) {
		return bad("bound", o.Bound, fmt.Sprintf("in (0, %d]", boundMost))
	}
	switch o.Loss {
	case AutoLoss, HockeyStickLoss, RenyiLoss:
	default:
		return bad("loss", fmt.Sprintf("%q", o.Loss), `"", "hockey-stick" or "renyi"`)
	}
	return audit.LearnerSpec{
		Name:   name,
		Title:  fmt.Sprintf("Chebyshev polynomial of degree %d at most on the Rényi objective", o.Degree),
		Source: "Polynomial witnesses of DP-Auditorium (Kong et al. 2023), section 4.1.2; L-BFGS (Nocedal and Wright 2006, algorithm 7.5)",
		ByName: true,
		Applies: func(columns []audit.Column) error {
			if len(columns) != 1 || columns[0].Kind != audit.Real {
				return errors.New("polynomials need outputs of one real column")
			}
			return nil
		},
		Learn:  func(ex audit.Exploration) (audit.Model, error) { return learnChebyshev(ex, o) },
		Decode: decodeChebyshev,
	}, nil
}

func chebyshev() audit.LearnerSpec {
	return mustLearner(Chebyshev("chebyshev", ChebyshevOptions{}))
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
	sign := ">"
	if !above {
		sign = "<="
	}
	return fmt.Sprintf("polynomial of degree %d of %s, cut to [%s, %s], %s %s", len(m.Coefficients)-1,
		columnName(m.columns, 0), figure(m.Low), figure(m.High), sign, figure(threshold))
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
