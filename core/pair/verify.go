package pair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

var searched = []string{"trials", "evidence.pair", "evidence.witness", "evidence.learners", "evidence.edges", "evidence.explored"}

// Verify replays a report, see [report.Verify]. Without whole, and where nothing can be drawn again, it
// computes what follows from the counts, and takes the report's word for what the audit was of.
func Verify(ctx context.Context, cat audit.Catalogue, pool *engine.Pool, r Report, whole bool) (engine.Verification, error) {
	if err := r.check(); err != nil {
		return engine.Verification{}, err
	}
	a, err := r.audit(cat, whole)
	if err != nil {
		return engine.Verification{}, err
	}
	return report.Verify(ctx, a, &engine.Runner{Pool: pool}, r, whole)
}

// audit is the one of the report's plan. Without whole, an unknown mechanism is only named.
func (r Report) audit(cat audit.Catalogue, whole bool) (*Audit, error) {
	named := false
	if _, err := cat.Mechanism(r.Plan.Mechanism); err != nil && !whole {
		if rec := r.Inputs.Samples; rec != nil {
			rows := *rec
			cat, named = cat.With(rows.Spec(told(rec.Columns))), true
		}
		if b := r.Inputs.User; b != nil {
			if cat, err = Named(cat, *b); err != nil {
				return nil, err
			}
			named = true
		}
		if r.Inputs.Labelled != nil {
			return nil, &audit.InputError{Field: "report: inputs.labelled", Path: "/inputs/labelled", Found: "a table of the user's", Want: "absent",
				Remedy: "what such a report says can be checked only with the table: keep the report beside it"}
		}
	}
	a, err := r.Plan.Resolve(cat)
	if err == nil {
		a.named = named
	}
	return a, err
}

// Replay implements [report.Audit].
func (a *Audit) Replay(v *engine.Verification, r Report, whole bool) (report.Replay[Found], error) {
	again := report.Replay[Found]{Found: Found{Trials: r.Trials, Sequential: r.Sequential, Evidence: r.Evidence}}
	if err := a.checkSizes(r); err != nil {
		return again, err
	}
	if !r.Certified() {
		if err := checkUncertified(r); err != nil {
			return again, err
		}
	} else if steps, err := a.steps(r.Evidence.Pair); err != nil {
		return again, fmt.Errorf("the report's pair: %w", err)
	} else if got := max(1, r.Evidence.Prepared.Steps); got != steps {
		return again, audit.Fault("report: evidence.prepared.steps", got, fmt.Sprintf("%d, as the pair differs", steps))
	}
	whole = whole && a.Spec.Unseeded == "" && r.Termination.Reason != audit.Failed
	if !whole || !r.Certified() {
		if err := a.take(v, r, &again, !whole); err != nil {
			return again, err
		}
	}
	if whole && (r.Certified() || r.Sequential != nil) {
		again.Draw = func(ctx context.Context, on *engine.Runner) (Found, error) { return a.again(ctx, on, r) }
	}
	return again, nil
}

func (a *Audit) again(ctx context.Context, on *engine.Runner, r Report) (Found, error) {
	b := *a
	b.most = &limits{trials: len(r.Trials), samples: a.Plan.certifies()}
	s := &state{Audit: &b, on: on}
	if r.Sequential != nil {
		if b.most.epochs = len(r.Sequential.Epochs); r.Termination.Reason != audit.Stopped {
			b.most.epochs++
		}
	}
	if !r.Certified() {
		s.found.Trials, s.found.Evidence = r.Trials, r.Evidence
		err := s.testSequentially(ctx)
		return s.found, err
	}
	b.most.samples = r.Evidence.Table.Pairs() // less than planned in a run that ended early
	err := s.do(ctx)
	if err == nil {
		s.found, _, err = s.ended(ctx, nil)
	}
	return s.found, err
}

// take takes the report's evidence, with what follows from it, and notes which fields it takes.
func (a *Audit) take(v *engine.Verification, r Report, again *report.Replay[Found], counts bool) error {
	skip := func(why string, fields ...string) {
		v.Skip(why, fields...)
		again.Taken = append(again.Taken, fields...)
	}
	v.Recomputed = counts
	other := func(w string) bool { return !strings.HasPrefix(w, runsFailed) }
	again.Warnings = slices.DeleteFunc(slices.Clone(r.Warnings), other)
	if len(again.Warnings) > 0 {
		v.Notes = append(v.Notes, "warnings about runs that failed are taken from the report")
	}
	recording := a.named && a.Spec.Recording != nil
	if a.named {
		skip("only the report says what was audited, because no file was read and nothing ran", audit.Pick(recording, "inputs.samples", "inputs.brought"))
	}
	var fields []string
	switch {
	case r.Certified():
		best := slices.DeleteFunc(slices.Clone(r.Trials), func(t TrialNote) bool { return !t.Chosen })
		v.Same(len(best) == 1 && audit.EqualJSON(best[0].Pair, r.Evidence.Pair),
			"trials", "there is no one chosen trial with the result's pair")
		fields = append(slices.Clone(searched), "evidence.table")
		drawn := []string{"edges", "outcomes", "first", "firstInEvent", "second", "secondInEvent"}
		if r.Evidence.Chart.Plane != nil {
			drawn = append(drawn, "plane.terms", "plane.slope", "plane.offset", "plane.scoreEdges", "plane.edges", "plane.first", "plane.second")
			if recording {
				drawn = append(drawn, "plane.words") // symbols have their words in the file
			}
		}
		fields = append(fields, audit.Each(drawn, func(field string) string { return "evidence.chart." + field })...)
		if a.Claim.Kind != audit.Profile { // else they follow
			fields = append(fields, "evidence.prepared.event", "evidence.prepared.hedges")
		}
		e, err := a.second(r.Sequential).prepareAgain(*r.Evidence)
		if err != nil {
			return err
		}
		again.Found.Evidence = e
	case r.Plan.Mode != UntilRefuted:
		why := audit.Pick(r.Sequential == nil, ", so there is nothing to replay", "")
		skip("the run ended before certification"+why, append(slices.Clone(searched), "evidence.prepared", "evidence.chart")...)
	}
	if counts && r.Sequential != nil {
		for _, p := range r.Sequential.Pairs {
			if _, err := a.steps(p); err != nil {
				return fmt.Errorf("the report's pairs: %w", err)
			}
		}
		fields = append(fields, "sequential")
	}
	if fields != nil {
		why := audit.Pick(a.Spec.Unseeded == "", " and were not drawn again", ", because they cannot be drawn again from the seed: "+a.Spec.Unseeded)
		skip("the counts are taken from the report"+why, fields...)
	}
	if r.Certified() && recording && slices.ContainsFunc(a.Columns, func(c audit.Column) bool { return c.Kind != audit.Real }) {
		skip("the file has the names of the symbols", "tables[].rows[].event.words", "tables[].rows[].event.where.words", "evidence.chart.labels")
	}
	return nil
}

// prepareAgain takes the counts for granted, with what follows from the explored ones. Only a
// claim's events were chosen, unless it is a curve.
func (a *Audit) prepareAgain(e Evidence) (*Evidence, error) {
	p, err := a.prepare(e)
	if err == nil && e.Chart.Plane != nil {
		err = e.Chart.Plane.Fits(audit.Width(a.Columns))
	}
	if err != nil {
		return nil, err
	}
	e.Chart, e.Prepared = e.Chart.Named(a.Columns).Bordered(e.Edges, p.Event), *p
	return &e, nil
}

// checkUncertified refuses a report without a second stage that no run of its plan makes.
func checkUncertified(r Report) error {
	reason, until := r.Termination.Reason, r.Plan.Mode == UntilRefuted
	raced := until && r.Sequential != nil
	ended := reason == audit.Stopped || reason == audit.Failed || raced
	none := r.Evidence == nil || r.Evidence.Table == nil && !until
	err := audit.Require(ended && none, "report: termination.reason",
		fmt.Sprintf("%q", reason), "stopped or failed in a report without counts and results")
	if err != nil || !raced {
		return err
	}
	want := []audit.TerminationReason{audit.Stopped, audit.Failed}
	drawn := r.Sequential.outputs() / 2
	switch {
	case r.Sequential.Refuted > 0:
		want = []audit.TerminationReason{audit.Refuted}
	case drawn == r.Plan.Samples:
		want = []audit.TerminationReason{audit.Completed}
	}
	return audit.Require(slices.Contains(want, reason), "report: termination.reason",
		fmt.Sprintf("%q after %d of plan.samples = %d outputs a side", reason, drawn, r.Plan.Samples), "one of %v, given these outputs and whether they refute the claim", want)
}

// checkSizes refuses, before a replay, sizes that no run of these settings has.
func (a *Audit) checkSizes(r Report) error {
	most := r.Plan.Trials
	if r.Plan.Pair != nil || r.Plan.Mode == Climbing {
		most = 1
	}
	n := len(r.Trials)
	err := audit.Require(n <= most && (n > 0 || !r.Certified()), "report: trials", fmt.Sprintf("%d of them", n),
		"1 to %d, as plan.trials allows", most)
	if err != nil || r.Evidence == nil {
		return err
	}
	second := a.second(r.Sequential)
	last := second.Plan.lastRound(n)
	got, want := r.Evidence.Explored.Pairs(), last-last/2
	err = audit.Require(got == want, "report: evidence.explored", fmt.Sprintf("of %d pairs", got),
		"%d, half of the %d outputs of the last round that plan.explore = %d allows", want, last, second.Plan.Explore)
	if err != nil || r.Evidence.Table == nil {
		return err
	}
	return second.checkSamplesUsed(r)
}

func (a *Audit) checkSamplesUsed(r Report) error {
	pairs, n := r.Evidence.Table.Pairs(), a.Plan.Samples
	want, ok := fmt.Sprintf("at most plan.samples = %d, without a bound, in a run that did not complete", n), pairs <= n && !r.bounded()
	switch r.Termination.Reason {
	case audit.Completed:
		want, ok = fmt.Sprintf("plan.samples = %d, with a bound, in a run that completed", n), pairs == n && r.bounded()
	case audit.Refuted:
		want, ok = "absent: a run that ends when its claim is refuted certifies nothing", false
	}
	if rows := a.shardRows(); ok && pairs%rows != 0 && pairs != n {
		want, ok = fmt.Sprintf("a multiple of %d, as runs are counted in shards", rows), false
	}
	return audit.Remedy("a bound for a fixed number of samples (plan.samples) does not hold for a run that was ended while looking at it",
		audit.Require(ok, "report: evidence.table", fmt.Sprintf("of %d pairs, in a run that ended as %q", pairs, r.Termination.Reason), "%s", want))
}

func (r Report) bounded() bool {
	return slices.ContainsFunc(r.Rows(report.Bounds), func(x report.Row) bool { return x.Method != MethodSequential && x.LowerBound != nil })
}

// Named is the catalogue with a mechanism of the user's that is only named: nothing draws.
func Named(cat audit.Catalogue, b audit.UserMechanism) (audit.Catalogue, error) {
	if err := b.Datasets.Validate(); err != nil {
		return cat, err
	}
	return cat.With(b.Spec(told(b.Columns))), nil
}

type told []audit.Column

// Columns and Sample implement [audit.Mechanism].
func (t told) Columns() []audit.Column { return t }
func (told) Sample(audit.Dataset, *stream.Stream, []float64) error {
	return errors.New("a mechanism that is only named in a report draws nothing")
}
