// Package calibration measures how often whole audits accuse mechanisms that keep their claim. A
// [Plan] lists its [Cell]s, [Cell.Audit] does one run of one, [Plan.Judge] judges all of them. A
// run depends on the plan's seed, the cell's name and the run's number alone: runs may be done
// anywhere, in any order, and those of different cells are independent.
package calibration

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair"
)

// JudgeError is how often, at most, a judgement accuses any cell of audits that keep their error.
const JudgeError = .001

// Count is the false alarms of some runs.
type Count struct {
	Alarms int     `json:"falseAlarms"`
	Of     int     `json:"of"`
	Rate   float64 `json:"rate"`
	Lower  float64 `json:"rateLower"` // 99 % Clopper-Pearson
	Upper  float64 `json:"rateUpper"`
	// Most alarms that do not accuse, by the exact binomial test at its share of [JudgeError].
	Most  int  `json:"mostAlarms"`
	Above bool `json:"significantlyAboveBeta,omitempty"`
}

// Row is a cell and what its runs gave.
type Row struct {
	Cell
	Count
	Inconclusive int     `json:"inconclusive,omitempty"`
	Failed       int     `json:"failed,omitempty"`
	Note         string  `json:"note,omitempty"` // why the first of them failed
	Median       float64 `json:"medianShare"`    // of certified bound over claim, the lower of two
}

// Group is cells together whose claims are met.
type Group struct {
	Name  string `json:"name"`
	Cells int    `json:"cells"`
	Count
}

// Setting says how a mechanism was audited.
type Setting struct {
	Mechanism  string       `json:"mechanism"`
	Parameters audit.Params `json:"parameters"`
	Claim      string       `json:"claim"`
	Pair       int          `json:"pairThatMeetsIt"` // from 1, among those that the mechanism names; 0: none is known
	Why        string       `json:"why"`
	Alone      bool         `json:"firstPairAlone,omitempty"` // the claim is the first pair's, which is searched alone
}

// Result is all of it.
type Result struct {
	Bench    string    `json:"bench"`
	Plan     Plan      `json:"plan"`
	Settings []Setting `json:"settings"`
	Rows     []Row     `json:"rows"`
	Groups   []Group   `json:"groups"`
	Left     []string  `json:"leftOut"`
	Tests    int       `json:"tests"` // cells and groups that share Error (Bonferroni)
	Error    float64   `json:"judgementError"`
	Above    []string  `json:"aboveBeta"`
}

// Tally counts the outcomes of a cell's runs.
func Tally(c Cell, outcomes []Outcome) Row {
	r := Row{Cell: c, Count: Count{Of: len(outcomes)}}
	shares := audit.Each(outcomes, func(o Outcome) float64 { return o.Share })
	for _, o := range outcomes {
		switch o.Verdict {
		case audit.Violation:
			r.Alarms++
		case audit.Inconclusive:
			r.Inconclusive++
		case audit.Invalid:
			r.Failed++
			r.Note = cmp.Or(r.Note, o.Note)
		}
	}
	if len(shares) > 0 {
		slices.Sort(shares)
		r.Median = shares[(len(shares)-1)/2]
	}
	r.estimate()
	return r
}

// Total is the false alarms of all rows that are judged, together.
func Total(rows []Row) Count {
	var all Count
	for _, r := range rows {
		if r.Unjudged == "" {
			all.Alarms += r.Alarms
			all.Of += r.Of
		}
	}
	all.estimate()
	return all
}

// Judge decides which cells, and which groups of cells whose claims are met, have more false alarms than
// beta allows: alarms of independent runs are at most binomial. Tests share [JudgeError] equally.
func (p Plan) Judge(rows []Row, left []string) Result {
	cells := audit.Each(rows, func(r Row) Cell { return r.Cell })
	r := Result{Bench: "calibration", Plan: p, Settings: Settings(cells), Rows: rows, Groups: groups(rows), Left: append([]string{}, left...), Error: JudgeError, Above: []string{}}
	r.Tests = len(r.Groups) + audit.Count(rows, func(row Row) bool { return row.Unjudged == "" })
	level := JudgeError / float64(max(1, r.Tests))
	for i := range rows {
		row := &rows[i]
		row.judge(p.Beta, level)
		if row.Above = row.Above && row.Unjudged == ""; row.Above {
			r.Above = append(r.Above, row.Name)
		}
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.judge(p.Beta, level); g.Above {
			r.Above = append(r.Above, g.Name)
		}
	}
	return r
}

func (c *Count) estimate() {
	if c.Of > 0 {
		c.Rate = float64(c.Alarms) / float64(c.Of)
		c.Lower, c.Upper = bounds.LowerProportion(c.Alarms, c.Of, 0.005), bounds.UpperProportion(c.Alarms, c.Of, 0.005)
	}
}

func (c *Count) judge(beta, level float64) {
	c.estimate()
	c.Most = sort.Search(c.Of, func(k int) bool { return bounds.LowerProportion(k+1, c.Of, level) > beta })
	c.Above = c.Alarms > c.Most
}

// groups are the judged cells of each subject of a block whose claims are met. All cells together
// are no group: most have slack, and would hide one that errs.
func groups(rows []Row) []Group {
	all := []Group{}
	for _, r := range rows {
		if r.Unjudged != "" || !r.Met {
			continue
		}
		word := map[Block]string{Learners: "learner", Finders: "finder", Guarantees: "claims"}[r.Block]
		name := fmt.Sprintf("%s %s", word, r.Subject)
		if r.Block == Guarantees && r.Plan.Mode == pair.UntilRefuted {
			name += ", anytime"
		}
		i := slices.IndexFunc(all, func(g Group) bool { return g.Name == name })
		if i < 0 {
			i = len(all)
			all = append(all, Group{Name: name})
		}
		all[i].Cells++
		all[i].Alarms += r.Alarms
		all[i].Of += r.Of
	}
	return slices.DeleteFunc(all, func(g Group) bool { return g.Cells < 2 })
}

// Settings are those of the cells about learners, one a mechanism.
func Settings(cells []Cell) []Setting {
	list := []Setting{}
	for _, c := range cells {
		if c.Block != Learners || slices.ContainsFunc(list, func(s Setting) bool { return s.Mechanism == c.Plan.Mechanism }) {
			continue
		}
		list = append(list, Setting{Mechanism: c.Plan.Mechanism, Parameters: c.Plan.Parameters, Claim: c.Claim.String(), Pair: c.tight.Pair,
			Why: cmp.Or(c.tight.Why, "not known to be met"), Alone: c.tight.Exact > 0})
	}
	return list
}

// Sentence says what came out; beta is what is allowed.
func (c Count) Sentence(beta float64) string {
	if c.Of == 0 {
		return "No audit has ended."
	}
	audits := audit.Pick(c.Of == 1, "audit of a mechanism that keeps its claim raised", "audits of mechanisms that keep their claim raised")
	count := fmt.Sprintf("%d %s no false alarm", c.Of, audits)
	if c.Alarms > 0 {
		count = fmt.Sprintf("%d of %d %s a false alarm", c.Alarms, c.Of, audits)
	}
	return fmt.Sprintf("%s: %s (99\u00a0%% interval: %s), allowed %s.", count, c.RateWords(), c.IntervalWords(), Percent(beta))
}

// RateWords is the rate in percent; "–" without any run.
func (c Count) RateWords() string {
	return audit.Pick(c.Of == 0, "–", rounded(c.Rate, math.Round)+"\u00a0%")
}

// IntervalWords is the 99 % interval of the rate in percent, rounded outwards.
func (c Count) IntervalWords() string {
	return audit.Pick(c.Of == 0, "–", rounded(c.Lower, math.Floor)+" to "+rounded(c.Upper, math.Ceil)+"\u00a0%")
}

// Percent is a share that is no estimate.
func Percent(share float64) string {
	return strconv.FormatFloat(100*share, 'g', 10, 64) + "\u00a0%"
}

// rounded is a share in percent: a decimal, two below one percent.
func rounded(share float64, to func(float64) float64) string {
	decimals, unit := 1, 10.0
	if share < 0.01 {
		decimals, unit = 2, 100
	}
	v := to(100*share*unit) / unit
	return strconv.FormatFloat(v, 'f', audit.Pick(v == 0 || v == 100, 0, decimals), 64)
}

// Command measures the same, but for [Plan.Cheap].
func (p Plan) Command() string {
	return audit.CommandOf("go run github.com/dpscope/dpscope/bench calibration", settings.Written(Keys(), p, Plan{}))
}

// Keys are the settings of a plan, in the order in which a command names them.
func Keys() []settings.Key[Plan] {
	return []settings.Key[Plan]{
		{Name: "learners", At: settings.Words(func(p *Plan) *[]string { return &p.Learners }), Usage: "only cells of these learners, separated by commas"},
		{Name: "finders", At: settings.Words(func(p *Plan) *[]string { return &p.Finders }), Usage: "only cells of these finders, separated by commas"},
		{Name: "mechanisms", At: settings.Words(func(p *Plan) *[]string { return &p.Mechanisms }), Usage: "only these mechanisms, by their full names, separated by commas"},
		{Name: "runs", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Runs }), Range: settings.In(1, mostRuns), Preset: "150",
			Usage: "runs of each learner on each mechanism; a finder gets a third as many, a slow learner a fifth or a twenty-fifth, a guarantee four times and an anytime guarantee twice as many",
			Form:  &settings.Form{Label: "Audits of each mechanism"}},
		{Name: "samples", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Samples }), Range: settings.In(pair.MinSamples, pair.MaxSamples), Preset: "2000",
			Usage: "certification outputs a side"},
		{Name: "explore", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Explore }), Range: settings.In(0, pair.MaxSamples), Preset: "2000",
			Usage: "exploration outputs a side and trial; 0: as many as -samples"},
		{Name: "trials", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Trials }), Range: settings.In(1, pair.MaxTrials), Preset: "3",
			Usage: "pairs to explore; a grid may need more"},
		{Name: "beta", Always: true, At: settings.Number(func(p *Plan) *float64 { return &p.Beta }), Range: settings.In(1e-9, 0.5), Preset: "0.05",
			Usage: "allowed error of an audit"},
		{Name: "seed", Always: true, At: settings.Whole(func(p *Plan) *uint64 { return &p.Seed }), Range: settings.In(0, audit.MaxSeed), Preset: "1",
			Usage: "seed of all randomness", Form: &settings.Form{Label: "Seed", Hint: "Another seed gives other audits."}},
	}
}
