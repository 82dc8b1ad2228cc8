package pair

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair/threshold"
)

// Outputs are drawn in blocks of BlockRows and streams in shards of ShardRows outputs. If one
// changes, no report replays.
const (
	BlockRows = audit.BlockRows
	ShardRows = 4 * BlockRows
)

// of is the audit that a task is of. A worker elsewhere makes it of its plan.
type of struct {
	Plan  Plan `json:"plan"` // resolved
	audit *Audit
}

func (a *Audit) of() of { return of{a.Plan, a} }

func (o *of) bind(cat audit.Catalogue) (err error) {
	o.audit, err = o.Plan.Resolve(cat)
	return err
}

// Explore is the task of drawing outputs on both datasets of a pair and learning
// what tells them apart. It returns an [Explored].
type Explore struct {
	of
	Trial    int        `json:"trial"`
	Pair     audit.Pair `json:"pair"`
	Round    int        `json:"round,omitempty"`    // of successive halving; its outputs are its own
	Outputs  int        `json:"outputs"`            // a side
	Learners []string   `json:"learners,omitempty"` // default: all that the plan allows
	// Proven is the bound that another stage came to: the first event that nearly shows it is taken.
	Proven *float64 `json:"proven,omitempty"`
}

// Explore is the task of exploring a pair in the first round, as the trial of that number.
func (a *Audit) Explore(trial int, p audit.Pair, outputs int) Explore {
	return Explore{of: a.of(), Trial: trial, Pair: p, Outputs: outputs, Proven: a.proven}
}

// SequentialTest is the task of the sequential stage: outputs of the pairs that a finder proposes
// are bet on with what was learnt before. It returns a [SequentialResult]; parts are epochs.
type SequentialTest struct {
	of
	Epochs int `json:"epochs,omitempty"` // at most; 0: as the budget has it
}

// SequentialTest is the task of the whole sequential stage.
func (a *Audit) SequentialTest() SequentialTest { return SequentialTest{of: a.of()} }

// Prepare is the task of choosing what the bounds need beside the events. It returns a [Prepared].
type Prepare struct {
	of
	Evidence
}

// Certify is the task of drawing one shard of outputs on both datasets and counting
// how a witness sees them. It returns a [Counted].
type Certify struct {
	of
	Evidence     // without counts
	Shard    int `json:"shard"`

	model audit.Model // of the witness
}

// Bound is the task of turning counts into lower confidence bounds. It returns a [Certified].
type Bound struct {
	of
	Evidence
}

// Kind and Name implement [engine.Task].
func (Explore) Kind() string        { return "pair/explore" }
func (SequentialTest) Kind() string { return "pair/race" }
func (Prepare) Kind() string        { return "pair/prepare" }
func (Certify) Kind() string        { return "pair/certify" }
func (Bound) Kind() string          { return "pair/bound" }

func (t Explore) Name() string {
	return fmt.Sprintf("explore, trial %d of mechanism %s", t.Trial, t.Plan.Mechanism)
}
func (t SequentialTest) Name() string {
	return "bet against the claim of mechanism " + t.Plan.Mechanism
}
func (t Prepare) Name() string { return "prepare the bounds of mechanism " + t.Plan.Mechanism }
func (t Certify) Name() string {
	return fmt.Sprintf("certify, shard %d of mechanism %s", t.Shard, t.Plan.Mechanism)
}
func (t Bound) Name() string { return "bound mechanism " + t.Plan.Mechanism }

// Run implements [engine.Task].
func (t Explore) Run(hook engine.Hook, _ func(any)) (any, error)           { return t.explore(hook) }
func (t SequentialTest) Run(hook engine.Hook, tell func(any)) (any, error) { return t.run(hook, tell) }
func (t Prepare) Run(engine.Hook, func(any)) (any, error)                  { return t.audit.prepare(t.Evidence) }
func (t Certify) Run(hook engine.Hook, _ func(any)) (any, error)           { return t.certify(hook) }
func (t Bound) Run(engine.Hook, func(any)) (any, error)                    { return t.audit.certified(&t.Evidence), nil }

// Codecs read the tasks of audits of the catalogue's mechanisms.
func Codecs(cat audit.Catalogue) engine.Codecs {
	return engine.Codecs{
		engine.NewCodec[Explore, Explored](func(t *Explore) error { return t.bind(cat) }),
		engine.NewCodec[SequentialTest, SequentialResult](func(t *SequentialTest) error { return t.bind(cat) }),
		engine.NewCodec[Prepare, Prepared](func(t *Prepare) error {
			if err := t.bind(cat); err != nil {
				return err
			}
			return t.Explored.Validate()
		}),
		engine.NewCodec[Certify, Counted](func(t *Certify) error {
			err := t.bind(cat)
			if err == nil {
				err = audit.First(threshold.CheckEdges(t.Edges), t.Prepared.Event.Check(len(t.Edges)))
			}
			if err == nil {
				t.model, err = t.Witness.decode(t.audit)
			}
			return err
		}),
		engine.NewCodec[Bound, Certified](func(t *Bound) error {
			if err := t.bind(cat); err != nil {
				return err
			}
			return audit.First(audit.Require(t.Table != nil, "task: field table", audit.Absent, "what was certified"), t.Evidence.check(t.audit.Plan))
		}),
	}
}

// Explored is what exploring one pair found: evidence of which the events for epsilon are prepared.
type Explored struct {
	Evidence
	// Value is about the lower bound on the goal on the validation split, for ranking only.
	Value float64 `json:"value"`

	model    audit.Model // of the witness, where it was learnt here
	expected float64     // ranks learners as Value ranks pairs
	pieces   int         // of outputs that are single numbers, in the event for epsilon; 0: not known
	variance float64     // of expected, about
	area     float64     // under the ROC curve of the scores, from that of one that says nothing
	steady   bool        // see [audit.LearnerSpec]
}

// LearnerNote says how one learner of a portfolio did.
type LearnerNote struct {
	Learner string  `json:"learner"`
	Value   float64 `json:"value"`
	Note    string  `json:"note,omitempty"` // why it dropped out
}

// Counted is what one shard of certification adds, or several.
type Counted struct {
	Rows  int      `json:"rows"`  // outputs drawn a side
	Cells packed   `json:"cells"` // counts of pairs of bins
	Chart [4][]int `json:"chart"` // counts a bin: first, first in the event, second, second in the event
	// Plane holds the counts of the chart's plane, where the task has one.
	Plane [2]packed `json:"plane,omitzero"`
}

// Purposes of random streams. The words are part of the seed.
const (
	purposeExplore = "explore"
	purposeCertify = "certify"
	purposeLearn   = "learn"
	purposeFind    = "find"
)

// source draws outputs of one side of a pair in blocks.
type source struct {
	audit   *Audit
	data    audit.Dataset
	side    int
	purpose string
	trial   int
	width   int
	from    audit.Mechanism
	most    int         // outputs of one call
	hook    engine.Hook // called after each of several calls for a block, too
}

func newSource(a *Audit, p audit.Pair, purpose string, trial, side int, hook engine.Hook) source {
	m := a.Mechanism
	if s, ok := m.(audit.Summariser); ok {
		m = s.For(p)
	}
	return source{audit: a, data: audit.Pick(side == 1, p.Second, p.First), side: side, purpose: purpose, trial: trial, width: audit.Width(a.Columns), from: m, most: a.blockRows(), hook: hook}
}

// stream is the randomness of one shard.
func (s source) stream(shard int) *stream.Stream {
	return stream.New(stream.Key{Seed: s.audit.Plan.Seed, Purpose: s.purpose, Trial: s.trial, Side: s.side, Shard: shard})
}

// block fills out with outputs; what is no number is an outcome of its own.
// Recorded outputs are those from number at on, in the one order of all stages.
func (s source) block(st *stream.Stream, at int, out []float64) error {
	var err error
	if r, ok := s.from.(audit.Recorded); ok {
		err = r.Recorded(s.audit.Plan.Seed, s.side, at, out)
	} else {
		for left := out; len(left) > 0 && err == nil; {
			n := min(s.most*s.width, len(left))
			// A copy: code that sorts or clips its rows in place must not change what the next call sees.
			data := audit.Dataset{Columns: s.data.Columns, Values: append([]float64{}, s.data.Values...)}
			if err = s.from.Sample(data, st, left[:n]); err == nil && n < len(left) {
				if err := s.hook(0); err != nil {
					return err
				}
			}
			left = left[n:]
		}
	}
	where := fmt.Sprintf("mechanism %s on the %s dataset", s.audit.Spec.Name, audit.Pick(s.side == 1, "second", "first"))
	if err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	audit.TakeOutcomes(s.audit.Columns, out)
	if i := audit.NonFinite(out); i >= 0 {
		return &audit.InputError{Field: fmt.Sprintf("output of %s, number %d of %d", where, i%s.width+1, s.width),
			Found: audit.Number(out[i]), Want: "finite", Remedy: "describe values that are not numbers as symbols"}
	}
	return nil
}

// draw returns n outputs of the source, shard after shard.
func (s source) draw(n int) (audit.Samples, error) {
	all := audit.Samples{Columns: s.audit.Columns, Rows: make([]float64, n*s.width)}
	for lo := 0; lo < n; lo += ShardRows {
		st := s.stream(lo / ShardRows)
		for at := lo; at < min(lo+ShardRows, n); at += BlockRows {
			end := min(at+BlockRows, n)
			if err := s.block(st, at, all.Rows[at*s.width:end*s.width]); err != nil {
				return audit.Samples{}, err
			}
			if err := s.hook(end - at); err != nil {
				return audit.Samples{}, err
			}
		}
	}
	return all, nil
}
