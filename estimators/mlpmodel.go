package estimators

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// mlpModel scores an output by the witness h of a network: an estimate of the
// log likelihood ratio within [-bound, bound].
type mlpModel struct {
	Inputs   []input   `json:"inputs"`
	Carriers []float64 `json:"carriers,omitempty"` // symbols of mixed columns that carry values, ascending
	Hidden   [2]int    `json:"hidden"`
	Bound    float64   `json:"bound"`
	Weights  floatList `json:"weights"` // in the order of shape.weights

	columns []audit.Column
	reader  inputReader
	ready   network[float32] // parameters packed; scratch is not used
}

// prepare builds what scoring needs from the fields that are written down.
func (m *mlpModel) prepare(columns []audit.Column) {
	m.columns = columns
	m.reader = newInputReader(m.Inputs, m.Carriers, columns)
	m.ready = network[float32]{shape: m.shape(), params: m.Weights}
	m.ready.ready()
}

func (m *mlpModel) shape() shape { return shape{len(m.Inputs), m.Hidden[0], m.Hidden[1]} }

// Score writes the witness of each row into out.
func (m *mlpModel) Score(rows, out []float64) {
	run := m.ready // its scratch is this call's
	var raw [block]float32
	in := make([]float32, min(block, len(out))*len(m.Inputs))
	for len(out) > 0 {
		n := min(block, len(out))
		m.reader.read(rows, n, in)
		run.forward(in, n, raw[:])
		for i, x := range raw[:n] {
			out[i], _ = bounded(float64(x), m.Bound)
		}
		rows, out = rows[n*m.reader.width:], out[n:]
	}
}

// Describe names the inputs that the first layer weighs most.
func (m *mlpModel) Describe(threshold float64, above bool) string {
	weight := make([]float64, len(m.Inputs))
	order := make([]int, len(m.Inputs))
	for i := range order {
		order[i] = i
		for _, w := range m.Weights[i*m.Hidden[0] : (i+1)*m.Hidden[0]] {
			weight[i] += math.Abs(float64(w))
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return weight[order[a]] > weight[order[b]] })
	var names []string
	for _, i := range order {
		name := columnName(m.columns, m.Inputs[i].Column)
		if m.Inputs[i].Kind == isFeature {
			name = phrase(m.columns, m.Inputs[i].feature)
		}
		if !slices.Contains(names, name) && len(names) < featuresShown {
			names = append(names, name)
		}
	}
	return fmt.Sprintf("network of %d and %d units on %d inputs %s %s, looking most at %s",
		m.Hidden[0], m.Hidden[1], len(m.Inputs), side(above), figure(threshold), strings.Join(names, ", "))
}

func decodeMLP(data json.RawMessage, columns []audit.Column) (audit.Model, error) {
	m := new(mlpModel)
	if err := decodeModel(data, m); err != nil {
		return nil, err
	}
	if err := validateInputs(m.Inputs, m.Carriers, columns); err != nil {
		return nil, err
	}
	for i, h := range m.Hidden {
		if h < 1 || h > unitsMost {
			return nil, &audit.InputError{Field: fmt.Sprintf("model.hidden[%d]", i), Found: fmt.Sprint(h), Want: fmt.Sprintf("in [1, %d]", unitsMost)}
		}
	}
	if !(m.Bound > 0 && m.Bound <= boundMost) {
		return nil, &audit.InputError{Field: "model.bound", Found: fmt.Sprint(m.Bound), Want: fmt.Sprintf("in (0, %d]", boundMost)}
	}
	if err := m.Weights.validate("model.weights", m.shape().weights(), weightMost); err != nil {
		return nil, err
	}
	m.prepare(columns)
	return m, nil
}
