package canary

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/canary/train"
)

// OneRunKeys are the settings of an audit in one run, in the order in which a report
// names them.
func OneRunKeys() []settings.Key[OneRunPlan] {
	keys := []settings.Key[OneRunPlan]{sourceKey(func(p *OneRunPlan) *string { return &p.Source }, func(s SourceSpec) bool { return s.OneRun != nil })}
	keys = append(keys, claimKeys(func(p *OneRunPlan) (**audit.Claim, *bool) { return &p.Claim, &p.DeltaDefaulted }, "", "0 is a claim of pure differential privacy")...)
	keys = append(keys, []settings.Key[OneRunPlan]{
		{Name: "relation", Always: true, At: settings.Word(func(p *OneRunPlan) *audit.Relation { return &p.Relation }),
			Usage: "neighbouring relation of the claim: add-remove, the only one, since a coin decides whether a canary is there"},
		{Name: "design", At: settings.Word(func(p *OneRunPlan) *Design { return &p.Design }),
			Usage: "distribution of the canaries: orthogonal, sphere, random-gradients, data-poisoning; default: the source's first"},
	}...)
	keys = append(keys, csvKeys(func(p *OneRunPlan) **train.CSV { return &p.CSV }, "the file")...)
	keys = append(keys, settings.Key[OneRunPlan]{Name: "m", Field: "canaries", Always: true, At: settings.Whole(func(p *OneRunPlan) *int { return &p.Canaries }), Range: settings.In(1, mostOneRun),
		Usage: "canaries, each in by a fair coin; default: the source's",
		Form:  &settings.Form{Place: "one", Label: "Canaries, m", Hint: "of one run"}})
	keys = append(keys, guessKeys(func(p *OneRunPlan) (*Sides, *[]int, *[]int) { return &p.Sides, &p.Guesses, &p.GDPGuesses })...)
	return append(keys, endKeys(func(p *OneRunPlan) (*float64, *uint64) { return &p.Beta, &p.Seed }, func(p *OneRunPlan) *audit.Params { return &p.Parameters })...)
}

// guessKeys say which canaries are guessed, and how many.
func guessKeys[P any](at func(*P) (sides *Sides, guesses, gdp *[]int)) []settings.Key[P] {
	return []settings.Key[P]{
		{Name: "sides", At: settings.Word(func(p *P) *Sides { sides, _, _ := at(p); return sides }),
			Usage: "which canaries are guessed: chosen (one canary in eight is set aside to choose the sides and, without -guesses, the number), both (as many with large scores in as with small ones out), in, out; default both, of scores without -guesses chosen"},
		{Name: "guesses", At: settings.Wholes(func(p *P) *[]int { _, guesses, _ := at(p); return guesses }),
			Usage: "how many canaries are guessed, in `numbers` with commas between: of several the best counts and they share -beta; default chosen, or by the number of canaries"},
		{Name: "gdp-guesses", Field: "gdpGuesses", At: settings.Wholes(func(p *P) *[]int { _, _, gdp := at(p); return gdp }),
			Usage: "the same `numbers` for the f-DP bound; default: those of -guesses, or by the number of canaries"},
	}
}
