package accounting

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dpscope/dpscope/audit"
)

// Limits of what is accepted.
const (
	MaxOrder = 1e6     // largest order that a user may name
	MaxSteps = 1 << 40 // most mechanisms in a composition
	MaxGroup = 1 << 20 // largest group
	// MinNoise is the least sigma/sensitivity of [SubsampledGaussian]. The cost
	// of its integral grows with 1/sigma, and there a record that takes part
	// already shows by 200 nats.
	MinNoise = 0.05
	// Noise, sensitivities, rates and privacy parameters that are not 0 lie between
	// these, and deltas above [MinDelta]: squares and products with steps, orders
	// and groups then neither overflow nor vanish.
	MinNumber = 1e-50
	MaxNumber = 1e50
	MinDelta  = 1e-100
)

func fault(field, found, want, remedy string) error {
	return &audit.InputError{Field: field, Found: found, Want: want, Remedy: remedy}
}

// CheckAlpha reports an order that is not above 1 and at most [MaxOrder].
func CheckAlpha(alpha float64) error {
	if !(alpha > 1 && alpha <= MaxOrder) {
		return fault("alpha", number(alpha), "above 1 and at most 1e6", "2 to 64 are usual")
	}
	return nil
}

// CheckDelta reports a delta outside [MinDelta, 1).
func CheckDelta(delta float64) error {
	const usual = "usual is less than one over the number of records, such as 1e-5"
	switch {
	case !(delta > 0 && delta < 1):
		return fault("delta", number(delta), "above 0 and below 1", usual)
	case delta < MinDelta:
		return fault("delta", number(delta), "at least 1e-100", usual)
	}
	return nil
}

// CheckSteps reports a number of mechanisms outside [1, MaxSteps].
func CheckSteps(k int) error { return checkCount("steps", k, MaxSteps) }

// CheckGroup reports a group size outside [1, MaxGroup].
func CheckGroup(size int) error { return checkCount("group", size, MaxGroup) }

func checkCount(field string, k, most int) error {
	if k < 1 || k > most {
		return fault(field, strconv.Itoa(k), fmt.Sprintf("a whole number in [1, %d]", most), "")
	}
	return nil
}

func checkPositive(field string, v float64) error {
	switch {
	case !(v > 0) || math.IsInf(v, 1):
		return fault(field, number(v), "a finite number above 0", "")
	case v < MinNumber || v > MaxNumber:
		return fault(field, number(v), "in [1e-50, 1e50]", "")
	}
	return nil
}

func checkEpsilon(field string, v float64) error {
	switch {
	case !isEpsilon(v):
		return fault(field, number(v), "a finite number of at least 0", "")
	case v > 0 && v < MinNumber || v > MaxNumber:
		return fault(field, number(v), "0 or in [1e-50, 1e50]", "")
	}
	return nil
}

func isEpsilon(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

func checkRate(q float64) error {
	if !(q > 0 && q <= 1) {
		return fault("rate", number(q), "above 0 and at most 1", "the probability with which a record takes part in a step")
	}
	return checkPositive("rate", q)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func mustBeOrder(alpha float64) {
	if !(alpha >= 1) {
		panic("accounting: an order is at least 1")
	}
}

func mustBeDelta(delta float64) {
	if !(delta > 0 && delta < 1) {
		panic("accounting: delta outside (0, 1); call CheckDelta first")
	}
}

func mustBeEpsilon(eps float64) {
	if !isEpsilon(eps) {
		panic("accounting: epsilon must be at least 0 and finite")
	}
}

func mustBeSteps(k int) {
	if CheckSteps(k) != nil {
		panic("accounting: steps out of range; call CheckSteps first")
	}
}

func mustBeGroup(size int) {
	if CheckGroup(size) != nil {
		panic("accounting: group size out of range; call CheckGroup first")
	}
}
