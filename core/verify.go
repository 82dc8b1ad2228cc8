package core

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Verification is what replaying a report found.
type Verification struct {
	// Summary is the verdict in words as the replay makes it. Show this one,
	// not the report's own.
	Summary     string
	Checked     []string // what was replayed or derived and is the same, in words
	Differences []string // what is not
	Notes       []string // what the replay could not show, and words that another version put otherwise
	// Recomputed: the counts are the report's own, which were not drawn again;
	// only what follows from them was checked.
	Recomputed bool
}

// OK reports whether the replay gave the same.
func (v Verification) OK() bool { return len(v.Differences) == 0 && len(v.Checked) > 0 }

// Tolerances for numbers computed from the same counts on another platform:
// bounds are rounded down to 1e-6 and the power up to 1e-4, and a difference in
// the last bits may cross one such step.
const (
	boundTolerance = 1.5e-6
	powerTolerance = 1.5e-4
)

// Verify replays a report. With whole, it runs the audit again from its plan,
// search and all, and the report must be what comes out. Without, it takes
// pair and witness from the report and certifies them again on the report's
// seed: then everything that follows from the counts is checked, but not that
// the witness was chosen before those samples were drawn. A run that did not
// complete can only be checked in the second way.
func Verify(ctx context.Context, cat Catalogue, pool *Pool, r Report, whole bool) (Verification, error) {
	var v Verification
	if r.SchemaVersion > SchemaVersion {
		return v, &InputError{Field: "report: field schemaVersion", Found: fmt.Sprint(r.SchemaVersion), Want: fmt.Sprintf("at most %d", SchemaVersion),
			Remedy: "verify it with the version of dpscope that wrote it"}
	}
	if len(r.Results) == 0 || r.Evidence == nil || r.Evidence.Table == nil {
		return v, &InputError{Field: "report", Found: fmt.Sprintf("with %d results and no counts", len(r.Results)), Want: "a report of a run that certified",
			Remedy: "a run that ended before certification has nothing to replay"}
	}
	if err := r.check(); err != nil {
		return v, err
	}
	a, err := r.Plan().Resolve(cat)
	if err != nil {
		return v, err
	}
	if err := checkSamplesUsed(r); err != nil {
		return v, err
	}
	if err := a.Plan.Relation.Check(r.Evidence.Pair, a.Domain); err != nil {
		return v, fmt.Errorf("the report's pair: %w", err)
	}
	if a.Spec.Unseeded != "" {
		v.Notes = append(v.Notes, "the counts are the report's own word, as they cannot be drawn again from the seed: "+a.Spec.Unseeded)
		v.Recomputed, whole = true, false
		p, err := a.prepare(r.Evidence.Explored, r.Evidence.Prepared.Event)
		if err != nil {
			return v, err
		}
		v.Same(NearJSON(r.Evidence.Prepared, p), "preparation", "it does not follow from the exploration counts")
	}
	if whole && r.Termination.Reason != Stopped && r.Results[0].LowerBound != nil {
		want, err := Run{Plan: r.Plan(), Catalogue: cat, Pool: pool}.Do(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return v, err
		}
		if want.Evidence == nil || len(want.Results) == 0 {
			return v, fmt.Errorf("the replay ended without a result: %s", want.Summary)
		}
		v.sameSearch(r, want.Trials, want.Surrogate)
		v.Same(NearJSON(r.Evidence.Prepared, want.Evidence.Prepared), "preparation", "the replay prepares other events, witnesses or stakes")
		v.compare(r, want)
		return v, nil
	}
	if whole && r.Termination.Reason == Stopped {
		if err := v.search(ctx, cat, pool, r, a); err != nil {
			return v, err
		}
	} else if a.Spec.Unseeded == "" {
		v.Notes = append(v.Notes, "pair, witness and what was prepared are taken from the report; that they were chosen before these samples were drawn is shown only by replaying the whole run")
	}
	want, err := certifyAgain(ctx, cat, pool, r, a)
	if err != nil {
		return v, err
	}
	v.Same(chosenTrial(r.Trials, r.Evidence.Pair) >= 0, "trials", "there is no one chosen trial with the result's pair")
	v.compare(r, want)
	return v, nil
}

// search repeats exploration and preparation of a run that was stopped.
func (v *Verification) search(ctx context.Context, cat Catalogue, pool *Pool, r Report, a *Audit) error {
	s := &state{Run: Run{Plan: r.Plan(), Catalogue: cat, Pool: pool}, audit: a, pool: pool}
	for _, phase := range []func(context.Context) error{s.explore, s.prepare} {
		if err := phase(ctx); err != nil {
			return err
		}
	}
	e, f := *r.Evidence, *s.evidence()
	v.sameSearch(r, s.trials, s.surrogate)
	v.Same(NearJSON(e.Prepared, f.Prepared), "preparation", "the replay prepares other events, witnesses or stakes")
	v.Same(EqualJSON([]any{e.Pair, e.Witness, e.Edges, e.Explored, e.Learners}, []any{f.Pair, f.Witness, f.Edges, f.Explored, f.Learners}), "exploration", "the replay finds another pair, witness or bins")
	return nil
}

// sameSearch compares trials and the finder's model. A report that says nothing of
// a model was written before reports did, and is held to the rest.
func (v *Verification) sameSearch(r Report, trials []TrialNote, model *SurrogateModel) {
	if r.Surrogate == nil && !slices.ContainsFunc(r.Trials, func(t TrialNote) bool { return t.Predicted != nil }) {
		trials, model = slices.Clone(trials), nil
		for i := range trials {
			trials[i].Predicted = nil
		}
	}
	v.Same(EqualJSON(r.Trials, trials), "search", "the replayed trials differ from the report's")
	if r.Surrogate != nil || model != nil {
		v.Same(EqualJSON(r.Surrogate, model), "the finder's model", "the replay models the trials otherwise")
	}
}

// certifyAgain makes the report that follows from the report's own evidence.
func certifyAgain(ctx context.Context, cat Catalogue, pool *Pool, r Report, a *Audit) (Report, error) {
	e := *r.Evidence
	plan := *a
	plan.Plan.Samples = e.Table.Pairs() // less than planned in a run that ended early
	again := &state{Run: Run{Plan: r.Plan(), Catalogue: cat}, audit: &plan, pool: pool, trials: r.Trials, prepared: e.Prepared,
		best: &Explored{Witness: e.Witness, Edges: e.Edges, Event: e.Prepared.Event, Table: e.Explored, Learners: e.Learners, Chart: e.Chart.named(a.Columns)}}
	if again.bestAt = chosenTrial(r.Trials, e.Pair); again.bestAt < 0 {
		again.trials, again.bestAt = []TrialNote{{Pair: e.Pair}}, 0
	}
	again.start()
	if a.Spec.Unseeded != "" {
		if err := again.recount(e); err != nil {
			return Report{}, err
		}
	} else if err := again.certify(ctx); err != nil {
		return Report{}, err
	}
	again.audit = a
	if r.Results[0].LowerBound != nil {
		if err := again.certificate(ctx); err != nil {
			return Report{}, err
		}
	}
	end := Termination{Reason: r.Termination.Reason, Message: endMessages[r.Termination.Reason]}
	if end.Reason == Failed {
		end.Message = r.Termination.Message
	}
	return again.report(end), nil
}

// recount takes the counts that a report holds, instead of drawing them.
func (s *state) recount(e Evidence) error {
	if e.Table.Bins != s.counted.table.Bins {
		return &InputError{Field: "report: evidence.table", Found: fmt.Sprintf("of %d bins", e.Table.Bins), Want: fmt.Sprint(s.counted.table.Bins)}
	}
	s.counted.rows, s.counted.table = e.Table.Pairs(), *e.Table
	s.counted.chart = [4][]int{e.Chart.First, e.Chart.FirstIn, e.Chart.Second, e.Chart.SecondIn}
	if p := e.Chart.Plane; p != nil {
		if err := p.fits(Width(s.audit.Columns)); err != nil {
			return err
		}
		s.counted.plane = [2][]int{p.First, p.Second}
	}
	return nil
}

// checkSamplesUsed refuses counts that no run of these settings makes: a bound
// for a fixed sample size belongs to a run that drew all of its samples, and an
// anytime run ends early only when it was stopped or refuted its claim.
func checkSamplesUsed(r Report) error {
	pairs, n := r.Evidence.Table.Pairs(), r.Settings.Samples
	var want string
	var ok bool
	switch reason := r.Termination.Reason; {
	case reason == Completed:
		want, ok = fmt.Sprintf("settings.samples = %d in a run that completed", n), pairs == n
	case reason == Refuted:
		want, ok = "part of an anytime run that refuted its claim", r.Settings.Anytime && pairs <= n && r.Verdict == Violation
	case r.Settings.Anytime:
		want, ok = fmt.Sprintf("at most settings.samples = %d", n), pairs <= n
	default:
		want, ok = fmt.Sprintf("at most settings.samples = %d, without a bound, in a run that did not complete", n), pairs <= n && r.Results[0].LowerBound == nil
	}
	if rows := r.Plan().shardRows(); ok && pairs%rows != 0 && pairs != n {
		want, ok = fmt.Sprintf("a multiple of %d, as runs are counted in shards", rows), false
	}
	if ok && reasonHasBound(r) != (r.Results[0].LowerBound != nil) {
		want, ok = "with a bound if and only if the run completed or is anytime-valid", false
	}
	if !ok {
		return &InputError{Field: "report: evidence.table", Found: fmt.Sprintf("of %d pairs, in a run that ended as %q", pairs, r.Termination.Reason), Want: want,
			Remedy: "a bound for a fixed number of samples (settings.samples) does not hold for a run that was ended while looking at it"}
	}
	return nil
}

func reasonHasBound(r Report) bool {
	return r.Termination.Reason == Completed || r.Settings.Anytime && r.Termination.Reason != Failed
}

func chosenTrial(trials []TrialNote, pair Pair) int {
	at := -1
	for i, t := range trials {
		if t.Chosen {
			if at >= 0 || !EqualJSON(t.Pair, pair) {
				return -1
			}
			at = i
		}
	}
	return at
}

// compare holds the report against the one that the replay makes.
func (v *Verification) compare(r, want Report) {
	e, f := *r.Evidence, *want.Evidence
	v.Same(EqualJSON(e.Table, f.Table), "counts", "replayed %d pairs, and they fall into other bins than the report's", f.Table.Pairs())
	if e.Chart.Plane == nil {
		f.Chart.Plane = nil // earlier versions had none
	}
	v.Same(EqualJSON(e.Chart, f.Chart), "chart", "the replayed bins differ from the report's")
	v.Same(EqualJSON([]any{e.Pair, e.Witness, e.Edges, e.Explored, e.Learners}, []any{f.Pair, f.Witness, f.Edges, f.Explored, f.Learners}), "evidence", "the replay finds another pair, witness or bins")
	if len(r.Results) != len(want.Results) {
		v.Same(false, "results", "the replay has %d, the report %d", len(want.Results), len(r.Results))
		return
	}
	if x, y := r.Results[0].LowerBound, want.Results[0].LowerBound; x != nil && y != nil {
		v.Same(Near(*x, *y), "lower bound", "from the replayed counts %v, the report says %v", *y, *x)
	}
	v.Same(NearJSON(words(r.Results, false), words(want.Results, false)), "results", "they do not follow from the settings and the counts")
	v.Same(SamePValue(r.Results[0].PValue, want.Results[0].PValue), "p-value", "it does not follow from the counts")
	v.Same(NearJSON(r.Renyi, want.Renyi), "Rényi curve", "it does not follow from the counts")
	v.Same(NearJSON(r.Tradeoff, want.Tradeoff), "trade-off curve", "it does not follow from the counts")
	v.Same(NearJSON(renamed(r.Published), want.Published), "published forms", "they do not follow from the counts")
	texts := [2][]Finding{words(r.Results, true), words(want.Results, true)}
	// What differs by less than the platforms do is the report's.
	for i := range want.Results {
		if x, y := r.Results[i].LowerBound, want.Results[i].LowerBound; x != nil && y != nil && Near(*x, *y) {
			want.Results[i].LowerBound = x
		}
	}
	if p, q := r.Power, want.Power; p != nil && q != nil && math.Abs(p.LargestBound-q.LargestBound) <= boundTolerance &&
		(p.Smallest == nil) == (q.Smallest == nil) && (p.Smallest == nil || math.Abs(*p.Smallest-*q.Smallest) <= powerTolerance) {
		want.Power = p
	}
	v.Same(r.Verdict == want.Verdict, "verdict", "replayed %q, the report says %q", want.Verdict, r.Verdict)
	want.Summary = Headline(want)
	v.Summary = want.Summary
	if r.Termination.Reason == Failed {
		v.Summary = "Invalid: the run failed." // for a reason that is the report's own word
		v.Notes = append(v.Notes, "why the run failed is not replayed")
	}
	v.SameWarnings(r.Warnings, want.Warnings)
	// Numbers and names follow from the settings and the counts.
	for _, x := range []struct {
		what string
		a, b any
	}{
		{"inputs", r.Inputs, want.Inputs}, {"settings", r.Settings, want.Settings}, {"claim", r.Claim, want.Claim},
		{"power", r.Power, want.Power}, {"termination", r.Termination, want.Termination},
	} {
		v.Same(EqualJSON(x.a, x.b), x.what, "does not follow from the settings and the counts")
	}
	// Words may change from version to version, and only then.
	for _, x := range []struct {
		what string
		a, b any
	}{
		{"summary", r.Summary, want.Summary}, {"results in words", texts[0], texts[1]}, {"command to run again", r.Reproduce, want.Reproduce},
		{"limitations", r.Limitations, want.Limitations}, {"references", r.References, want.References},
	} {
		v.SameWords(r.Generator, x.what, x.a, x.b)
	}
}

// words returns only the words of findings, or all but the words.
func words(fs []Finding, only bool) []Finding {
	out := make([]Finding, len(fs))
	for i, f := range fs {
		w := Finding{ID: f.ID, Quantity: f.Quantity, Assumption: f.Assumption}
		f.Quantity, f.Assumption = "", ""
		if f.Event != nil {
			w.Event = &Event{Words: f.Event.Words}
			f.Event = &Event{Edge: f.Event.Edge, Above: f.Event.Above}
		}
		if out[i] = f; only {
			out[i] = w
		}
	}
	return out
}
