package scores

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/report"
)

// Keys are the settings of an audit of scores, in the order in which a report
// names them.
func Keys() []settings.Key[Plan] {
	keys := source.ClaimKeys(func(p *Plan) (**audit.Claim, *bool) { return &p.Claim, &p.DeltaDefaulted }, "", "0 is a claim of pure differential privacy")
	keys = append(keys, []settings.Key[Plan]{
		{Name: "relation", Always: true, At: settings.Word(func(p *Plan) *audit.Relation { return &p.Relation }),
			Usage: "needed: neighbouring relation of the claim: add-remove (a record is there or not) or replace (a record is replaced by another)",
			Form:  &settings.Form{Place: "scores", Label: "Neighbours of the claim", Hint: "scores do not tell; private under add-remove may be twice the epsilon under replace", Wide: true}},
		{Name: "method", At: settings.Word(func(p *Plan) *report.Method { return &p.Method }),
			Usage: "whose bound the verdict is by: one-run (scores of one training), one-run-gdp, exact (each score of a training of its own), clopper-pearson, paired-betting, gaussian-dp; of a matrix an interval of dpscope canaries; default one-run, of a matrix paired-betting. The report has all",
			Form:  &settings.Form{Place: "scores", Label: "Method", Hint: "whose bound the verdict is by; the table has all", Wide: true}},
	}...)
	keys = append(keys, onerun.GuessKeys(func(p *Plan) (*onerun.Sides, *[]int, *[]int) { return &p.Sides, &p.Guesses, &p.GDPGuesses })...)
	return append(keys, source.EndKeys(func(p *Plan) (*float64, *uint64) { return &p.Beta, &p.Seed }, nil)...)
}
