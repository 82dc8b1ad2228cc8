package scores

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// PlanVersion is that of a plan's JSON form, and of its statistics.
const PlanVersion = 1

// Plan says how scores are audited. Zero values mean defaults.
type Plan struct {
	Version int          `json:"version"`
	Claim   *audit.Claim `json:"claim,omitempty"`
	// DeltaDefaulted: the claim named no delta and has DefaultDelta.
	DeltaDefaulted bool `json:"deltaDefaulted,omitempty"`
	// Relation is add-remove or replace. No default: scores do not tell.
	Relation audit.Relation `json:"relation"`
	recorded.ScoreColumns
	// Method is whose bound the verdict is by: named before, since the largest of all has no confidence.
	// Default: one-run, of a matrix paired-betting; without runs none under replace.
	Method report.Method `json:"method,omitempty"`
	// Guesses; sides by default are chosen, or both where numbers are given.
	membership.GuessPlan
	Data []string `json:"data,omitempty"` // SHA-256 of the files
	Beta float64  `json:"beta,omitempty"` // default 0.05
	Seed uint64   `json:"seed"`           // of the split, the pairing and the order of ties
}

func (p Plan) statedClaim() report.StatedClaim {
	return report.StatedClaim{Claim: *p.Claim, Relation: p.Relation, Defaulted: p.DeltaDefaulted}
}

func (p Plan) rule() membership.Rule {
	return membership.Rule{Usual: membership.UsualOfScores, Claim: *p.Claim, Beta: p.Beta}
}

func (p Plan) guessing(h Shape) membership.Guessing {
	return membership.Guessing{GuessPlan: p.GuessPlan, M: h.In + h.Out, Rule: p.rule()}
}

// ParsePlan reads a plan from JSON; unknown fields are refused.
func ParsePlan(data []byte) (Plan, error) {
	var p Plan
	err := audit.DecodeStrict(data, "scores plan", &p)
	report.ReadDefaultDelta(data, p.Claim, &p.DeltaDefaulted)
	return p, err
}

// FlatMethods are the methods for scores without runs, the default first.
func FlatMethods() []report.Method {
	return []report.Method{report.MethodOneRun, report.MethodOneRunGDP, report.MethodExact, report.MethodClopperPearson, report.MethodPaired, report.MethodGaussian}
}

// MatrixMethods are the methods for a matrix of runs by canaries, the default first.
func MatrixMethods() []report.Method {
	intervals := audit.Each(bounds.CanaryIntervals(), func(kind bounds.CanaryInterval) report.Method { return report.Method(kind) })
	return append(intervals, report.MethodOneRun, report.MethodOneRunGDP)
}

func (s Shape) methods() []report.Method {
	return audit.Pick(s.Runs > 0, MatrixMethods(), FlatMethods())
}

// byCoins reports whether a method is of one run, with canaries in or out by coins.
func byCoins(m report.Method) bool { return m == report.MethodOneRun || m == report.MethodOneRunGDP }

const mostScores = 2 * bounds.MostScores

func (p Plan) resolve(s Shape, files []ScoreFile) (Plan, error) {
	claim, none := report.ResolveClaim(p.Claim, p.DeltaDefaulted)
	named := audit.Require(p.Relation != "", "relation", audit.Absent, `"add-remove" or "replace": the neighbours of the claim, which scores do not show`)
	err := audit.First(report.CheckPlanVersion("scores plan", p.Version, PlanVersion),
		audit.Remedy("add-remove, where one record is present or absent, is what accountants of DP-SGD with Poisson sampling assume unless told otherwise; replace is one record in the place of another, where the number of records is public. A mechanism that is private under add-remove may have twice its epsilon under replace", named),
		report.CheckRelation(p.Relation, audit.AddRemove, audit.Replace), none, report.ResolveBetaSeed(&p.Beta, p.Seed))
	if err != nil {
		return p, err
	}
	p.Claim = &claim
	methods := s.methods()
	p.Method = cmp.Or(p.Method, methods[0])
	if err := report.OneOf("method", p.Method, methods...); err != nil {
		return p, err
	}
	k, m, _, _ := s.counted(p.Relation, 0)
	gaussian := p.Method == report.MethodGaussian || p.Method == report.MethodOneRunGDP
	err = audit.First(
		audit.At("/data", audit.Require(!s.byRuns(p.Method) || max(k, m) <= source.MaxCanaries, "scores", fmt.Sprintf("%d canaries a run", max(k, m)), "at most %d for bounds by runs", source.MaxCanaries)),
		audit.Remedy(fmt.Sprintf("if each score is from a separate training, with its canary or with another record in its place, use the method %s; otherwise record several runs in one file, with columns run, score and member", report.MethodExact),
			audit.Require(s.assumes(p.Method)[p.Relation] != "", "method", fmt.Sprintf("%q with the relation %q", p.Method, p.Relation), "another method: %s", report.OneRunOfReplace)),
		audit.Remedy("no Gaussian trade-off has a finite epsilon at delta = 0",
			audit.Require(claim.Delta != 0 || !gaussian, "method", fmt.Sprintf("%q with delta = 0", p.Method), "another, or a delta above 0")),
		p.GuessPlan.Resolve(s.In+s.Out, p.rule()),
	)
	if err != nil {
		return p, err
	}
	data := sums(files)
	same := audit.Require(slices.Equal(data, p.Data), "data", fmt.Sprintf("files with SHA-256 %v", data), "those with SHA-256 %v", p.Data)
	return p, cmp.Or(audit.At("/data", audit.Remedy("give the files that the audit was made with, in their order", same)), s.enough(p))
}

func (s Shape) enough(p Plan) error {
	if s.In < 2 || s.Out < 2 {
		return &audit.InputError{Field: "scores", Path: "/data", Found: fmt.Sprintf("%d in and %d out", s.In, s.Out), Want: "at least two of each class: half of them choose the threshold"}
	}
	if s.largest(p, p.Method) > 0 {
		return nil
	}
	n := s.needed(p, p.Method, 0)
	if n == 0 || byCoins(p.Method) && s.In+s.Out >= n {
		return nil // nothing helps, and the report says so; or the guesses are the user's own
	}
	found, want := fmt.Sprintf("%d in and %d out", s.In, s.Out), fmt.Sprintf("at least %d", n)
	switch {
	case s.byRuns(p.Method):
		found = fmt.Sprintf("%d runs", s.Used)
	case byCoins(p.Method):
		found = fmt.Sprintf("%d canaries", s.In+s.Out)
	default:
		want += " of each class"
	}
	return &audit.InputError{Field: "scores", Path: "/data", Found: found, Want: want + fmt.Sprintf(": no outcome of fewer certifies any epsilon above 0 by the method %s at delta = %v, beta = %v", p.Method, p.Claim.Delta, p.Beta)}
}

// Keys are the settings, in the order in which a report names them.
func Keys() []settings.Key[Plan] {
	return slices.Concat(membership.ClaimKeys(func(p *Plan) (**audit.Claim, *bool) { return &p.Claim, &p.DeltaDefaulted }, "", "0 is a claim of pure differential privacy"), []settings.Key[Plan]{
		{Name: "relation", Always: true, At: settings.Word(func(p *Plan) *audit.Relation { return &p.Relation }),
			Usage: "required: neighbouring relation of the claim: add-remove (a record is present or absent) or replace (a record is replaced by another)"},
		{Name: "method", At: settings.Word(func(p *Plan) *report.Method { return &p.Method }),
			Usage: "method whose bound decides the verdict: one-run (scores of one training), one-run-gdp, exact (each score from a separate training), clopper-pearson, paired-betting, gaussian-dp; for a matrix an interval of dpscope canaries; default one-run, for a matrix paired-betting. The report has all",
			Form:  &settings.Form{Place: "scores", Label: "Method", Hint: "its bound decides the verdict; the table has all", Wide: true}},
		{Name: "score", At: settings.Text(func(p *Plan) *string { return &p.Score }),
			Usage: "column of the scores; default score"},
		{Name: "member", At: settings.Text(func(p *Plan) *string { return &p.Member }),
			Usage: "column that says who was in: 1 or 0; default member"},
		{Name: "lower", At: settings.Switch(func(p *Plan) *bool { return &p.Lower }),
			Usage: "a lower score means in, as for a loss; default: a higher one"},
	}, membership.GuessKeys(func(p *Plan) *membership.GuessPlan { return &p.GuessPlan }), membership.EndKeys(func(p *Plan) (*float64, *uint64) { return &p.Beta, &p.Seed }, nil))
}

func reproduce(p Plan, h Shape) audit.Reproduce {
	otherwise := Plan{Method: h.methods()[0], Beta: 0.05, GuessPlan: p.guessing(h).Otherwise()}
	r := audit.Reproduce{CLI: audit.CommandOf("dpscope scores", settings.Written(Keys(), p, otherwise))}
	var note []string
	for i, sum := range p.Data {
		name := "FILE"
		if i > 0 {
			name += fmt.Sprint(i + 1)
		}
		r.CLI += " " + name
		note = append(note, name+" is the file with SHA-256 "+sum)
	}
	if len(note) > 0 {
		r.Note = strings.Join(note, "; ") + "."
	}
	return r
}
