package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
)

// Method is a way to bound epsilon from scores of canaries. Of a matrix of runs
// by canaries the intervals of bounds are methods too, by their names.
type Method string

const (
	// MethodOneRun is [bounds.OneRunEpsilon], MethodOneRunGDP [bounds.OneRunGDPEpsilon].
	MethodOneRun    Method = "one-run"
	MethodOneRunGDP Method = "one-run-gdp"
	// MethodExact is [bounds.Exact], MethodClopperPearson [bounds.ClopperPearson] and
	// MethodGaussian [bounds.GaussianMu] of the counts of an event.
	MethodExact          Method = "exact"
	MethodClopperPearson Method = "clopper-pearson"
	MethodGaussian       Method = "gaussian-dp"
	// MethodPaired is [bounds.CanaryPairedBetting]: of a matrix, its runs are the
	// pairs; else scores in are paired with scores out.
	MethodPaired Method = Method(bounds.CanaryPairedBetting)
)

// Trainings says how the scores must have come about for a method to hold.
type Trainings string

const (
	// FairCoins: of one training or of several, where a fair coin of its own
	// decided of each canary, in each training, whether it was in.
	FairCoins Trainings = "one, by fair coins"
	// EachItsOwn: every score is of an independent training.
	EachItsOwn Trainings = "one a score"
	// EachRow: every run of the matrix is an independent training. EachRowByCoins: and
	// a fair coin of its own decided of each canary in it.
	EachRow        Trainings = "one a run"
	EachRowByCoins Trainings = "one a run, by fair coins"
)

// Row is what one method makes of the counts. Each holds with the report's confidence
// under its own assumption; the largest of them does not.
type Row struct {
	// Method names the row, or Interval where it is one of those for runs with
	// canaries.
	Method     Method                `json:"method,omitempty"`
	Interval   bounds.CanaryInterval `json:"interval,omitempty"`
	Title      string                `json:"title"`
	LowerBound *float64              `json:"lowerBound,omitempty"` // on epsilon; may be negative; absent where nothing is known
	Mu         *float64              `json:"mu,omitempty"`         // the bound on mu that it follows from, of the methods that take the trade-off to be Gaussian
	In         *float64              `json:"in,omitempty"`         // of an interval: lower limit of the rate inside
	Out        *float64              `json:"out,omitempty"`        // of an interval: upper limit of the rate of fresh canaries
	Largest    *float64              `json:"largest,omitempty"`    // bound that any outcome of this many can give
	// Valid: for any mechanism at this number of runs or scores; else asymptotically
	// or under an assumption on the mechanism.
	Valid      bool      `json:"valid"`
	Trainings  Trainings `json:"trainings,omitempty"`
	Assumption string    `json:"assumption"`
	Note       string    `json:"note,omitempty"` // why there is no bound
}

// Findings are what a report of scores ends in. Bounds are rounded down.
type Findings struct {
	Methods []Row `json:"methods"`
	// LowerBound is the bound on epsilon by the plan's method, at least 0; absent
	// where there is none.
	LowerBound *float64          `json:"lowerBound,omitempty"`
	Confidence float64           `json:"confidence"`
	PValue     *float64          `json:"pValue,omitempty"` // of the claim, by the plan's method where it has one
	Verdict    audit.Verdict     `json:"verdict"`
	Summary    string            `json:"summary"` // the verdict in words
	Power      MethodPower       `json:"power"`
	Warnings   []string          `json:"warnings"`
	Ended      audit.Termination `json:"termination"`
	Timing     audit.Timing      `json:"timing"`
	Reproduce  audit.Reproduce   `json:"reproduce"`

	Limitations []string `json:"limitations"`
	References  []string `json:"references"`
}

// Bounded says whether there is a lower bound.
func (f Findings) Bounded() bool { return f.LowerBound != nil }

// MethodPower says what this many scores can show by the plan's method.
type MethodPower struct {
	Largest float64 `json:"largest"` // bound of the best outcome
	// Needed is the number from which on some outcome could refute the claim: of
	// canaries by one-run methods, with the default number of guesses, of runs of a matrix, else of scores of each
	// class. 0: no number that is tried suffices.
	Needed int `json:"neededForClaim"`
	// Unit is what Needed counts, in words.
	Unit string `json:"unit"`
}

// Assumes is what a method takes for granted under each relation whose epsilon it
// bounds. Under a relation that it lacks it holds for no claim.
type Assumes map[audit.Relation]string

// coinsAlone: with the canary of a coin there and not there two datasets differ by
// adding or removing it (Steinke, Nasr and Jagielski 2023, section 2).
var coinsAlone = Assumes{audit.AddRemove: "a fair coin of its own put each canary in or left it out"}

// ownTrainings: scores in are independent of each other and of those out, so that
// they are samples of two laws. Of which relation these are is how the second kind of
// training came about.
var ownTrainings = Assumes{
	audit.AddRemove: "each score is of a training of its own, with its canary or without; canaries are of one distribution",
	audit.Replace:   "each score is of a training of its own, with its canary or with another record in its place; canaries are of one distribution",
}

// ByRuns: under add-remove every run counts, see [bounds.CoinDelta]. Under replace the
// runs count that have K canaries in and M out, of which the seed draws as many. Why
// that is valid: let S, the canaries in, be drawn at random, so that given how many
// they are all such sets are equally likely, or canaries be drawn anew in every run.
// For i in S and j not, S' = S - i + j is another such set, the datasets of S and S'
// differ by one record replaced by another, and so P(score_i > t | S) <= e^eps
// P(score_i > t | S') + delta. The mean over i, j and S is p1 <= e^eps p0 + delta for
// a canary drawn from those in and one drawn from those out.
var ByRuns = Assumes{
	audit.AddRemove: "each run is a training of its own, in which a fair coin of its own put each canary in or left it out",
	audit.Replace:   "each run is a training of its own, in which as many others might have been in as well, drawn at random",
}

func (a Assumes) and(more string) Assumes {
	out := Assumes{}
	for r, words := range a {
		out[r] = words + more
	}
	return out
}

// MethodWords are titles and assumptions of the methods for scores without runs; of
// intervals see intervalWords and byRuns.
var MethodWords = map[Method]struct {
	title     string
	Assumes   Assumes
	valid     bool
	trainings Trainings
}{
	MethodOneRun:         {"guesses (Steinke, Nasr and Jagielski)", coinsAlone, true, FairCoins},
	MethodOneRunGDP:      {"guesses, f-DP (Mahloujifar, Melis and Chaudhuri)", coinsAlone.and(", and the trade-off of the mechanism is Gaussian"), false, FairCoins},
	MethodExact:          {"exact unconditional", ownTrainings, true, EachItsOwn},
	MethodClopperPearson: {"Clopper-Pearson", ownTrainings, true, EachItsOwn},
	MethodPaired:         {"paired betting", ownTrainings.and("; scores in and out are paired at random"), true, EachItsOwn},
	MethodGaussian:       {"Gaussian DP, Clopper-Pearson", ownTrainings.and(", and the trade-off of the mechanism is Gaussian"), false, EachItsOwn},
}

// OneRunOfReplace says why there is no bound in one run for a claim under replace.
const OneRunOfReplace = "coins of an audit in one run put a canary in or leave it out, which is adding or removing a record; a mechanism that is private under replace may tell how many records there are"

// NewRow is the row of a method for single trainings, under a relation, without bounds.
func NewRow(m Method, relation audit.Relation) Row {
	w := MethodWords[m]
	return Row{Method: m, Title: w.title, Valid: w.valid, Trainings: w.trainings, Assumption: w.Assumes[relation]}
}

// NoteDelta says why there is no bound of a Gaussian trade-off at delta = 0.
func (r *Row) NoteDelta(delta float64) {
	if r.LowerBound == nil && delta == 0 {
		r.Note = "at delta = 0 no Gaussian trade-off has a finite epsilon; mu is bounded"
	}
}

// Least is the smallest n at which enough holds, found by doubling from from and
// halving; 0 if no number up to most suffices.
func Least(from, most int, enough func(int) bool) int {
	hi := from
	for !enough(hi) {
		if hi >= most {
			return 0
		}
		hi *= 2
	}
	lo := hi / 2
	if hi == from {
		lo = from - 1
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// Down6 rounds down to six decimals as bounds does.
func Down6(x float64) float64 {
	if math.IsInf(x, 0) {
		return x
	}
	return math.Floor(float64((x-1e-9)*1e6)) / 1e6
}

// Row finds the row of a method.
func (f Findings) Row(m Method) *Row {
	for i := range f.Methods {
		if f.Methods[i].Method == m {
			return &f.Methods[i]
		}
	}
	return nil
}

// Conclude takes the bound and the verdict from the row of the plan's method.
// What holds asymptotically only, or under an assumption on the mechanism, refutes
// nothing.
func (f *Findings) Conclude(m Method, c audit.Claim) {
	row := f.Row(m)
	if row != nil && row.LowerBound != nil {
		b := math.Max(0, *row.LowerBound)
		f.LowerBound = &b
	}
	switch {
	case f.Ended.Reason == audit.Failed:
		f.Verdict = audit.Invalid
	case f.LowerBound == nil:
		f.Verdict = audit.Inconclusive
	case *f.LowerBound > c.Epsilon && row.Valid:
		f.Verdict = audit.Violation
	case *f.LowerBound > c.Epsilon, f.Power.Largest <= c.Epsilon:
		f.Verdict = audit.Inconclusive
	default:
		f.Verdict = audit.NoViolation
	}
}

// Headline is the verdict in words. from says what the bound is from, in words
// such as "one training with 1 000 canaries".
func (f Findings) Headline(m Method, c Promise, from string) string {
	claimed, at := "claimed "+phrase.Number(c.Epsilon), c.At()
	row := f.Row(m)
	bounded := func() string {
		return fmt.Sprintf("epsilon >= %s%s with %s confidence, from %s, by %s", phrase.Bound(*f.LowerBound, c.Epsilon), at, phrase.Percent(f.Confidence), from, row.Title)
	}
	if f.LowerBound != nil && !row.Valid {
		given := "if " + row.Assumption
		if f.Verdict == audit.Inconclusive && *f.LowerBound > c.Epsilon {
			return fmt.Sprintf("Inconclusive: %s, %s; %s. A bound that holds for some mechanisms only refutes nothing.", bounded(), given, claimed)
		}
		if f.Verdict == audit.NoViolation {
			return fmt.Sprintf("No violation found: %s, %s; %s. This is not a proof of privacy.", bounded(), given, claimed)
		}
	}
	switch {
	case f.Verdict == audit.Violation:
		return fmt.Sprintf("Violation: %s; %s.", bounded(), claimed)
	case f.Verdict == audit.NoViolation:
		return fmt.Sprintf("No violation found: %s; %s. No outcome could have shown more than %s. This is not a proof of privacy.", bounded(), claimed, phrase.Bound(f.Power.Largest, math.Inf(1)))
	case f.Verdict == audit.Invalid:
		return "Invalid: the run failed: " + strings.TrimSuffix(f.Ended.Message, ".") + "."
	case f.LowerBound == nil && row != nil && row.Note != "":
		return fmt.Sprintf("Inconclusive: no bound by %s: %s. Claimed epsilon = %s%s.", row.Title, row.Note, phrase.Number(c.Epsilon), at)
	case f.LowerBound == nil:
		return fmt.Sprintf("Inconclusive: %s; no bound is certified. Claimed epsilon = %s%s.", StoppedMessage, phrase.Number(c.Epsilon), at)
	}
	remedy := "No number that dpscope tries is enough."
	switch {
	case f.Power.Needed > 0:
		remedy = fmt.Sprintf("At least %s %s are needed for any chance to refute the claim.", phrase.Grouped(f.Power.Needed), f.Power.Unit)
	}
	return fmt.Sprintf("Inconclusive: %s cannot show more than epsilon >= %s%s by %s, and the mechanism %s. %s", from, phrase.Bound(f.Power.Largest, c.Epsilon), at, row.Title, claimed, remedy)
}

// MethodRow is one line of the table of methods, in words.
type MethodRow struct {
	Method     string `json:"method"`
	Bound      string `json:"bound"`
	Largest    string `json:"largest"`
	Valid      string `json:"valid"`
	Exceeds    bool   `json:"exceeds"`
	Chosen     bool   `json:"chosen"`
	Trainings  string `json:"trainings"`
	Assumption string `json:"assumption"` // or why there is no bound
}

// MethodRows are what all methods make of the scores.
func (f Findings) MethodRows(chosen Method, claimed float64) []MethodRow {
	rows := []MethodRow{}
	for _, x := range f.Methods {
		row := MethodRow{Method: x.Title, Bound: "-", Largest: "-", Valid: "yes", Trainings: string(x.Trainings), Assumption: x.Assumption, Chosen: x.Method == chosen}
		switch {
		case x.Valid:
		case x.Method == MethodGaussian || x.Method == MethodOneRunGDP:
			row.Valid = "if Gaussian"
		default:
			row.Valid = "asymptotically"
		}
		if x.Note != "" {
			row.Assumption = x.Note
		}
		if x.LowerBound != nil {
			row.Bound, row.Exceeds = phrase.Bound(*x.LowerBound, claimed), *x.LowerBound > claimed
			if x.Mu != nil {
				row.Bound += fmt.Sprintf(" (mu >= %s)", phrase.Bound(*x.Mu, math.Inf(1)))
			}
		}
		if x.Largest != nil {
			row.Largest = phrase.Bound(*x.Largest, math.Inf(1))
		}
		rows = append(rows, row)
	}
	return rows
}

// Head is what findings say of the head of their report, whose kind adds the rest.
func (f Findings) Head() Head {
	return Head{Verdict: f.Verdict, Summary: f.Summary, LowerBound: f.LowerBound, Quantity: "epsilon", Confidence: f.Confidence,
		Ended: f.Ended, Timing: f.Timing, Warnings: f.Warnings, Reproduce: f.Reproduce}
}

// TextWith is a report as plain text.
func (f Findings) TextWith(facts []audit.FactRow, chosen Method, claimed float64) string {
	var b strings.Builder
	WriteFacts(&b, f.Summary, facts)
	if rows := f.MethodRows(chosen, claimed); len(rows) > 0 {
		fmt.Fprintf(&b, "\nLower bounds on epsilon, each with %s confidence where what it assumes holds (* the one named before):\n", phrase.Percent(f.Confidence))
		lines := [][]string{{"", "method", "at least", "at most possible", "valid", "trainings", "assumes"}}
		for _, x := range rows {
			lines = append(lines, []string{map[bool]string{true: "*"}[x.Chosen], x.Method, x.Bound, x.Largest, x.Valid, x.Trainings, x.Assumption})
		}
		phrase.Table(&b, lines)
	}
	WriteEnd(&b, f.Warnings, f.Reproduce)
	return b.String()
}

// Check refuses findings whose parts do not fit together.
func (f Findings) Check(m Method, c audit.Claim) error {
	if f.Row(m) == nil && (f.LowerBound != nil || len(f.Methods) > 0) {
		return &audit.InputError{Field: "report: methods", Found: "without " + string(m), Want: "the method of the plan among them"}
	}
	verdicts := []string{string(audit.Violation), string(audit.NoViolation), string(audit.Inconclusive), string(audit.Invalid)}
	if !slices.Contains(verdicts, string(f.Verdict)) {
		return audit.UnknownName("report: field verdict", string(f.Verdict), verdicts)
	}
	if f.Verdict == audit.Violation || f.Verdict == audit.NoViolation {
		if f.LowerBound == nil || (*f.LowerBound > c.Epsilon) != (f.Verdict == audit.Violation) {
			return &audit.InputError{Field: "report: verdict", Found: fmt.Sprintf("%q, which its own bound contradicts", f.Verdict), Want: "what the bound says of the claim " + c.String()}
		}
	}
	return nil
}

// CompareFindings holds a report's findings against those that follow. headline
// makes the words of the summary.
func CompareFindings(v *engine.Verification, r, want Findings, generator audit.Generator, headline func(Findings) string) {
	v.Same(audit.NearJSON(r.LowerBound, want.LowerBound), "lower bound", "it does not follow from the counts")
	v.Same(audit.SamePValue(r.PValue, want.PValue), "p-value", "it does not follow from the counts")
	v.Same(audit.Near(r.Confidence, want.Confidence), "confidence", "it is not that of the plan")
	v.Same(audit.NearJSON(Bare(r.Methods), Bare(want.Methods)), "methods", "they do not follow from the counts")
	v.Same(audit.NearJSON(r.Power, want.Power), "power", "it does not follow from the plan")
	v.Same(r.Verdict == want.Verdict, "verdict", "replayed %q, the report says %q", want.Verdict, r.Verdict)
	v.Same(audit.EqualJSON(r.Ended, want.Ended), "termination", "it does not follow from the counts")
	// What differs by less than platforms do is the report's, in words too.
	if x, y := r.LowerBound, want.LowerBound; x != nil && y != nil && audit.Near(*x, *y) {
		want.LowerBound = x
	}
	if audit.Near(r.Power.Largest, want.Power.Largest) {
		want.Power.Largest = r.Power.Largest
	}
	want.Summary = headline(want)
	v.Summary = want.Summary
	v.SameWarnings(r.Warnings, want.Warnings)
	for _, x := range []struct {
		what string
		a, b any
	}{
		{"summary", r.Summary, want.Summary}, {"methods in words", Worded(r.Methods), Worded(want.Methods)},
		{"command to run again", r.Reproduce, want.Reproduce}, {"limitations", r.Limitations, want.Limitations}, {"references", r.References, want.References},
	} {
		v.SameWords(generator, x.what, x.a, x.b)
	}
}

// ResolveBetaSeed fills in the allowed error and checks the seed.
func ResolveBetaSeed(beta *float64, seed uint64) error {
	if *beta == 0 {
		*beta = 0.05
	}
	if math.IsNaN(*beta) || *beta < 1e-9 || *beta > 0.5 {
		return &audit.InputError{Field: "beta", Found: fmt.Sprint(*beta), Want: "in [1e-9, 0.5]"}
	}
	if seed > audit.MaxSeed {
		return &audit.InputError{Field: "seed", Found: fmt.Sprint(seed), Want: fmt.Sprintf("in [0, %d]", uint64(audit.MaxSeed))}
	}
	return nil
}

// OneRunReferences are the papers of the one-run methods.
var OneRunReferences = []string{
	"T. Steinke, M. Nasr and M. Jagielski, Privacy auditing with one (1) training run, NeurIPS 2023",
	"S. Mahloujifar, L. Melis and K. Chaudhuri, Auditing f-differential privacy in one run, 2024",
}

// Facts are those of all findings.
func (f Findings) Facts(add func(name, format string, args ...any), c audit.Claim) {
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
