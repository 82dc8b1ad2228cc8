package core

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/dpscope/dpscope/core/bound"
)

// Verification is what replaying a report found.
type Verification struct {
	// Summary is the verdict in words as the replay makes it. Show this one,
	// not the report's own.
	Summary     string
	Checked     []string // what was replayed or derived and is the same, in words
	Differences []string // what is not
	Notes       []string // what the replay could not show, and words that another version put otherwise
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
	if len(r.Results) != 1 || r.Results[0].Counts == nil {
		return v, &InputError{Field: "report", Found: fmt.Sprintf("with %d results and no counts", len(r.Results)), Want: "a report with one result that was certified",
			Remedy: "a run that ended before certification has nothing to replay"}
	}
	a, err := r.Plan().Resolve(cat)
	if err != nil {
		return v, err
	}
	f := r.Results[0]
	if err := checkSamplesUsed(r, f); err != nil {
		return v, err
	}
	if err := a.Plan.Relation.Check(f.Pair, a.Domain); err != nil {
		return v, fmt.Errorf("the report's pair: %w", err)
	}
	if whole && f.LowerBound != nil {
		want, err := Run{Plan: r.Plan(), Catalogue: cat, Pool: pool}.Do(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return v, err
		}
		v.same(equalJSON(r.Trials, want.Trials), "search", "the replayed trials differ from the report's")
		v.compare(r, want)
		return v, nil
	}
	v.Notes = append(v.Notes, "pair and witness are taken from the report; that they were chosen before these samples were drawn is shown only by replaying the whole run")
	want, err := certifyAgain(ctx, cat, pool, r, a)
	if err != nil {
		return v, err
	}
	v.same(chosenTrial(r.Trials, f.Pair) >= 0, "trials", "there is no one chosen trial with the result's pair")
	v.compare(r, want)
	return v, nil
}

// certifyAgain makes the report that follows from the report's own witness and
// pair.
func certifyAgain(ctx context.Context, cat Catalogue, pool *Pool, r Report, a *Audit) (Report, error) {
	f := r.Results[0]
	plan := a.Plan
	plan.Samples = f.Counts.N1 // less than planned in a run that was stopped
	results, err := pool.Do(ctx, certifyTasks(plan, f.Pair, f.Witness, f.Chart), Events{})
	if err != nil {
		return Report{}, err
	}
	again := &state{Run: Run{Plan: r.Plan(), Catalogue: cat}, audit: a, trials: r.Trials, counted: mergeShards(results),
		best: &Explored{Witness: f.Witness, Reversed: f.Direction == SecondOverFirst, Counts: f.Explored, Learners: f.Learners, Chart: f.Chart}}
	if again.bestAt = chosenTrial(r.Trials, f.Pair); again.bestAt < 0 {
		again.trials, again.bestAt = []TrialNote{{Pair: f.Pair}}, 0
	}
	if f.LowerBound != nil {
		again.pool = pool
		if err := again.certificate(ctx); err != nil {
			return Report{}, err
		}
	}
	return again.report(Termination{Reason: r.Termination.Reason, Message: r.Termination.Message}), nil
}

// checkSamplesUsed refuses counts that no run of these settings makes: a bound
// belongs to a run that drew all of its samples, anything else was stopped.
func checkSamplesUsed(r Report, f Finding) error {
	c, n := f.Counts, r.Settings.Samples
	want := fmt.Sprintf("settings.samples = %d on both datasets, as the report has a bound", n)
	ok := c.N1 == c.N0 && c.N1 == n && r.Termination.Reason == Completed
	if f.LowerBound == nil {
		want = fmt.Sprintf("at most settings.samples = %d on both datasets, in a run that did not complete", n)
		ok = c.N1 == c.N0 && c.N1 <= n && r.Termination.Reason != Completed
	}
	if !ok {
		return &InputError{Field: "report: results[0].counts", Found: fmt.Sprintf("of %d and %d outputs, in a run that %s", c.N1, c.N0, r.Termination.Reason), Want: want,
			Remedy: "a bound for a fixed number of samples does not hold for a run that was ended while looking at it"}
	}
	return nil
}

func chosenTrial(trials []TrialNote, pair Pair) int {
	at := -1
	for i, t := range trials {
		if t.Chosen {
			if at >= 0 || !equalJSON(t.Pair, pair) {
				return -1
			}
			at = i
		}
	}
	return at
}

func (v *Verification) same(ok bool, what, format string, args ...any) {
	if ok {
		v.Checked = append(v.Checked, what)
		return
	}
	v.Differences = append(v.Differences, what+": "+fmt.Sprintf(format, args...))
}

// compare holds the report against the one that the replay makes.
func (v *Verification) compare(r, want Report) {
	f, g := r.Results[0], &want.Results[0]
	v.same(*f.Counts == *g.Counts, "counts", "replayed %s, the report says %s", countWords(*g.Counts), countWords(*f.Counts))
	v.same(equalJSON(f.Chart, g.Chart), "chart", "the replayed bins differ from the report's")
	if f.LowerBound != nil {
		ok := math.Abs(*f.LowerBound-*g.LowerBound) <= boundTolerance
		v.same(ok, "lower bound", "from the replayed counts %v, the report says %v", *g.LowerBound, *f.LowerBound)
		if ok {
			*g.LowerBound = *f.LowerBound
		}
	}
	if p, q := r.Power, want.Power; p != nil && q != nil && math.Abs(p.LargestBound-q.LargestBound) <= boundTolerance &&
		(p.SmallestEpsilon == nil) == (q.SmallestEpsilon == nil) && (p.SmallestEpsilon == nil || math.Abs(*p.SmallestEpsilon-*q.SmallestEpsilon) <= powerTolerance) {
		want.Power = p
	}
	v.same(r.Verdict == want.Verdict, "verdict", "replayed %q, the report says %q", want.Verdict, r.Verdict)
	want.Summary = Headline(want)
	v.Summary = want.Summary
	// Numbers and names follow from the settings and the counts.
	words := [2]string{f.Event, g.Event}
	f.Event, g.Event = "", ""
	for _, x := range []struct {
		what string
		a, b any
	}{
		{"result", f, *g}, {"inputs", r.Inputs, want.Inputs}, {"settings", r.Settings, want.Settings}, {"claim", r.Claim, want.Claim},
		{"power", r.Power, want.Power}, {"termination", r.Termination, want.Termination},
	} {
		v.same(equalJSON(x.a, x.b), x.what, "does not follow from the settings and the counts")
	}
	// Words may change from version to version, and only then.
	for _, x := range []struct {
		what string
		a, b any
	}{
		{"summary", r.Summary, want.Summary}, {"event in words", words[0], words[1]}, {"command to run again", r.Reproduce, want.Reproduce},
		{"limitations", r.Limitations, want.Limitations}, {"references", r.References, want.References},
	} {
		version, _, _ := strings.Cut(r.Generator.Version, "+")
		if !equalJSON(x.a, x.b) && version != Version {
			v.Notes = append(v.Notes, fmt.Sprintf("%s: version %s put it otherwise than this one", x.what, version))
			continue
		}
		v.same(equalJSON(x.a, x.b), x.what, "the report does not say what its numbers say")
	}
}

// equalJSON compares two values by their JSON; what has none is not equal.
func equalJSON(a, b any) bool {
	x, errX := Canonical(a)
	y, errY := Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func countWords(c bound.Counts) string {
	return fmt.Sprintf("%d of %d against %d of %d", c.X, c.N1, c.Y, c.N0)
}
