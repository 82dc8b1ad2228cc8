// Package scores audits membership scores that another program made, of one training, of one training
// a score or of a matrix of runs, and sets what every method makes of them side by side.
package scores

import (
	"context"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
)

// Kind is the kind of a report of scores.
const Kind = "scores"

// Report is all that came out of an audit of scores, but for the scores.
type Report struct {
	report.Report
	Plan     Plan        `json:"plan"` // every default written out
	Files    []ScoreFile `json:"files"`
	Notes    []string    `json:"notes" same:"words"` // what was taken for granted when reading the files
	Evidence *Evidence   `json:"evidence"`
}

func (r Report) Chance() (beta float64, seed uint64) { return r.Plan.Beta, r.Plan.Seed }

// ParseReport reads a report; unknown fields are refused.
func ParseReport(data []byte) (Report, error) { return report.Read(data, Kind, Report.check) }

func (r Report) check() error {
	if err := r.CheckByMethod(r.Plan.Claim); err != nil {
		return err
	}
	if r.Evidence == nil || r.Deciding() == nil {
		return &audit.InputError{Field: "report", Found: "incomplete", Want: "the counts, and what the methods make of them"}
	}
	return audit.Of("report: evidence", r.Evidence.check(r.Plan))
}

// Verify replays a report: with scores all of it; without, what follows from its counts.
func Verify(r Report, scores *Scores) (engine.Verification, error) {
	if err := r.check(); err != nil {
		return engine.Verification{}, err
	}
	a, err := r.audit(scores)
	if err != nil {
		return engine.Verification{}, err
	}
	return report.Verify(context.Background(), a, &engine.Runner{}, r, scores != nil)
}

func (r Report) audit(scores *Scores) (a *Audit, err error) {
	if scores != nil {
		a, err = r.Plan.Resolve(scores)
	} else {
		a = &Audit{Plan: r.Plan, shape: r.Evidence.Shape, files: make([]ScoreFile, len(r.Plan.Data)), notes: r.Notes}
		for i, sum := range r.Plan.Data {
			a.files[i].SHA256 = sum
		}
		a.Plan, err = r.Plan.resolve(a.shape, a.files)
	}
	if err == nil {
		for i := range min(len(a.files), len(r.Files)) {
			a.files[i].Name = r.Files[i].Name
		}
	}
	return a, err
}

func (a *Audit) Replay(v *engine.Verification, r Report, whole bool) (report.Replay[*Evidence], error) {
	again := report.Replay[*Evidence]{Found: r.Evidence}
	v.Skip("they may have changed; the SHA-256 of the files are compared", "files[].name")
	if whole {
		again.Draw = func(ctx context.Context, on *engine.Runner) (*Evidence, error) {
			ev, _, err := a.Run(ctx, on, nil)
			return ev, err
		}
		return again, nil
	}
	v.Recomputed, again.Taken = true, []string{"evidence", "notes"}
	v.Skip("taken from the report; only a replay with the files shows that the files give them", again.Taken...)
	return again, nil
}

// Evidence is what the bounds of scores are computed from.
type Evidence struct {
	Shape Shape `json:"shape"`
	// Events of the methods that take each score to be of a training of its own; absent of a matrix.
	Events             []ScoreEvent `json:"events,omitempty"`
	membership.Guessed              // of all scores taken together
	// Runs of a matrix: threshold and stakes from half of them, counts of the rest.
	Runs       *membership.Gathered `json:"runs,omitempty"`
	Membership *membership.Evidence `json:"membership,omitempty"` // of all scores
}

// Sides of an event.
const (
	Above = "above" // score > threshold, likelier in
	Below = "below" // score < threshold, likelier out
)

// ScoreEvent is an event chosen on one half of the scores, and its counts. X and N1 are of the class in
// which it is likelier: in where Side is above, out where it is below.
type ScoreEvent struct {
	Methods   []report.Method `json:"methods"` // that use it
	Side      string          `json:"side"`
	Threshold float64         `json:"threshold"`
	Ties      bool            `json:"ties,omitempty"` // all explored scores were the same
	Explored  bounds.Counts   `json:"explored"`
	Certified bounds.Counts   `json:"certified"`
	Split     float64         `json:"split,omitempty" same:"near"` // of clopper-pearson, from exploration
	// Pairs are the certification scores paired at random, one of each class; of paired-betting.
	Pairs  *bounds.CanaryTable  `json:"pairs,omitempty"`
	Stakes *bounds.CanaryStakes `json:"stakes,omitempty" same:"near"`
}

// eventMethods are the methods of each event.
func eventMethods() [][]report.Method {
	return [][]report.Method{{report.MethodExact, report.MethodClopperPearson}, {report.MethodPaired}, {report.MethodGaussian}}
}

// Shape is what is known of scores without their values.
type Shape struct {
	In   int `json:"in"` // scores of each class
	Out  int `json:"out"`
	Runs int `json:"runs,omitempty"` // of a matrix
	// Canaries a run. Under replace, K of those in and M of those out are used, of Used runs that have as
	// many; under add-remove the portrait alone is of these.
	Canaries int  `json:"canaries,omitempty"`
	K        int  `json:"k,omitempty"`
	M        int  `json:"m,omitempty"`
	Used     int  `json:"usedRuns,omitempty"`
	Fixed    bool `json:"fixed,omitempty"` // the same canaries in in every run
	// Half are the runs with half of the canaries in, rounded down; Farthest is how often the canary was in
	// whose number of runs is farthest from half.
	Half        int `json:"half,omitempty"`
	Farthest    int `json:"farthest,omitempty"`
	CertifiedIn int `json:"certifiedIn,omitempty"` // memberships in, over the runs that certify; of add-remove
}

func halves(n int) (explore, certify int) { return n / 2, n - n/2 }

func (s Shape) byRuns(m report.Method) bool { return s.Runs > 0 && !byCoins(m) }

func (s Shape) assumes(m report.Method) report.Assumes {
	if s.byRuns(m) {
		return report.ByRuns
	}
	return report.MethodWords[m].Assumes
}

// counted is what a table of the runs counts: k canaries in and m out, in so many runs, and the delta of
// its bounds. Under add-remove every run counts, with all its canaries on both sides: [bounds.CoinDelta].
func (s Shape) counted(r audit.Relation, delta float64) (k, m, runs int, of float64) {
	if r == audit.AddRemove {
		return s.Canaries, s.Canaries, s.Runs, bounds.CoinDelta(delta)
	}
	return s.K, s.M, s.Used, delta
}

func (ev Evidence) check(p Plan) error {
	h := ev.Shape
	in := func(n, low, high int) bool { return n >= low && n <= high }
	fits := h.Runs*h.Canaries == h.In+h.Out && in(h.K, 1, h.Canaries) && in(h.M, 1, h.Canaries) && in(h.Used, 0, h.Runs) &&
		in(h.Half, 0, h.Runs) && in(h.Farthest, 0, h.Runs) && in(h.CertifiedIn, 0, min(h.In, (h.Runs-h.Runs/2)*h.Canaries))
	err := audit.First(
		audit.Require(in(h.In, 1, mostScores) && in(h.Out, 1, mostScores) && in(h.Runs, 0, mostScores) && in(h.Canaries, 0, mostScores), "shape", "out of range", "numbers of scores"),
		audit.Require(h.Runs == 0 || fits, "shape", "a matrix that does not fit", "runs times canaries, in and out together"),
		audit.Require(h.Runs > 0 || h == Shape{In: h.In, Out: h.Out}, "shape", "a matrix without runs", "none"),
	)
	if err == nil && ev.Membership != nil {
		err = ev.Membership.Check(h.In, h.Out)
	}
	if err != nil {
		return err
	}
	tk, tm, runs, _ := h.counted(p.Relation, 0)
	shaped := (ev.Runs != nil) == (h.Runs > 0 && runs > 1) && (len(ev.Events) > 0) == (h.Runs == 0)
	if err := audit.First(audit.Require(shaped, "evidence", "of another shape", "events of single scores, or runs of a matrix"), p.guessing(h).Check(ev.Guessed)); err != nil {
		return err
	}
	if e := ev.Runs; e != nil {
		explore, certify := halves(runs)
		err = audit.First(
			audit.Require(e.ScoreSample != nil || p.Relation == audit.AddRemove, "portrait", audit.Absent, "scores of explored runs, which a report of this version has"),
			e.ScoreSample.Check(explore, h.K, h.M),
			e.Check(explore, certify, tk, tm),
			audit.Require(e.Explored.Table != nil && e.Certified.Table != nil && e.Certified.Table.Runs() == certify, "runs", "not all counted", "%d certification runs", certify),
		)
	}
	want := eventMethods()
	err = audit.First(err, audit.Require(h.Runs > 0 || len(ev.Events) == len(want), "events", len(ev.Events), "%d", len(want)))
	if err != nil {
		return err
	}
	for i, e := range ev.Events {
		n1, n0 := h.In, h.Out
		if e.Side == Below {
			n1, n0 = n0, n1
		}
		fits := func(c bounds.Counts, n1, n0 int) bool { return c.Validate() == nil && c.N1 == n1 && c.N0 == n0 }
		paired := e.Pairs == nil && e.Stakes == nil
		if i == 1 {
			paired = e.Pairs != nil && e.Stakes != nil && e.Pairs.Validate() == nil && e.Stakes.Validate() == nil &&
				e.Pairs.K == 1 && e.Pairs.M == 1 && e.Pairs.Runs() == min(n1-n1/2, n0-n0/2)
		}
		part := func(name string, possible bool) error {
			return audit.Require(possible, fmt.Sprintf("events[%d].%s", i, name), "impossible for any scores", "that of an unchanged report")
		}
		err = audit.First(err, part("methods", slices.Equal(e.Methods, want[i])), part("side", e.Side == Above || e.Side == Below),
			part("explored", fits(e.Explored, n1/2, n0/2)), part("certified", fits(e.Certified, n1-n1/2, n0-n0/2)),
			part("split", (i == 0) == (e.Split > 0 && e.Split < 1)), part("pairs", paired))
	}
	return err
}
