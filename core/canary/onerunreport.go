package canary

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/engine"
)

// Kind, version and schema of a report of one run.
const (
	OneRunKind          = "one-run"
	OneRunSchemaVersion = 1
	OneRunSchemaName    = "dpscope-one-run-v1.schema.json"
)

// OneRunReport is all that came out of an audit in one run, and all that is
// needed to run it again, but for the user's file.
type OneRunReport struct {
	Schema        string          `json:"$schema"`
	Kind          string          `json:"kind"`
	SchemaVersion int             `json:"schemaVersion"`
	Generator     audit.Generator `json:"generator"`
	Plan          OneRunPlan      `json:"plan"` // every default written out
	Source        SourceNote      `json:"source"`
	Evidence      *OneRunEvidence `json:"evidence,omitempty"` // absent in a run that did not complete
	Findings
}

// assembleOneRun makes the report of evidence. It is a function of its arguments.
func assembleOneRun(a *OneRunAudit, ev *OneRunEvidence, end audit.Termination, warnings []string) OneRunReport {
	p := a.Plan
	c := *p.Claim
	r := OneRunReport{Schema: OneRunSchemaName, Kind: OneRunKind, SchemaVersion: OneRunSchemaVersion, Plan: p, Evidence: ev,
		Source: SourceNote{Title: a.Spec.Title, Score: a.Spec.Score, Facts: []audit.FactRow{}}}
	if a.Spec.Facts != nil {
		r.Source.Facts = a.Spec.Facts(a.Setup)
	}
	r.Findings = Findings{Methods: []MethodBound{}, Confidence: 1 - p.Beta, Ended: end, Reproduce: a.Reproduce(),
		Power: MethodPower{Largest: p.guessing().largest(MethodOneRun), Needed: oneRunNeeded(MethodOneRun, usualOfRun, c, p.Beta), Unit: "canaries"},
		Limitations: []string{
			"A lower bound from canaries of one distribution, one score and one rule of guessing. Others may show more; nothing here proves privacy.",
			"The bound is of add-remove: a fair coin of its own put each canary in or left it out. The number of guesses and their sides were fixed before the run, or chosen by canaries that are not guessed; several numbers share the allowed error.",
			"The f-DP bound is of mechanisms whose trade-off is Gaussian; of others it says nothing of epsilon.",
			"Each bound of the table holds with the stated confidence. The largest of several does not, unless it was named before.",
		},
		References: oneRunReferences}
	if ev != nil {
		r.Ended.SamplesUsed = p.Canaries
		r.Methods = p.guessing().rows(ev.Guesses, ev.GDPGuesses)
		pv := p.guessing().pValue(ev.Guesses, c.Epsilon)
		r.PValue = &pv
	}
	r.conclude(MethodOneRun, c)
	r.Warnings = append(r.cautions(), warnings...)
	r.Summary = r.headline(MethodOneRun, p.promise(), r.from())
	return r
}

func (r OneRunReport) from() string {
	return "one run with " + phrase.Grouped(r.Plan.Canaries) + " canaries"
}

// OneRunHeadline is what the numbers of a report say, whatever its words.
func OneRunHeadline(r OneRunReport) string {
	return r.headline(MethodOneRun, r.Plan.promise(), r.from())
}

func (r OneRunReport) cautions() []string {
	w := []string{}
	if r.Evidence != nil && r.Evidence.Diverged {
		w = append(w, "the run diverged; all scores are the worst there are and the guesses are blind. It counts: to leave it out and run again would bias the bound")
	}
	if r.Power.Largest == 0 {
		w = append(w, oneRunBlind(r.Plan.Canaries, *r.Plan.Claim, r.Plan.Beta))
	}
	return w
}

// oneRunBlind says why no outcome of a one-run audit shows anything.
func oneRunBlind(m int, c audit.Claim, beta float64) string {
	if n := oneRunNeeded(MethodOneRun, usualOfRun, audit.Claim{Delta: c.Delta}, beta); n > m {
		return fmt.Sprintf("no outcome of %s canaries shows anything: at least %s are needed", phrase.Grouped(m), phrase.Grouped(n))
	}
	if c.Delta > 0 {
		return fmt.Sprintf("no outcome shows anything: with %s canaries the guesses are too few, or delta = %s is too large, since %s of them may be told outright", phrase.Grouped(m), number(c.Delta), number(float64(m)*c.Delta))
	}
	return "no outcome shows anything: the guesses are too few"
}

// OneRunFacts are the report's facts in words, the most important first.
func OneRunFacts(r OneRunReport) []audit.FactRow {
	var rows factRows
	add := rows.add
	p := r.Plan
	rows.source(p.Source, p.Parameters, r.Source, p.promise())
	add("Canaries", "%s, each in by a fair coin; %s", phrase.Grouped(p.Canaries), p.Design)
	if e := r.Evidence; e != nil {
		add("In", "%s of %s", phrase.Grouped(e.In), phrase.Grouped(p.Canaries))
		p.guessing().facts(add, e.Guesses, e.GDPGuesses, "; the score is the "+r.Source.Score)
		if e.Diverged {
			add("Diverged", "yes")
		}
	}
	r.Findings.facts(add, *p.Claim)
	if p.Data != "" {
		add("File", "SHA-256 %s", p.Data)
	}
	add("Seed", "%d", p.Seed)
	if t := r.Timing; t.Total > 0 {
		add("Time", "%.2f s", t.Total)
	}
	return rows
}

// factRows are facts in words, being gathered.
type factRows []audit.FactRow

func (rows *factRows) add(name, format string, args ...any) {
	*rows = append(*rows, audit.FactRow{Name: name, Value: fmt.Sprintf(format, args...)})
}

// source adds what was audited, and the claim.
func (rows *factRows) source(name string, params audit.Params, note SourceNote, c promise) {
	if len(params) > 0 {
		name += " (" + strings.Join(params.Assignments(), ", ") + ")"
	}
	rows.add("Source", "%s: %s", name, note.Title)
	*rows = append(*rows, note.Facts...)
	rows.add("Claim", "%s", c)
}

// facts are those of all findings.
func (f Findings) facts(add func(name, format string, args ...any), c audit.Claim) {
	if f.LowerBound != nil {
		add("Lower bound", "epsilon >= %s (%s confidence)", phrase.Bound(*f.LowerBound, c.Epsilon), phrase.Percent(f.Confidence))
	}
	if f.PValue != nil {
		add("p-value", "at most %s, of the claim", phrase.PValue(*f.PValue))
	}
	power := fmt.Sprintf("No outcome certifies more than %s.", phrase.Bound(f.Power.Largest, c.Epsilon))
	if f.Power.Needed > 0 {
		power += fmt.Sprintf(" From %s %s on some outcome refutes the claim.", phrase.Grouped(f.Power.Needed), f.Power.Unit)
	}
	add("Power", "%s", power)
}

// OneRunText is the report as plain text for a terminal.
func OneRunText(r OneRunReport) string {
	return r.text(OneRunFacts(r), MethodOneRun, r.Plan.Claim.Epsilon)
}

// ReportKindOf is the kind that a report says it is of; empty where it says none,
// as reports of other commands do.
func ReportKindOf(data []byte) string {
	var head struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(bytes.TrimPrefix(data, []byte("\uFEFF")), &head) != nil {
		return ""
	}
	return head.Kind
}

// parseReport reads a report of this kind and version into r; unknown fields are
// refused.
func parseReport(data []byte, kind string, version int, r any) error {
	data = renamed(bytes.TrimPrefix(data, []byte("\uFEFF")))
	var whole json.RawMessage
	if err := audit.DecodeStrict(data, "report", &whole); err != nil {
		return err
	}
	var head struct {
		Kind          string `json:"kind"`
		SchemaVersion int    `json:"schemaVersion"`
	}
	if json.Unmarshal(data, &head); head.Kind != kind {
		return &audit.InputError{Field: "report: field kind", Found: fmt.Sprintf("%q", head.Kind), Want: fmt.Sprintf("%q", kind), Remedy: "is this a report of another command?"}
	}
	if head.SchemaVersion != version {
		return &audit.InputError{Field: "report: field schemaVersion", Found: fmt.Sprint(head.SchemaVersion), Want: fmt.Sprint(version),
			Remedy: "use the version of dpscope that wrote it"}
	}
	if err := audit.DecodeStrict(data, "report", r); err != nil {
		return err
	}
	// What a report always has must be there: its absence would read as zero.
	back, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var given, full any
	if json.Unmarshal(data, &given) == nil && json.Unmarshal(back, &full) == nil {
		if path := absent(given, full); path != "" {
			return &audit.InputError{Field: "report: field " + strings.TrimPrefix(path, "."), Found: "absent or null", Want: "there, as in every report of this version", Remedy: "run the audit again"}
		}
	}
	return nil
}

// absent is the path of something that full has and given lacks, or has as null.
func absent(given, full any) string {
	switch full := full.(type) {
	case map[string]any:
		object, ok := given.(map[string]any)
		if !ok {
			return "." // decoding has refused it
		}
		for name, x := range full {
			y, there := object[name]
			if !there || y == nil && x != nil {
				return "." + name
			}
			if path := absent(y, x); path != "" {
				return "." + name + path
			}
		}
	case []any:
		list, ok := given.([]any)
		for i, x := range full {
			if !ok || i >= len(list) || list[i] == nil && x != nil {
				return fmt.Sprintf("[%d]", i)
			}
			if path := absent(list[i], x); path != "" {
				return fmt.Sprintf("[%d]%s", i, path)
			}
		}
	}
	return ""
}

// ParseOneRunReport reads a report of this version; unknown fields are refused.
func ParseOneRunReport(data []byte) (OneRunReport, error) {
	var r OneRunReport
	if err := parseReport(data, OneRunKind, OneRunSchemaVersion, &r); err != nil {
		return OneRunReport{}, err
	}
	return r, r.check()
}

func (r OneRunReport) check() error {
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
	return r.Findings.check(MethodOneRun, *p.Claim)
}

// VerifyOneRun replays a report: with whole it runs the source again, else the
// bounds are computed again from the report's counts. file is the user's file, if
// the audit had one.
func VerifyOneRun(ctx context.Context, sources []SourceSpec, pool *engine.Pool, r OneRunReport, file []byte, whole bool) (engine.Verification, error) {
	var v engine.Verification
	if err := r.check(); err != nil {
		return v, err
	}
	if r.Evidence == nil || r.Ended.Reason != audit.Completed {
		return v, &audit.InputError{Field: "report", Found: "without counts", Want: "a report of a run that completed"}
	}
	var want OneRunReport
	if whole {
		var err error
		if want, err = (OneRun{Plan: r.Plan, File: file, Sources: sources, Pool: pool}).Do(ctx); err == nil {
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
		want = assembleOneRun(a, r.Evidence, audit.Termination{Reason: r.Ended.Reason}, nil)
		v.Recomputed = true
		v.Notes = append(v.Notes, "the counts are taken from the report; that a run of this seed gives them is shown only by replaying it whole")
	}
	v.Same(audit.EqualJSON(r.Plan, want.Plan), "plan", "it is not what its own settings resolve to")
	compareFindings(&v, r.Findings, want.Findings, r.Generator, func(f Findings) string { return f.headline(MethodOneRun, want.Plan.promise(), want.from()) })
	v.SameWords(r.Generator, "source in words", r.Source, want.Source)
	want.Evidence, want.Generator, want.Timing, want.Warnings = r.Evidence, r.Generator, r.Timing, withLost(want.Warnings, r.Warnings)
	sameWhole(&v, r.Generator, r, want)
	return v, nil
}
