package core

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/dpscope/dpscope/core/bound"
)

// SchemaVersion is the version of the report's JSON form, and SchemaName
// names its schema, which lies in docs/.
const (
	SchemaVersion = 1
	SchemaName    = "dpscope-report-v1.schema.json"
)

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

// Report is all that came out of an audit, and all that is needed to run it
// again. Bounds are rounded down.
type Report struct {
	Schema        string      `json:"$schema"`
	SchemaVersion int         `json:"schemaVersion"`
	Generator     Generator   `json:"generator"`
	Inputs        Inputs      `json:"inputs"`
	Claim         Claim       `json:"claim"`
	Settings      Settings    `json:"settings"`
	Results       []Finding   `json:"results"`
	Trials        []TrialNote `json:"trials"`
	Verdict       Verdict     `json:"verdict"`
	Summary       string      `json:"summary"` // the verdict in words
	Power         *Power      `json:"power,omitempty"`
	Warnings      []string    `json:"warnings"`
	Termination   Termination `json:"termination"`
	Timing        Timing      `json:"timing"`
	Reproduce     Reproduce   `json:"reproduce"`
	Limitations   []string    `json:"limitations"`
	References    []string    `json:"references"`
}

// Generator says what wrote the report.
type Generator struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	GoOS       string `json:"goos"`
	GoArch     string `json:"goarch"`
	Go         string `json:"go"`
	CoreSHA256 string `json:"coreSha256,omitempty"` // of the WebAssembly core, where that ran
}

// Inputs says what was audited.
type Inputs struct {
	Mechanism   string   `json:"mechanism"`
	Parameters  Params   `json:"parameters"`
	Relation    Relation `json:"relation"`
	PrivacyUnit string   `json:"privacyUnit"`
}

// Settings says how.
type Settings struct {
	Learner    string  `json:"learner"`
	Finder     string  `json:"finder"`
	Pair       *Pair   `json:"pair,omitempty"` // given by the user, instead of a search
	Samples    int     `json:"samples"`        // certification outputs a side
	Explore    int     `json:"explore"`        // exploration outputs a side and trial
	Trials     int     `json:"trials"`
	Confidence float64 `json:"confidence"` // 1 - beta
	Beta       float64 `json:"beta"`
	Seed       uint64  `json:"seed"`
	Split      string  `json:"split"`
}

// Finding is one certified quantity.
type Finding struct {
	ID       string   `json:"id"`
	Quantity string   `json:"quantity"` // "epsilon at delta"
	Delta    float64  `json:"delta"`
	Estimate *float64 `json:"estimate,omitempty"` // of log((p-delta)/q) on the certification counts; absent where q was never seen or p <= delta
	// LowerBound is the certified bound, rounded down, and at least 0. Absent
	// in a run that was stopped: a bound for a fixed sample size does not hold
	// at a time chosen while looking.
	LowerBound *float64      `json:"lowerBound,omitempty"`
	Confidence float64       `json:"confidence"`
	Method     bound.Method  `json:"method,omitempty"`
	Split      float64       `json:"split,omitempty"`    // of beta, for Clopper-Pearson
	Direction  string        `json:"direction"`          // which dataset the event is likelier on
	Event      string        `json:"event"`              // in words
	Counts     *bound.Counts `json:"counts,omitempty"`   // certification counts, the likelier side first
	Explored   bound.Counts  `json:"exploredCounts"`     // exploration counts, which tuned the bound
	Learners   []LearnerNote `json:"learners,omitempty"` // how the learners did on the pair's validation split
	Witness    Witness       `json:"witness"`
	Pair       Pair          `json:"pair"`
	Chart      Chart         `json:"chart"`
}

// Directions of a finding.
const (
	FirstOverSecond = "first-over-second"
	SecondOverFirst = "second-over-first"
)

// TrialNote is one explored pair. Values compare trials; they are no
// certificates.
type TrialNote struct {
	Trial   int     `json:"trial"`
	Pair    Pair    `json:"pair"`
	Value   float64 `json:"value"`
	Learner string  `json:"learner"`
	Chosen  bool    `json:"chosen,omitempty"`
}

// Power says what the sample size could have shown.
type Power struct {
	// SmallestEpsilon is the smallest true epsilon that an event as frequent
	// as the one found would show against the claim in about half of all runs
	// of this size. Absent where no epsilon would.
	SmallestEpsilon *float64 `json:"smallestEpsilon,omitempty"`
	// LargestBound is the largest lower bound that any outcome of this many
	// samples can give.
	LargestBound float64 `json:"largestBound"`
}

// TerminationReason says why a run ended.
type TerminationReason string

const (
	Completed TerminationReason = "completed"
	Stopped   TerminationReason = "stopped" // by the user
	Failed    TerminationReason = "failed"  // by an error
)

// Termination says why a run ended and how far it came.
type Termination struct {
	Reason      TerminationReason `json:"reason"`
	Message     string            `json:"message,omitempty"`
	SamplesUsed int               `json:"samplesUsed"` // certification outputs a side
}

// Timing is in seconds of wall clock; zero where there was no clock.
type Timing struct {
	Explore float64 `json:"explore"`
	Certify float64 `json:"certify"`
	Bound   float64 `json:"bound"`
	Total   float64 `json:"total"`
	Workers int     `json:"workers"`
}

// Reproduce says how to run the audit again.
type Reproduce struct {
	CLI    string `json:"cli"`
	URL    string `json:"url"` // fragment of the page's address
	GoTest string `json:"goTest,omitempty"`
	Note   string `json:"note,omitempty"`
}

// ParseReport reads a report. A newer version of the schema is read as far as
// it is understood, and newer says so; unknown fields of this version are
// refused.
func ParseReport(data []byte) (r Report, newer bool, err error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // as some editors write
	var head struct {
		Schema        *string `json:"$schema"`
		SchemaVersion *int    `json:"schemaVersion"`
	}
	if err := decodeLoose(data, "report", &head); err != nil {
		return Report{}, false, err
	}
	if head.SchemaVersion == nil {
		return Report{}, false, &InputError{Field: "report: field schemaVersion", Found: "absent", Want: fmt.Sprint(SchemaVersion),
			Remedy: "is this a report of dpscope?"}
	}
	switch v := *head.SchemaVersion; {
	case v < 1:
		return Report{}, false, &InputError{Field: "report: field schemaVersion", Found: fmt.Sprint(v), Want: fmt.Sprintf("in [1, %d]", SchemaVersion)}
	case v > SchemaVersion:
		if err := decodeLoose(data, "report", &r); err != nil {
			return Report{}, true, fmt.Errorf("the report is of version %d, newer than the %d known here: %w", v, SchemaVersion, err)
		}
		return r, true, r.check()
	}
	if err := decodeStrict(data, "report", &r); err != nil {
		return Report{}, false, err
	}
	return r, false, r.check()
}

func decodeLoose(data []byte, what string, v any) error {
	var any json.RawMessage
	if err := decodeStrict(data, what, &any); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return jsonError(data, what, err)
	}
	return nil
}

// check refuses a report whose parts do not fit together, so that nothing
// downstream has to.
func (r Report) check() error {
	switch r.Verdict {
	case Violation, NoViolation, Inconclusive, Invalid:
	default:
		return UnknownName("report: field verdict", string(r.Verdict), []string{string(Violation), string(NoViolation), string(Inconclusive), string(Invalid)})
	}
	if err := r.Claim.Validate(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for i, f := range r.Results {
		field := fmt.Sprintf("report: results[%d]", i)
		if f.Counts != nil {
			if err := f.Counts.Validate(); err != nil {
				return fmt.Errorf("%s.counts: %w", field, err)
			}
		}
		if err := f.Explored.Validate(); err != nil {
			return fmt.Errorf("%s.exploredCounts: %w", field, err)
		}
		if f.Direction != FirstOverSecond && f.Direction != SecondOverFirst {
			return UnknownName(field+".direction", f.Direction, []string{FirstOverSecond, SecondOverFirst})
		}
		if err := f.Chart.check(); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
	}
	return r.checkVerdict()
}

// checkVerdict refuses a verdict that the report's own numbers contradict.
func (r Report) checkVerdict() error {
	if r.Verdict != Violation && r.Verdict != NoViolation {
		return nil
	}
	if len(r.Results) == 0 || r.Results[0].LowerBound == nil {
		return &InputError{Field: "report: results", Found: "without a lower bound", Want: fmt.Sprintf("one with a bound, as the verdict is %q", r.Verdict)}
	}
	if b := *r.Results[0].LowerBound; (b > r.Claim.Epsilon) != (r.Verdict == Violation) {
		return &InputError{Field: "report: verdict", Found: fmt.Sprintf("%q with a lower bound of %s", r.Verdict, number(b)), Want: "what that bound says of the claim " + r.Claim.String()}
	}
	return nil
}

// Plan is the plan that the report came from, with every default written out.
func (r Report) Plan() Plan {
	c := r.Claim
	return Plan{
		Version: PlanVersion, Mechanism: r.Inputs.Mechanism, Parameters: r.Inputs.Parameters, Claim: &c,
		Relation: r.Inputs.Relation, Pair: r.Settings.Pair, Finder: r.Settings.Finder, Learner: r.Settings.Learner,
		Samples: r.Settings.Samples, Explore: r.Settings.Explore, Trials: r.Settings.Trials, Beta: r.Settings.Beta, Seed: r.Settings.Seed,
	}
}
