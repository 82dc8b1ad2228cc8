package pair

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
)

// Verify replays a report. With whole, it runs the audit again from its plan,
// search and all, and the report must be what comes out. Without, it takes
// pair and witness from the report and certifies them again on the report's
// seed: then everything that follows from the counts is checked, but not that
// the witness was chosen before those samples were drawn. A run that did not
// complete can only be checked in the second way.
func Verify(ctx context.Context, cat audit.Catalogue, pool *engine.Pool, r Report, whole bool) (engine.Verification, error) {
	var v verifier
	if r.SchemaVersion > SchemaVersion {
		return v.Verification, &audit.InputError{Field: "report: field schemaVersion", Found: fmt.Sprint(r.SchemaVersion), Want: fmt.Sprintf("at most %d", SchemaVersion),
			Remedy: "verify it with the version of dpscope that wrote it"}
	}
	if len(r.Results) == 0 || r.Evidence == nil || r.Evidence.Table == nil {
		return v.Verification, &audit.InputError{Field: "report", Found: fmt.Sprintf("with %d results and no counts", len(r.Results)), Want: "a report of a run that certified",
			Remedy: "a run that ended before certification has nothing to replay"}
	}
	if err := r.check(); err != nil {
		return v.Verification, err
	}
	a, err := r.Plan().Resolve(cat)
	if err != nil {
		return v.Verification, err
	}
	if err := checkSizes(r); err != nil {
		return v.Verification, err
	}
	if err := a.Plan.Relation.Check(r.Evidence.Pair, a.Domain); err != nil {
		return v.Verification, fmt.Errorf("the report's pair: %w", err)
	}
	if a.Spec.Unseeded != "" {
		v.Skip("the counts are the report's own word, as they cannot be drawn again from the seed: "+a.Spec.Unseeded, slices.Concat(searched, []string{"evidence.table"})...)
		v.Recomputed, whole = true, false
		p, err := a.prepare(r.Evidence.Explored, r.Evidence.Prepared.Event)
		if err != nil {
			return v.Verification, err
		}
		v.samePrepared(*r.Evidence, p)
	}
	if whole && r.Termination.Reason != audit.Stopped && r.Results[0].LowerBound != nil {
		want, err := Run{Plan: r.Plan(), Catalogue: cat, Pool: pool, mostTrials: len(r.Trials)}.Do(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if errors.Is(err, errMoreTrials) {
			return v.moreTrials(r), nil
		}
		if err != nil {
			return v.Verification, err
		}
		if want.Evidence == nil || len(want.Results) == 0 {
			return v.Verification, fmt.Errorf("the replay ended without a result: %s", want.Summary)
		}
		v.sameSearch(r, want.Trials, want.Surrogate)
		v.samePrepared(*r.Evidence, want.Evidence.Prepared)
		v.compare(r, want)
		return v.Verification, nil
	}
	if whole && r.Termination.Reason == audit.Stopped {
		err := v.search(ctx, cat, pool, r, a)
		if errors.Is(err, errMoreTrials) {
			return v.moreTrials(r), nil
		}
		if err != nil {
			return v.Verification, err
		}
	} else if a.Spec.Unseeded == "" {
		v.Skip("taken from the report; that they were chosen before these samples were drawn is shown only by replaying the whole run", slices.Concat(searched, []string{"evidence.prepared"})...)
	}
	want, err := certifyAgain(ctx, cat, pool, r, a)
	if err != nil {
		return v.Verification, err
	}
	v.Same(chosenTrial(r.Trials, r.Evidence.Pair) >= 0, "trials", "there is no one chosen trial with the result's pair")
	v.compare(r, want)
	return v.Verification, nil
}

// searched are the fields that exploration makes.
var searched = []string{"trials", "surrogate", "evidence.pair", "evidence.witness", "evidence.learners", "evidence.edges", "evidence.explored", "evidence.chart"}

// errMoreTrials ends a replay that tries more pairs than the report lists.
var errMoreTrials = errors.New("the search goes on beyond the trials that the report lists")

func (v verifier) moreTrials(r Report) engine.Verification {
	v.Summary = "The replay came to no verdict."
	v.Same(false, "search", "it goes on beyond the %d trials that the report lists", len(r.Trials))
	return v.Verification
}

// verifier compares a report of an audit of a pair with its replay.
type verifier struct{ engine.Verification }

// search repeats exploration and preparation of a run that was stopped.
func (v *verifier) search(ctx context.Context, cat audit.Catalogue, pool *engine.Pool, r Report, a *Audit) error {
	s := &state{Run: Run{Plan: r.Plan(), Catalogue: cat, Pool: pool, mostTrials: len(r.Trials)}, audit: a, pool: pool}
	for _, phase := range []func(context.Context) error{s.explore, s.prepare} {
		if err := phase(ctx); err != nil {
			return err
		}
	}
	e, f := *r.Evidence, *s.evidence()
	v.sameSearch(r, s.trials, s.surrogate)
	v.samePrepared(e, f.Prepared)
	e.Table, e.Prepared, e.Chart, f.Table, f.Prepared, f.Chart = nil, Prepared{}, shown(e), nil, Prepared{}, shown(f)
	if v.Older(r.Generator, e.Chart.Plane == nil && f.Chart.Plane != nil, "evidence.chart.plane") {
		f.Chart.Plane = nil
	}
	v.Same(audit.EqualJSON(e, f), "exploration", "the replay finds another pair, witness, bins or chart")
	return nil
}

// shown is what a chart was to show before anything was counted.
func shown(e Evidence) Chart {
	ch := e.Chart.with([4][]int{}, [2][]int{})
	ch.Axis, ch.Labels = "", nil // words are compared with the counts
	return ch
}

// sameSearch compares trials and the finder's model.
func (v *verifier) sameSearch(r Report, trials []TrialNote, model *audit.SurrogateModel) {
	predicted := slices.ContainsFunc(r.Trials, func(t TrialNote) bool { return t.Predicted != nil })
	if v.Older(r.Generator, r.Surrogate == nil && !predicted && model != nil, "surrogate") {
		trials, model = slices.Clone(trials), nil
		for i := range trials {
			trials[i].Predicted = nil
		}
	}
	v.Same(audit.EqualJSON(r.Trials, trials), "search", "the replayed trials differ from the report's")
	if r.Surrogate != nil || model != nil {
		v.Same(audit.EqualJSON(r.Surrogate, model), "the finder's model", "the replay models the trials otherwise")
	}
}

func (v *verifier) samePrepared(e Evidence, want Prepared) {
	v.Same(audit.NearJSONBy(e.Prepared, want, audit.NearRatio), "preparation", "the replay prepares other events, witnesses or stakes")
}

// certifyAgain makes the report that follows from the report's own evidence.
func certifyAgain(ctx context.Context, cat audit.Catalogue, pool *engine.Pool, r Report, a *Audit) (Report, error) {
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
	end := audit.Termination{Reason: r.Termination.Reason, Message: endMessages[r.Termination.Reason]}
	if end.Reason == audit.Failed {
		end.Message = r.Termination.Message
	}
	return again.report(end), nil
}

// recount takes the counts that a report holds, instead of drawing them.
func (s *state) recount(e Evidence) error {
	if e.Table.Bins != s.counted.table.Bins {
		return &audit.InputError{Field: "report: evidence.table", Found: fmt.Sprintf("of %d bins", e.Table.Bins), Want: fmt.Sprint(s.counted.table.Bins)}
	}
	s.counted.rows, s.counted.table = e.Table.Pairs(), *e.Table
	s.counted.chart = [4][]int{e.Chart.First, e.Chart.FirstIn, e.Chart.Second, e.Chart.SecondIn}
	if p := e.Chart.Plane; p != nil {
		if err := p.fits(audit.Width(s.audit.Columns)); err != nil {
			return err
		}
		s.counted.plane = [2][]int{p.First, p.Second}
	}
	return nil
}

// checkSizes refuses, before anything is replayed, sizes that no run of these
// settings has: a replay does no more than what the report holds took.
func checkSizes(r Report) error {
	most := r.Settings.Trials
	if r.Settings.Pair != nil {
		most = 1
	}
	if n := len(r.Trials); n < 1 || n > most {
		return &audit.InputError{Field: "report: trials", Found: fmt.Sprintf("%d of them", n), Want: fmt.Sprintf("1 to %d, as settings.trials allows", most)}
	}
	if got, want := r.Evidence.Explored.Pairs(), r.Settings.Explore-r.Settings.Explore/2; got != want {
		return &audit.InputError{Field: "report: evidence.explored", Found: fmt.Sprintf("of %d pairs", got), Want: fmt.Sprintf("%d, half of settings.explore = %d", want, r.Settings.Explore)}
	}
	return checkSamplesUsed(r)
}

// checkSamplesUsed refuses counts that no run of these settings makes: a bound
// for a fixed sample size belongs to a run that drew all of its samples, and an
// anytime run ends early only when it was stopped or refuted its claim.
func checkSamplesUsed(r Report) error {
	pairs, n := r.Evidence.Table.Pairs(), r.Settings.Samples
	var want string
	var ok bool
	switch reason := r.Termination.Reason; {
	case reason == audit.Completed:
		want, ok = fmt.Sprintf("settings.samples = %d in a run that completed", n), pairs == n
	case reason == audit.Refuted:
		want, ok = "part of an anytime run that refuted its claim", r.Settings.Anytime && pairs <= n && r.Verdict == audit.Violation
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
		return &audit.InputError{Field: "report: evidence.table", Found: fmt.Sprintf("of %d pairs, in a run that ended as %q", pairs, r.Termination.Reason), Want: want,
			Remedy: "a bound for a fixed number of samples (settings.samples) does not hold for a run that was ended while looking at it"}
	}
	return nil
}

func reasonHasBound(r Report) bool {
	return r.Termination.Reason == audit.Completed || r.Settings.Anytime && r.Termination.Reason != audit.Failed
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

// compare holds the report against the one that the replay makes. What it does
// not name is compared last, so that nothing is left out.
func (v *verifier) compare(r, want Report) {
	e, f := *r.Evidence, *want.Evidence
	v.Same(audit.EqualJSON(e.Table, f.Table), "counts", "replayed %d pairs, and they fall into other bins than the report's", f.Table.Pairs())
	if v.Older(r.Generator, e.Chart.Plane == nil && f.Chart.Plane != nil, "evidence.chart.plane") {
		f.Chart.Plane = nil
	}
	v.Same(audit.EqualJSON(e.Chart, f.Chart), "chart", "the replayed bins differ from the report's")
	e.Table, e.Chart, e.Prepared = f.Table, f.Chart, f.Prepared // preparation was compared
	v.Same(audit.EqualJSON(e, f), "evidence", "the replay finds another pair, witness or bins")
	if len(r.Results) != len(want.Results) {
		v.Same(false, "results", "the replay has %d, the report %d", len(want.Results), len(r.Results))
		return
	}
	if x, y := r.Results[0].LowerBound, want.Results[0].LowerBound; x != nil && y != nil {
		v.Same(audit.Near(*x, *y), "lower bound", "from the replayed counts %v, the report says %v", *y, *x)
	}
	r.Published = renamed(r.Published)
	settle(r, want)
	v.Same(audit.EqualJSON(words(r.Results, false), words(want.Results, false)), "results", "they do not follow from the settings and the counts")
	v.Same(audit.SamePValue(r.Results[0].PValue, want.Results[0].PValue), "p-value", "it does not follow from the counts")
	v.Same(audit.EqualJSON(r.Renyi, want.Renyi), "Rényi curve", "it does not follow from the counts")
	v.Same(audit.NearJSONBy(r.Tradeoff, want.Tradeoff, audit.NearShare), "trade-off curve", "it does not follow from the counts")
	v.Same(audit.EqualJSON(r.Published, want.Published), "published forms", "they do not follow from the counts")
	v.frame(r, want)
}

// VerifyEnded checks a report of a run that ended before it certified anything:
// against what follows from its settings, as there is nothing to replay.
func VerifyEnded(cat audit.Catalogue, r Report) (engine.Verification, error) {
	var v verifier
	if r.Termination.Reason != audit.Stopped && r.Termination.Reason != audit.Failed || r.Evidence != nil && r.Evidence.Table != nil {
		return v.Verification, &audit.InputError{Field: "report: termination.reason", Found: fmt.Sprintf("%q", r.Termination.Reason), Want: "stopped or failed in a report without counts"}
	}
	for _, f := range r.Results {
		if f.LowerBound != nil {
			return v.Verification, &audit.InputError{Field: "report: results", Found: "with a lower bound", Want: "without, as there are no counts"}
		}
	}
	a, err := r.Plan().Resolve(cat)
	if err != nil {
		return v.Verification, err
	}
	want := (&state{Run: Run{Plan: r.Plan(), Catalogue: cat}, audit: a, trials: r.Trials}).report(audit.Termination{Reason: r.Termination.Reason, Message: endMessages[r.Termination.Reason]})
	if r.Termination.Reason == audit.Failed {
		want.Termination.Message = r.Termination.Message
	}
	want.Evidence, want.Results, want.Surrogate, want.References = r.Evidence, r.Results, r.Surrogate, r.References
	v.Skip("the run ended before certification, so there is nothing to replay", "trials", "surrogate", "evidence", "results", "references")
	v.Same(len(r.Renyi)+len(r.Tradeoff)+len(r.Published) == 0, "bounds", "there are some, without counts")
	v.frame(r, want)
	return v.Verification, nil
}

// frame compares what stands around the findings.
func (v *verifier) frame(r, want Report) {
	if p, q := r.Power, want.Power; p != nil && q != nil && math.Abs(p.LargestBound-q.LargestBound) <= audit.BoundTolerance &&
		(p.Smallest == nil) == (q.Smallest == nil) && (p.Smallest == nil || math.Abs(*p.Smallest-*q.Smallest) <= audit.PowerTolerance) {
		want.Power = p
	}
	v.Same(r.Verdict == want.Verdict, "verdict", "replayed %q, the report says %q", want.Verdict, r.Verdict)
	want.Summary = Headline(want)
	v.Summary = want.Summary
	if r.Termination.Reason == audit.Failed {
		v.Summary = "Invalid: the run failed." // for a reason that is the report's own word
		v.Skip("why the run failed is not replayed", "termination.message", "summary")
		want.Summary = r.Summary
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
		v.Same(audit.EqualJSON(x.a, x.b), x.what, "does not follow from the settings and the counts")
	}
	// Words may change from version to version, and only then.
	for _, x := range []struct {
		what string
		a, b any
	}{
		{"summary", r.Summary, want.Summary}, {"results in words", words(r.Results, true), words(want.Results, true)}, {"command to run again", r.Reproduce, want.Reproduce},
		{"limitations", r.Limitations, want.Limitations}, {"references", r.References, want.References},
	} {
		v.SameWords(r.Generator, x.what, x.a, x.b)
	}
	v.Skip("the report's own word", "generator", "timing")
	rest := r
	rest.Generator, rest.Inputs, rest.Claim, rest.Settings, rest.Evidence = want.Generator, want.Inputs, want.Claim, want.Settings, want.Evidence
	rest.Results, rest.Renyi, rest.Tradeoff, rest.Published, rest.Power = want.Results, want.Renyi, want.Tradeoff, want.Published, want.Power
	rest.Trials, rest.Surrogate, rest.Verdict, rest.Summary = want.Trials, want.Surrogate, want.Verdict, want.Summary
	if r.Warnings != nil { // a list, be it empty
		rest.Warnings = want.Warnings
	}
	rest.Termination, rest.Timing, rest.Reproduce, rest.Limitations, rest.References = want.Termination, want.Timing, want.Reproduce, want.Limitations, want.References
	v.Same(audit.EqualJSON(rest, want), "schema", "it is not %s of version %d", want.Schema, want.SchemaVersion)
}

// settle gives the replay the report's numbers where they differ by less than
// platforms do.
func settle(r, want Report) {
	near := func(same func(x, y float64) bool, x, y *float64) *float64 {
		if x != nil && y != nil && same(*x, *y) {
			return x
		}
		return y
	}
	for i, f := range r.Results {
		w := &want.Results[i]
		step := audit.Near
		if f.ID == Delta {
			step = audit.NearDelta
		}
		w.LowerBound, w.Estimate = near(step, f.LowerBound, w.LowerBound), near(audit.NearRatio, f.Estimate, w.Estimate)
		w.PValue = near(func(x, y float64) bool { return audit.SamePValue(&x, &y) }, f.PValue, w.PValue)
		w.Split = *near(audit.NearRatio, &f.Split, &w.Split)
	}
	for i := range min(len(r.Renyi), len(want.Renyi)) {
		x, w := r.Renyi[i], &want.Renyi[i]
		w.Lower, w.Estimate = *near(audit.Near, &x.Lower, &w.Lower), *near(audit.NearRatio, &x.Estimate, &w.Estimate)
	}
	for i := range min(len(r.Published), len(want.Published)) {
		w := &want.Published[i]
		w.Value = *near(audit.Near, &r.Published[i].Value, &w.Value)
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
