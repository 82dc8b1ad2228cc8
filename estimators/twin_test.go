package estimators

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

// The slow twins score one output at a time from a model's written fields.

// twinCell is the cell of a column's numbers, or -1 where the symbol is not
// listed.
func twinCell(p partition, kind audit.ColumnKind, v []float64) int {
	bin := 0
	for _, e := range p.Edges {
		if e < v[len(v)-1] {
			bin++
		}
	}
	switch kind {
	case audit.Real:
		return bin
	case audit.Symbol:
		return slices.Index(p.Symbols, v[0])
	}
	cell := 0
	for i, s := range p.Symbols {
		if s == v[0] {
			if p.Carries[i] {
				cell += bin
			}
			return cell
		}
		cell++
		if p.Carries[i] {
			cell += len(p.Edges)
		}
	}
	return -1
}

func twinScore(m audit.Model, columns []audit.Column, row []float64) float64 {
	at := audit.Offsets(columns)
	part := func(c int) []float64 { return row[at[c] : at[c]+columns[c].Width()] }
	switch m := m.(type) {
	case *tableModel:
		cells := make([]int, len(columns))
		for c, p := range m.Partitions {
			cells[c] = twinCell(p, columns[c].Kind, part(c))
		}
		for _, o := range m.Outcomes {
			if slices.Equal(o.Cells, cells) {
				return o.Score
			}
		}
		return m.Rest
	case *histogramModel:
		cell := twinCell(m.Partition, columns[m.Column].Kind, part(m.Column))
		if cell < 0 {
			return m.Scores[len(m.Scores)-1]
		}
		return m.Scores[cell]
	case *logisticModel:
		sum := 0.0
		for _, f := range m.Features {
			sum += f.Weight * twinFeature(f, m.Carriers, columns, row)
		}
		return sum
	case *mlpModel:
		return twinNetwork(m, columns, row)
	case *chebyshevModel:
		t := 2*(min(max(row[0], m.Low), m.High)-m.Low)/(m.High-m.Low) - 1
		sum := 0.0
		for k, c := range m.Coefficients {
			sum += c * math.Cos(float64(k)*math.Acos(t))
		}
		return min(max(sum, -m.Bound), m.Bound)
	case *kernelMeanModel:
		return twinKernelMean(m, columns, row)
	case *bitsModel:
		inner, width := m.inner()
		return twinScore(inner, bitColumns[:width], twinBits(row[0])[:width])
	}
	panic("no twin")
}

func twinInputs(inputs []input, carriers []float64, columns []audit.Column, row []float64) []float64 {
	out := make([]float64, len(inputs))
	for i, in := range inputs {
		out[i] = in.Weight*twinFeature(in.feature, carriers, columns, row) + in.Shift
	}
	return out
}

// twinNetwork follows the definition of the network in float64.
func twinNetwork(m *mlpModel, columns []audit.Column, row []float64) float64 {
	layer := func(in []float64, units, at int) ([]float64, int) {
		out := make([]float64, units)
		for j := range out {
			for i, x := range in {
				out[j] += x * float64(m.Weights[at+i*units+j])
			}
			out[j] += float64(m.Weights[at+len(in)*units+j])
		}
		return out, at + (len(in)+1)*units
	}
	at := 0
	x := twinInputs(m.Inputs, m.Carriers, columns, row)
	for _, units := range m.Hidden {
		x, at = layer(x, units, at)
		for i := range x {
			x[i] = max(x[i], 0)
		}
	}
	x, _ = layer(x, 1, at)
	return m.Bound * math.Tanh(x[0]/m.Bound)
}

func twinKernelMean(m *kernelMeanModel, columns []audit.Column, row []float64) float64 {
	z := twinInputs(m.Inputs, m.Carriers, columns, row)
	n := len(m.Landmarks) / len(z)
	f := 0.0
	for i := range n {
		d := 0.0
		for k, v := range z {
			d += math.Pow(v-float64(m.Landmarks[i*len(z)+k]), 2)
		}
		e := math.Exp(-d / (2 * m.Bandwidth * m.Bandwidth))
		if i < m.First {
			f += e / float64(m.First)
		} else {
			f -= e / float64(n-m.First)
		}
	}
	return (1 + f) / 2
}

// twinBits reads a double through its binary digits and big integers.
func twinBits(x float64) []float64 {
	digits := fmt.Sprintf("%064b", math.Float64bits(x))
	biased, _ := strconv.ParseInt(digits[1:12], 2, 64)
	out := []float64{float64(digits[0] - '0'), float64(biased - 1023), 2000, float64(52 - len(strings.TrimRight(digits[12:], "0")))}
	if x != 0 {
		// The grid is the largest power of two that divides x.
		scaled := new(big.Float).SetMantExp(big.NewFloat(x), 1100)
		whole, _ := scaled.Int(nil)
		out[2] = float64(int(whole.TrailingZeroBits()) - 1100)
	}
	for _, d := range digits[12:] {
		out = append(out, float64(d-'0'))
	}
	return out
}

// Tolerances of scores against their twins: float32 sums of some hundred terms
// around 1, and a polynomial's sum against its cosines, whose arguments lose
// digits near the ends, relative to the coefficients.
const (
	networkTolerance    = 2e-4 // of the bound
	kernelTolerance     = 2e-5
	polynomialTolerance = 1e-7
)

func twinAllowance(m audit.Model, columns []audit.Column) float64 {
	sum := 0.0
	switch m := m.(type) {
	case *logisticModel:
		for _, f := range m.Features {
			sum += twinTolerance * math.Abs(f.Weight) * float64(len(columns))
		}
	case *mlpModel:
		sum = networkTolerance * m.Bound
	case *kernelMeanModel:
		sum = kernelTolerance
	case *chebyshevModel:
		for _, c := range m.Coefficients {
			sum += polynomialTolerance * math.Abs(c)
		}
	case *bitsModel:
		inner, width := m.inner()
		sum = twinAllowance(inner, bitColumns[:width])
	}
	return sum
}

// twinFeature follows the definitions beside the feature kinds word by word.
func twinFeature(f feature, carriers []float64, columns []audit.Column, row []float64) float64 {
	at := audit.Offsets(columns)
	shows := func(c int) bool { return columns[c].Kind != audit.Real && row[at[c]] == f.Symbol }
	ramp := func(v float64) float64 {
		r := (min(max(v, f.Low), f.High) - f.Low) / (f.High - f.Low)
		if f.Kind == squareFeature {
			return (2*r - 1) * (2*r - 1)
		}
		return r
	}
	var carried []float64
	for c, column := range columns {
		if column.Kind == audit.Mixed && slices.Contains(carriers, row[at[c]]) {
			carried = append(carried, row[at[c]+1])
		}
	}
	switch f.Kind {
	case isFeature:
		if shows(f.Column) {
			return 1
		}
		return 0
	case countFeature:
		n := 0.0
		for c := f.From; c < f.To; c++ {
			if shows(c) {
				n++
			}
		}
		return n
	case firstFeature:
		for c := range columns {
			if shows(c) {
				return float64(c)
			}
		}
		return float64(len(columns))
	case valueFeature, squareFeature:
		if columns[f.Column].Kind == audit.Real {
			return ramp(row[at[f.Column]])
		}
		if slices.Contains(carriers, row[at[f.Column]]) {
			return ramp(row[at[f.Column]+1])
		}
		return 0
	case totalFeature, stepFeature:
		sum, before := 0.0, 0.0
		for c, column := range columns {
			if column.Kind != audit.Real {
				continue
			}
			v := row[at[c]]
			if f.Kind == stepFeature {
				v, before = v-before, v
			}
			sum += ramp(v)
		}
		return sum
	}
	if len(carried) == 0 {
		return 0
	}
	switch f.Kind {
	case minFeature:
		return ramp(slices.Min(carried))
	case maxFeature:
		return ramp(slices.Max(carried))
	}
	sum := 0.0
	for _, v := range carried {
		sum += v
	}
	return ramp(sum)
}

// twinTolerance is for the logistic score, whose fast form adds up in another
// order: relative to the sum of the weights.
const twinTolerance = 1e-10

// checkModel compares a model with its slow twin, with itself row by row, and
// with what JSON makes of it, on these outputs.
func checkModel(t *testing.T, spec audit.LearnerSpec, m audit.Model, in audit.Samples) {
	t.Helper()
	n := in.Len()
	scores := make([]float64, n)
	m.Score(in.Rows, scores)
	data := must.Get(json.Marshal(m))(t)
	again := must.Get(spec.Decode(data, in.Columns))(t)
	decoded := make([]float64, n)
	again.Score(in.Rows, decoded)
	tolerance := twinAllowance(m, in.Columns)
	one := make([]float64, 1)
	for i, s := range scores {
		row := in.Row(i)
		m.Score(row, one)
		twin := twinScore(m, in.Columns, row)
		switch {
		case s-s != 0:
			t.Fatalf("%s: score of %v is %v", spec.Name, row, s)
		case math.Float64bits(s) != math.Float64bits(decoded[i]):
			t.Fatalf("%s: score of %v is %v, but %v through JSON", spec.Name, row, s, decoded[i])
		case math.Float64bits(s) != math.Float64bits(one[0]):
			t.Fatalf("%s: score of %v is %v in a block, but %v alone", spec.Name, row, s, one[0])
		case !(math.Abs(s-twin) <= tolerance):
			t.Fatalf("%s: score of %v is %v, its twin says %v", spec.Name, row, s, twin)
		}
	}
	for _, above := range []bool{true, false} {
		if again.Describe(scores[0], above) == "" {
			t.Errorf("%s: no description", spec.Name)
		}
	}
}

func TestModelsAgreeWithTheirTwins(t *testing.T) {
	for _, c := range []scenario{laplaceShift(1), discrete(), svt6(5, 1), svt6(12, 1), mixedScenario(), laplaceVector(), runningSums()} {
		ex := c.exploration(1500)
		in := c.samples("fresh", 0, 700) // no multiple of a block
		for i := range min(40, len(in.Rows)) {
			in.Rows[i] = []float64{math.Copysign(0, -1), 7, -1, 1e300, -1e300, 0.5}[i%6] // and what training never showed
		}
		for _, spec := range applying(slices.Concat(All, quick), c.columns) {
			m := must.Get(spec.Learn(ex))(t)
			checkModel(t, spec, m, in)
		}
	}
}
