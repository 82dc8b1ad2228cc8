// Package google holds mechanisms of Google's differential privacy library for
// Go (github.com/google/differential-privacy/go/v3, packages noise and dpagg) to
// audit, and beside each a misuse of it that the library cannot see.
//
// A row of a dataset is one privacy unit, and neighbours differ by one. One output
// is one run of the library, from the making of its object to its result.
package google

import (
	"fmt"
	"math"
	"slices"

	"github.com/google/differential-privacy/go/v3/noise"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

const (
	Title   = "Google's differential privacy library"
	Library = "github.com/google/differential-privacy/go/v3 v3.0.0"
)

// All lists the mechanisms, each before its misuse.
func All() []audit.MechanismSpec {
	return audit.Each(families, family.spec)
}

var families = []family{
	laplaceSpec, laplaceWrongSensitivity,
	gaussianSpec, gaussianFloat64, gaussianWrongSensitivity,
	countSpec, countRepeated,
	boundedSumSpec, boundedSumUnbounded,
	boundedMeanSpec, boundedMeanBudgetTwice,
	quantilesSpec, quantilesBudgetTwice,
}

// Samples is how many outputs a side to certify with where nobody says: an output costs 10 to
// 100 microseconds. 0: name is no mechanism of this package.
func Samples(name string) int {
	for _, f := range families {
		if f.name == name {
			return audit.Pick(f.expensive, 10_000, 20_000)
		}
	}
	return 0
}

const mostRows = 4

type family struct {
	name, title, calls, fault, mended string

	params []audit.ParamSpec
	claim  func(audit.Params) audit.Claim // nil: the budget
	truth  func(audit.Params) string      // nil: at most the budget
	whole  func(audit.Params) bool        // values are whole numbers; nil: never

	shape     func(audit.Params) (columns int, of interval, outputs []string) // what a privacy unit holds, and names
	release   func(audit.Params) release
	expensive bool // an output takes several draws
}

type interval struct{ lower, upper float64 }

type release func(d audit.Dataset, out []float64) error

// each is the release of numbers that know nothing of each other.
func each(number func(d audit.Dataset, j int) (float64, error)) release {
	return func(d audit.Dataset, out []float64) (err error) {
		for j := range out {
			if out[j], err = number(d, j); err != nil {
				return err
			}
		}
		return nil
	}
}

func always(audit.Params) bool { return true }

func (f family) wholeAt(p audit.Params) bool { return f.whole != nil && f.whole(p) }

func (f family) spec() audit.MechanismSpec {
	if f.claim == nil {
		f.claim = aggregateClaim
	}
	if f.truth == nil {
		f.truth = computed
	}
	return audit.MechanismSpec{
		Name: f.name, Title: f.title, Source: Library + ": " + f.calls, Fault: f.fault, Mended: f.mended,
		Params:    f.params,
		Relations: func(audit.Params) []audit.Relation { return []audit.Relation{audit.AddRemove} },
		Claim:     f.claim,
		Truth:     f.truth,
		Domain: func(p audit.Params, _ audit.Relation) audit.Domain {
			n, of, _ := f.shape(p)
			return audit.Domain{Columns: n, MaxRows: mostRows, Integer: f.wholeAt(p),
				Lower: slices.Repeat([]float64{of.lower}, n), Upper: slices.Repeat([]float64{of.upper}, n)}
		},
		Pairs: f.pairs,
		New: func(p audit.Params) (audit.Mechanism, error) {
			unit, _, names := f.shape(p)
			columns := audit.Each(names, func(name string) audit.Column {
				return audit.Column{Name: name, Kind: audit.Real, Bits: !f.wholeAt(p)}
			})
			m := &mechanism{f.release(p), columns, unit}
			err := checkBounds(p)
			if err == nil { // the library checks its parameters when it is used
				err = m.release(audit.Dataset{Columns: m.unit}, make([]float64, len(m.columns)))
			}
			if err != nil {
				return nil, &audit.InputError{Field: "parameters", Path: "/parameters", Found: err.Error(), Want: "what the library takes"}
			}
			return m, nil
		},
		Unseeded: "the library draws from the operating system's generator and takes no seed",
	}
}

// pairs: one unit at an end of its ranges, alone and beside another at the other.
func (f family) pairs(p audit.Params, _ audit.Relation) []audit.Pair {
	n, of, _ := f.shape(p)
	data := func(units ...float64) audit.Dataset {
		d := audit.Dataset{Columns: n, Values: []float64{}}
		for _, v := range units {
			d.Values = append(d.Values, slices.Repeat([]float64{v}, n)...)
		}
		return d
	}
	return []audit.Pair{
		{Label: "none against one unit at the upper ends", First: data(), Second: data(of.upper)},
		{Label: "one unit at the lower ends, and one more at the upper",
			First: data(of.lower), Second: data(of.lower, of.upper)},
		{Label: "none against one unit at the lower ends", First: data(), Second: data(of.lower)},
	}
}

type mechanism struct {
	release release
	columns []audit.Column
	unit    int // columns of a row
}

func (m *mechanism) Columns() []audit.Column { return m.columns }

// Sample draws nothing from the stream.
func (m *mechanism) Sample(d audit.Dataset, _ *stream.Stream, out []float64) error {
	if err := audit.Require(d.Columns == m.unit, "dataset.columns", d.Columns, "%d", m.unit); err != nil {
		return err
	}
	for i, v := range d.Values {
		if v-v != 0 { // NaN or infinite
			return &audit.InputError{Field: fmt.Sprintf("dataset.values[%d]", i), Found: audit.Number(v), Want: "a finite number"}
		}
	}
	width := len(m.columns)
	for ; len(out) > 0; out = out[width:] {
		if err := m.release(d, out[:width]); err != nil {
			return err
		}
	}
	return nil
}

// Parameters, named as the library's own.
var (
	epsilon = audit.ParamSpec{Name: "epsilon", Doc: "Epsilon: privacy parameter given to the library", Default: 1, Min: 1e-6, Max: 100, Noise: true}
	delta   = audit.ParamSpec{Name: "delta", Doc: "Delta: privacy parameter given to the library with Gaussian noise", Default: 1e-5, Min: 1e-300, Max: 0.5}

	maxPartitions    = audit.ParamSpec{Name: "max-partitions-contributed", Doc: "MaxPartitionsContributed: partitions that a unit contributes to; one output each", Default: 1, Min: 1, Max: 16, Integer: true}
	maxContributions = audit.ParamSpec{Name: "max-contributions-per-partition", Doc: "MaxContributionsPerPartition: contributions of a unit to each partition", Default: 1, Min: 1, Max: 16, Integer: true}

	lowerBound = audit.ParamSpec{Name: "lower", Doc: "Lower: values below it are clamped to it", Default: 0, Min: -1e6, Max: 1e6}
	upperBound = audit.ParamSpec{Name: "upper", Doc: "Upper: values above it are clamped to it; above lower", Default: 1, Min: -1e6, Max: 1e6}
)

func with(more ...audit.ParamSpec) []audit.ParamSpec {
	noise := audit.ParamSpec{Name: "noise", Doc: "Noise: what the library adds; delta applies to gaussian only", Choices: []string{"laplace", "gaussian"}}
	return append([]audit.ParamSpec{epsilon, delta, noise}, more...)
}

// options are what objects of the library are made with; 0 where a mechanism has no such parameter.
type options struct {
	noise          noise.Noise
	epsilon, delta float64
	l0, each       int64 // MaxPartitionsContributed, MaxContributionsPerPartition
	lower, upper   float64
}

func optionsOf(p audit.Params) options {
	o := options{noise.Laplace(), p.Num("epsilon"), 0,
		int64(declared(p)), int64(p[maxContributions.Name].Number), p["lower"].Number, p["upper"].Number}
	if gaussian(p) { // with other noise the library refuses a delta
		o.noise, o.delta = noise.Gaussian(), p.Num("delta")
	}
	return o
}

func gaussian(p audit.Params) bool { return p.Word("noise") == "gaussian" }

func aggregateClaim(p audit.Params) audit.Claim {
	o := optionsOf(p)
	return audit.DPClaim(o.epsilon, o.delta)
}

// times is the truth of a misuse that releases as much as n runs, or one of n times the sensitivity.
func times(n float64, p audit.Params, why string) string {
	if gaussian(p) {
		return fmt.Sprintf("breaks the claim: %s, %s times", why, audit.Number(n))
	}
	return fmt.Sprintf("epsilon = %s: %s, %s times the claim", audit.Number(n*p.Num("epsilon")), why, audit.Number(n))
}

// noFloat64 is the truth of Gaussian noise on doubles.
const noFloat64 = "not the claim, because the last bits tell the sum"

// exactly is the truth of noise whose sensitivity a unit reaches.
func exactly(p audit.Params) string {
	return audit.Pick(gaussian(p), "at most ", "") + aggregateClaim(p).String()
}

// computed is the truth of what the library computes with noise on doubles.
func computed(p audit.Params) string {
	if gaussian(p) {
		return "not known: the last bits of noisy sums, with which it computes, break the claim"
	}
	return "at most " + aggregateClaim(p).String()
}

func partitions(n int, word string) []string {
	if n == 1 {
		return []string{word}
	}
	return audit.Listed(n, func(i int) string { return fmt.Sprintf("%s %d", word, i+1) })
}

func declared(p audit.Params) int { return p.Int(maxPartitions.Name) }

// checkBounds refuses bounds that the library refuses too, or would warn of in a log file, or
// between which it draws without end.
func checkBounds(p audit.Params) error {
	if _, bounded := p["lower"]; !bounded || p.Num("upper")-p.Num("lower") >= 1e-100 {
		return nil
	}
	return fmt.Errorf("lower %s and upper %s", audit.Number(p.Num("lower")), audit.Number(p.Num("upper")))
}

// beyond holds values that the library clamps to [lower, upper].
func beyond(p audit.Params) interval {
	lower, upper := p.Num("lower"), p.Num("upper")
	wide := math.Abs(upper - lower)
	return interval{min(lower, upper) - wide, max(lower, upper) + wide}
}
