package audit

import (
	"math"
	"slices"
)

// Outcome is an output of a column of numbers that is no number, written as a number that no
// mechanism has a use for.
type Outcome float64

const (
	BelowOutcome Outcome = -1e300
	AboveOutcome Outcome = 1e300
	NaNOutcome   Outcome = -1.1e300
	WordOutcome  Outcome = -1.2e300 // a word among numbers
	ErrorOutcome Outcome = -1.3e300 // the run failed
)

// Outcomes are all of them.
var Outcomes = []Outcome{BelowOutcome, AboveOutcome, NaNOutcome, WordOutcome, ErrorOutcome}

// NumbersOf are the values that are no outcomes, or all where there are no others.
func NumbersOf(values []float64) []float64 {
	known := func(v float64) bool { return Outcome(v).String() != "" }
	if !slices.ContainsFunc(values, known) {
		return values
	}
	if left := slices.DeleteFunc(slices.Clone(values), known); len(left) > 0 {
		return left
	}
	return values
}

// String says what came instead of a number.
func (o Outcome) String() string {
	switch o {
	case BelowOutcome:
		return "-Inf"
	case AboveOutcome:
		return "+Inf"
	case NaNOutcome:
		return "NaN"
	case WordOutcome:
		return "a word"
	case ErrorOutcome:
		return "error"
	}
	return ""
}

// In is the outcome in a column of this kind: where there are symbols, that of its word.
func (o Outcome) In(kind ColumnKind) float64 {
	if kind == Real {
		return float64(o)
	}
	return SymbolOf(o.String())
}

// OutcomeOf is the outcome that a number which is not finite is.
func OutcomeOf(v float64) Outcome {
	switch {
	case math.IsInf(v, 1):
		return AboveOutcome
	case math.IsInf(v, -1):
		return BelowOutcome
	}
	return NaNOutcome
}

// Failing is a mechanism of which runs may fail, which is an outcome of theirs; Failure says why
// one did.
type Failing interface{ Failure() string }

// TakeOutcomes writes numbers that are not finite as outcomes.
func TakeOutcomes(columns []Column, rows []float64) {
	if NonFinite(rows) < 0 {
		return
	}
	width := Width(columns)
	for ; len(rows) >= width; rows = rows[width:] {
		at := 0
		for _, c := range columns {
			if v := rows[at+c.Width()-1]; v-v != 0 {
				rows[at+c.Width()-1] = 0 // of a symbol, what it carries
				rows[at] = OutcomeOf(v).In(c.Kind)
			}
			at += c.Width()
		}
	}
}

// SpentError ends an audit whose mechanism can give no more outputs; what was found holds.
type SpentError struct{ InputError }
