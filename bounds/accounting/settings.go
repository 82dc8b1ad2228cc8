package accounting

import (
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
)

// Command asks the query.
func (q Query) Command() string {
	return audit.CommandOf("dpscope account", settings.Written(Keys(), q, Query{}))
}

// Keys are the settings of a query, in the order in which a command names them. Where
// nothing is typed the page asks with what its form has as Empty.
func Keys() []settings.Key[Query] {
	number := func(name, field string, at func(*Query) **float64, usage string, form settings.Form) settings.Key[Query] {
		return settings.Key[Query]{Name: name, Field: field, At: settings.Optional(settings.Number[float64], at), Usage: usage + ", a `number`", Form: &form}
	}
	count := func(name string, at func(*Query) **int, most float64, usage string, form settings.Form) settings.Key[Query] {
		return settings.Key[Query]{Name: name, At: settings.Optional(settings.Whole[int, int], at), Range: settings.In(1, most), Default: "1", Usage: usage, Form: &form}
	}
	return []settings.Key[Query]{
		{Name: "mechanism", At: settings.Word(func(q *Query) *Kind { return &q.Mechanism }), Usage: "what to account for: " + strings.Join(KindNames(), ", ")},
		number("sigma", "", func(q *Query) **float64 { return &q.Sigma }, "gaussian: standard deviation of the noise",
			settings.Form{Label: "Sigma", Hint: "standard deviation of the noise", Empty: "1"}),
		number("scale", "", func(q *Query) **float64 { return &q.Scale }, "laplace: scale of the noise",
			settings.Form{Label: "Scale", Hint: "of the noise", Empty: "1"}),
		number("p", "", func(q *Query) **float64 { return &q.P }, "randomised-response: probability of the true answer",
			settings.Form{Label: "p", Hint: "probability of the true answer", Empty: "0.75"}),
		number("epsilon", "", func(q *Query) **float64 { return &q.Epsilon }, "pure, approximate, renyi: epsilon of one step",
			settings.Form{Label: "Epsilon", Hint: "of one step", Empty: "0.1"}),
		number("step-delta", "stepDelta", func(q *Query) **float64 { return &q.StepDelta }, "approximate: delta of one step",
			settings.Form{Label: "Delta of a step", Empty: "1e-7"}),
		number("alpha", "", func(q *Query) **float64 { return &q.Alpha }, "renyi: order at which -epsilon holds",
			settings.Form{Label: "Order alpha", Hint: "at which epsilon holds", Empty: "8"}),
		number("rho", "", func(q *Query) **float64 { return &q.Rho }, "zcdp: rho of one step",
			settings.Form{Label: "Rho", Hint: "of one step", Empty: "0.01"}),
		number("mu", "", func(q *Query) **float64 { return &q.Mu }, "gaussian-dp: mu of one step",
			settings.Form{Label: "Mu", Hint: "of one step", Empty: "0.1"}),
		number("sensitivity", "", func(q *Query) **float64 { return &q.Sensitivity }, "gaussian, laplace: sensitivity of the value; default 1",
			settings.Form{Label: "Sensitivity", Hint: "most that one record changes the value", Empty: "1"}),
		number("rate", "", func(q *Query) **float64 { return &q.Rate }, "gaussian, laplace: Poisson sampling rate of a step, in (0, 1]; default 1",
			settings.Form{Label: "Sampling rate", Hint: "with which a record takes part in a step, on its own (Poisson)", Empty: "1"}),
		count("steps", func(q *Query) **int { return &q.Steps }, MaxSteps, "mechanisms in the composition",
			settings.Form{Label: "Steps", Hint: "mechanisms in the composition", Empty: "1"}),
		{Name: "with", At: settings.Text(func(q *Query) *string { return &q.With }), Usage: "further mechanisms of the composition, such as `laplace scale=2 steps=3; pure epsilon=0.1`, each with its own settings and steps",
			Form: &settings.Form{Label: "And", Hint: "further mechanisms: kind and settings, semicolons between", Empty: "", Wide: true}},
		count("group", func(q *Query) **int { return &q.Group }, MaxGroup, "records that a group has",
			settings.Form{Label: "Group size", Hint: "records to be hidden together", Empty: "1"}),
		number("delta", "", func(q *Query) **float64 { return &q.Delta }, "delta at which epsilon is asked, in (0, 1); default 1e-5",
			settings.Form{Label: "Delta", Hint: "at which epsilon is asked", Empty: "0.00001"}),
		number("at-epsilon", "atEpsilon", func(q *Query) **float64 { return &q.AtEpsilon }, "epsilon at which delta is asked too, and of gaussian the noise that one step would need",
			settings.Form{Label: "At epsilon", Hint: "at which delta is asked too; empty: not asked"}),
		number("target-epsilon", "targetEpsilon", func(q *Query) **float64 { return &q.TargetEpsilon }, "gaussian, laplace: asks for the least noise at which all steps have this epsilon at delta; then the noise may be left out",
			settings.Form{Label: "Target epsilon", Hint: "asks for the least noise that meets it; empty: not asked"}),
		{Name: "event", At: settings.Numbers(func(q *Query) *[]float64 { return &q.Event }), Usage: "probabilities of a bad outcome on one dataset, such as `0.5,0.001`: asks for the range of its probability on a neighbour",
			Form: &settings.Form{Label: "Bad outcome", Hint: "its probability on one dataset, or several: asks for the range on a neighbour"}},
		{Name: "odds", At: settings.Numbers(func(q *Query) *[]float64 { return &q.Odds }), Usage: "factors above 1, such as `2,10`: asks how probable it is that posterior odds over prior odds exceed them (Bayes factor)",
			Form: &settings.Form{Label: "Odds factor", Hint: "above 1: how probably do odds of one dataset over the other grow by more?"}},
		{Name: "profile", At: settings.Switch(func(q *Query) *bool { return &q.Profile }), Usage: "give points of the curve of delta over epsilon too, a claim that dpscope audit -claim-file reads from the JSON"},
		{Name: "orders", At: settings.Numbers(func(q *Query) *[]float64 { return &q.Orders }), Usage: "orders of the curve, increasing, such as `2,4,8`; default: 24 up to 512"},
	}
}
