package pair

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair/threshold"
)

// Outputs are drawn in blocks and streams in shards. If a size changes, no report replays.
const (
	BlockRows = audit.BlockRows
	ShardRows = 4 * BlockRows
)

// of is the audit of a task. A worker elsewhere makes it of its plan.
type of struct {
	Plan  Plan `json:"plan"` // resolved
	audit *Audit
}

func (a *Audit) of() of { return of{a.Plan, a} }

func (o *of) bind(cat audit.Catalogue) (err error) {
	o.audit, err = o.Plan.Resolve(cat)
	return err
}

// Explore draws outputs on both datasets of a pair and learns what tells them apart: an [Explored].
type Explore struct {
	of
	Trial    int        `json:"trial"`
	Pair     audit.Pair `json:"pair"`
	Round    int        `json:"round,omitempty"`    // of successive halving; its outputs are its own
	Outputs  int        `json:"outputs"`            // a side
	Learners []string   `json:"learners,omitempty"` // default: all that the plan allows
	Proven   *float64   `json:"proven,omitempty"`   // by another stage: the first event that nearly shows it does
}

// Explore explores a pair in the first round, as the trial of that number.
func (a *Audit) Explore(trial int, p audit.Pair, outputs int) Explore {
	return Explore{of: a.of(), Trial: trial, Pair: p, Outputs: outputs, Proven: a.proven}
}

// SequentialTest bets on outputs of pairs that a finder proposes: a [SequentialResult]; parts are epochs.
type SequentialTest struct {
	of
	Epochs int `json:"epochs,omitempty"` // at most; 0: as the budget has it
}

// SequentialTest is the whole sequential stage.
func (a *Audit) SequentialTest() SequentialTest { return SequentialTest{of: a.of()} }

// Prepare chooses what the bounds need beside the events: a [Prepared].
type Prepare struct {
	of
	Evidence
}

// Certify draws one shard of outputs on both datasets and counts how a witness sees them: [Counted].
type Certify struct {
	of
	Evidence     // without counts
	Shard    int `json:"shard"`

	model audit.Model // of the witness
}

// Bound turns counts into lower confidence bounds: a [Certified].
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
			return audit.First(t.bind(cat), t.Explored.Validate())
		}),
		engine.NewCodec[Certify, Counted](func(t *Certify) error {
			err := audit.First(t.bind(cat), threshold.CheckEdges(t.Edges), t.Prepared.Event.Check(len(t.Edges)))
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

// Explored is evidence of one pair, of which the events for epsilon are prepared.
type Explored struct {
	Evidence
	Value float64 `json:"value"` // about the lower bound on the goal on the validation split, for ranking only

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
	Rows  int       `json:"rows"`  // outputs drawn a side
	Cells packed    `json:"cells"` // counts of pairs of bins
	Chart [4][]int  `json:"chart"` // see [chart.Binner]
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
	audit *Audit
	data  audit.Dataset
	key   stream.Key
	width int
	from  audit.Mechanism
	most  int         // outputs of one call
	hook  engine.Hook // called after each of several calls for a block, too
}

func newSource(a *Audit, p audit.Pair, purpose string, trial, side int, hook engine.Hook) source {
	m := a.Mechanism
	if s, ok := m.(audit.Summariser); ok {
		m = s.For(p)
	}
	key := stream.Key{Seed: a.Plan.Seed, Purpose: purpose, Trial: trial, Side: side}
	return source{a, audit.Pick(side == 1, p.Second, p.First), key, audit.Width(a.Columns), m, a.blockRows(), hook}
}

// stream is the randomness of one shard.
func (s source) stream(shard int) *stream.Stream {
	s.key.Shard = shard
	return stream.New(s.key)
}

// block fills out with outputs; what is no number is an outcome of its own.
// Recorded outputs are those from number at on, in the one order of all stages.
func (s source) block(st *stream.Stream, at int, out []float64) error {
	var err error
	if r, ok := s.from.(audit.Recorded); ok {
		err = r.Recorded(s.key.Seed, s.key.Side, at, out)
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
	where := fmt.Sprintf("mechanism %s on the %s dataset", s.audit.Spec.Name, []string{"first", "second"}[s.key.Side])
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
