package suite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

const (
	ReportKind       = "plan-report"
	ReportSchemaName = "dpscope-plan-report-v1.schema.json"
)

// Report is the reports of a plan's audits. Each of them reproduces alone.
type Report struct {
	Schema        string          `json:"$schema"`
	Kind          string          `json:"kind"`
	SchemaVersion int             `json:"schemaVersion"`
	Generator     audit.Generator `json:"generator"`
	Plan          Note            `json:"plan"`
	Audits        []Audited       `json:"audits"`
	Verdict       audit.Verdict   `json:"verdict"` // the worst of the audits'
	Summary       string          `json:"summary"`
}

// Note says which plan it was.
type Note struct {
	SHA256 string   `json:"sha256"` // of the plan file
	Seed   uint64   `json:"seed"`
	Beta   float64  `json:"beta"`  // of all audits together
	Share  float64  `json:"share"` // of each
	Names  []string `json:"names"` // all audits of the plan; fewer may have run
}

// Audited is the report of one audit.
type Audited struct {
	Name   string      `json:"name"`
	Report report.View `json:"report"` // of any kind, see [core.ParseReport]
}

func (a *Audited) UnmarshalJSON(data []byte) error {
	var raw struct {
		Name   string          `json:"name"`
		Report json.RawMessage `json:"report"`
	}
	err := audit.DecodeStrict(data, "report: audit", &raw)
	if err == nil {
		a.Name = raw.Name
		a.Report, err = core.ParseReport(raw.Report)
	}
	return audit.Of("audit "+raw.Name, err)
}

// NewReport puts reports together.
func NewReport(f *File, g audit.Generator, audits []Audited) Report {
	r := Report{Schema: ReportSchemaName, Kind: ReportKind, SchemaVersion: report.SchemaVersion, Generator: g, Audits: audits,
		Plan: Note{SHA256: f.SHA256, Seed: *f.Seed, Beta: f.Beta, Share: Share(f.Beta, len(f.Audits)), Names: f.Names()}}
	r.Verdict, r.Summary = verdict(audits), r.words()
	return r
}

// verdict is the worst: a failed run takes no evidence of a violation away.
func verdict(audits []Audited) audit.Verdict {
	for _, v := range []audit.Verdict{audit.Violation, audit.Invalid, audit.Inconclusive} {
		if slices.ContainsFunc(audits, func(a Audited) bool { return a.Report.Head().Verdict == v }) {
			return v
		}
	}
	return audit.NoViolation
}

func (r Report) words() string {
	k, n := len(r.Plan.Names), len(r.Audits)
	var parts []string
	for _, x := range []struct {
		verdict   audit.Verdict
		one, more string
	}{{audit.Violation, "violation", "violations"}, {audit.NoViolation, "with no violation found", "with no violation found"}, {audit.Inconclusive, "inconclusive", "inconclusive"}, {audit.Invalid, "failed", "failed"}} {
		var names []string
		for _, a := range r.Audits {
			if a.Report.Head().Verdict == x.verdict {
				names = append(names, a.Name)
			}
		}
		if n := len(names); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", n, audit.Pick(n == 1, x.one, x.more), strings.Join(names, ", ")))
		}
	}
	count := phrase.Count(n, "audit") + audit.Pick(n < k, fmt.Sprintf(" of %d in the plan", k), "")
	return fmt.Sprintf("%s: %s. The probability that any of the plan's %d bounds is above the truth, and hence of any false alarm, is at most %g: %s confidence for all of them together, %s for each.",
		count, strings.Join(parts, ", "), k, r.Plan.Beta, phrase.Percent(1-r.Plan.Beta), phrase.Percent(1-r.Plan.Share))
}

// AuditsIn reads a report of any kind: a plan's audits and whole report, or one without a name.
func AuditsIn(data []byte) (all []Audited, whole *Report, err error) {
	if report.KindOf(data) != ReportKind {
		r, err := core.ParseReport(data)
		return []Audited{{Report: r}}, nil, err
	}
	r, err := ParseReport(data)
	return r.Audits, &r, err
}

// ParseReport reads the report of a plan; unknown fields are refused.
func ParseReport(data []byte) (Report, error) {
	return report.Read(data, ReportKind, Report.check)
}

func (r Report) check() error {
	n, planned := len(r.Audits), len(r.Plan.Names)
	err := audit.Require(n > 0 && planned > 0 && planned <= MaxAudits, "report: audits", fmt.Sprintf("%d of a plan of %d", n, planned), "at least one")
	last := -1
	for i, a := range r.Audits {
		at := slices.Index(r.Plan.Names, a.Name)
		err = audit.First(err, audit.Require(at > last, fmt.Sprintf("report: audits[%d].name", i), fmt.Sprintf("%q", a.Name), "one of the plan's names, once and in their order"))
		last = at
	}
	return err
}

// Verify checks what the report says of all audits together, against the plan unless f is nil; replays check each.
func (r Report) Verify(f *File) engine.Verification {
	worst := verdict(r.Audits)
	v := engine.Verification{Summary: r.words()}
	v.Same(r.Plan.Share == Share(r.Plan.Beta, len(r.Plan.Names)), "share of the error", "%g is not that of %d audits of %g", r.Plan.Share, len(r.Plan.Names), r.Plan.Beta)
	for _, a := range r.Audits {
		beta, seed := a.Report.Chance()
		v.Same(beta == r.Plan.Share && seed == Seed(r.Plan.Seed, a.Name), "error and seed of "+a.Name, "they are not what the plan gives it")
	}
	v.Same(r.Verdict == worst, "verdict of all", "%q, where the audits say %q", r.Verdict, worst)
	v.Same(r.Summary == v.Summary, "summary of all", "the report's words do not follow from its numbers")
	v.Same(r.Schema == ReportSchemaName, "schema", "it is not %s", ReportSchemaName)
	v.Skip("only the report says it", "generator")
	if f == nil {
		v.Skip("whether these are the plan's audits can be checked only with the plan: -plan FILE", "plan.sha256", "plan.names")
		return v
	}
	v.Same(r.Plan.SHA256 == f.SHA256, "plan", "the report is of a plan with SHA-256 %s, this one has %s", r.Plan.SHA256, f.SHA256)
	want := NewReport(f, r.Generator, r.Audits).Plan
	v.Same(audit.EqualJSON(r.Plan, want), "names, seed and error of the plan", "the plan says otherwise")
	return v
}
