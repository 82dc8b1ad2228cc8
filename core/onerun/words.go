package onerun

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
)

// Reword puts the verdict into words.
func (r *Report) Reword() {
	r.SayByMethod(r.Plan.StatedClaim(), "one run with "+phrase.Grouped(r.Plan.Canaries)+" canaries")
}

func (r Report) cautions() []string {
	w := []string{}
	if r.Evidence != nil && r.Evidence.Diverged {
		w = append(w, "the run diverged; all scores are the worst there are and the guesses are blind. It counts: to leave it out and run again would bias the bound")
	}
	if r.Power.Largest == 0 {
		w = append(w, membership.Blind(r.Plan.Canaries, r.Plan.rule()))
	}
	return w
}

func limitations(p Plan) []string {
	l := []string{
		"A lower bound from canaries of one distribution, one score and one rule of guessing. Others may show more; nothing here proves privacy.",
		"The bound is of add-remove: a fair coin of its own put each canary in or left it out. The number of guesses and their sides were fixed before the run, or chosen by canaries that are not guessed; several numbers share the allowed error.",
		"The f-DP bound is of mechanisms whose trade-off is Gaussian; of others it says nothing of epsilon.",
		"Each bound of the table holds with the stated confidence. The largest of several does not, unless it was named before.",
	}
	if p.Trainer != nil {
		l = append(l, p.Trainer.Limitations()...)
	}
	return l
}

// Facts are the report's facts in words, the most important first.
func (r Report) Facts() []audit.FactRow {
	var rows report.FactRows
	add := rows.Add
	p := r.Plan
	p.AddFacts(&rows, r.Source)
	add("Canaries", "%s, each in by a fair coin; %s", phrase.Grouped(p.Canaries), p.Design)
	if e := r.Evidence; e != nil {
		add("In", "%s of %s", phrase.Grouped(e.In), phrase.Grouped(p.Canaries))
		p.guessing().Facts(add, e.Guessed, "; the score is the "+r.Source.Score)
		if e.Diverged {
			add("Diverged", "yes")
		}
	}
	rows.Bounded(r.Report, "")
	add("Power", "%s", r.Power.Fact("", p.Claim.Epsilon))
	if p.Data != "" {
		add("File", "SHA-256 %s", p.Data)
	}
	add("Seed", "%d", p.Seed)
	if t := r.Timing; t.Total > 0 {
		add("Time", "%.2f s", t.Total)
	}
	return rows
}
