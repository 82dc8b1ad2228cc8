package audit

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
)

// Release is the version without the revision.
func (g Generator) Release() string {
	version, _, _ := strings.Cut(g.Version, "+")
	return version
}

// Verdict is the outcome of an audit. There is no verdict "private".
type Verdict string

const (
	// Violation: the lower confidence bound exceeds the claim.
	Violation Verdict = "violation"
	// NoViolation: it does not. The mechanism may still break its claim elsewhere, or by less.
	NoViolation Verdict = "no-violation-found"
	// Inconclusive: the run was stopped, or its samples could not have shown any violation.
	Inconclusive Verdict = "inconclusive"
	// Invalid: the run failed.
	Invalid Verdict = "invalid"
)

// Generator says what wrote the report.
type Generator struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	GoOS       string `json:"goos"`
	GoArch     string `json:"goarch"`
	Go         string `json:"go"`
	CoreSHA256 string `json:"coreSha256,omitempty"` // of the WebAssembly core, where that ran
}

// TerminationReason says why a run ended.
type TerminationReason string

const (
	Completed TerminationReason = "completed"
	Refuted   TerminationReason = "refuted" // an audit until the claim is refuted, by that
	Stopped   TerminationReason = "stopped"
	Failed    TerminationReason = "failed"
)

// Termination says why a run ended and how far it came.
type Termination struct {
	Reason      TerminationReason `json:"reason"`
	Message     string            `json:"message,omitempty"`
	SamplesUsed int               `json:"samplesUsed"` // certification outputs a side
	// Outputs are all that were drawn: of all pairs, both sides, search included.
	Outputs int `json:"outputs,omitempty"`
}

// Timing is in seconds of wall clock; zero where there was no clock.
type Timing struct {
	Bet     float64 `json:"bet,omitempty"` // of the sequential stage, beside the others
	Explore float64 `json:"explore"`
	Certify float64 `json:"certify"`
	Bound   float64 `json:"bound"`
	Total   float64 `json:"total"`
	Workers int     `json:"workers"`
}

// Reproduce says how to run the audit again.
type Reproduce struct {
	CLI  string `json:"cli"`
	URL  string `json:"url"` // fragment of the page's address
	Note string `json:"note,omitempty"`
}

// FactRow is one line of a table of facts.
type FactRow struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Tolerances for numbers computed from the same counts on another platform: one step of rounding of
// bounds (1e-6), shares (1e-9) and the power (1e-4).
const (
	BoundTolerance = 1.5e-6
	shareTolerance = 1.5e-9
	PowerTolerance = 1.5e-4
)

// Near reports whether two bounds computed from the same counts are the same.
func Near(x, y float64) bool {
	d := math.Abs(x - y)
	return d <= BoundTolerance || d <= 1e-9*math.Abs(x)
}

// NearRatio compares numbers that were not rounded.
func NearRatio(x, y float64) bool { return math.Abs(x-y) <= max(1e-12, 1e-6*math.Abs(x)) }

// NearShare compares shares, which are rounded to nine decimals.
func NearShare(x, y float64) bool { return math.Abs(x-y) <= shareTolerance }

// NearDelta compares bounds on delta, which have six decimals or nine.
func NearDelta(x, y float64) bool {
	six := func(v float64) bool {
		millionths := float64(v * 1e6)
		return math.Abs(millionths-math.Round(millionths)) < 1e-4
	}
	return NearShare(x, y) || six(x) && six(y) && Near(x, y)
}

// NearPValue compares p-values, which may be tiny, by their logarithms.
func NearPValue(x, y float64) bool {
	return x == y || x > 0 && y > 0 && math.Abs(math.Log(x)-math.Log(y)) < 1e-4
}

// NearJSONBy compares two values by their JSON, numbers by near.
func NearJSONBy(a, b any, near func(x, y float64) bool) bool {
	var x, y any
	for _, p := range []struct {
		from any
		to   *any
	}{{a, &x}, {b, &y}} {
		data, err := json.Marshal(p.from)
		if err != nil || json.Unmarshal(data, p.to) != nil {
			return false
		}
	}
	return nearValue(x, y, near)
}

func nearValue(x, y any, near func(x, y float64) bool) bool {
	switch x := x.(type) {
	case float64:
		z, ok := y.(float64)
		return ok && near(x, z)
	case []any:
		z, ok := y.([]any)
		return ok && slices.EqualFunc(x, z, func(a, b any) bool { return nearValue(a, b, near) })
	case map[string]any:
		z, ok := y.(map[string]any)
		return ok && maps.EqualFunc(x, z, func(a, b any) bool { return nearValue(a, b, near) })
	}
	return x == y
}

// EqualJSON compares two values by their JSON; what has none is not equal.
func EqualJSON(a, b any) bool {
	x, errX := Canonical(a)
	y, errY := Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
