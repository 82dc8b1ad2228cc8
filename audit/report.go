package audit

import "strings"

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
	// NoViolation: it does not. The mechanism may still break its claim on
	// another pair, under another test, or by less than could be seen.
	NoViolation Verdict = "no-violation-found"
	// Inconclusive: the run was stopped, or its sample size could not have
	// shown any violation of this claim.
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
	Stopped   TerminationReason = "stopped" // by the user
	Failed    TerminationReason = "failed"  // by an error
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
