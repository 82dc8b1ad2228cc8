package canary

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/mechanisms/train"
)

func (p Plan) title() string {
	return fmt.Sprintf("Lower bounds on epsilon, each with %s confidence where it is valid (* decides)", phrase.Percent(1-p.Beta))
}

func (r *Report) Reword() {
	p := r.Plan
	if p.Mode == OneRun {
		r.SayByMethod(p.StatedClaim(), "one run with "+phrase.Grouped(p.K)+" canaries")
		return
	}
	eps, title := p.Claim.Epsilon, membership.IntervalTitle(p.Interval)
	claimed, at := "claimed "+phrase.Number(eps), p.StatedClaim().At()
	bound := func() string { return fmt.Sprintf("epsilon >= %s%s", phrase.Bound(*r.LowerBound, eps), at) }
	sure := func() string { return bound() + " with " + phrase.Percent(r.Confidence) + " confidence" }
	runs := phrase.Grouped(p.Runs) + " runs"
	used, further := phrase.Grouped(r.Termination.SamplesUsed), ""
	if e := r.Evidence; e != nil && e.Sequential != nil {
		further = "The bound is valid however often you look" +
			audit.Pick(e.Sequential.Scores == nil, ".", ", and more trainings can be added: dpscope canaries -continue.")
	}
	switch {
	case p.sequential() && r.Verdict == audit.Violation:
		r.Say(fmt.Sprintf("Violation: %s after %s trainings; %s.", sure(), used, claimed), further)
	case p.sequential() && r.LowerBound != nil && r.Termination.Reason == audit.Stopped:
		r.Say(fmt.Sprintf("Inconclusive: stopped after %s of at most %s trainings, which show %s; %s.", used, phrase.Grouped(p.Runs), sure(), claimed), further)
	case r.Verdict == audit.Violation:
		r.Say(fmt.Sprintf("Violation: %s; %s.", sure(), claimed), "")
	case r.Verdict == audit.NoViolation && !p.Interval.Valid():
		r.Say(fmt.Sprintf("No violation found: the %s interval gives %s, which holds asymptotically only; %s.", title, bound(), claimed), "This is not a proof of privacy.")
	case r.Verdict == audit.NoViolation:
		r.Say(fmt.Sprintf("No violation found: %s; %s.", sure(), claimed),
			strings.TrimSpace(fmt.Sprintf("%s cannot show more than %s, whatever the number of canaries. This is not a proof of privacy. %s", runs, phrase.Bound(r.Power.Largest, math.Inf(1)), further)))
	case r.Verdict == audit.Invalid:
		r.SayInvalid()
	case r.LowerBound == nil:
		r.Say(fmt.Sprintf("Inconclusive: stopped after %s of %s certification runs; no bound is certified.", used, phrase.Grouped(p.Runs)),
			fmt.Sprintf("Claimed epsilon = %s%s.", phrase.Number(eps), at))
	case *r.LowerBound > eps:
		r.Say(fmt.Sprintf("Inconclusive: the %s interval gives %s against %s, but it holds asymptotically only and refutes nothing.", title, bound(), claimed), fmt.Sprintf("Use %s.", bounds.CanaryPairedBetting))
	default:
		r.SayTooSmall(runs+", whatever the number of canaries,", "epsilon", at)
	}
}

func (r Report) cautions() []string {
	w := []string{}
	add := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	p := r.Plan
	if p.Mode == OneRun {
		if r.Evidence != nil && r.Evidence.OneRun.Diverged {
			add("the run diverged; all scores are the lowest possible and guesses are no better than chance. It counts: leaving it out and running again would bias the bound")
		}
		if r.Power.Largest == 0 {
			w = append(w, membership.Blind(p.K, p.rule()))
		}
		return w
	}
	if most := p.mostExplored(); !p.sequential() && p.Explore == most && most < p.Runs {
		add("explored with %d runs, the most whose scores fit into memory, instead of %d", most, p.Runs)
	}
	if r.Evidence == nil {
		return w
	}
	e, bets := r.Evidence.Runs, r.Evidence.Sequential
	if p.Claim.Delta == 0 {
		add("no Gaussian noise keeps a claim at delta = 0: every amount of such noise violates it")
	}
	if bets != nil && bets.Scores == nil {
		add("the scores of %s trainings are more than a report keeps: the audit cannot be continued from it", phrase.Grouped(r.Termination.SamplesUsed))
	}
	if e.Ties {
		add("all scores%s are the same: no threshold separates anything", audit.Pick(bets == nil, " of the exploration runs", ""))
	}
	if n := e.Explored.Diverged; n > 0 {
		add("%s of %s exploration runs diverged; their scores are the lowest possible", phrase.Grouped(n), phrase.Grouped(p.Explore))
	}
	if n := e.Certified.Diverged; n > 0 {
		add("%s of %s %s have a side that diverged, or a score that is not finite; they count: a canary without a score is not in the event. On the fresh side this favours the bound, validly, because it follows from the output", phrase.Grouped(n), phrase.Grouped(r.Termination.SamplesUsed), p.counted())
	}
	if r.In != nil && r.In.Rate <= p.Claim.Delta && p.Claim.Delta > 0 {
		add("a fraction %s of the canaries inside is in the event, not more than delta = %s: such an event shows nothing about epsilon; use more runs, other canaries or a smaller delta", phrase.Number(r.In.Rate), phrase.Number(p.Claim.Delta))
	}
	if r.LowerBound != nil && !p.Interval.Valid() {
		add("the bound is by the %s interval, which holds asymptotically only; %s holds at every number of runs", membership.IntervalTitle(p.Interval), bounds.CanaryPairedBetting)
	}
	if r.LowerBound != nil && r.Power.Largest <= p.Claim.Epsilon {
		add("no outcome of %s runs certifies more than %s, whatever the number of canaries; a one-run audit (dpscope one-run) uses one training with many canaries instead; its limit is about log(r/3) with r guesses", phrase.Grouped(p.Runs), phrase.Bound(r.Power.Largest, math.Inf(1)))
	}
	return w
}

func (p Plan) counted() string { return audit.Pick(p.sequential(), "trainings", "certification runs") }

func limitations(p Plan) []string {
	var more []string
	if p.Trainer != nil {
		more = p.Trainer.Limitations()
	}
	if p.Mode == OneRun {
		return append([]string{
			"A lower bound from canaries of one distribution, one score and one rule of guessing. Others may show more; nothing here proves privacy.",
			"The bound is for add-remove: a separate fair coin put each canary in or left it out. The number of guesses and their sides were fixed before the run, or chosen by canaries that are not guessed; several numbers share the allowed error.",
			"The f-DP bound is for mechanisms whose trade-off is Gaussian; for others it says nothing about epsilon.",
			"Each bound of the table holds with the stated confidence. The largest of several does not, unless it was chosen in advance.",
		}, more...)
	}
	l := []string{
		"A lower bound from canaries of one distribution and one score. Other canaries, other scores and other datasets may show more; nothing here proves privacy.",
		"With n runs nothing above about log(n/3) can be certified at the 95 % level, whatever the number of canaries: it takes that many runs to see that something is rare.",
		"Each interval of the table that is valid holds with the stated confidence, the others asymptotically. The largest of several does not, unless it was chosen in advance.",
	}
	if p.sequential() {
		l[2] = "The bound is valid after every training, whatever the reason for stopping. It is not valid if you make several audits, or several continuations of one report, and publish only the best."
	}
	l = append(l, audit.Pick(p.Relation == audit.AddRemove, "Runs with all canaries and runs with one fewer are drawn separately; the bound is for add-remove.",
		"Both rates come from the same runs; the bound is for replace: one record replaced by another."))
	l = append(l, more...)
	if p.Source == "dp-sgd" && p.Parameters["access"].Text == train.Steps {
		l = append(l, "The auditor sees every noisy sum and which of the other examples took part. A violation refutes the claim against such an observer. A claim for the final model only, or for secret batches, is weaker.")
	}
	return l
}

func references(p Plan) []string {
	if p.Mode == OneRun {
		return report.OneRunReferences
	}
	l := slices.Clone(membership.References)
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
	name, used := r.Plan.Source, maps.Clone(r.Plan.Parameters)
	maps.DeleteFunc(used, func(name string, _ audit.ParamValue) bool { return slices.Contains(r.Source.Idle, name) })
	if len(used) > 0 {
		name += " (" + strings.Join(used.Assignments(), ", ") + ")"
	}
	rows.Add("Source", "%s: %s", name, r.Source.Title)
	rows = append(rows, r.Source.Facts...)
	rows.Add("Claim", "%s", r.Plan.StatedClaim())
	if r.Plan.Mode == OneRun {
		r.oneRunFacts(&rows)
	} else {
		r.runsFacts(&rows)
	}
	for _, c := range r.Continued {
		rows.Add("Continued", "from %s trainings, report with SHA-256 %s", phrase.Grouped(c.Runs), c.Report)
	}
	if r.Plan.Data != "" {
		rows.Add("File", "SHA-256 %s", r.Plan.Data)
	}
	rows.Add("Seed", "%d", r.Plan.Seed)
	if t := r.Timing; t.Total > 0 {
		stages := ""
		if r.Plan.Mode == Fixed {
			stages = fmt.Sprintf("(explore %.2f, certify %.2f) ", t.Explore, t.Certify)
		}
		rows.Add("Time", "%.2f s %swith %s", t.Total, stages, phrase.Count(t.Workers, "worker"))
	}
	return rows
}

func (r Report) oneRunFacts(rows *report.FactRows) {
	p := r.Plan
	rows.Add("Canaries", "%s, each in by a fair coin; %s", phrase.Grouped(p.K), p.Design)
	if r.Evidence != nil {
		one := r.Evidence.OneRun
		rows.Add("In", "%s of %s", phrase.Grouped(one.In), phrase.Grouped(p.K))
		p.guessing().Facts(rows.Add, one.Guessed, "; the score is the "+r.Source.Score)
		if one.Diverged {
			rows.Add("Diverged", "yes")
		}
	}
	rows.Bounded(r.Report, "")
	rows.Add("Power", "%s", r.Power.Fact("", p.Claim.Epsilon))
}

func (r Report) runsFacts(rows *report.FactRows) {
	p, add := r.Plan, rows.Add
	neighbours := audit.Pick(p.Relation == audit.Replace, "K canaries on both sides, one of them replaced", "K canaries against K-1 of them")
	add("Neighbours", "%s: %s", p.Relation, neighbours)
	design := string(p.Design)
	if p.Pool != nil {
		if p.Pool.Tail > 0 {
			design += fmt.Sprintf(", the last %d right singular vectors", p.Pool.Tail)
		}
		design += fmt.Sprintf(", norm: %s", p.Pool.Scale)
	}
	add("Canaries", "%d inside, %d fresh a run; %s", p.K, p.M, design)
	head := r.Report
	head.PValue = nil // by paired betting, whatever the interval is
	rows.Bounded(head, audit.Pick(p.Interval.Valid(), "", "asymptotically, ")+membership.IntervalTitle(p.Interval))
	if r.PValue != nil {
		add("p-value", "at most %s, of the claim, by paired betting", phrase.PValue(*r.PValue))
	}
	if e := r.Evidence; e != nil {
		at, learnt := "", ""
		if b := e.Sequential; b != nil {
			at, learnt = " at last", fmt.Sprintf("; each event was learnt from the trainings before it, %s in all", phrase.Count(len(b.Epochs), "epoch"))
		}
		add("Event", "score > %s%s; the score is the %s%s", phrase.Number(e.Runs.Threshold), at, r.Source.Score, learnt)
	}
	if r.In != nil && r.Out != nil {
		counted, first := r.Evidence.Runs.Certified.Table.Runs(), ""
		if n := r.Termination.SamplesUsed - counted; n > 0 {
			first = fmt.Sprintf("; the first event was learnt from the first %d", n)
		}
		add("Rates", "%.6g of the canaries inside, %.6g of the fresh ones, over %s runs%s", r.In.Rate, r.Out.Rate, phrase.Grouped(counted), first)
		add("Inside", "%s", r.In.words())
		add("Fresh", "%s", r.Out.words())
	}
	add("Power", "%s", r.Power.Fact("of "+phrase.Grouped(p.Runs)+" runs ", math.Inf(1)))
	if e := r.Evidence; e != nil {
		explored := ""
		if p.Mode == Fixed {
			explored = fmt.Sprintf("%d of %s exploration and ", e.Runs.Explored.Diverged, phrase.Grouped(p.Explore))
		}
		add("Diverged", "%s%d of %s %s", explored, e.Runs.Certified.Diverged, phrase.Grouped(r.Termination.SamplesUsed), p.counted())
	}
	if p.Mode == Fixed {
		between := ""
		if q := p.Quantile; q > 0 {
			between = fmt.Sprintf(" between the %s and the %s quantile of the scores inside", phrase.Percent(q), phrase.Percent(1-q))
		}
		add("Exploration", "%s runs, for the threshold%s and the stakes", phrase.Grouped(p.Explore), between)
	}
}

func (s *Side) words() string {
	var text []string
	for i, m := range s.Moments {
		text = append(text, fmt.Sprintf("mu%d = %.6g", i+1, m))
	}
	if s.Second != nil {
		text = append(text, fmt.Sprintf("|mu2 - mu1^2| = %.3g", *s.Second))
	}
	if s.Fourth != nil {
		text = append(text, fmt.Sprintf("|mu4 - mu2^2| = %.3g", *s.Fourth))
	}
	return strings.Join(text, ", ")
}
