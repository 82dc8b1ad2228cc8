package canary

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/canary/train"
)

// Keys are the settings of an audit with canaries, in the order in which a report
// names them.
func Keys() []settings.Key[Plan] {
	keys := []settings.Key[Plan]{source.SourceKey(func(p *Plan) *string { return &p.Source }, func(source.Spec) bool { return true })}
	keys = append(keys, source.ClaimKeys(func(p *Plan) (**audit.Claim, *bool) { return &p.Claim, &p.DeltaDefaulted },
		"; the source's own noise follows it unless -param sets it", "no noise of Gaussian kind keeps a claim of 0")...)
	keys = append(keys, []settings.Key[Plan]{
		{Name: "relation", Always: true, At: settings.Word(func(p *Plan) *audit.Relation { return &p.Relation }),
			Usage: "neighbouring relation of the claim: add-remove or replace; default: the source's first",
			Form:  &settings.Form{Place: "run", Label: "Neighbours", Hint: "of the claim"}},
		{Name: "design", At: settings.Word(func(p *Plan) *source.Design { return &p.Design }),
			Usage: "distribution of the canaries: sphere, orthogonal, random-gradients, tail-singular, vectors, data-poisoning; default: the source's first",
			Form:  &settings.Form{Place: "run", Label: "Canaries", Hint: "their distribution"}},
		{Name: "tail", Field: "pool/tail", At: settings.Whole(func(p *Plan) *int { return &p.pool().Tail }), Range: settings.In(1, source.MaxCells),
			Usage: "how many singular vectors; default: half of all",
			Form:  &settings.Form{Place: "file", Label: "Tail", Hint: "how many singular vectors, those of the smallest values", Empty: "half of all"}},
		{Name: "scale", Field: "pool/scale", At: settings.Word(func(p *Plan) *source.Scale { return &p.pool().Scale }),
			Usage: "norm of vectors from a file: unit, median (of its rows) or own; default unit",
			Form:  &settings.Form{Place: "file", Label: "Norm of the vectors"}},
		{Name: "distinct", Field: "pool/distinct", At: settings.Switch(func(p *Plan) *bool { return &p.pool().Distinct }),
			Usage: "no vector of the file comes twice in a run",
			Form:  &settings.Form{Place: "file", Label: "No vector twice in a run"}},
	}...)
	keys = append(keys, source.CSVKeys(func(p *Plan) **train.CSV { return &p.CSV }, "a file of examples")...)
	return append(append(keys, []settings.Key[Plan]{
		{Name: "n", Field: "runs", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Runs }), Range: settings.In(1, source.MaxRuns),
			Usage: "certification runs; default: the source's",
			Form:  &settings.Form{Place: "run", Label: "Runs, n", Hint: "to certify"}},
		{Name: "k", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.K }), Range: settings.In(1, source.MaxCanaries),
			Usage: "canaries inside a run; default: the square root of -n",
			Form:  &settings.Form{Place: "run", Label: "Canaries inside, K", Hint: "a run", Empty: "√n"}},
		{Name: "m", At: settings.Whole(func(p *Plan) *int { return &p.M }), Range: settings.In(1, source.MaxCanaries),
			Usage: "fresh canaries a run; default: as many as -k",
			Form:  &settings.Form{Place: "run", Label: "Fresh canaries, M", Hint: "a run; they cost little", Empty: "K"}},
		{Name: "explore", At: settings.Whole(func(p *Plan) *int { return &p.Explore }), Range: settings.In(1, source.MaxScores),
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
	}...), source.EndKeys(func(p *Plan) (*float64, *uint64) { return &p.Beta, &p.Seed }, func(p *Plan) *audit.Params { return &p.Parameters })...)
}

// pool is that of the plan, to be set.
func (p *Plan) pool() *source.Pool {
	if p.Pool == nil {
		p.Pool = &source.Pool{}
	}
	return p.Pool
}
