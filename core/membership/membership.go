// Package membership is what audits of membership share: thresholds and guesses that bound epsilon; and,
// for no verdict, histograms, ROC curves, and true positive rates at low false positive rates.
package membership

import (
	"math"
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

// Evidence is what is counted of scores.
type Evidence struct {
	ROC       bounds.ROC `json:"roc"` // of all scores together
	Histogram Histogram  `json:"histogram"`
	Runs      *Runs      `json:"runs,omitempty"` // absent where there is one run, or none is known
}

// Histogram counts scores of both classes: bin i holds those from Edges[i-1] on and below Edges[i], the
// first and the last all beyond.
type Histogram struct {
	Edges []float64 `json:"edges"`
	In    []int     `json:"in"`
	Out   []int     `json:"out"`
}

// Runs are independent runs with scores of both classes, and the mean of their areas.
type Runs struct {
	Number int     `json:"number"`
	AUROC  float64 `json:"auroc"`
}

// Rates are the false positive rates of true positive rates (Carlini et al., Membership inference
// attacks from first principles, 2022).
func Rates() []float64 { return []float64{0.001, 0.01, 0.1} }

// Count counts finite scores, at least one of each class. It leaves them as they are.
func Count(in, out []float64, beta float64) *Evidence {
	in, out = audit.Ascending(in), audit.Ascending(out)
	return &Evidence{ROC: bounds.SortedROC(in, out, Rates(), beta), Histogram: histogram(in, out)}
}

// Split are the scores of members, and of the others.
func Split(scores []float64, member []bool) (in, out []float64) {
	for i, x := range scores {
		if member[i] {
			in = append(in, x)
		} else {
			out = append(out, x)
		}
	}
	return in, out
}

// Within adds the areas within n runs, of which of gives scores.
func (e *Evidence) Within(n int, of func(i int) (in, out []float64)) {
	r := &Runs{}
	for i := range n {
		if in, out := of(i); len(in) > 0 && len(out) > 0 {
			r.AUROC += bounds.AUROC(in, out)
			r.Number++
		}
	}
	if r.Number > 1 {
		r.AUROC = math.Min(1, r.AUROC/float64(r.Number))
		e.Runs = r
	}
}

// OfRuns counts the scores of runs of k canaries in and m out each, one run after another.
func OfRuns(k, m int, scores []float64, beta float64) *Evidence {
	n := len(scores) / (k + m)
	run := func(i int) (in, out []float64) { s := scores[i*(k+m):][:k+m]; return s[:k], s[k:] }
	in, out := make([]float64, 0, n*k), make([]float64, 0, n*m)
	for i := range n {
		x, y := run(i)
		in, out = append(in, x...), append(out, y...)
	}
	if len(in) == 0 || len(out) == 0 || max(len(in), len(out)) > bounds.MostScores {
		return nil
	}
	e := Count(in, out, beta)
	e.Within(n, run)
	return e
}

const (
	bins = 40
	far  = 200 // one score in so many lies beyond the ends, on each side
)

// histogram of sorted scores has bins of one width between about the 0.5 % and the 99.5 % quantile, at
// edges of six digits. Scores that stand for none do not count for these.
func histogram(in, out []float64) Histogram {
	all := slices.Concat(in, out)
	slices.Sort(all)
	all = all[sort.SearchFloat64s(all, math.Nextafter(-math.MaxFloat64, 0)):sort.SearchFloat64s(all, math.MaxFloat64)]
	h := Histogram{Edges: []float64{}}
	if n := len(all); n > 0 {
		lo, hi := all[n/far], all[n-1-n/far]
		for i := range bins + 1 {
			f := float64(i) / bins
			edge := phrase.Figures(float64(lo*(1-f))+float64(hi*f), 6)
			if len(h.Edges) == 0 || edge > h.Edges[len(h.Edges)-1] {
				h.Edges = append(h.Edges, edge+0)
			}
		}
	}
	count := func(scores []float64) []int {
		n := make([]int, len(h.Edges)+1)
		before := 0
		for i, edge := range h.Edges {
			upTo := sort.SearchFloat64s(scores, edge)
			n[i], before = upTo-before, upTo
		}
		n[len(h.Edges)] = len(scores) - before
		return n
	}
	h.In, h.Out = count(in), count(out)
	return h
}

// Check refuses what so many scores in and out, 0 for any number, do not give.
func (e Evidence) Check(in, out int) error {
	possible := func(is bool, field string) error {
		return audit.Require(is, "membership: "+field, "counts that no scores can give", "those of an unchanged report")
	}
	count := func(counts []int, all int) bool {
		return !slices.ContainsFunc(counts, func(n int) bool { return n < 0 || n > all }) && audit.Total(counts) == all
	}
	h, r := e.Histogram, e.Runs
	return audit.First(
		possible(e.ROC.Sound() && (in <= 0 || e.ROC.In == in) && (out <= 0 || e.ROC.Out == out), "roc"),
		possible(len(h.Edges) <= bins+1 && len(h.In) == len(h.Edges)+1 && len(h.Out) == len(h.In), "histogram"),
		possible(audit.Unordered(h.Edges) < 0, "histogram.edges"),
		possible(count(h.In, e.ROC.In) && count(h.Out, e.ROC.Out), "histogram"),
		possible(r == nil || r.Number >= 2 && r.Number <= min(e.ROC.In, e.ROC.Out) && r.AUROC >= 0 && r.AUROC <= 1, "runs"),
	)
}

// Basis says how scores came about, and so what can be said of more than themselves.
type Basis int

const (
	OwnTrainings Basis = iota // each score is of its own training, those of a class of one law
	OneTraining               // all are of one training, and depend on each other
	FixedRuns                 // of independent runs, their number fixed before
	OpenRuns                  // of independent runs, their number by what they showed
)

var why = map[Basis]string{
	OneTraining: "no interval: scores of one training depend on each other",
	FixedRuns:   "no interval: scores of a run depend on each other",
	OpenRuns:    "no interval: scores of a run depend on each other, and the audit may end because of what they show",
}

// Table is what reports say of the evidence: each interval with error beta by itself, where one holds.
func (e Evidence) Table(claim audit.Claim, relation audit.Relation, basis Basis, beta float64) report.Table {
	t := report.Table{Name: report.Membership, Title: "Membership inference, as seen in these scores"}
	add := func(id report.Quantity, words string, rate float64, m report.Method, title string, seen, lower, upper, allowed float64) *report.Row {
		t.Rows = append(t.Rows, report.Row{ID: id, Quantity: words, FPR: rate, Method: m, Title: title, Value: &seen, LowerBound: &lower, UpperBound: &upper, Claimed: &allowed})
		return &t.Rows[len(t.Rows)-1]
	}
	holds := func(x *report.Row, is bool, trainings report.Trainings, assumption, why string) {
		if x.Valid = is; is {
			x.Trainings, x.Assumption = trainings, assumption
		} else {
			x.Note, x.LowerBound, x.UpperBound, x.Claimed = why, nil, nil, nil
		}
	}
	whole := func(x *report.Row) {
		assumes := report.MethodWords[report.MethodExact].Assumes
		holds(x, basis == OwnTrainings, report.EachItsOwn, assumes[relation], why[basis])
	}
	const of = "AUROC"
	area := e.ROC.AUROC()
	lower, upper := bounds.AUROCInterval(area, min(e.ROC.In, e.ROC.Out), beta)
	whole(add(report.AUROC, of, 0, bounds.MethodAUROC, "pairs of scores", area, lower, upper, bounds.AUROCLimit(claim.Epsilon, claim.Delta)))
	if r := e.Runs; r != nil {
		lower, upper := bounds.AUROCInterval(r.AUROC, r.Number, beta)
		x := add(report.AUROC, of+" within a run", 0, bounds.MethodAUROC, "pairs of scores of a run", r.AUROC, lower, upper, 1)
		x.Claimed = nil
		holds(x, basis == FixedRuns, report.EachRow, "runs are independent",
			"no interval: the audit may end because of what the runs show")
	}
	for _, rate := range Rates() {
		seen, lower, upper := e.ROC.TPRAt(rate, beta)
		whole(add(report.TPR, "TPR at FPR <= "+phrase.Percent(rate), rate, bounds.MethodROCRanks, "threshold of a fixed rank", seen, lower, upper, bounds.ROCLimit(rate, claim.Epsilon, claim.Delta)))
	}
	if basis == OwnTrainings || basis == FixedRuns && e.Runs != nil {
		t.Title = "Membership inference: each interval holds with " + phrase.Percent(1-beta) + " confidence by itself where what it assumes holds"
	}
	return t
}

// ClaimKeys are the settings of a claim of epsilon and delta, with their usage.
func ClaimKeys[P any](at func(*P) (claim **audit.Claim, defaulted *bool), epsilon, delta string) []settings.Key[P] {
	claim := func(p *P) *audit.Claim {
		c, defaulted := at(p)
		if *c == nil {
			*c, *defaulted = &audit.Claim{Kind: audit.Approximate, Delta: report.DefaultDelta}, true
		}
		return *c
	}
	return []settings.Key[P]{
		{Name: "epsilon", Field: "claim/epsilon", Always: true, At: settings.Number(func(p *P) *float64 { return &claim(p).Epsilon }), Range: settings.Above(0), Needed: "the epsilon that is claimed, for example 2",
			Usage: "claimed epsilon, above 0" + epsilon,
			Form:  &settings.Form{Place: "claim", Label: "Claimed epsilon", Empty: "2"}},
		{Name: "delta", Field: "claim/delta", Always: true, Range: settings.From(0, 1), Default: audit.Exactly(report.DefaultDelta),
			At: settings.Number(func(p *P) *float64 { return &claim(p).Delta }).Then(func(p *P, _ string) {
				c, defaulted := at(p)
				(*c).Kind, *defaulted = audit.DPClaim(1, (*c).Delta).Kind, false
			}),
			Usage: "claimed delta, in [0, 1); " + delta,
			Form:  &settings.Form{Place: "claim", Label: "Claimed delta", Empty: "0.00001"}},
	}
}

// EndKeys are the error, the seed and the parameters, if there are any.
func EndKeys[P any](at func(*P) (beta *float64, seed *uint64), params func(*P) *audit.Params) []settings.Key[P] {
	keys := []settings.Key[P]{
		{Name: "beta", At: settings.Number(func(p *P) *float64 { beta, _ := at(p); return beta }), Range: settings.In(1e-9, 0.5), Default: "0.05",
			Usage: "allowed error of the bound; its confidence is 1 - beta",
			Form:  &settings.Form{Place: "more", Label: "Beta", Hint: "allowed error; confidence is 1 − beta", Empty: "0.05"}},
		{Name: "seed", Always: true, At: settings.Whole(func(p *P) *uint64 { _, seed := at(p); return seed }), Range: settings.In(0, audit.MaxSeed), Preset: audit.DefaultSeed,
			Usage: "seed of all randomness",
			Form:  &settings.Form{Place: "run", Label: "Seed", Empty: audit.DefaultSeed}},
	}
	if params != nil {
		keys = append(keys, settings.Key[P]{Name: "param", Field: "parameters", At: settings.Params(params),
			Usage: "parameter of the source as name=value; may be given more than once"})
	}
	return keys
}
