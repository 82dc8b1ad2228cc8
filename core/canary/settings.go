package canary

import (
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/train"
	"github.com/dpscope/dpscope/core/pair"
)

// Keys are the settings of an audit with canaries, in the order in which a report
// names them.
func Keys() []settings.Key[Plan] {
	keys := []settings.Key[Plan]{sourceKey(func(p *Plan) *string { return &p.Source }, func(SourceSpec) bool { return true })}
	keys = append(keys, claimKeys(func(p *Plan) (**audit.Claim, *bool) { return &p.Claim, &p.DeltaDefaulted },
		"; the source's own noise follows it unless -param sets it", "no noise of Gaussian kind keeps a claim of 0")...)
	keys = append(keys, []settings.Key[Plan]{
		{Name: "relation", Always: true, At: settings.Word(func(p *Plan) *audit.Relation { return &p.Relation }),
			Usage: "neighbouring relation of the claim: add-remove or replace; default: the source's first",
			Form:  &settings.Form{Place: "run", Label: "Neighbours", Hint: "of the claim"}},
		{Name: "design", At: settings.Word(func(p *Plan) *Design { return &p.Design }),
			Usage: "distribution of the canaries: sphere, orthogonal, random-gradients, tail-singular, vectors, data-poisoning; default: the source's first",
			Form:  &settings.Form{Place: "run", Label: "Canaries", Hint: "their distribution"}},
		{Name: "tail", Field: "pool/tail", At: settings.Whole(func(p *Plan) *int { return &p.pool().Tail }), Range: settings.In(1, mostCells),
			Usage: "how many singular vectors; default: half of all",
			Form:  &settings.Form{Place: "file", Label: "Tail", Hint: "how many singular vectors, those of the smallest values", Empty: "half of all"}},
		{Name: "scale", Field: "pool/scale", At: settings.Word(func(p *Plan) *Scale { return &p.pool().Scale }),
			Usage: "norm of vectors from a file: unit, median (of its rows) or own; default unit",
			Form:  &settings.Form{Place: "file", Label: "Norm of the vectors"}},
		{Name: "distinct", Field: "pool/distinct", At: settings.Switch(func(p *Plan) *bool { return &p.pool().Distinct }),
			Usage: "no vector of the file comes twice in a run",
			Form:  &settings.Form{Place: "file", Label: "No vector twice in a run"}},
	}...)
	keys = append(keys, csvKeys(func(p *Plan) **train.CSV { return &p.CSV }, "a file of examples")...)
	return append(append(keys, []settings.Key[Plan]{
		{Name: "n", Field: "runs", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Runs }), Range: settings.In(1, MaxRuns),
			Usage: "certification runs; default: the source's",
			Form:  &settings.Form{Place: "run", Label: "Runs, n", Hint: "to certify"}},
		{Name: "k", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.K }), Range: settings.In(1, maxCanaries),
			Usage: "canaries inside a run; default: the square root of -n",
			Form:  &settings.Form{Place: "run", Label: "Canaries inside, K", Hint: "a run", Empty: "√n"}},
		{Name: "m", At: settings.Whole(func(p *Plan) *int { return &p.M }), Range: settings.In(1, maxCanaries),
			Usage: "fresh canaries a run; default: as many as -k",
			Form:  &settings.Form{Place: "run", Label: "Fresh canaries, M", Hint: "a run; they cost little", Empty: "K"}},
		{Name: "explore", At: settings.Whole(func(p *Plan) *int { return &p.Explore }), Range: settings.In(1, maxScores),
			Usage: "exploration runs, for the threshold; default: as many as -n",
			Form:  &settings.Form{Place: "more", Label: "Exploration runs", Hint: "for the threshold", Empty: "n"}},
		{Name: "interval", At: settings.Word(func(p *Plan) *bounds.CanaryInterval { return &p.Interval }),
			Usage: "how the bound is computed; default paired-betting. The report has all",
			Form:  &settings.Form{Place: "more", Label: "Interval", Hint: "the report has all; this one decides", Wide: true}},
		{Name: "quantile", At: settings.Number(func(p *Plan) *float64 { return &p.Quantile }), Range: settings.From(0, 0.5),
			Usage: "keep the threshold between this quantile of the scores inside and its mirror image; 0: anywhere",
			Form:  &settings.Form{Place: "more", Label: "Threshold range", Hint: "q: between the q and 1 − q quantile of the scores inside; 0: anywhere", Empty: "0"}},
		{Name: "single", At: settings.Either(func(p *Plan) **bool { return &p.Single }),
			Usage: "run the audit with one canary too, for equation 10; default: where runs are cheap",
			Form:  &settings.Form{Place: "more", Label: "A single canary beside it", Hint: "for equation 10"}},
	}...), endKeys(func(p *Plan) (*float64, *uint64) { return &p.Beta, &p.Seed }, func(p *Plan) *audit.Params { return &p.Parameters })...)
}

// pool is that of the plan, to be set.
func (p *Plan) pool() *Pool {
	if p.Pool == nil {
		p.Pool = &Pool{}
	}
	return p.Pool
}

// sourceKey is which source is audited; the first of those is preset.
func sourceKey[P any](at func(*P) *string, can func(SourceSpec) bool) settings.Key[P] {
	var names []string
	for _, s := range Sources() {
		if can(s) {
			names = append(names, s.Name)
		}
	}
	return settings.Key[P]{Name: "source", Always: true, At: settings.Word(at), Preset: names[0],
		Usage: "what is audited: " + strings.Join(names, ", "),
		Form:  &settings.Form{Place: "source", Label: "What is audited", Wide: true}}
}

// claimKeys are the claim, whose delta is [DefaultDelta] where none is named.
func claimKeys[P any](at func(*P) (claim **audit.Claim, defaulted *bool), epsilon, delta string) []settings.Key[P] {
	claim := func(p *P) *audit.Claim {
		c, defaulted := at(p)
		if *c == nil {
			*c, *defaulted = &audit.Claim{Kind: audit.Approximate, Delta: DefaultDelta}, true
		}
		return *c
	}
	return []settings.Key[P]{
		{Name: "epsilon", Field: "claim/epsilon", Always: true, At: settings.Number(func(p *P) *float64 { return &claim(p).Epsilon }), Range: settings.Above(0), Needed: "the epsilon that is claimed, for example 2",
			Usage: "claimed epsilon, above 0" + epsilon,
			Form:  &settings.Form{Place: "claim", Label: "Claimed epsilon", Empty: "2"}},
		{Name: "delta", Field: "claim/delta", Always: true, Range: settings.From(0, 1), Default: audit.Exactly(DefaultDelta),
			At: settings.Number(func(p *P) *float64 { return &claim(p).Delta }).Then(func(p *P, _ string) {
				c, defaulted := at(p)
				(*c).Kind, *defaulted = audit.DPClaim(1, (*c).Delta).Kind, false
			}),
			Usage: "claimed delta, in [0, 1); " + delta,
			Form:  &settings.Form{Place: "claim", Label: "Claimed delta", Empty: "0.00001"}},
	}
}

// csvKeys say how a file of examples is read.
func csvKeys[P any](at func(*P) **train.CSV, file string) []settings.Key[P] {
	csv := func(p *P) *train.CSV {
		c := at(p)
		if *c == nil {
			*c = &train.CSV{}
		}
		return *c
	}
	return []settings.Key[P]{
		{Name: "label", Field: "csv/label", At: settings.Word(func(p *P) *string { return &csv(p).Label }),
			Usage: "column of the labels in " + file + ", its name or number; default the last",
			Form:  &settings.Form{Place: "file", Label: "Column of the labels", Hint: "its name or number", Empty: "the last"}},
		{Name: "bounds", Field: "csv/lower csv/upper", At: settings.Limits(func(p *P) (*float64, *float64) { return &csv(p).Lower, &csv(p).Upper }),
			Usage: "declared bounds of all features of " + file + ", as LOW,HIGH; default -1,1",
			Form:  &settings.Form{Place: "file", Label: "Bounds of all features", Hint: "declared, not looked up in the data: LOW,HIGH", Empty: "-1,1"}},
		{Name: "scaling", Field: "csv/scaling", At: settings.Word(func(p *P) *string { return &csv(p).Scaling }),
			Usage: "of " + file + ": box (each feature into [-1, 1] by the bounds) or unit (each row to norm 1); default box",
			Form:  &settings.Form{Place: "file", Label: "Scaling"}},
	}
}

// endKeys come last: the error, the seed and the parameters, if there are any.
func endKeys[P any](at func(*P) (beta *float64, seed *uint64), params func(*P) *audit.Params) []settings.Key[P] {
	keys := []settings.Key[P]{
		{Name: "beta", At: settings.Number(func(p *P) *float64 { beta, _ := at(p); return beta }), Range: settings.In(1e-9, 0.5), Default: "0.05",
			Usage: "allowed error of the bound; its confidence is 1 - beta",
			Form:  &settings.Form{Place: "more", Label: "Beta", Hint: "allowed error; confidence is 1 − beta", Empty: "0.05"}},
		{Name: "seed", Always: true, At: settings.Whole(func(p *P) *uint64 { _, seed := at(p); return seed }), Range: settings.In(0, pair.MaxSeed), Preset: pair.DefaultSeed,
			Usage: "seed of all randomness",
			Form:  &settings.Form{Place: "run", Label: "Seed", Empty: pair.DefaultSeed}},
	}
	if params != nil {
		keys = append(keys, settings.Key[P]{Name: "param", Field: "parameters", At: settings.Params(params),
			Usage: "parameter of the source as name=value; may be given more than once"})
	}
	return keys
}
