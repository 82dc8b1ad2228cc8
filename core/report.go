package core

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/dpscope/dpscope/bounds"
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
	Schema        string    `json:"$schema"`
	SchemaVersion int       `json:"schemaVersion"`
	Generator     Generator `json:"generator"`
	Inputs        Inputs    `json:"inputs"`
	Claim         Claim     `json:"claim"`
	Settings      Settings  `json:"settings"`
	// Evidence is absent where exploration did not finish.
	Evidence *Evidence `json:"evidence,omitempty"`
	// Results are the certified quantities, the one that the claim limits
	// first. Each holds with its own confidence, not all of them together.
	Results []Finding `json:"results"`
	// Renyi are lower bounds on the Rényi divergence of all orders, which hold
	// together with the report's confidence.
	Renyi []RenyiFinding `json:"renyi"`
	// Tradeoff is the trade-off curve of the score, with a band that holds
	// everywhere with the report's confidence.
	Tradeoff []bounds.TradeoffPoint `json:"tradeoff"`
	// Published are the published forms of some of the bounds, for comparison;
	// none decides the verdict, and those whose method says published, or
	// katz-log-delta-method, certify nothing.
	Published []Published `json:"published"`
	Trials    []TrialNote `json:"trials"`
	// Surrogate is there where the finder had a model of the trials' values.
	Surrogate   *SurrogateModel `json:"surrogate,omitempty"`
	Verdict     Verdict         `json:"verdict"`
	Summary     string          `json:"summary"` // the verdict in words
	Power       *Power          `json:"power,omitempty"`
	Warnings    []string        `json:"warnings"`
	Termination Termination     `json:"termination"`
	Timing      Timing          `json:"timing"`
	Reproduce   Reproduce       `json:"reproduce"`
	Limitations []string        `json:"limitations"`
	References  []string        `json:"references"`
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
	// Samples is there where outputs were recorded elsewhere.
	Samples *Recording `json:"samples,omitempty"`
	// Brought is there where the user brought the mechanism.
	Brought *Brought `json:"brought,omitempty"`
	// Unseeded says why the counts cannot be drawn again.
	Unseeded string `json:"unseeded,omitempty"`
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

	Anytime      bool    `json:"anytime,omitempty"`
	ThroughRenyi float64 `json:"throughRenyi,omitempty"` // order of the test of a pure claim
}

// Evidence is what all findings were certified on: a pair of datasets, a score
// cut into bins, and how the outputs fell into them. Bounds are functions of
// Table and Prepared.
type Evidence struct {
	Pair     Pair          `json:"pair"`
	Witness  Witness       `json:"witness"`
	Learners []LearnerNote `json:"learners,omitempty"` // how the learners did on the pair's validation split
	// Edges of the bins of the score: bin k holds scores above Edges[k-1] and
	// at or below Edges[k].
	Edges    []float64 `json:"edges"`
	Prepared Prepared  `json:"prepared"`
	// Explored counts the validation pairs, Table the certification pairs.
	Explored bounds.Table  `json:"explored"`
	Table    *bounds.Table `json:"table,omitempty"`
	Chart    Chart         `json:"chart"`
}

// Finding is one certified quantity.
type Finding struct {
	ID       Quantity `json:"id"`
	Quantity string   `json:"quantity"`           // in words
	Epsilon  float64  `json:"epsilon,omitempty"`  // of delta: the epsilon that it belongs to
	Delta    float64  `json:"delta,omitempty"`    // of epsilon: the delta that it belongs to
	Alpha    float64  `json:"alpha,omitempty"`    // of a divergence, and of what follows from one
	Estimate *float64 `json:"estimate,omitempty"` // on the certification outputs; absent where there is none
	// LowerBound is the certified bound, rounded down, and at least 0. Absent
	// in a run that was stopped and is not anytime-valid: a bound for a fixed
	// sample size does not hold at a time chosen while looking.
	LowerBound *float64 `json:"lowerBound,omitempty"`
	PValue     *float64 `json:"pValue,omitempty"` // of the claim, in the first result
	Confidence float64  `json:"confidence"`
	// Method is empty where nothing was certified.
	Method     bounds.Method  `json:"method,omitempty"`
	Split      float64        `json:"split,omitempty"`      // of beta, for Clopper-Pearson
	Assumption string         `json:"assumption,omitempty"` // beyond independent runs of the mechanism
	Direction  string         `json:"direction"`            // which dataset the event, or the first distribution of a divergence, belongs to
	Event      *Event         `json:"event,omitempty"`
	Counts     *bounds.Counts `json:"counts,omitempty"`         // certification counts of the event, the likelier side first
	Explored   *bounds.Counts `json:"exploredCounts,omitempty"` // its exploration counts, which tuned the bound
}

// Event is a set of outputs: those whose score lies above the edge, or, if
// Above is false, all others.
type Event struct {
	Edge  int    `json:"edge"` // index into the evidence's edges
	Above bool   `json:"above"`
	Words string `json:"words"`
}

// RenyiFinding is one order of the Rényi curve.
type RenyiFinding struct {
	Alpha     float64       `json:"alpha"`
	Lower     float64       `json:"lower"`    // bound on D_alpha, nats, rounded down
	Estimate  float64       `json:"estimate"` // no guarantee
	Method    bounds.Method `json:"method"`
	Beta      float64       `json:"beta"` // its share of the error
	Direction string        `json:"direction"`
}

// Published is a published form of a bound on the same counts.
type Published struct {
	ID      Quantity      `json:"id"`
	Epsilon float64       `json:"epsilon,omitempty"`
	Delta   float64       `json:"delta,omitempty"`
	Alpha   float64       `json:"alpha,omitempty"`
	Value   float64       `json:"value"`
	Method  bounds.Method `json:"method"`
	Fault   string        `json:"fault"` // what is wrong with it
}

// Directions of a finding.
const (
	FirstOverSecond = "first-over-second"
	SecondOverFirst = "second-over-first"
)

// TrialNote is one explored pair. Values are in units of the goal and compare
// trials; they are no certificates.
type TrialNote struct {
	Trial   int     `json:"trial"`
	Pair    Pair    `json:"pair"`
	Value   float64 `json:"value"`
	Learner string  `json:"learner"`
	Chosen  bool    `json:"chosen,omitempty"`
	// Predicted is there where the finder proposed the pair by a model.
	Predicted *Prediction `json:"predicted,omitempty"`
}

// Power says what the sample size could have shown.
type Power struct {
	// Smallest is the smallest true value of the goal (epsilon, a divergence,
	// rho or mu) that a witness like the one found would show against the
	// claim in about half of all runs of this size. Absent where none would.
	Smallest *float64 `json:"smallest,omitempty"`
	// LargestBound is the largest lower bound that any outcome of this many
	// samples can give.
	LargestBound float64 `json:"largestBound"`
}

// TerminationReason says why a run ended.
type TerminationReason string

const (
	Completed TerminationReason = "completed"
	Refuted   TerminationReason = "refuted" // an anytime run, by refuting the claim
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
	if err := DecodeStrict(data, "report", &r); err != nil {
		return Report{}, false, err
	}
	return r, false, r.check()
}

func decodeLoose(data []byte, what string, v any) error {
	var any json.RawMessage
	if err := DecodeStrict(data, what, &any); err != nil {
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
	if e := r.Evidence; e != nil {
		if err := e.check(r.Plan()); err != nil {
			return fmt.Errorf("report: evidence: %w", err)
		}
	}
	if r.Surrogate != nil {
		if err := r.Surrogate.check(len(r.Trials)); err != nil {
			return err
		}
	}
	for i, f := range r.Results {
		field := fmt.Sprintf("report: results[%d]", i)
		for _, c := range []*bounds.Counts{f.Counts, f.Explored} {
			if c == nil {
				continue
			}
			if err := c.Validate(); err != nil {
				return fmt.Errorf("%s.counts: %w", field, err)
			}
		}
		if f.Direction != FirstOverSecond && f.Direction != SecondOverFirst {
			return UnknownName(field+".direction", f.Direction, []string{FirstOverSecond, SecondOverFirst})
		}
		if _, ok := quantityWords[f.ID]; !ok {
			return &InputError{Field: field + ".id", Found: fmt.Sprintf("%q", f.ID), Want: "a known quantity"}
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
	if b := *r.Results[0].LowerBound; (b > r.Claim.Limit()) != (r.Verdict == Violation) {
		return &InputError{Field: "report: verdict", Found: fmt.Sprintf("%q with a lower bound of %s", r.Verdict, number(b)), Want: "what that bound says of the claim " + r.Claim.String()}
	}
	return nil
}

// check refuses evidence whose parts do not fit together.
func (e Evidence) check(plan Plan) error {
	if err := checkEdges(e.Edges); err != nil {
		return err
	}
	if err := e.Prepared.check(plan, len(e.Edges)+1); err != nil {
		return err
	}
	for _, t := range []*bounds.Table{&e.Explored, e.Table} {
		if t == nil {
			continue
		}
		if err := t.Validate(); err != nil {
			return err
		}
		if t.Bins != len(e.Edges)+1 {
			return &InputError{Field: "table.bins", Found: fmt.Sprint(t.Bins), Want: fmt.Sprintf("%d, one more than there are edges", len(e.Edges)+1)}
		}
	}
	return e.Chart.check()
}

// Plan is the plan that the report came from, with every default written out.
func (r Report) Plan() Plan {
	c := r.Claim
	return Plan{
		Version: PlanVersion, Mechanism: r.Inputs.Mechanism, Parameters: r.Inputs.Parameters, Claim: &c,
		Relation: r.Inputs.Relation, Pair: r.Settings.Pair, Finder: r.Settings.Finder, Learner: r.Settings.Learner,
		Samples: r.Settings.Samples, Explore: r.Settings.Explore, Trials: r.Settings.Trials, Beta: r.Settings.Beta, Seed: r.Settings.Seed,
		Anytime: r.Settings.Anytime, ThroughRenyi: r.Settings.ThroughRenyi,
	}
}
