package audit

import (
	"encoding/json"

	"github.com/dpscope/dpscope/audit/stream"
)

// Exploration is what a learner sees: outputs on both datasets of one pair,
// for training only.
type Exploration struct {
	First, Second Samples
	Claim         Claim
	Stream        *stream.Stream // for learners that need randomness
	// Check is to be called every few milliseconds of work (at least once a
	// pass over the samples); when it returns an error, the learner returns
	// that error at once.
	Check func() error
}

// LearnerSpec is one line of the registry of learners.
type LearnerSpec struct {
	Name   string
	Title  string
	Source string
	// ByName: used only when a plan names it, not in the portfolio.
	ByName bool
	// Steady: a portfolio takes the first of these where validation cannot tell that another
	// does better.
	Steady bool
	// Bits: it reads how numbers are rounded. A plan that names it says that the claim is
	// about doubles, and a portfolio trains it where a column says so ([Column.Bits]).
	Bits bool
	// Settings are what can be set behind the name, and With is the learner with all of
	// them: "mlp:epochs=5:units=64". Both are absent where there is nothing to set.
	Settings []ParamSpec
	With     func(Params) LearnerSpec
	// Tester is the published tester whose witness the learner trains, if it is one of those.
	Tester Tester
	// Applies returns nil where the learner can work on such outputs, and
	// else an error that says why not.
	Applies func(columns []Column) error
	// Learn returns a model that scores outputs. A learner that finds nothing
	// to learn (constant outputs, say) returns a model all the same, or an
	// error that says why; a portfolio goes on without it.
	Learn func(Exploration) (Model, error)
	// Decode reads a model that json.Marshal wrote, for outputs with these
	// columns, and refuses one that does not fit them.
	Decode func(data json.RawMessage, columns []Column) (Model, error)
}

// Tester is a published tester with a statistic of its own, which a report shows beside what
// is certified.
type Tester string

// Testers.
const (
	RenyiTester       Tester = "RényiTester"
	ADPTester         Tester = "aDPTester"
	HockeyStickTester Tester = "HockeyStickTester"
	MMDTester         Tester = "MMDTester"
)

// Model is what a learner learnt: a score for each output, higher where the
// output is likelier on the pair's first dataset. A model is a JSON value, and
// its scores have the same bits on every platform (products rounded by
// float64() before they are added, no transcendental functions of package
// math), since counts depend on them.
type Model interface {
	// Score writes the score of each row of rows (flat, of the mechanism's
	// width) into out, whose length is the number of rows. Scores are finite. Several
	// goroutines may call it at once.
	Score(rows, out []float64)
	// Describe says in words which outputs score above the threshold (or
	// below it, if above is false).
	Describe(threshold float64, above bool) string
}
