package scores

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
)

func (r *Report) Reword() { r.SayByMethod(r.Plan.statedClaim(), r.from()) }

func (r Report) from() string {
	h, p := r.Evidence.Shape, r.Plan
	switch {
	case byCoins(p.Method):
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

func (r Report) cautions() []string {
	w := []string{}
	add := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	ev, p := r.Evidence, r.Plan
	h := ev.Shape
	oneRun := byCoins(p.Method)
	delta := p.Claim.Delta
	rate := func(what string, p1 float64) {
		if delta > 0 && p1 <= delta {
			add("the event of %s has frequency %s where it is likelier, not more than delta = %s: such an event shows nothing about epsilon", what, phrase.Number(p1), phrase.Number(delta))
		}
	}
	for _, e := range ev.Events {
		rate(strings.Join(report.Texts(e.Methods), " and "), float64(e.Certified.X)/float64(e.Certified.N1))
	}
	if len(ev.Events) > 0 && ev.Events[0].Ties || ev.Runs != nil && ev.Runs.Ties {
		add("all scores that were explored are the same: no threshold separates anything")
	}
	if ev.Runs != nil {
		x, _ := membership.Shares(*ev.Runs.Certified.Table)
		if p.Relation == audit.AddRemove {
			x *= 2 // half of all are in
		}
		rate("the runs", x)
		if h.Used < h.Runs && p.Relation != audit.AddRemove {
			add("%s of %s runs have fewer than %d canaries in or %d out and are left out, judged by membership alone", phrase.Grouped(h.Runs-h.Used), phrase.Grouped(h.Runs), h.K, h.M)
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
			add("one-run methods need membership by fair coins; use %s if each score comes from a separate training", report.MethodExact)
		case h.Runs > 0 && two.Validate() == nil:
			add("bounds for add-remove need membership by fair coins. A mechanism that keeps this claim keeps epsilon = %s at delta = %s under replace, which runs with a fixed number of canaries in can refute: -relation replace -epsilon %s -delta %s", phrase.Number(two.Epsilon), phrase.Number(two.Delta), audit.Exactly(two.Epsilon), phrase.Number(two.Delta))
		case h.Runs > 0:
			add("bounds for add-remove need membership by fair coins")
		}
	case h.Runs == 0 && (bounds.LowerProportion(h.In, h.In+h.Out, 0.005) > 0.5 || bounds.UpperProportion(h.In, h.In+h.Out, 0.005) < 0.5):
		add("%s of %s canaries were in, which fair coins give with probability below 0.01: if the numbers were fixed beforehand, or the coins not fair, the one-run methods do not hold", phrase.Grouped(h.In), phrase.Grouped(h.In+h.Out))
	case h.In == h.Out && h.In >= 50:
		add("as many canaries were in as out: if a random half was drawn, without a coin for each, the one-run methods do not hold at beta = %s; with -beta %.2g they do", phrase.Number(p.Beta), h.halfBeta(p.Beta))
	}
	if oneRun && r.Power.Largest == 0 {
		w = append(w, membership.Blind(h.In+h.Out, p.rule()))
	}
	if h.Runs == 0 && !oneRun {
		add("the method %s assumes that each score comes from a separate training; for scores of one training use %s", p.Method, report.MethodOneRun)
	}
	return w
}

func limitations(p Plan, h Shape) []string {
	l := []string{
		"dpscope cannot check how the scores were made. Each must be computed without its canary's membership, by one rule for all canaries, and none may be dropped for its value.",
		"A lower bound from these canaries and this score. Others may show more; nothing here proves privacy.",
		"Each bound of the table holds with the stated confidence under its own assumption. The largest of several does not, unless it was chosen in advance.",
		"Bounds of Gaussian trade-offs are for mechanisms that have one; for others they say nothing about epsilon.",
	}
	switch {
	case h.Runs > 0 && p.Relation == audit.AddRemove:
		return append(l, "All bounds are for add-remove. They assume that a separate fair coin put each canary in or left it out, in every run.")
	case h.Runs > 0:
		return append(l, "Bounds by runs are for replace: they compare canaries in and out of the same run. They assume that each run draws at random which canaries are in, or draws all canaries anew from one distribution.",
			"A mechanism that is private under add-remove may have twice its epsilon under replace: these bounds refute no claim of adding or removing a record.")
	case p.Relation == audit.AddRemove:
		return append(l, "All bounds are for add-remove: those of single trainings assume that a canary that was out was left out, with no other record in its place.")
	}
	return append(l, "Bounds of single trainings are for replace: they assume that another record took the place of a canary that was out. A mechanism that is private under add-remove may have twice its epsilon there.")
}

func references(h Shape) []string {
	l := slices.Clone(report.OneRunReferences)
	if h.Runs > 0 {
		return append(l, membership.References...)
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
	add("Claim", "%s", p.statedClaim())
	add("Method", "%s, for the verdict", r.Deciding().Title)
	rows.Bounded(r.Report, "")
	add("Power", "%s", r.Power.Fact("", p.Claim.Epsilon))
	for _, e := range ev.Events {
		sign, likelier, other := ">", "in", "out"
		if e.Side == Below {
			sign, likelier, other = "<", "out", "in"
		}
		x := e.Certified
		add("Event", "score %s %s, of %s: %s of %s %s, %s of %s %s", sign, phrase.Number(e.Threshold), strings.Join(report.Texts(e.Methods), " and "),
			phrase.Grouped(x.X), phrase.Grouped(x.N1), likelier, phrase.Grouped(x.Y), phrase.Grouped(x.N0), other)
	}
	if e := ev.Runs; e != nil {
		x, y := membership.Shares(*e.Certified.Table)
		shares := fmt.Sprintf("%.6g of %d canaries in a run, %.6g of %d out", x, h.K, y, h.M)
		if p.Relation == audit.AddRemove {
			shares = fmt.Sprintf("a share of %.6g of all memberships was in and above, %.6g out and above", x, y)
		}
		add("Event", "score > %s: %s, over %s runs", phrase.Number(e.Threshold), shares,
			phrase.Grouped(e.Certified.Table.Runs()))
	}
	p.guessing(h).Facts(add, ev.Guessed, "")
	add("Seed", "%d, for the split into halves, the pairing and the order of equal scores", p.Seed)
	return rows
}

// Head implements [report.View]: among the warnings are the notes on reading.
func (r Report) Head() report.Report {
	h := r.Report
	h.Warnings = append(slices.Clone(r.Notes), h.Warnings...)
	return h
}
