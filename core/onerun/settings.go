package onerun

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/canary/train"
)

// Keys are the settings of an audit in one run, in the order in which a report
// names them.
func Keys() []settings.Key[Plan] {
	keys := []settings.Key[Plan]{source.SourceKey(func(p *Plan) *string { return &p.Source }, func(s source.Spec) bool { return s.OneRun != nil })}
	keys = append(keys, source.ClaimKeys(func(p *Plan) (**audit.Claim, *bool) { return &p.Claim, &p.DeltaDefaulted }, "", "0 is a claim of pure differential privacy")...)
	keys = append(keys, []settings.Key[Plan]{
		{Name: "relation", Always: true, At: settings.Word(func(p *Plan) *audit.Relation { return &p.Relation }),
			Usage: "neighbouring relation of the claim: add-remove, the only one, since a coin decides whether a canary is there"},
		{Name: "design", At: settings.Word(func(p *Plan) *source.Design { return &p.Design }),
			Usage: "distribution of the canaries: orthogonal, sphere, random-gradients, data-poisoning; default: the source's first"},
	}...)
	keys = append(keys, source.CSVKeys(func(p *Plan) **train.CSV { return &p.CSV }, "the file")...)
	keys = append(keys, settings.Key[Plan]{Name: "m", Field: "canaries", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Canaries }), Range: settings.In(1, mostOneRun),
		Usage: "canaries, each in by a fair coin; default: the source's",
		Form:  &settings.Form{Place: "one", Label: "Canaries, m", Hint: "of one run"}})
	keys = append(keys, GuessKeys(func(p *Plan) (*Sides, *[]int, *[]int) { return &p.Sides, &p.Guesses, &p.GDPGuesses })...)
	return append(keys, source.EndKeys(func(p *Plan) (*float64, *uint64) { return &p.Beta, &p.Seed }, func(p *Plan) *audit.Params { return &p.Parameters })...)
}

// GuessKeys say which canaries are guessed, and how many.
func GuessKeys[P any](at func(*P) (sides *Sides, guesses, gdp *[]int)) []settings.Key[P] {
	return []settings.Key[P]{
		{Name: "sides", At: settings.Word(func(p *P) *Sides { sides, _, _ := at(p); return sides }),
			Usage: "which canaries are guessed: chosen (one canary in eight is set aside to choose the sides and, without -guesses, the number), both (as many with large scores in as with small ones out), in, out; default both, of scores without -guesses chosen"},
		{Name: "guesses", At: settings.Wholes(func(p *P) *[]int { _, guesses, _ := at(p); return guesses }),
			Usage: "how many canaries are guessed, in `numbers` with commas between: of several the best counts and they share -beta; default chosen, or by the number of canaries"},
		{Name: "gdp-guesses", Field: "gdpGuesses", At: settings.Wholes(func(p *P) *[]int { _, _, gdp := at(p); return gdp }),
			Usage: "the same `numbers` for the f-DP bound; default: those of -guesses, or by the number of canaries"},
	}
}
