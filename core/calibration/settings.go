package calibration

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/pair"
)

// Command measures the same, but for [Plan.Cheap].
func (p Plan) Command() string {
	return audit.CommandOf("go run github.com/dpscope/dpscope/bench calibration", settings.Written(Keys(), p, Plan{}))
}

// Keys are the settings of a plan, in the order in which a command names them.
func Keys() []settings.Key[Plan] {
	return []settings.Key[Plan]{
		{Name: "learners", At: settings.Words(func(p *Plan) *[]string { return &p.Learners }), Usage: "only cells of these learners, separated by commas"},
		{Name: "finders", At: settings.Words(func(p *Plan) *[]string { return &p.Finders }), Usage: "only cells of these finders, separated by commas"},
		{Name: "mechanisms", At: settings.Words(func(p *Plan) *[]string { return &p.Mechanisms }), Usage: "only these mechanisms, by their full names, separated by commas"},
		{Name: "runs", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Runs }), Range: settings.In(1, mostRuns), Preset: "150",
			Usage: "runs of each learner on each mechanism; a finder gets a third as many, a slow learner a fifth or a twenty-fifth, a guarantee four times and an anytime guarantee twice as many",
			Form:  &settings.Form{Label: "Audits of each mechanism"}},
		{Name: "samples", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Samples }), Range: settings.In(pair.MinSamples, pair.MaxSamples), Preset: "2000",
			Usage: "certification outputs a side"},
		{Name: "explore", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Explore }), Range: settings.In(0, pair.MaxSamples), Preset: "2000",
			Usage: "exploration outputs a side and trial; 0: as many as -samples"},
		{Name: "trials", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Trials }), Range: settings.In(1, pair.MaxTrials), Preset: "3",
			Usage: "pairs to explore; a grid may need more"},
		{Name: "beta", Always: true, At: settings.Number(func(p *Plan) *float64 { return &p.Beta }), Range: settings.In(1e-9, 0.5), Preset: "0.05",
			Usage: "allowed error of an audit"},
		{Name: "seed", Always: true, At: settings.Whole(func(p *Plan) *uint64 { return &p.Seed }), Range: settings.In(0, audit.MaxSeed), Preset: "1",
			Usage: "seed of all randomness",
			Form:  &settings.Form{Label: "Seed", Hint: "Another seed gives other audits."}},
	}
}
