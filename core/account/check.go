package account

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dpscope/dpscope/core"
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
)

func fault(field, found, want, remedy string) error {
	return &core.InputError{Field: field, Found: found, Want: want, Remedy: remedy}
}

// CheckAlpha reports an order that is not above 1 and at most [MaxOrder].
func CheckAlpha(alpha float64) error {
	if !(alpha > 1 && alpha <= MaxOrder) {
		return fault("alpha", number(alpha), "above 1 and at most 1e6", "2 to 64 are usual")
	}
	return nil
}

// CheckDelta reports a delta outside (0, 1).
func CheckDelta(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fault("delta", number(delta), "above 0 and below 1", "usual is less than one over the number of records, such as 1e-5")
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
	if !(v > 0) || math.IsInf(v, 1) {
		return fault(field, number(v), "a finite number above 0", "")
	}
	return nil
}

func checkEpsilon(field string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return fault(field, number(v), "a finite number of at least 0", "")
	}
	return nil
}

func checkRate(q float64) error {
	if !(q > 0 && q <= 1) {
		return fault("rate", number(q), "above 0 and at most 1", "the probability with which a record takes part in a step")
	}
	return nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func mustBeOrder(alpha float64) {
	if !(alpha >= 1) {
		panic("account: an order is at least 1")
	}
}

func mustBeDelta(delta float64) {
	if CheckDelta(delta) != nil {
		panic("account: delta outside (0, 1); call CheckDelta first")
	}
}

func mustBeEpsilon(eps float64) {
	if checkEpsilon("", eps) != nil {
		panic("account: epsilon must be at least 0 and finite")
	}
}

func mustBeSteps(k int) {
	if CheckSteps(k) != nil {
		panic("account: steps out of range; call CheckSteps first")
	}
}

func mustBeGroup(size int) {
	if CheckGroup(size) != nil {
		panic("account: group size out of range; call CheckGroup first")
	}
}
