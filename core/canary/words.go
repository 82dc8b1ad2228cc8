package canary

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/canary/train"
	"github.com/dpscope/dpscope/report"
)

// IntervalWords name intervals and say what they assume, beyond independent runs.
var IntervalWords = map[bounds.CanaryInterval]struct{ Title, Assumption string }{
	bounds.CanaryPairedBetting: {"paired betting", "none: the mean of each pair's X/K - e^epsilon Y/M - delta is bet against, with stakes fixed before"},
	bounds.CanaryBetting:       {"betting, half of the error a side", "none: each side's share X/K is a number in [0, 1], independent from run to run"},
	bounds.CanaryMaurerPontil:  {"empirical Bernstein (Maurer and Pontil)", "none"},
	bounds.CanaryKL:            {"Chernoff, in Kullback-Leibler form", "none"},
	bounds.CanaryBernstein1:    {"Bernstein, first order", "none"},
	bounds.CanaryBernstein2:    {"Bernstein, second order", "canaries exchangeable within a run"},
	bounds.CanaryBernstein4:    {"Bernstein, fourth order", "canaries exchangeable within a run"},
	bounds.CanaryWilson1:       {"Wilson, first order", "asymptotic: rates are normal"},
	bounds.CanaryWilson2:       {"Wilson, second order", "asymptotic: rates and second moments are normal; canaries exchangeable within a run"},
	bounds.CanaryWilson4:       {"Wilson, fourth order", "asymptotic: rates and higher moments are normal; canaries exchangeable within a run"},
}

// Headline is the verdict in words.
func Headline(r Report) string {
	p := r.Plan
	claimed, at := "claimed "+phrase.Number(p.Claim.Epsilon), p.Promise().At()
	bounded := func() string {
		return fmt.Sprintf("epsilon >= %s%s with %s confidence", phrase.Bound(*r.LowerBound, p.Claim.Epsilon), at, phrase.Percent(r.Confidence))
	}
	runs := phrase.Grouped(p.Runs) + " runs"
	switch {
	case r.Verdict == audit.Violation:
		return fmt.Sprintf("Violation: %s; %s.", bounded(), claimed)
	case r.Verdict == audit.NoViolation && !p.Interval.Valid():
		return fmt.Sprintf("No violation found: the %s interval gives epsilon >= %s%s, which holds asymptotically only; %s. This is not a proof of privacy.",
			IntervalWords[p.Interval].Title, phrase.Bound(*r.LowerBound, p.Claim.Epsilon), at, claimed)
	case r.Verdict == audit.NoViolation:
		return fmt.Sprintf("No violation found: %s; %s. %s cannot show more than %s, whatever the number of canaries. This is not a proof of privacy.",
			bounded(), claimed, runs, phrase.Bound(r.Power.Largest, math.Inf(1)))
	case r.Verdict == audit.Invalid:
		return "Invalid: the run failed: " + strings.TrimSuffix(r.Ended.Message, ".") + "."
	case r.LowerBound == nil:
		return fmt.Sprintf("Inconclusive: stopped after %s of %s certification runs; no bound is certified. Claimed epsilon = %s%s.", phrase.Grouped(r.Ended.SamplesUsed), phrase.Grouped(p.Runs), phrase.Number(p.Claim.Epsilon), at)
	case *r.LowerBound > p.Claim.Epsilon:
		return fmt.Sprintf("Inconclusive: the %s interval gives epsilon >= %s%s against %s, but it holds asymptotically only and refutes nothing. Use %s.",
			IntervalWords[p.Interval].Title, phrase.Bound(*r.LowerBound, p.Claim.Epsilon), at, claimed, bounds.CanaryPairedBetting)
	}
	remedy := "No number of runs that dpscope makes is enough."
	if r.Power.RunsForClaim > 0 {
		remedy = fmt.Sprintf("At least %s runs are needed for any chance to refute the claim.", phrase.Grouped(r.Power.RunsForClaim))
	}
	return fmt.Sprintf("Inconclusive: %s cannot show more than epsilon >= %s%s, whatever the number of canaries, and the mechanism %s. %s",
		runs, phrase.Bound(r.Power.Largest, p.Claim.Epsilon), at, claimed, remedy)
}

// cautions are what the reader of these numbers should know.
func (r Report) cautions() []string {
	var w []string
	add := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	p := r.Plan
	e := r.Evidence
	if e == nil {
		return nil
	}
	if p.Claim.Delta == 0 {
		add("no Gaussian noise keeps a claim at delta = 0: a violation of it is true of every noise of that kind")
	}
	if e.Ties {
		add("all scores of the exploration runs are the same: no threshold separates anything")
	}
	if n := e.Explored.Diverged; n > 0 {
		add("%s of %s exploration runs diverged; their scores are the worst there are", phrase.Grouped(n), phrase.Grouped(p.Explore))
	}
	if n := e.Certified.Diverged; n > 0 {
		add("%s of %s certification runs have a side that diverged, or a score that is not finite; they count: what has no score is not in the event, which on the fresh side favours the bound and is allowed to, as it follows from the output", phrase.Grouped(n), phrase.Grouped(r.Ended.SamplesUsed))
	}
	if r.In != nil && r.In.Rate <= p.Claim.Delta && p.Claim.Delta > 0 {
		add("the event happened in a share of %s of the canaries inside, not more than delta = %s: such an event shows nothing of epsilon; use more runs, other canaries or a smaller delta", phrase.Number(r.In.Rate), phrase.Number(p.Claim.Delta))
	}
	if r.LowerBound != nil && !p.Interval.Valid() {
		add("the bound is by the %s interval, which holds asymptotically only; %s holds at every number of runs", IntervalWords[p.Interval].Title, bounds.CanaryPairedBetting)
	}
	if r.LowerBound != nil && r.Power.Largest <= p.Claim.Epsilon {
		add("no outcome of %s runs certifies more than %s, whatever the number of canaries; a one-run audit (dpscope one-run), whose limit is about log(r/3) with r guesses, has one training with many canaries instead", phrase.Grouped(p.Runs), phrase.Bound(r.Power.Largest, math.Inf(1)))
	}
	return w
}

func limitations(p Plan) []string {
	l := []string{
		"A lower bound from canaries of one distribution and one score. Other canaries, other scores and other datasets may show more; nothing here proves privacy.",
		"With n runs nothing above about log(n/3) can be certified at the 95 % level, whatever the number of canaries: it takes that many runs to see that something is rare.",
		"Each interval of the table that is valid holds with the stated confidence, the others asymptotically. The largest of several does not, unless it was named before.",
	}
	if p.Relation == audit.AddRemove {
		l = append(l, "The runs with all canaries and those with one less are drawn apart; the bound is of add-remove.")
	} else {
		l = append(l, "Both rates come from the same runs; the bound is of replace: one record replaced by another.")
	}
	if p.Source == "dp-sgd" && p.Parameters["access"].Text == train.Steps {
		l = append(l, "The auditor sees every noisy sum and which of the other examples took part. A violation refutes the claim against such an observer; who releases only the final model, or counts on nobody knowing the batches, claims less.")
	}
	return l
}

// References are the papers that an audit of this plan stands on.
func References(p Plan) []string {
	l := []string{
		"K. Pillutla, G. Andrew, P. Kairouz, H. B. McMahan, A. Oprea and S. Oh, Unleashing the power of randomization in auditing differentially private ML, NeurIPS 2023",
		"I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 2024",
		"A. Maurer and M. Pontil, Empirical Bernstein bounds and sample variance penalization, COLT 2009",
	}
	switch p.Design {
	case source.TailSingular:
		l = append(l, "M. Jagielski, J. Ullman and A. Oprea, Auditing differentially private machine learning: how private is private SGD?, NeurIPS 2020")
	case source.RandomGradients:
		l = append(l, "G. Andrew, P. Kairouz, S. Oh, A. Oprea, H. B. McMahan and V. Suriyakumar, One-shot empirical privacy estimation for federated learning, ICLR 2024")
	}
	return l
}

// Facts are the report's facts in words, the most important first.
func (r Report) Facts() []audit.FactRow {
	var rows report.FactRows
	add := rows.Add
	p := r.Plan
	source.AddSource(&rows, p.Source, p.Parameters, r.Source, p.Promise())
	neighbours := "K canaries against K-1 of them"
	if p.Relation == audit.Replace {
		neighbours = "K canaries on both sides, one of them another"
	}
	add("Neighbours", "%s: %s", p.Relation, neighbours)
	design := string(p.Design)
	if p.Pool != nil {
		if p.Pool.Tail > 0 {
			design += fmt.Sprintf(", the last %d right singular vectors", p.Pool.Tail)
		}
		design += fmt.Sprintf(", norm: %s", p.Pool.Scale)
		if p.Pool.Distinct {
			design += ", none twice in a run"
		}
	}
	add("Canaries", "%d inside, %d fresh a run; %s", p.K, p.M, design)
	if r.LowerBound != nil {
		add("Lower bound", "epsilon >= %s (%s confidence%s, %s)", phrase.Bound(*r.LowerBound, p.Claim.Epsilon), phrase.Percent(r.Confidence), map[bool]string{false: " asymptotically"}[p.Interval.Valid()], IntervalWords[p.Interval].Title)
	}
	if r.PValue != nil {
		add("p-value", "at most %s, of the claim, by paired betting", phrase.PValue(*r.PValue))
	}
	if r.Evidence != nil {
		add("Event", "score > %s; the score is the %s", phrase.Number(r.Evidence.Threshold), r.Source.Score)
	}
	if r.In != nil && r.Out != nil {
		add("Rates", "%.6g of the canaries inside, %.6g of the fresh ones, over %s runs", r.In.Rate, r.Out.Rate, phrase.Grouped(r.Ended.SamplesUsed))
		for _, s := range []struct {
			name string
			side *Side
		}{{"Inside", r.In}, {"Fresh", r.Out}} {
			text := make([]string, len(s.side.Moments))
			for i, m := range s.side.Moments {
				text[i] = fmt.Sprintf("mu%d = %.6g", i+1, m)
			}
			for _, c := range []struct {
				name string
				v    *float64
			}{{"|mu2 - mu1^2|", s.side.Second}, {"|mu4 - mu2^2|", s.side.Fourth}} {
				if c.v != nil {
					text = append(text, fmt.Sprintf("%s = %.3g", c.name, *c.v))
				}
			}
			add(s.name, "%s", strings.Join(text, ", "))
		}
	}
	if e := r.Equation10; e != nil && e.Bias != nil {
		text := fmt.Sprintf("bias %+.3f", *e.Bias)
		for _, v := range []struct {
			order int
			v     *float64
		}{{2, e.Variance2}, {4, e.Variance4}} {
			if v.v != nil {
				text += fmt.Sprintf(", variance %+.3f at order %d", *v.v, v.order)
			}
		}
		add("Equation 10", "%s, against a single canary's %.3f (Wilson)", text, *e.Single)
	}
	power := fmt.Sprintf("No outcome of %s runs certifies more than %s.", phrase.Grouped(p.Runs), phrase.Bound(r.Power.Largest, math.Inf(1)))
	if r.Power.RunsForClaim > 0 {
		power += fmt.Sprintf(" From %s runs on some outcome refutes the claim.", phrase.Grouped(r.Power.RunsForClaim))
	}
	add("Power", "%s", power)
	if r.Evidence != nil {
		add("Diverged", "%d of %s exploration and %d of %s certification runs", r.Evidence.Explored.Diverged, phrase.Grouped(p.Explore), r.Evidence.Certified.Diverged, phrase.Grouped(r.Ended.SamplesUsed))
	}
	add("Exploration", "%s runs, for the threshold%s and the stakes", phrase.Grouped(p.Explore), quantileWords(p.Quantile))
	if p.Data != "" {
		add("File", "SHA-256 %s", p.Data)
	}
	add("Seed", "%d", p.Seed)
	if t := r.Timing; t.Total > 0 {
		add("Time", "%.2f s (explore %.2f, certify %.2f) with %s", t.Total, t.Explore, t.Certify, phrase.Count(t.Workers, "worker"))
	}
	return rows
}

func quantileWords(q float64) string {
	if q == 0 {
		return ""
	}
	return fmt.Sprintf(" between the %s and the %s quantile of the scores inside", phrase.Percent(q), phrase.Percent(1-q))
}

// IntervalRow is one line of the table of intervals, in words.
type IntervalRow struct {
	Interval   string `json:"interval"`
	Bound      string `json:"bound"`
	Largest    string `json:"largest"`
	Valid      string `json:"valid"` // yes, or asymptotically
	Exceeds    bool   `json:"exceeds"`
	Chosen     bool   `json:"chosen"`
	Assumption string `json:"assumption"`
}

// IntervalRows are what all intervals make of the counts.
func IntervalRows(r Report) []IntervalRow {
	rows := []IntervalRow{}
	eps := r.Plan.Claim.Epsilon
	for _, x := range r.Intervals {
		row := IntervalRow{Interval: x.Title, Bound: "-", Largest: "-", Valid: "yes", Assumption: x.Assumption, Chosen: x.Interval == r.Plan.Interval}
		if !x.Valid {
			row.Valid = "asymptotically"
		}
		if x.Note != "" {
			row.Assumption = x.Note
		}
		if x.LowerBound != nil {
			row.Bound, row.Exceeds = phrase.Bound(*x.LowerBound, eps), *x.LowerBound > eps
		}
		if x.Largest != nil {
			row.Largest = phrase.Bound(*x.Largest, math.Inf(1))
		}
		rows = append(rows, row)
	}
	return rows
}

// Head implements [report.View].
func (r Report) Head() report.Head {
	p := r.Plan
	return report.Head{Subject: p.Source, Generator: r.Generator, Claim: *p.Claim, Promise: p.Promise().String(), Verdict: r.Verdict, Summary: r.Summary,
		LowerBound: r.LowerBound, Quantity: "epsilon", Confidence: r.Confidence, Beta: p.Beta, Seed: p.Seed,
		Ended: r.Ended, Timing: r.Timing, Warnings: r.Warnings, Reproduce: r.Reproduce}
}

// Text is the report as plain text for a terminal.
func (r Report) Text() string {
	var b strings.Builder
	report.WriteFacts(&b, r.Summary, r.Facts())
	if rows := IntervalRows(r); len(rows) > 0 {
		fmt.Fprintf(&b, "\nLower bounds on epsilon, each with %s confidence where it is valid (* the audit's own):\n", phrase.Percent(r.Confidence))
		lines := [][]string{{"", "interval", "at least", "at most possible", "valid", "assumes"}}
		for _, x := range rows {
			mark := map[bool]string{true: "*"}[x.Chosen]
			lines = append(lines, []string{mark, x.Interval, x.Bound, x.Largest, x.Valid, x.Assumption})
		}
		phrase.Table(&b, lines)
	}
	report.WriteEnd(&b, r.Warnings, r.Reproduce)
	return b.String()
}
