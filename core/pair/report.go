package pair

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

// SchemaVersion is the version of the report's JSON form, and SchemaName
// names its schema, which lies in docs/.
const (
	SchemaVersion = 1
	SchemaName    = "dpscope-report-v1.schema.json"
)

// Report is all that came out of an audit, and all that is needed to run it
// again. Bounds are rounded down.
type Report struct {
	Schema        string          `json:"$schema"`
	SchemaVersion int             `json:"schemaVersion"`
	Generator     audit.Generator `json:"generator"`
	Inputs        Inputs          `json:"inputs"`
	Claim         audit.Claim     `json:"claim"`
	Settings      Settings        `json:"settings"`
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
	Surrogate   *audit.SurrogateModel `json:"surrogate,omitempty"`
	Verdict     audit.Verdict         `json:"verdict"`
	Summary     string                `json:"summary"` // the verdict in words
	Power       *Power                `json:"power,omitempty"`
	Warnings    []string              `json:"warnings"`
	Termination audit.Termination     `json:"termination"`
	Timing      audit.Timing          `json:"timing"`
	Reproduce   audit.Reproduce       `json:"reproduce"`
	Limitations []string              `json:"limitations"`
	References  []string              `json:"references"`
}

// Inputs says what was audited.
type Inputs struct {
	Mechanism   string         `json:"mechanism"`
	Parameters  audit.Params   `json:"parameters"`
	Relation    audit.Relation `json:"relation"`
	PrivacyUnit string         `json:"privacyUnit"`
	// Samples is there where outputs were recorded elsewhere.
	Samples *audit.Recording `json:"samples,omitempty"`
	// Brought is there where the user brought the mechanism.
	Brought *audit.Brought `json:"brought,omitempty"`
	// Unseeded says why the counts cannot be drawn again.
	Unseeded string `json:"unseeded,omitempty"`
}

// Settings says how.
type Settings struct {
	Learner    string      `json:"learner"`
	Finder     string      `json:"finder"`
	Pair       *audit.Pair `json:"pair,omitempty"` // given by the user, instead of a search
	Samples    int         `json:"samples"`        // certification outputs a side
	Explore    int         `json:"explore"`        // exploration outputs a side and trial
	Trials     int         `json:"trials"`
	Confidence float64     `json:"confidence"` // 1 - beta
	Beta       float64     `json:"beta"`
	Seed       uint64      `json:"seed"`
	Split      string      `json:"split"`

	Anytime      bool    `json:"anytime,omitempty"`
	ThroughRenyi float64 `json:"throughRenyi,omitempty"` // order of the test of a pure claim
}

// Evidence is what all findings were certified on: a pair of datasets, a score
// cut into bins, and how the outputs fell into them. Bounds are functions of
// Table and Prepared.
type Evidence struct {
	Pair     audit.Pair    `json:"pair"`
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
	Trial   int        `json:"trial"`
	Pair    audit.Pair `json:"pair"`
	Value   float64    `json:"value"`
	Learner string     `json:"learner"`
	Chosen  bool       `json:"chosen,omitempty"`
	// Predicted is there where the finder proposed the pair by a model.
	Predicted *audit.Prediction `json:"predicted,omitempty"`
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
		return Report{}, false, &audit.InputError{Field: "report: field schemaVersion", Found: "absent", Want: fmt.Sprint(SchemaVersion),
			Remedy: "is this a report of dpscope?"}
	}
	switch v := *head.SchemaVersion; {
	case v < 1:
		return Report{}, false, &audit.InputError{Field: "report: field schemaVersion", Found: fmt.Sprint(v), Want: fmt.Sprintf("in [1, %d]", SchemaVersion)}
	case v > SchemaVersion:
		if err := decodeLoose(data, "report", &r); err != nil {
			return Report{}, true, fmt.Errorf("the report is of version %d, newer than the %d known here: %w", v, SchemaVersion, err)
		}
		return r, true, r.check()
	}
	if err := audit.DecodeStrict(data, "report", &r); err != nil {
		return Report{}, false, err
	}
	return r, false, r.check()
}

func decodeLoose(data []byte, what string, v any) error {
	var any json.RawMessage
	if err := audit.DecodeStrict(data, what, &any); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return audit.JsonError(data, what, err)
	}
	return nil
}

// check refuses a report whose parts do not fit together, so that nothing
// downstream has to.
func (r Report) check() error {
	switch r.Verdict {
	case audit.Violation, audit.NoViolation, audit.Inconclusive, audit.Invalid:
	default:
		return audit.UnknownName("report: field verdict", string(r.Verdict), []string{string(audit.Violation), string(audit.NoViolation), string(audit.Inconclusive), string(audit.Invalid)})
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
		if err := r.Surrogate.Check(len(r.Trials)); err != nil {
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
			return audit.UnknownName(field+".direction", f.Direction, []string{FirstOverSecond, SecondOverFirst})
		}
		if _, ok := quantityWords[f.ID]; !ok {
			return &audit.InputError{Field: field + ".id", Found: fmt.Sprintf("%q", f.ID), Want: "a known quantity"}
		}
	}
	return r.checkVerdict()
}

// checkVerdict refuses a verdict that the report's own numbers contradict.
func (r Report) checkVerdict() error {
	if r.Verdict != audit.Violation && r.Verdict != audit.NoViolation {
		return nil
	}
	if len(r.Results) == 0 || r.Results[0].LowerBound == nil {
		return &audit.InputError{Field: "report: results", Found: "without a lower bound", Want: fmt.Sprintf("one with a bound, as the verdict is %q", r.Verdict)}
	}
	if b := *r.Results[0].LowerBound; (b > r.Claim.Limit()) != (r.Verdict == audit.Violation) {
		return &audit.InputError{Field: "report: verdict", Found: fmt.Sprintf("%q with a lower bound of %s", r.Verdict, audit.Number(b)), Want: "what that bound says of the claim " + r.Claim.String()}
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
			return &audit.InputError{Field: "table.bins", Found: fmt.Sprint(t.Bins), Want: fmt.Sprintf("%d, one more than there are edges", len(e.Edges)+1)}
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

// Certified reports whether the run came to certification.
func (r Report) Certified() bool {
	return len(r.Results) > 0 && r.Evidence != nil && r.Evidence.Table != nil
}
