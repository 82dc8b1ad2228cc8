package onerun

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/report"
)

// Kind, version and schema of a report of one run.
const (
	Kind          = "one-run"
	SchemaVersion = 1
	SchemaName    = "dpscope-one-run-v1.schema.json"
)

// Report is all that came out of an audit in one run, and all that is
// needed to run it again, but for the user's file.
type Report struct {
	Schema        string          `json:"$schema"`
	Kind          string          `json:"kind"`
	SchemaVersion int             `json:"schemaVersion"`
	Generator     audit.Generator `json:"generator"`
	Plan          Plan            `json:"plan"` // every default written out
	Source        source.Note     `json:"source"`
	Evidence      *Evidence       `json:"evidence,omitempty"` // absent in a run that did not complete
	report.Findings
}

// assembleOneRun makes the report of evidence. It is a function of its arguments.
func assemble(a *Audit, ev *Evidence, end audit.Termination, warnings []string) Report {
	p := a.Plan
	c := *p.Claim
	r := Report{Schema: SchemaName, Kind: Kind, SchemaVersion: SchemaVersion, Plan: p, Evidence: ev,
		Source: source.Note{Title: a.Spec.Title, Score: a.Spec.Score, Facts: []audit.FactRow{}}}
	if a.Spec.Facts != nil {
		r.Source.Facts = a.Spec.Facts(a.Setup)
	}
	r.Findings = report.Findings{Methods: []report.Row{}, Confidence: 1 - p.Beta, Ended: end, Reproduce: a.Reproduce(),
		Power: report.MethodPower{Largest: p.guessing().Largest(report.MethodOneRun), Needed: Needed(report.MethodOneRun, usualOfRun, c, p.Beta), Unit: "canaries"},
		Limitations: []string{
			"A lower bound from canaries of one distribution, one score and one rule of guessing. Others may show more; nothing here proves privacy.",
			"The bound is of add-remove: a fair coin of its own put each canary in or left it out. The number of guesses and their sides were fixed before the run, or chosen by canaries that are not guessed; several numbers share the allowed error.",
			"The f-DP bound is of mechanisms whose trade-off is Gaussian; of others it says nothing of epsilon.",
			"Each bound of the table holds with the stated confidence. The largest of several does not, unless it was named before.",
		},
		References: report.OneRunReferences}
	if ev != nil {
		r.Ended.SamplesUsed = p.Canaries
		r.Methods = p.guessing().Rows(ev.Guesses, ev.GDPGuesses)
		pv := p.guessing().PValue(ev.Guesses, c.Epsilon)
		r.PValue = &pv
	}
	r.Conclude(report.MethodOneRun, c)
	r.Warnings = append(r.cautions(), warnings...)
	r.Summary = r.Headline(report.MethodOneRun, p.Promise(), r.from())
	return r
}

func (r Report) from() string {
	return "one run with " + phrase.Grouped(r.Plan.Canaries) + " canaries"
}

// Headline is what the numbers of a report say, whatever its words.
func Headline(r Report) string {
	return r.Headline(report.MethodOneRun, r.Plan.Promise(), r.from())
}

func (r Report) cautions() []string {
	w := []string{}
	if r.Evidence != nil && r.Evidence.Diverged {
		w = append(w, "the run diverged; all scores are the worst there are and the guesses are blind. It counts: to leave it out and run again would bias the bound")
	}
	if r.Power.Largest == 0 {
		w = append(w, Blind(r.Plan.Canaries, *r.Plan.Claim, r.Plan.Beta))
	}
	return w
}

// Blind says why no outcome of a one-run audit shows anything.
func Blind(m int, c audit.Claim, beta float64) string {
	if n := Needed(report.MethodOneRun, usualOfRun, audit.Claim{Delta: c.Delta}, beta); n > m {
		return fmt.Sprintf("no outcome of %s canaries shows anything: at least %s are needed", phrase.Grouped(m), phrase.Grouped(n))
	}
	if c.Delta > 0 {
		return fmt.Sprintf("no outcome shows anything: with %s canaries the guesses are too few, or delta = %s is too large, since %s of them may be told outright", phrase.Grouped(m), phrase.Number(c.Delta), phrase.Number(float64(m)*c.Delta))
	}
	return "no outcome shows anything: the guesses are too few"
}

// Facts are the report's facts in words, the most important first.
func (r Report) Facts() []audit.FactRow {
	var rows report.FactRows
	add := rows.Add
	p := r.Plan
	source.AddSource(&rows, p.Source, p.Parameters, r.Source, p.Promise())
	add("Canaries", "%s, each in by a fair coin; %s", phrase.Grouped(p.Canaries), p.Design)
	if e := r.Evidence; e != nil {
		add("In", "%s of %s", phrase.Grouped(e.In), phrase.Grouped(p.Canaries))
		p.guessing().Facts(add, e.Guesses, e.GDPGuesses, "; the score is the "+r.Source.Score)
		if e.Diverged {
			add("Diverged", "yes")
		}
	}
	r.Findings.Facts(add, *p.Claim)
	if p.Data != "" {
		add("File", "SHA-256 %s", p.Data)
	}
	add("Seed", "%d", p.Seed)
	if t := r.Timing; t.Total > 0 {
		add("Time", "%.2f s", t.Total)
	}
	return rows
}

// Head implements [report.View].
func (r Report) Head() report.Head {
	h := r.Findings.Head()
	h.Subject, h.Generator, h.Claim, h.Promise, h.Seed, h.Beta = r.Plan.Source, r.Generator, *r.Plan.Claim, r.Plan.Promise().String(), r.Plan.Seed, r.Plan.Beta
	return h
}

// Text is the report as plain text for a terminal.
func (r Report) Text() string {
	return r.TextWith(r.Facts(), report.MethodOneRun, r.Plan.Claim.Epsilon)
}

// Reproduce says how to run the audit again.
func (a *Audit) Reproduce() audit.Reproduce {
	p := a.Plan
	otherwise := Plan{Design: a.Spec.OneRun.Designs[0], Beta: 0.05}
	otherwise.Sides, otherwise.Guesses, otherwise.GDPGuesses = p.guessing().Otherwise()
	return source.Again("one-run", settings.Written(Keys(), p, otherwise), a.Spec, a.Setup, p.CSV, p.Data)
}

// ParseReport reads a report of this version; unknown fields are refused.
func ParseReport(data []byte) (Report, error) {
	var r Report
	if err := report.ParseReport(data, Kind, SchemaVersion, &r); err != nil {
		return Report{}, err
	}
	return r, r.check()
}

func (r Report) check() error {
	p := r.Plan
	if p.Claim == nil {
		return &audit.InputError{Field: "report: plan", Found: "incomplete", Want: "the whole plan, with its claim"}
	}
	if err := p.Claim.Validate(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if r.Evidence != nil {
		if err := r.Evidence.check(p); err != nil {
			return fmt.Errorf("report: evidence: %w", err)
		}
	}
	return r.Findings.Check(report.MethodOneRun, *p.Claim)
}

// VerifyOneRun replays a report: with whole it runs the source again, else the
// bounds are computed again from the report's counts. file is the user's file, if
// the audit had one.
func Verify(ctx context.Context, sources []source.Spec, pool *engine.Pool, r Report, file []byte, whole bool) (engine.Verification, error) {
	var v engine.Verification
	if err := r.check(); err != nil {
		return v, err
	}
	if r.Evidence == nil || r.Ended.Reason != audit.Completed {
		return v, &audit.InputError{Field: "report", Found: "without counts", Want: "a report of a run that completed"}
	}
	var want Report
	if whole {
		var err error
		if want, err = (Run{Plan: r.Plan, File: file, Sources: sources, Pool: pool}).Do(ctx); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return v, err
		}
		v.Same(audit.EqualJSON(r.Evidence, want.Evidence), "counts", "the replayed run has other right guesses than the report's")
	} else {
		a, err := r.Plan.Resolve(sources, file)
		if err != nil {
			return v, err
		}
		want = assemble(a, r.Evidence, audit.Termination{Reason: r.Ended.Reason}, nil)
		v.Recomputed = true
		v.Notes = append(v.Notes, "the counts are taken from the report; that a run of this seed gives them is shown only by replaying it whole")
	}
	v.Same(audit.EqualJSON(r.Plan, want.Plan), "plan", "it is not what its own settings resolve to")
	report.CompareFindings(&v, r.Findings, want.Findings, r.Generator, func(f report.Findings) string {
		return f.Headline(report.MethodOneRun, want.Plan.Promise(), want.from())
	})
	v.SameWords(r.Generator, "source in words", r.Source, want.Source)
	want.Evidence, want.Generator, want.Timing, want.Warnings = r.Evidence, r.Generator, r.Timing, report.WithLost(want.Warnings, r.Warnings)
	report.SameWhole(&v, r.Generator, r, want)
	return v, nil
}
