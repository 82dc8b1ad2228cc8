package canary

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// Kind is the kind of a report of an audit with canaries.
const Kind = "canary"

// Report is all that came out, and that running it again needs, but for the file.
type Report struct {
	report.Report
	Plan      Plan        `json:"plan"` // every default written out
	Source    source.Note `json:"source" same:"words"`
	Continued []Part      `json:"continued,omitempty" same:"own"` // runs that the audit went on from, the first one first
	Evidence  *Evidence   `json:"evidence,omitempty"`             // absent where nothing was drawn
	In        *Side       `json:"in,omitempty" same:"near"`       // canaries that were inside
	Out       *Side       `json:"out,omitempty" same:"near"`      // fresh canaries
}

// Evidence is what the bounds are computed from.
type Evidence struct {
	// Runs are absent of one run. Of a sequential audit Certified counts the trainings bet on, each by
	// its epoch's event, Threshold is the last, and the portrait is of the first.
	Runs       *membership.Gathered `json:"runs,omitempty"`
	Sequential *Bets                `json:"sequential,omitempty"` // of a sequential audit
	OneRun     *Coins               `json:"oneRun,omitempty"`     // of one run
	// Membership is of all explored scores, or of all where none explore. Absent of one class.
	Membership *membership.Evidence `json:"membership,omitempty"`
}

// Coins are what one run came to.
type Coins struct {
	In       int  `json:"in"` // canaries that were in
	Diverged bool `json:"diverged"`
	membership.Guessed
}

func (r Report) Chance() (beta float64, seed uint64) { return r.Plan.Beta, r.Plan.Seed }

// ParseReport reads a report; unknown fields are refused.
func ParseReport(data []byte) (Report, error) { return report.Read(data, Kind, Report.check) }

func (r Report) check() error {
	if err := cmp.Or(r.CheckByMethod(r.Plan.Claim), audit.Of("report: plan", r.Plan.checkNumbers())); err != nil {
		return err
	}
	least := 1
	for i, c := range r.Continued {
		if sum, err := hex.DecodeString(c.Report); err != nil || len(sum) != 32 || c.Runs < least || c.Runs > r.Plan.Runs || !r.Plan.sequential() {
			return &audit.InputError{Field: fmt.Sprintf("report: continued[%d]", i), Found: fmt.Sprintf("%d runs, report %.70q", c.Runs, c.Report), Want: fmt.Sprintf("%d to %d runs of a sequential audit, and the SHA-256 of its report", least, r.Plan.Runs)}
		}
		least = c.Runs
	}
	if r.Evidence == nil {
		return nil
	}
	return audit.Of("report: evidence", r.Evidence.check(r.Plan))
}

func (e Evidence) check(p Plan) error {
	there := func(name string, is, asked bool) error {
		return audit.Require(is == asked, name, is, "there where the mode has it, and else not; the mode is %q", p.Mode)
	}
	err := audit.First(there("sequential", e.Sequential != nil, p.sequential()), there("oneRun", e.OneRun != nil, p.Mode == OneRun), there("runs", e.Runs != nil, p.Mode != OneRun))
	if err != nil {
		return err
	}
	if one := e.OneRun; one != nil {
		if err := audit.First(audit.Within("in", one.In, 0, p.K), p.guessing().Check(one.Guessed)); err != nil || e.Membership == nil {
			return err
		}
		return e.Membership.Check(one.In, p.K-one.In)
	}
	if e.Sequential != nil {
		t, err := e.Sequential.table(p)
		err = audit.First(err, audit.Require(e.Runs.ScoreSample != nil, "portrait", audit.Absent, "scores of the first trainings"),
			audit.Require(audit.EqualJSON(t, e.Runs.Certified.Table), "certified.table", "counts that differ from the epochs'", "their sum"))
		if err != nil {
			return err
		}
		p.Explore = p.Runs // that the portrait is of
	}
	if err := cmp.Or(e.Runs.Check(p.Explore, p.Runs, p.K, p.M), e.Runs.ScoreSample.Check(p.Explore, p.K, p.M)); err != nil || e.Membership == nil {
		return err
	}
	n := e.Membership.ROC.In / p.K
	return audit.First(audit.Require(n <= p.Explore, "membership", fmt.Sprintf("scores of %d runs", n), "of at most %d", p.Explore), e.Membership.Check(0, n*p.M))
}

// Replay implements [report.Audit]. With whole it draws every run that the report counts again. Without,
// and of a fixed audit that was stopped, it takes the counts; of a sequential audit bets and counts
// follow from the scores, where there are any.
func (a *Audit) Replay(v *engine.Verification, r Report, whole bool) (report.Replay[*Evidence], error) {
	p, ev, reason := r.Plan, r.Evidence, r.Termination.Reason
	again, drawn := report.Replay[*Evidence]{Found: ev, Taken: []string{"evidence"}}, *a
	if err := r.check(); err != nil {
		return again, err
	}
	bad := func(field, found, want, remedy string) (report.Replay[*Evidence], error) {
		return again, &audit.InputError{Field: "report" + field, Found: found, Want: want, Remedy: remedy}
	}
	complete := reason == audit.Completed
	switch {
	case ev == nil || ev.OneRun != nil && !complete:
		return bad("", "without counts", "a report of a run that reached certification", "a run that ended before has nothing to replay")
	case ev.OneRun != nil:
	case ev.Sequential != nil:
		s, err := ev.Sequential.follow(p, nil)
		if err != nil {
			return again, err
		}
		if all := s.Runs() == p.Runs || p.Mode == UntilRefuted && s.Refuted(); s.Runs() == 0 || all != complete || reason == audit.Refuted {
			return bad(": termination.reason", fmt.Sprintf("%q after %d trainings of %d", reason, s.Runs(), p.Runs), "completed exactly if these are all, or refute the claim of an audit until it is refuted; otherwise stopped or failed", "")
		}
		drawn.most = s.Runs()
	case ev.Runs.Certified.Table == nil:
		return bad("", "without counts", "a report of a run that certified", "a run that ended before certification has nothing to replay")
	default:
		if n := ev.Runs.Certified.Table.Runs(); complete && (n != p.Runs || r.LowerBound == nil) || !complete && r.LowerBound != nil {
			return bad(": evidence", fmt.Sprintf("%d runs of %d in a run that ended as %q", n, p.Runs, reason), "all runs and a bound if it completed; otherwise no bound",
				"a bound for a fixed number of runs does not hold for a run that was ended while looking at it")
		}
		if ev.Runs.ScoreSample == nil {
			return bad(": evidence.portrait", audit.Absent, "scores of explored runs, which a report of this version has", "run the audit again")
		}
		if t := ev.Runs.Explored.Table; complete && (t == nil || t.Runs() != p.Explore) {
			return bad(": evidence", "runs that differ from the plan's", fmt.Sprintf("%d exploration runs", p.Explore), "")
		}
		whole = whole && complete
	}
	if whole && p.Trainer.DrawnAgain() {
		if a.Spec.New == nil {
			return again, p.Trainer.Undrawn()
		}
		again.Taken, again.Draw = nil, func(ctx context.Context, on *engine.Runner) (*Evidence, error) {
			ev, _, err := drawn.Run(ctx, on, nil)
			return ev, err
		}
		return again, nil
	}
	v.Recomputed = true
	if b := ev.Sequential; b != nil {
		if again.Taken = append(again.Taken, "evidence.runs.certified.diverged"); b.Scores != nil {
			_, found, err := replayed(p, b.Scores, ev.Runs.Certified.Diverged)
			if err != nil {
				return again, err
			}
			again.Found, again.Taken = found, []string{"evidence.sequential.scores", "evidence.runs.certified.diverged"}
		}
	}
	v.Skip(p.Trainer.Taken("only a replay of a completed run shows that runs of this seed give it"), again.Taken...)
	return again, nil
}
