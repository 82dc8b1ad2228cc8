package pair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

// searched are the fields that exploration makes.
var searched = []string{"trials", "evidence.pair", "evidence.witness", "evidence.learners", "evidence.edges", "evidence.explored"}

// errMoreTrials ends a replay that tries more pairs than the report lists.
var errMoreTrials = errors.New("the search goes on beyond the trials that the report lists")

// Verify replays a report. With whole, it runs the audit again from its plan,
// search and all, and the report must be what comes out. Without, it takes
// pair and witness from the report and certifies them again on the report's
// seed: then everything that follows from the counts is checked, but not that
// the witness was chosen before those samples were drawn. Where the counts cannot be
// drawn again, all that follows from them is computed again; where the run ended
// before it certified anything, all that follows from its plan.
func Verify(ctx context.Context, cat audit.Catalogue, pool *engine.Pool, r Report, whole bool) (engine.Verification, error) {
	return verify(ctx, cat, pool, r, whole, false)
}

// verify is [Verify]; with counted, the counts are taken from the report, see
// [Recompute].
func verify(ctx context.Context, cat audit.Catalogue, pool *engine.Pool, r Report, whole, counted bool) (engine.Verification, error) {
	var v engine.Verification
	if err := r.check(); err != nil {
		return v, err
	}
	a, err := r.Plan.Resolve(cat)
	if err != nil {
		return v, err
	}
	if err := a.checkSizes(r); err != nil {
		return v, err
	}
	found := Found{Trials: r.Trials, Raced: r.Sequential, Evidence: r.Evidence}
	end := audit.Termination{Reason: r.Termination.Reason, Message: endMessages[r.Termination.Reason]}
	if end.Reason == audit.Failed {
		end.Message = r.Termination.Message
	}
	s := &state{Run: Run{Plan: r.Plan, Catalogue: cat, Pool: pool, mostTrials: len(r.Trials)}, audit: a, pool: pool, searchers: pool}
	if r.Sequential != nil {
		// A replay does no more than what the report holds took.
		if s.epochs = len(r.Sequential.Epochs); r.Termination.Reason != audit.Stopped {
			s.epochs++
		}
	}
	var given []string
	if r.Inputs.Samples != nil && counted {
		given = append(given, "inputs.samples")
	}
	if r.Inputs.Brought != nil && counted {
		given = append(given, "inputs.brought")
	}
	if given != nil {
		v.Skip("what was audited is the report's own word, as no file was read and nothing ran", given...)
	}
	if !r.Certified() {
		if err := checkUncertified(r); err != nil {
			return v, err
		}
		taken := append(append(slices.Clone(searched), "evidence.prepared", "evidence.chart"), given...)
		if found.Raced == nil {
			v.Skip("the run ended before certification, so there is nothing to replay", taken...)
		} else if r.Plan.Mode != UntilRefuted {
			v.Skip("the run ended before certification", taken...)
		}
		var err error
		if found.Raced != nil {
			more, err := s.raceAgain(ctx, &v, r, whole)
			if err != nil {
				return v, err
			}
			taken, found.Raced = append(taken, more...), s.raced
		}
		want, err := conclude(cat, a, found, end, nil)
		if err == nil {
			want.Warnings = append(want.Warnings, r.failures(&v)...)
			compare(&v, r, want, taken...)
		}
		return v, err
	}
	steps, err := a.steps(r.Evidence.Pair)
	if err != nil {
		return v, fmt.Errorf("the report's pair: %w", err)
	}
	if got := max(1, r.Evidence.Prepared.Steps); got != steps {
		return v, &audit.InputError{Field: "report: evidence.prepared.steps", Found: fmt.Sprint(got), Want: fmt.Sprintf("%d, as the pair differs", steps)}
	}
	if counted || a.Spec.Unseeded != "" {
		taken := append(slices.Clone(searched), "evidence.table", "sequential")
		drawn := []string{"edges", "outcomes", "first", "firstInEvent", "second", "secondInEvent"}
		if r.Evidence.Chart.Plane != nil {
			drawn = append(drawn, "plane.terms", "plane.slope", "plane.offset", "plane.scoreEdges", "plane.edges", "plane.first", "plane.second")
			if counted && a.Spec.Recording != nil {
				drawn = append(drawn, "plane.words") // symbols have their words in the file
			}
		}
		for _, field := range drawn {
			taken = append(taken, "evidence.chart."+field)
		}
		v.Recomputed = true
		why := "the counts are as the report has them and were not drawn again"
		if a.Spec.Unseeded != "" {
			why = "the counts are as the report has them: they cannot be drawn again from the seed: " + a.Spec.Unseeded
		}
		e, chosen, err := a.prepareAgain(*r.Evidence)
		if err != nil {
			return v, err
		}
		found.Evidence, taken = e, append(taken, chosen...)
		v.Skip(why, taken...)
		taken = append(taken, given...)
		if counted && a.Spec.Recording != nil && slices.ContainsFunc(a.Columns, func(c audit.Column) bool { return c.Kind != audit.Real }) {
			symbols := []string{"tables[].rows[].event.words", "tables[].rows[].event.where.words", "evidence.chart.labels"}
			v.Skip("symbols have their words in the file", symbols...)
			taken = append(taken, symbols...)
		}
		want, err := Conclude(cat, a, found, end)
		if err == nil {
			want.Warnings = append(want.Warnings, r.failures(&v)...)
			compare(&v, r, want, taken...)
		}
		return v, err
	}
	var taken []string
	if whole && r.Termination.Reason != audit.Stopped && r.bounded() {
		err, end = s.do(ctx), audit.Termination{Reason: audit.Completed}
	} else {
		if r.Sequential != nil {
			taken, err = s.raceAgain(ctx, &v, r, whole)
		}
		var more []string
		if err == nil {
			more, err = s.searchAgain(ctx, &v, r, whole)
		}
		if taken = append(taken, more...); err == nil {
			err = s.certifyAgain(ctx, r)
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if errors.Is(err, errMoreTrials) {
		v.Summary = "The replay came to no verdict."
		v.Same(false, "trials", "the search goes on beyond the %d trials that the report lists", len(r.Trials))
		return v, nil
	}
	if err != nil {
		return v, err
	}
	want, err := s.report(end)
	if err == nil {
		compare(&v, r, want, taken...)
	}
	return v, err
}

// failures are the report's warnings about runs that failed, which a replay without those
// runs does not show.
func (r Report) failures(v *engine.Verification) []string {
	said := slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool { return !strings.HasPrefix(w, runsFailed) })
	if len(said) > 0 {
		v.Notes = append(v.Notes, "warnings about runs that failed are as the report has them")
	}
	return said
}

// compare holds the report against the one that the replay makes.
func compare(v *engine.Verification, r, want Report, taken ...string) {
	if r.Termination.Reason == audit.Failed {
		taken = append(taken, "termination.message", "headline", "summary")
		v.Skip("why the run failed is not replayed", "termination.message", "headline", "summary")
	}
	report.Compare(v, &r, &want, taken...)
	if r.Termination.Reason == audit.Failed {
		v.Summary = "Invalid: the run failed." // for a reason that is the report's own word
	}
}

// prepareAgain is evidence whose counts are taken for granted, with what follows from
// the explored ones. What does not follow is chosen: the events of a claim that is no
// curve, which rest on the order of the explored scores.
func (a *Audit) prepareAgain(e Evidence) (again *Evidence, chosen []string, err error) {
	p, err := a.prepare(e.Explored, e.Prepared.Event, e.Prepared.Hedges, e.Prepared.Steps)
	if err != nil {
		return nil, nil, err
	}
	if a.Claim.Kind != audit.Profile {
		chosen = []string{"evidence.prepared.event", "evidence.prepared.hedges"}
	}
	if e.Chart.Plane != nil {
		if err := e.Chart.Plane.fits(audit.Width(a.Columns)); err != nil {
			return nil, nil, err
		}
	}
	e.Chart, e.Prepared = e.Chart.named(a.Columns).bordered(e.Edges, p.Event), p
	return &e, chosen, nil
}

// checkUncertified refuses a report without a second stage that no run of its plan makes.
func checkUncertified(r Report) error {
	reason := r.Termination.Reason
	raced := r.Plan.Mode == UntilRefuted && r.Sequential != nil
	if reason != audit.Stopped && reason != audit.Failed && !raced || r.Evidence != nil && (r.Evidence.Table != nil || r.Plan.Mode == UntilRefuted) {
		return &audit.InputError{Field: "report: termination.reason", Found: fmt.Sprintf("%q", reason), Want: "stopped or failed in a report without counts and results"}
	}
	if !raced {
		return nil
	}
	want := []audit.TerminationReason{audit.Stopped, audit.Failed}
	drawn := r.Sequential.outputs() / 2
	switch {
	case r.Sequential.Refuted:
		want = []audit.TerminationReason{audit.Refuted}
	case drawn == r.Plan.Samples:
		want = []audit.TerminationReason{audit.Completed}
	}
	if !slices.Contains(want, reason) {
		return &audit.InputError{Field: "report: termination.reason", Found: fmt.Sprintf("%q after %d of plan.samples = %d outputs a side", reason, drawn, r.Plan.Samples), Want: fmt.Sprintf("one of %v, as these and whether they refute the claim have it", want)}
	}
	return nil
}

// raceAgain repeats the sequential stage, or takes its counts from the report. It returns
// the fields that it took.
func (s *state) raceAgain(ctx context.Context, v *engine.Verification, r Report, whole bool) ([]string, error) {
	switch {
	case s.epochs == 0: // the run was stopped before the first
		s.raced = &Raced{Pairs: []audit.Pair{}, Epochs: []Epoch{}}
		return nil, nil
	case whole && s.audit.Spec.Unseeded == "":
		return nil, s.race(ctx, s.pool)
	}
	for _, p := range r.Sequential.Pairs {
		if _, err := s.audit.steps(p); err != nil {
			return nil, fmt.Errorf("the report's pairs: %w", err)
		}
	}
	s.raced = r.Sequential
	v.Skip("the counts of the sequential stage are taken from the report; that its bets were fixed before their outputs were drawn is shown only by replaying the whole run", "sequential")
	return []string{"sequential"}, nil
}

// searchAgain repeats exploration and preparation, or takes what they found from the
// report. It returns the fields that it took.
func (s *state) searchAgain(ctx context.Context, v *engine.Verification, r Report, whole bool) ([]string, error) {
	if whole && r.Termination.Reason == audit.Stopped {
		if err := s.explore(ctx); err != nil {
			return nil, err
		}
		return nil, s.prepare(ctx)
	}
	taken := slices.Clone(searched)
	prepared, chosen, err := s.audit.prepareAgain(*r.Evidence)
	if err != nil {
		return nil, err
	}
	taken = append(taken, chosen...)
	v.Skip("taken from the report; that they were chosen before these samples were drawn is shown only by replaying the whole run", append(taken, "evidence.chart")...)
	e := *prepared
	v.Same(chosenTrial(r.Trials, e.Pair) >= 0, "trials", "there is no one chosen trial with the result's pair")
	s.trials, s.prepared = r.Trials, e.Prepared
	s.best = &Explored{Witness: e.Witness, Edges: e.Edges, Event: e.Prepared.Event, Hedges: e.Prepared.Hedges, Table: e.Explored, Learners: e.Learners, Chart: e.Chart}
	if s.bestAt = chosenTrial(r.Trials, e.Pair); s.bestAt < 0 {
		s.trials, s.bestAt = []TrialNote{{Pair: e.Pair}}, 0
	}
	s.start()
	return taken, nil
}

// certifyAgain counts as many outputs as the report does, and bounds what it bounds.
func (s *state) certifyAgain(ctx context.Context, r Report) error {
	whole, part := s.audit, *s.audit
	part.Plan.Samples = r.Evidence.Table.Pairs() // less than planned in a run that ended early
	s.audit = &part
	err := s.certify(ctx)
	s.audit = whole
	if err != nil || !r.bounded() {
		return err
	}
	return s.certificate(ctx)
}

// checkSizes refuses, before anything is replayed, sizes that no run of these
// settings has: a replay does no more than what the report holds took.
func (a *Audit) checkSizes(r Report) error {
	most := r.Plan.Trials
	if r.Plan.Pair != nil {
		most = 1
	}
	n := len(r.Trials)
	if n < 1 && r.Certified() || n > most {
		return &audit.InputError{Field: "report: trials", Found: fmt.Sprintf("%d of them", n), Want: fmt.Sprintf("1 to %d, as plan.trials allows", most)}
	}
	if r.Evidence == nil {
		return nil
	}
	last := r.Plan.lastRound(n)
	if got, want := r.Evidence.Explored.Pairs(), last-last/2; got != want {
		return &audit.InputError{Field: "report: evidence.explored", Found: fmt.Sprintf("of %d pairs", got), Want: fmt.Sprintf("%d, half of the %d outputs of the last round that plan.explore = %d allows", want, last, r.Plan.Explore)}
	}
	if r.Evidence.Table == nil {
		return nil
	}
	return a.checkSamplesUsed(r)
}

// checkSamplesUsed refuses counts that no run of these settings makes: a bound
// for a fixed sample size belongs to a run that drew all of its samples.
func (a *Audit) checkSamplesUsed(r Report) error {
	pairs, n := r.Evidence.Table.Pairs(), r.Plan.Samples
	var want string
	var ok bool
	switch r.Termination.Reason {
	case audit.Completed:
		want, ok = fmt.Sprintf("plan.samples = %d, with a bound, in a run that completed", n), pairs == n && r.bounded()
	case audit.Refuted:
		want, ok = "absent: a run that ends when its claim is refuted certifies nothing", false
	default:
		want, ok = fmt.Sprintf("at most plan.samples = %d, without a bound, in a run that did not complete", n), pairs <= n && !r.bounded()
	}
	if rows := a.shardRows(); ok && pairs%rows != 0 && pairs != n {
		want, ok = fmt.Sprintf("a multiple of %d, as runs are counted in shards", rows), false
	}
	if !ok {
		return &audit.InputError{Field: "report: evidence.table", Found: fmt.Sprintf("of %d pairs, in a run that ended as %q", pairs, r.Termination.Reason), Want: want,
			Remedy: "a bound for a fixed number of samples (plan.samples) does not hold for a run that was ended while looking at it"}
	}
	return nil
}

// bounded reports whether the second stage came to a bound; the sequential one always has
// one.
func (r Report) bounded() bool {
	rows := r.Rows(report.Bounds)
	return len(rows) > 0 && rows[0].LowerBound != nil
}

func chosenTrial(trials []TrialNote, neighbours audit.Pair) int {
	at := -1
	for i, t := range trials {
		if t.Chosen {
			if at >= 0 || !audit.EqualJSON(t.Pair, neighbours) {
				return -1
			}
			at = i
		}
	}
	return at
}
