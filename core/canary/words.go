package canary

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// unit is what [report.Power.Needed] counts.
const unit = "runs"

// title is that of the table of bounds.
func (p Plan) title() string {
	return fmt.Sprintf("Lower bounds on epsilon, each with %s confidence where it is valid (* decides)", phrase.Percent(1-p.Beta))
}

// Reword puts the verdict into words.
func (r *Report) Reword() {
	p := r.Plan
	eps, title := p.Claim.Epsilon, membership.IntervalTitle(p.Interval)
	claimed, at := "claimed "+phrase.Number(eps), p.StatedClaim().At()
	bound := func() string { return fmt.Sprintf("epsilon >= %s%s", phrase.Bound(*r.LowerBound, eps), at) }
	sure := func() string { return bound() + " with " + phrase.Percent(r.Confidence) + " confidence" }
	runs := phrase.Grouped(p.Runs) + " runs"
	used := phrase.Grouped(r.Termination.SamplesUsed)
	further := r.furtherWords()
	switch {
	case p.sequential() && r.Verdict == audit.Violation:
		r.Say(fmt.Sprintf("Violation: %s after %s trainings; %s.", sure(), used, claimed), further)
		return
	case p.sequential() && r.LowerBound != nil && r.Termination.Reason == audit.Stopped:
		r.Say(fmt.Sprintf("Inconclusive: stopped after %s of at most %s trainings, which show %s; %s.", used, phrase.Grouped(p.Runs), sure(), claimed), further)
		return
	}
	switch {
	case r.Verdict == audit.Violation:
		r.Say(fmt.Sprintf("Violation: %s; %s.", sure(), claimed), "")
	case r.Verdict == audit.NoViolation && !p.Interval.Valid():
		r.Say(fmt.Sprintf("No violation found: the %s interval gives %s, which holds asymptotically only; %s.", title, bound(), claimed), "This is not a proof of privacy.")
	case r.Verdict == audit.NoViolation:
		r.Say(fmt.Sprintf("No violation found: %s; %s.", sure(), claimed),
			strings.TrimSpace(fmt.Sprintf("%s cannot show more than %s, whatever the number of canaries. This is not a proof of privacy. %s", runs, phrase.Bound(r.Power.Largest, math.Inf(1)), further)))
	case r.Verdict == audit.Invalid:
		r.Say("Invalid: the run failed: "+strings.TrimSuffix(r.Termination.Message, ".")+".", "")
	case r.LowerBound == nil:
		r.Say(fmt.Sprintf("Inconclusive: stopped after %s of %s certification runs; no bound is certified.", phrase.Grouped(r.Termination.SamplesUsed), phrase.Grouped(p.Runs)),
			fmt.Sprintf("Claimed epsilon = %s%s.", phrase.Number(eps), at))
	case *r.LowerBound > eps:
		r.Say(fmt.Sprintf("Inconclusive: the %s interval gives %s against %s, but it holds asymptotically only and refutes nothing.", title, bound(), claimed), fmt.Sprintf("Use %s.", bounds.CanaryPairedBetting))
	default:
		r.SayTooSmall(runs+", whatever the number of canaries,", "epsilon", at)
	}
}

// furtherWords say that a sequential audit can go on.
func (r Report) furtherWords() string {
	switch e := r.Evidence; {
	case e == nil || e.Sequential == nil:
		return ""
	case e.Sequential.Scores == nil:
		return "The bound holds however often it was looked at."
	}
	return "The bound holds however often it was looked at, and more trainings can be added: dpscope canaries -continue."
}

// cautions are what the reader of these numbers should know.
func (r Report) cautions() []string {
	w := []string{}
	add := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	p, e := r.Plan, r.Evidence
	if most := p.mostExplored(); !p.sequential() && p.Explore == most && most < p.Runs {
		add("explored with %d runs, the most whose scores fit into memory, instead of %d", most, p.Runs)
	}
	if e == nil {
		return w
	}
	if p.Claim.Delta == 0 {
		add("no Gaussian noise keeps a claim at delta = 0: a violation of it is true of every noise of that kind")
	}
	if p.sequential() && e.Sequential.Scores == nil {
		add("the scores of %s trainings are more than a report keeps: it cannot be gone on from", phrase.Grouped(r.Termination.SamplesUsed))
	}
	if e.Ties && p.sequential() {
		add("all scores are the same: no threshold separates anything")
	} else if e.Ties {
		add("all scores of the exploration runs are the same: no threshold separates anything")
	}
	if n := e.Explored.Diverged; n > 0 {
		add("%s of %s exploration runs diverged; their scores are the worst there are", phrase.Grouped(n), phrase.Grouped(p.Explore))
	}
	if n := e.Certified.Diverged; n > 0 {
		add("%s of %s %s have a side that diverged, or a score that is not finite; they count: what has no score is not in the event, which on the fresh side favours the bound and is allowed to, as it follows from the output", phrase.Grouped(n), phrase.Grouped(r.Termination.SamplesUsed), p.counted())
	}
	if r.In != nil && r.In.Rate <= p.Claim.Delta && p.Claim.Delta > 0 {
		add("the event happened in a share of %s of the canaries inside, not more than delta = %s: such an event shows nothing of epsilon; use more runs, other canaries or a smaller delta", phrase.Number(r.In.Rate), phrase.Number(p.Claim.Delta))
	}
	if r.LowerBound != nil && !p.Interval.Valid() {
		add("the bound is by the %s interval, which holds asymptotically only; %s holds at every number of runs", membership.IntervalTitle(p.Interval), bounds.CanaryPairedBetting)
	}
	if r.LowerBound != nil && r.Power.Largest <= p.Claim.Epsilon {
		add("no outcome of %s runs certifies more than %s, whatever the number of canaries; a one-run audit (dpscope one-run), whose limit is about log(r/3) with r guesses, has one training with many canaries instead", phrase.Grouped(p.Runs), phrase.Bound(r.Power.Largest, math.Inf(1)))
	}
	return w
}

// counted are the runs that bounds are of.
func (p Plan) counted() string {
	if p.sequential() {
		return "trainings"
	}
	return "certification runs"
}

func limitations(p Plan) []string {
	l := []string{
		"A lower bound from canaries of one distribution and one score. Other canaries, other scores and other datasets may show more; nothing here proves privacy.",
		"With n runs nothing above about log(n/3) can be certified at the 95 % level, whatever the number of canaries: it takes that many runs to see that something is rare.",
		"Each interval of the table that is valid holds with the stated confidence, the others asymptotically. The largest of several does not, unless it was named before.",
	}
	if p.sequential() {
		l[2] = "The bound holds after every training, whoever stops the run and why. It does not where several audits, or several that go on from one report, are made and the best is told."
	}
	if p.Relation == audit.AddRemove {
		l = append(l, "The runs with all canaries and those with one less are drawn apart; the bound is of add-remove.")
	} else {
		l = append(l, "Both rates come from the same runs; the bound is of replace: one record replaced by another.")
	}
	if p.Trainer != nil {
		l = append(l, p.Trainer.Limitations()...)
	}
	if p.Source == "dp-sgd" && p.Parameters["access"].Text == train.Steps {
		l = append(l, "The auditor sees every noisy sum and which of the other examples took part. A violation refutes the claim against such an observer; who releases only the final model, or counts on nobody knowing the batches, claims less.")
	}
	return l
}

// references are the papers that an audit of this plan stands on.
func references(p Plan) []string {
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
	add := rows.Add
	p := r.Plan
	p.AddFacts(&rows, r.Source)
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
	head := r.Report
	head.PValue = nil // by paired betting, whatever the interval is
	rows.Bounded(head, map[bool]string{false: "asymptotically, "}[p.Interval.Valid()]+membership.IntervalTitle(p.Interval))
	if r.PValue != nil {
		add("p-value", "at most %s, of the claim, by paired betting", phrase.PValue(*r.PValue))
	}
	if r.Evidence != nil && p.sequential() {
		add("Event", "score > %s at last; the score is the %s; each event was learnt from the trainings before it, %s in all", phrase.Number(r.Evidence.Threshold), r.Source.Score, phrase.Count(len(r.Evidence.Sequential.Epochs), "epoch"))
	} else if r.Evidence != nil {
		add("Event", "score > %s; the score is the %s", phrase.Number(r.Evidence.Threshold), r.Source.Score)
	}
	if r.In != nil && r.Out != nil {
		counted, first := r.Evidence.Certified.Table.Runs(), ""
		if n := r.Termination.SamplesUsed - counted; n > 0 {
			first = fmt.Sprintf("; by the first %d the first event was learnt", n)
		}
		add("Rates", "%.6g of the canaries inside, %.6g of the fresh ones, over %s runs%s", r.In.Rate, r.Out.Rate, phrase.Grouped(counted), first)
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
	add("Power", "%s", r.Power.Fact("of "+phrase.Grouped(p.Runs)+" runs ", math.Inf(1)))
	if r.Evidence != nil && p.sequential() {
		add("Diverged", "%d of %s trainings", r.Evidence.Certified.Diverged, phrase.Grouped(r.Termination.SamplesUsed))
	} else if r.Evidence != nil {
		add("Diverged", "%d of %s exploration and %d of %s certification runs", r.Evidence.Explored.Diverged, phrase.Grouped(p.Explore), r.Evidence.Certified.Diverged, phrase.Grouped(r.Termination.SamplesUsed))
	}
	if !p.sequential() {
		add("Exploration", "%s runs, for the threshold%s and the stakes", phrase.Grouped(p.Explore), quantileWords(p.Quantile))
	}
	for _, c := range r.Continued {
		add("Continued", "from %s trainings, report with SHA-256 %s", phrase.Grouped(c.Runs), c.Report)
	}
	if p.Data != "" {
		add("File", "SHA-256 %s", p.Data)
	}
	add("Seed", "%d", p.Seed)
	if t := r.Timing; t.Total > 0 {
		stages := fmt.Sprintf("(explore %.2f, certify %.2f) ", t.Explore, t.Certify)
		if p.sequential() {
			stages = ""
		}
		add("Time", "%.2f s %swith %s", t.Total, stages, phrase.Count(t.Workers, "worker"))
	}
	return rows
}

func quantileWords(q float64) string {
	if q == 0 {
		return ""
	}
	return fmt.Sprintf(" between the %s and the %s quantile of the scores inside", phrase.Percent(q), phrase.Percent(1-q))
}
