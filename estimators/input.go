package estimators

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
)

// input is one number that networks and kernels read off an output: an indicator of a symbol or a
// number on a ramp, times weight, plus shift, which bring it to the scale of a standard normal.
type input struct {
	feature
	Shift float64 `json:"shift"`
}

const (
	inputsMost  = hotAll + numbersMost
	inputReach  = 8    // where standardised numbers are clipped
	inputFar    = 1e3  // of weights and shifts in a model that is read
	rarestShare = 0.01 // rarer symbols are like one of this share
)

// inputWindows are quantiles whose distance gives a scale, in units of a standard normal: the first that
// differ count.
var inputWindows = []struct{ low, high, spread float64 }{
	{0.25, 0.75, 1.349}, {0.05, 0.95, 3.29}, {0.0005, 0.9995, 6.58}, {0, 1, 8},
}

// fitInputs are each column's symbols but the base (32 a column and 512 in all) and each column's
// number (of 128 columns). Columns that do not vary give none.
func fitInputs(ex audit.Exploration) (r inputReader) {
	seen, all, carriers := tallySymbols(ex)
	columns := ex.First.Columns
	r.Carriers, r.outputReader = carriers, newOutputReader(columns, carriers)
	total := float64(ex.First.Len() + ex.Second.Len())
	for _, f := range hotFeatures(seen, all) {
		for _, s := range seen[f.Column] {
			if s.symbol == f.Symbol {
				share := float64(s.count) / total
				spread := math.Sqrt(max(float64(share*(1-share)), rarestShare))
				f.Weight = quantise(1 / spread)
				r.Inputs = append(r.Inputs, input{f, quantise(-share / spread)})
			}
		}
	}
	numeric := 0
	for i, c := range columns {
		if c.Kind == audit.Symbol || numeric == numbersMost {
			continue
		}
		numeric++
		pool := pooled(ex, i, carriers)
		if in, ok := numberInput(i, pool); ok {
			r.Inputs = append(r.Inputs, in)
		}
	}
	return r
}

var errNoVariety = errors.New("nothing to learn: no column of the outputs varies beyond rounding")

// variedInputs are inputs of which there is one at least.
func variedInputs(ex audit.Exploration) inputReader {
	r := fitInputs(ex)
	if len(r.Inputs) == 0 {
		stopOn(errNoVariety)
	}
	return r
}

// numberInput standardises a column by its sorted values: the median to 0, the distance of the
// quartiles to a normal's, clipped at the outermost values; false where there is nothing to tell.
func numberInput(column int, sorted []float64) (input, bool) {
	if len(sorted) == 0 {
		return input{}, false
	}
	last := float64(len(sorted) - 1)
	at := func(q float64) float64 { return within(sorted[int(q*last)], -hugeValue, hugeValue) }
	for _, w := range inputWindows {
		scale := at(w.high)/w.spread - at(w.low)/w.spread
		if !(scale > 0) {
			continue
		}
		middle := at(0.5)
		low := max(at(0.0005), middle-float64(inputReach*scale))
		high := min(at(0.9995), middle+float64(inputReach*scale))
		if low >= high { // few outputs differ from the rest
			low, high = max(at(0), middle-float64(inputReach*scale)), min(at(1), middle+float64(inputReach*scale))
		}
		f := feature{Kind: valueFeature, Column: column, Low: low, High: high}
		f.Weight = quantise(high/scale - low/scale)
		in := input{f, quantise(low/scale - middle/scale)}
		return in, f.sound() && in.near()
	}
	return input{}, false
}

func (in input) near() bool { return math.Abs(in.Weight) <= inputFar && math.Abs(in.Shift) <= inputFar }

func (in input) validate(field string, columns []audit.Column) {
	in.feature.validate(field, columns)
	require(in.Kind == isFeature || in.Kind == valueFeature, field+".kind", fmt.Sprintf("%q", in.Kind), "is or value")
	require(in.near(), field, fmt.Sprintf("weight %g and shift %g", in.Weight, in.Shift), "both in [%g, %g]", -inputFar, inputFar)
}

// inputReader reads inputs off rows in blocks.
type inputReader struct {
	Inputs   []input   `json:"inputs"`
	Carriers []float64 `json:"carriers,omitempty"` // symbols of mixed columns that carry values, ascending

	outputReader
}

// read writes the inputs of the first n rows, at most block: row i at out[i*len(Inputs)].
func (r inputReader) read(rows []float64, n int, out []float32) {
	var v floats
	step := len(r.Inputs)
	for j, in := range r.Inputs {
		if in.Kind == valueFeature && r.columns[in.Column].Kind == audit.Real {
			gather(rows, r.width, r.at[in.Column], n, &v)
			in.ramps(&v, n)
		} else {
			r.outputReader.read(in.feature, rows, n, &v)
		}
		weight, shift := in.Weight, in.Shift
		for at, x := j, v[:n]; len(x) > 0; x = x[1:] {
			out[at] = float32(float64(weight*x[0]) + shift)
			at += step
		}
	}
}

// ramps replaces v[:n] by their ramps, as readRow has them.
func (f feature) ramps(v *floats, n int) {
	low, high, s := f.Low, f.High, f.steepness()
	for i, x := range v[:n] {
		if x < low {
			x = low
		}
		if x > high {
			x = high
		}
		v[i] = float64((x - low) * s)
	}
}

func (r *inputReader) open(columns []audit.Column) {
	n := len(r.Inputs)
	checkCarriers(r.Carriers)
	require(n > 0 && n <= inputsMost, "model.inputs", fmt.Sprintf("a list of %d", n), "1 to %d inputs", inputsMost)
	for i, in := range r.Inputs {
		in.validate(fmt.Sprintf("model.inputs[%d]", i), columns)
	}
	r.outputReader = newOutputReader(columns, r.Carriers)
}
