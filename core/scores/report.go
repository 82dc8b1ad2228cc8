package scores

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/report"
)

// Kind, version and schema of a report of scores.
const (
	Kind          = "scores"
	SchemaVersion = 1
	SchemaName    = "dpscope-scores-v1.schema.json"
)

// Report is all that came out of an audit of scores. The scores are not in
// it, only the SHA-256 of their files, and of a matrix a [Portrait].
type Report struct {
	Schema        string              `json:"$schema"`
	Kind          string              `json:"kind"`
	SchemaVersion int                 `json:"schemaVersion"`
	Generator     audit.Generator     `json:"generator"`
	Plan          Plan                `json:"plan"` // every default written out
	Files         []ScoreFile         `json:"files"`
	Notes         []string            `json:"notes"` // what was taken for granted when reading the files
	Evidence      *Evidence           `json:"evidence"`
	Growth        []canary.GrowthStep `json:"growth,omitempty"` // of a matrix, by runs; see [Report]
	report.Findings
}

// fairLevel is the probability below which membership is not taken to be by fair
// coins.
const fairLevel = 1e-6

// coins says why membership is not by fair coins, if it plainly is not: exact
// two-sided binomial tests of how many were in, and of a matrix of how many runs have
// half of the canaries in, as fixed numbers have too often and shared coins too
// seldom, and of the canary that was in too often or too seldom. They share fairLevel.
func (h Shape) coins() string {
	m := h.In + h.Out
	unfair := func(x, n int, p, level float64) bool {
		return bounds.LowerProportion(x, n, level/2) > p || bounds.UpperProportion(x, n, level/2) < p
	}
	by := fmt.Sprintf("which fair coins give with probability below %s", phrase.Number(fairLevel))
	if h.Runs == 0 {
		if unfair(h.In, m, 0.5, fairLevel) {
			return fmt.Sprintf("%s of %s canaries were in, %s", phrase.Grouped(h.In), phrase.Grouped(m), by)
		}
		return ""
	}
	lg := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	half := h.Canaries / 2
	ofHalf := math.Exp(lg(h.Canaries) - lg(half) - lg(h.Canaries-half) - float64(float64(h.Canaries)*math.Ln2))
	const level = fairLevel / 3
	switch {
	case h.Fixed && h.Runs > 1:
		return "the same canaries were in in every run: no coin was thrown"
	case unfair(h.In, m, 0.5, level):
		return fmt.Sprintf("%s of %s memberships were in, %s", phrase.Grouped(h.In), phrase.Grouped(m), by)
	case h.Canaries > 1 && unfair(h.Half, h.Runs, ofHalf, level):
		return fmt.Sprintf("%s of %s canaries were in in %s of %s runs, %s", phrase.Grouped(half), phrase.Grouped(h.Canaries), phrase.Grouped(h.Half), phrase.Grouped(h.Runs), by)
	case unfair(h.Farthest, h.Runs, 0.5, level/float64(h.Canaries)):
		return fmt.Sprintf("a canary was in in %s of %s runs, %s", phrase.Grouped(h.Farthest), phrase.Grouped(h.Runs), by)
	}
	return ""
}

// halfBeta is the error of the one-run methods, rounded down to two digits, that is at most
// beta where not coins but a random half decided who was in. The law of such halves is
// that of fair coins given that half of them are in, so that what coins give with
// probability at most a they give with at most a/P(half are in).
func (h Shape) halfBeta(beta float64) float64 {
	lg := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	m := h.In + h.Out
	x := beta * math.Exp(lg(m)-lg(m/2)-lg(m-m/2)-float64(float64(m)*math.Ln2))
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return math.Floor(x/unit) * unit
}

// assembleScores makes the report of evidence. It is a function of its arguments.
func assemble(p Plan, ev *Evidence, files []ScoreFile, notes []string) Report {
	c := *p.Claim
	h := ev.Shape
	r := Report{Schema: SchemaName, Kind: Kind, SchemaVersion: SchemaVersion, Plan: p,
		Files: append([]ScoreFile{}, files...), Notes: append([]string{}, notes...), Evidence: ev}
	r.Findings = report.Findings{Methods: []report.Row{}, Confidence: 1 - p.Beta,
		Ended:     audit.Termination{Reason: audit.Completed, SamplesUsed: h.In + h.Out},
		Power:     report.MethodPower{Largest: math.Max(0, h.largest(p, p.Method)), Needed: h.needed(p, p.Method, c.Epsilon), Unit: h.unit(p.Method)},
		Reproduce: reproduce(p, h), Limitations: limitations(p, h), References: references(h)}
	one := p.guessing(h).Rows(ev.Guesses, ev.GDPGuesses)
	if p.Relation != audit.AddRemove {
		refuse(one, report.OneRunOfReplace)
	} else if why := h.coins(); why != "" {
		refuse(one, why)
	}
	if h.Runs > 0 {
		if ev.Runs != nil && ev.Runs.Certified.Table.K > 1 {
			_, _, _, delta := h.counted(p.Relation, c.Delta)
			r.Growth = canary.Growth(*ev.Runs.Certified.Table, nil, delta, p.Beta)
		}
		r.Methods = append(runRows(p, ev), one...)
	} else {
		r.Methods = append(one, eventRows(p, ev.Events)...)
	}
	if row := r.Row(p.Method); row.LowerBound != nil {
		r.PValue = ev.pValue(p)
	}
	r.Conclude(p.Method, c)
	r.Warnings = r.cautions()
	r.Summary = r.Headline(p.Method, p.promise(), r.from())
	return r
}

// refuse takes their bounds from rows, and says why.
func refuse(rows []report.Row, why string) {
	for i := range rows {
		rows[i].LowerBound, rows[i].Mu, rows[i].Note = nil, nil, why
	}
}

// pValue is that of the claim by the plan's method, nil where it has none.
func (ev *Evidence) pValue(p Plan) *float64 {
	c := *p.Claim
	var v float64
	switch {
	case p.Method == report.MethodOneRun:
		v = p.guessing(ev.Shape).PValue(ev.Guesses, c.Epsilon)
	case p.Method == report.MethodPaired && ev.Runs != nil:
		_, _, _, delta := ev.Shape.counted(p.Relation, c.Delta)
		v = bounds.CanaryPValue(*ev.Runs.Certified.Table, c.Epsilon, delta, ev.Runs.Stakes)
	case p.Method == report.MethodPaired && ev.event(report.MethodPaired) != nil:
		e := ev.event(report.MethodPaired)
		v = bounds.CanaryPValue(*e.Pairs, c.Epsilon, c.Delta, *e.Stakes)
	case p.Method == report.MethodExact && ev.event(report.MethodExact) != nil:
		v = bounds.ClaimPValue(ev.event(report.MethodExact).Certified, c.Epsilon, c.Delta, p.Beta)
	default:
		return nil
	}
	return &v
}

func (ev *Evidence) event(m report.Method) *ScoreEvent {
	for i := range ev.Events {
		if slices.Contains(ev.Events[i].Methods, m) {
			return &ev.Events[i]
		}
	}
	return nil
}

// eventRows are the rows of the methods for single trainings.
func eventRows(p Plan, events []ScoreEvent) []report.Row {
	delta, beta := p.Claim.Delta, p.Beta
	var rows []report.Row
	for _, e := range events {
		for _, m := range e.Methods {
			row := report.NewRow(m, p.Relation)
			row.Largest = report.Finite(eventLargest(m, e.Certified.N1, e.Certified.N0, delta, beta))
			switch m {
			case report.MethodExact:
				row.LowerBound = report.Finite(bounds.Exact(e.Certified, delta, beta))
			case report.MethodClopperPearson:
				row.LowerBound = report.Finite(report.Down6(bounds.ClopperPearson(e.Certified, delta, beta, e.Split)))
			case report.MethodPaired:
				row.LowerBound = report.Finite(bounds.CanaryEpsilon(bounds.CanaryPairedBetting, *e.Pairs, delta, beta, *e.Stakes))
			case report.MethodGaussian:
				row.Mu = report.Finite(bounds.GaussianMu(e.Certified, beta))
				row.LowerBound = report.Finite(bounds.GaussianEpsilon(*row.Mu, delta))
				row.NoteDelta(delta)
			}
			if row.LowerBound == nil && row.Note == "" {
				row.Note = "bounds nothing on these counts"
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// runRows are the rows of the intervals for runs of a matrix.
func runRows(p Plan, ev *Evidence) []report.Row {
	h, beta := ev.Shape, p.Beta
	_, _, _, delta := h.counted(p.Relation, p.Claim.Delta)
	var rows []report.Row
	for _, kind := range bounds.CanaryIntervals() {
		w := canary.IntervalWords[kind]
		row := report.Row{Method: report.Method(kind), Title: w.Title, Valid: kind.Valid(), Trainings: report.EachRow, Assumption: report.ByRuns[p.Relation]}
		if p.Relation == audit.AddRemove {
			row.Trainings = report.EachRowByCoins
		}
		if w.Assumption != "none" && !strings.HasPrefix(w.Assumption, "none:") {
			row.Assumption += "; " + w.Assumption
		}
		if ev.Runs == nil {
			row.Note = "fewer than two runs have canaries in and out"
			rows = append(rows, row)
			continue
		}
		t := *ev.Runs.Certified.Table
		if err := kind.Check(t.K, t.M, t.Runs(), delta, beta); err != nil {
			row.Note = err.Error()
		} else {
			row.LowerBound = report.Finite(bounds.CanaryEpsilon(kind, t, delta, beta, ev.Runs.Stakes))
			row.Largest = report.Finite(h.ceiling(kind, p.Relation, t.Runs(), h.CertifiedIn, p.Claim.Delta, beta))
			if row.LowerBound == nil {
				row.Note = "bounds nothing on these counts"
			}
		}
		rows = append(rows, row)
	}
	if why := h.coins(); p.Relation == audit.AddRemove && why != "" {
		refuse(rows, why)
	}
	return rows
}

func (r Report) from() string {
	h, p := r.Evidence.Shape, r.Plan
	switch {
	case p.Method == report.MethodOneRun || p.Method == report.MethodOneRunGDP:
		return phrase.Grouped(h.In+h.Out) + " scores taken as one run"
	case h.Runs > 0:
		_, _, runs, _ := h.counted(p.Relation, 0)
		_, n := halves(runs)
		return fmt.Sprintf("%s certification runs", phrase.Grouped(n))
	}
	_, n1 := halves(h.In)
	_, n0 := halves(h.Out)
	return fmt.Sprintf("%s scores in and %s out, the half that certifies", phrase.Grouped(n1), phrase.Grouped(n0))
}

// Headline is what the numbers of a report say, whatever its words.
func Headline(r Report) string {
	return r.Headline(r.Plan.Method, r.Plan.promise(), r.from())
}

func (r Report) cautions() []string {
	w := []string{}
	add := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	ev, p := r.Evidence, r.Plan
	h := ev.Shape
	oneRun := p.Method == report.MethodOneRun || p.Method == report.MethodOneRunGDP
	delta := p.Claim.Delta
	rate := func(what string, p1 float64) {
		if delta > 0 && p1 <= delta {
			add("the event of %s happened in a share of %s where it is likelier, not more than delta = %s: such an event shows nothing of epsilon", what, phrase.Number(p1), phrase.Number(delta))
		}
	}
	for _, e := range ev.Events {
		rate(strings.Join(report.Texts(e.Methods), " and "), float64(e.Certified.X)/float64(e.Certified.N1))
	}
	if len(ev.Events) > 0 && ev.Events[0].Ties || ev.Runs != nil && ev.Runs.Ties {
		add("all scores that were explored are the same: no threshold separates anything")
	}
	if ev.Runs != nil {
		x, _ := canary.Rates(*ev.Runs.Certified.Table)
		if p.Relation == audit.AddRemove {
			x *= 2 // half of all are in
		}
		rate("the runs", x)
		if h.Used < h.Runs && p.Relation != audit.AddRemove {
			add("%s of %s runs have fewer than %d canaries in or %d out and are left out, which looks at membership only", phrase.Grouped(h.Runs-h.Used), phrase.Grouped(h.Runs), h.K, h.M)
		}
	}
	switch {
	case p.Relation != audit.AddRemove:
		if h.Fixed && h.Runs > 1 {
			add("the same canaries were in in every run: bounds by runs hold if all were drawn anew each time, from one distribution")
		}
	case h.coins() != "":
		switch two := audit.DPClaim(2*p.Claim.Epsilon, (1+math.Exp(p.Claim.Epsilon))*delta); {
		case h.Runs == 0 && oneRun:
			add("one-run methods need membership by fair coins; another method: %s, if each score comes from a training of its own", report.MethodExact)
		case h.Runs > 0 && two.Validate() == nil:
			add("bounds of add-remove need membership by fair coins. A mechanism that keeps this claim keeps epsilon = %s at delta = %s under replace, which runs with a fixed number of canaries in can refute: -relation replace -epsilon %s -delta %s", phrase.Number(two.Epsilon), phrase.Number(two.Delta), audit.Exactly(two.Epsilon), phrase.Number(two.Delta))
		case h.Runs > 0:
			add("bounds of add-remove need membership by fair coins")
		}
	case h.Runs == 0 && (bounds.LowerProportion(h.In, h.In+h.Out, 0.005) > 0.5 || bounds.UpperProportion(h.In, h.In+h.Out, 0.005) < 0.5):
		add("%s of %s canaries were in, which fair coins give with probability below 0.01: if the numbers were fixed beforehand, or the coins not fair, the one-run methods do not hold", phrase.Grouped(h.In), phrase.Grouped(h.In+h.Out))
	case h.In == h.Out && h.In >= 50:
		add("as many canaries were in as out: if a random half was drawn, and no coin thrown for each, the one-run methods do not hold at beta = %s; with -beta %.2g they do", phrase.Number(p.Beta), h.halfBeta(p.Beta))
	}
	if oneRun && r.Power.Largest == 0 {
		w = append(w, onerun.Blind(h.In+h.Out, *p.Claim, p.Beta))
	}
	if h.Runs == 0 && !oneRun {
		add("the method %s takes each score to be of a training of its own; for scores of one training use %s", p.Method, report.MethodOneRun)
	}
	return w
}

func limitations(p Plan, h Shape) []string {
	l := []string{
		"How the scores came about is the user's word: a score must be computed without the membership it is to tell, by one rule for all canaries, and none may be left out for its value.",
		"A lower bound from these canaries and this score. Others may show more; nothing here proves privacy.",
		"Each bound of the table holds with the stated confidence under its own assumption. The largest of several does not, unless it was named before.",
		"Bounds of Gaussian trade-offs are of mechanisms that have one; of others they say nothing of epsilon.",
	}
	switch {
	case h.Runs > 0 && p.Relation == audit.AddRemove:
		l = append(l, "All bounds are of add-remove and take a fair coin of its own to have put each canary in or left it out, in every run.")
	case h.Runs > 0:
		l = append(l, "Bounds by runs are of replace: a canary that was in against one that was out of the same run. They take which canaries were in to be drawn at random in each run, or all canaries to be drawn anew from one distribution.",
			"A mechanism that is private under add-remove may have twice its epsilon under replace: these bounds refute no claim of adding or removing a record.")
	case p.Relation == audit.AddRemove:
		l = append(l, "All bounds are of add-remove: those of single trainings take a canary that was out to have been left out, with no other record in its place.")
	default:
		l = append(l, "Bounds of single trainings are of replace: they take another record to have been in the place of a canary that was out. A mechanism that is private under add-remove may have twice its epsilon there.")
	}
	return l
}

func references(h Shape) []string {
	l := slices.Clone(report.OneRunReferences)
	if h.Runs > 0 {
		return append(l, canary.References(canary.Plan{})...)
	}
	return append(l,
		"M. Jagielski, J. Ullman and A. Oprea, Auditing differentially private machine learning: how private is private SGD?, NeurIPS 2020",
		"M. Nasr, J. Hayes, T. Steinke, B. Balle, F. Tramèr, M. Jagielski, N. Carlini and A. Terzis, Tight auditing of differentially private machine learning, USENIX Security 2023",
		"I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 2024")
}

// Facts are the report's facts in words, the most important first.
func (r Report) Facts() []audit.FactRow {
	var rows report.FactRows
	add := rows.Add
	p, ev := r.Plan, r.Evidence
	h := ev.Shape
	for _, f := range r.Files {
		add("File", "%s, SHA-256 %s", f.Name, f.SHA256)
	}
	if h.Runs > 0 {
		add("Scores", "%s runs of %s canaries: %s in, %s out", phrase.Grouped(h.Runs), phrase.Grouped(h.Canaries), phrase.Grouped(h.In), phrase.Grouped(h.Out))
	} else {
		add("Scores", "%s in, %s out", phrase.Grouped(h.In), phrase.Grouped(h.Out))
	}
	add("Claim", "%s", p.promise())
	add("Method", "%s, for the verdict", r.Row(p.Method).Title)
	r.Findings.Facts(add, *p.Claim)
	for _, e := range ev.Events {
		sign, likelier, other := ">", "in", "out"
		if e.Side == Below {
			sign, likelier, other = "<", "out", "in"
		}
		x := e.Certified
		add("Event", "score %s %s, of %s: %s of %s %s, %s of %s %s", sign, phrase.Number(e.Threshold), strings.Join(report.Texts(e.Methods), " and "),
			phrase.Grouped(x.X), phrase.Grouped(x.N1), likelier, phrase.Grouped(x.Y), phrase.Grouped(x.N0), other)
	}
	if e := ev.Runs; e != nil && p.Relation == audit.AddRemove {
		x, y := canary.Rates(*e.Certified.Table)
		add("Event", "score > %s: a share of %.6g of all memberships was in and above, %.6g out and above, over %s runs", phrase.Number(e.Threshold), x, y, phrase.Grouped(e.Certified.Table.Runs()))
	} else if e != nil {
		x, y := canary.Rates(*e.Certified.Table)
		add("Event", "score > %s: %.6g of %d canaries in a run, %.6g of %d out, over %s runs", phrase.Number(e.Threshold), x, h.K, y, h.M, phrase.Grouped(e.Certified.Table.Runs()))
	}
	p.guessing(h).Facts(add, ev.Guesses, ev.GDPGuesses, "")
	add("Seed", "%d, of the split into halves, the pairing and the order of equal scores", p.Seed)
	return rows
}

// Head implements [report.View].
func (r Report) Head() report.Head {
	h := r.Findings.Head()
	names := make([]string, len(r.Files))
	for i, f := range r.Files {
		names[i] = f.Name
	}
	h.Subject, h.Generator, h.Claim, h.Promise, h.Seed, h.Beta = strings.Join(names, " and "), r.Generator, *r.Plan.Claim, r.Plan.promise().String(), r.Plan.Seed, r.Plan.Beta
	h.Warnings = append(slices.Clone(r.Notes), h.Warnings...)
	return h
}

// Text is the report as plain text for a terminal.
func (r Report) Text() string {
	t := r.Findings
	t.Warnings = r.Head().Warnings
	return t.TextWith(r.Facts(), r.Plan.Method, r.Plan.Claim.Epsilon)
}

// reproduce says how to audit the scores again.
func reproduce(p Plan, h Shape) audit.Reproduce {
	otherwise := Plan{Method: FlatMethods()[0], Beta: 0.05}
	if h.Runs > 0 {
		otherwise.Method = MatrixMethods()[0]
	}
	otherwise.Sides, otherwise.Guesses, otherwise.GDPGuesses = p.guessing(h).Otherwise()
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

// ParseScoresReport reads a report of this version; unknown fields are refused.
func ParseReport(data []byte) (Report, error) {
	var r Report
	if err := report.ParseReport(data, Kind, SchemaVersion, &r); err != nil {
		return Report{}, err
	}
	return r, r.check()
}

func (r Report) check() error {
	p := r.Plan
	if p.Claim == nil || r.Evidence == nil {
		return &audit.InputError{Field: "report", Found: "incomplete", Want: "the whole plan, with its claim, and the counts"}
	}
	if err := p.Claim.Validate(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := r.Evidence.check(p); err != nil {
		return fmt.Errorf("report: evidence: %w", err)
	}
	if len(r.Methods) == 0 {
		return &audit.InputError{Field: "report: methods", Found: "empty", Want: "what the methods make of the scores"}
	}
	return r.Findings.Check(p.Method, *p.Claim)
}

// check refuses evidence that no scores of its shape give, so that bounds can be
// computed of it.
func (ev Evidence) check(p Plan) error {
	h := ev.Shape
	bad := func(field string, found, want any) error {
		return &audit.InputError{Field: field, Found: fmt.Sprint(found), Want: fmt.Sprint(want)}
	}
	if h.In < 1 || h.Out < 1 || h.In > mostScores || h.Out > mostScores || h.Runs < 0 || h.Runs > mostScores || h.Canaries < 0 || h.Canaries > mostScores {
		return bad("shape", "out of range", "numbers of scores")
	}
	if h.Runs > 0 && (h.Runs*h.Canaries != h.In+h.Out || h.K < 1 || h.M < 1 || h.K > h.Canaries || h.M > h.Canaries || h.Used < 0 || h.Used > h.Runs ||
		h.Half < 0 || h.Half > h.Runs || h.Farthest < 0 || h.Farthest > h.Runs || h.CertifiedIn < 0 || h.CertifiedIn > min(h.In, (h.Runs-h.Runs/2)*h.Canaries)) {
		return bad("shape", "a matrix that does not fit", "runs times canaries, in and out together")
	}
	if h.Runs == 0 && h != (Shape{In: h.In, Out: h.Out}) {
		return bad("shape", "a matrix without runs", "none")
	}
	tk, tm, runs, _ := h.counted(p.Relation, 0)
	if (ev.Runs != nil) != (h.Runs > 0 && runs > 1) || (len(ev.Events) > 0) != (h.Runs == 0) {
		return bad("evidence", "of another shape", "events of single scores, or runs of a matrix")
	}
	if err := p.guessing(h).Check(ev.Guesses, ev.GDPGuesses); err != nil {
		return err
	}
	if ev.Runs != nil {
		explore, certify := halves(runs)
		bare := *ev.Runs
		if bare.Portrait == nil && p.Relation != audit.AddRemove {
			return bad("portrait", "absent", "scores of explored runs, which a report of this version has")
		}
		if bare.Portrait != nil {
			if err := bare.Portrait.Check(explore, h.K, h.M); err != nil {
				return err
			}
			bare.Portrait = nil
		}
		if err := bare.Check(canary.Plan{Runs: certify, Explore: explore}, tk, tm); err != nil {
			return err
		}
		if ev.Runs.Explored.Table == nil || ev.Runs.Certified.Table == nil || ev.Runs.Certified.Table.Runs() != certify {
			return bad("runs", "not all counted", fmt.Sprintf("%d certification runs", certify))
		}
	}
	want := [][]report.Method{{report.MethodExact, report.MethodClopperPearson}, {report.MethodPaired}, {report.MethodGaussian}}
	if h.Runs == 0 && len(ev.Events) != len(want) {
		return bad("events", len(ev.Events), len(want))
	}
	for i, e := range ev.Events {
		if !slices.Equal(e.Methods, want[i]) {
			return bad("events: methods", e.Methods, want[i])
		}
		if e.Side != Above && e.Side != Below {
			return audit.UnknownName("events: side", e.Side, []string{Above, Below})
		}
		n1, n0 := h.In, h.Out
		if e.Side == Below {
			n1, n0 = n0, n1
		}
		for _, x := range []struct {
			c      bounds.Counts
			n1, n0 int
		}{{e.Explored, n1 / 2, n0 / 2}, {e.Certified, n1 - n1/2, n0 - n0/2}} {
			if err := x.c.Validate(); err != nil {
				return fmt.Errorf("events: %w", err)
			}
			if x.c.N1 != x.n1 || x.c.N0 != x.n0 {
				return bad("events: counts", fmt.Sprintf("of %d and %d", x.c.N1, x.c.N0), fmt.Sprintf("of %d and %d, half of the scores", x.n1, x.n0))
			}
		}
		if (i == 0) != (e.Split > 0 && e.Split < 1) {
			return bad("events: split", e.Split, "in (0, 1) for the first, absent else")
		}
		if (i == 1) != (e.Pairs != nil) || (i == 1) != (e.Stakes != nil) {
			return bad("events: pairs", "of another method", "those of "+string(report.MethodPaired))
		}
		if e.Pairs == nil {
			continue
		}
		if err := e.Pairs.Validate(); err != nil {
			return fmt.Errorf("events: pairs: %w", err)
		}
		if err := e.Stakes.Validate(); err != nil {
			return fmt.Errorf("events: stakes: %w", err)
		}
		if e.Pairs.K != 1 || e.Pairs.M != 1 || e.Pairs.Runs() != min(e.Certified.N1, e.Certified.N0) {
			return bad("events: pairs", e.Pairs.Runs(), min(e.Certified.N1, e.Certified.N0))
		}
	}
	return nil
}

// VerifyScores replays a report. With scores, those of its files, everything is
// done again; without, the bounds are computed again from the report's counts.
func Verify(r Report, scores *Scores) (engine.Verification, error) {
	var v engine.Verification
	if err := r.check(); err != nil {
		return v, err
	}
	var want Report
	if scores != nil {
		var err error
		if want, err = Run(r.Plan, *scores, r.Generator); err != nil {
			return v, err
		}
		v.Same(audit.EqualJSON(r.Evidence.bare(), want.Evidence.bare()), "counts", "the scores fall otherwise than the report says")
		v.Same(audit.NearJSON(r.Evidence, want.Evidence), "split and stakes", "they do not follow from the exploration half")
		v.SameWords(r.Generator, "notes on reading", r.Notes, want.Notes)
	} else {
		files := make([]ScoreFile, len(r.Plan.Data))
		for i, sum := range r.Plan.Data {
			files[i].SHA256 = sum
		}
		p, err := r.Plan.resolve(r.Evidence.Shape, files)
		if err != nil {
			return v, err
		}
		want = assemble(p, r.Evidence, r.Files, r.Notes)
		v.Recomputed = true
		v.Notes = append(v.Notes, "thresholds and counts are taken from the report, and so are notes on reading; that the files give them is shown only with the files")
	}
	v.Same(audit.EqualJSON(r.Plan, want.Plan), "plan", "it is not what its own settings resolve to")
	hashes := make([]string, len(r.Files))
	for i, f := range r.Files {
		hashes[i] = f.SHA256
	}
	v.Same(slices.Equal(hashes, r.Plan.Data), "files", "their SHA-256 are not those of the plan")
	v.Notes = append(v.Notes, "not compared: the names of the files, which may have changed; their SHA-256 are")
	v.Same(audit.NearJSON(r.Growth, want.Growth), "growth", "it does not follow from the counts")
	report.CompareFindings(&v, r.Findings, want.Findings, r.Generator, func(f report.Findings) string { return f.Headline(r.Plan.Method, r.Plan.promise(), want.from()) })
	for i := range min(len(r.Files), len(want.Files)) {
		want.Files[i].Name = r.Files[i].Name
	}
	want.Evidence, want.Generator, want.Timing, want.Warnings = r.Evidence, r.Generator, r.Timing, report.WithLost(want.Warnings, r.Warnings)
	report.SameWhole(&v, r.Generator, r, want)
	return v, nil
}

// bare is the evidence without what is computed by functions that differ between
// platforms.
func (ev Evidence) bare() Evidence {
	ev.Events = slices.Clone(ev.Events)
	for i := range ev.Events {
		ev.Events[i].Split, ev.Events[i].Stakes = 0, nil
	}
	if ev.Runs != nil {
		runs := *ev.Runs
		runs.Stakes = bounds.CanaryStakes{}
		ev.Runs = &runs
	}
	return ev
}
