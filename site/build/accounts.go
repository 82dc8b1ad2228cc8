package main

import "github.com/dpscope/dpscope/accounting"

// accountKind is a kind of account with its fields, in the order in which to show
// them.
type accountKind struct {
	Kind   accounting.Kind `json:"kind"`
	Title  string          `json:"title"`
	Fields []accountField  `json:"fields"`
}

// accountField is a number of an [account.Query], which checks its range.
type accountField struct {
	Name  string `json:"name"` // in the query
	Label string `json:"label"`
	Doc   string `json:"doc"`
	// Default is what the page asks with if the field is empty; nil: then the
	// question is not asked.
	Default *float64 `json:"default,omitempty"`
	Integer bool     `json:"integer,omitempty"`
}

var accountTitles = map[accounting.Kind]string{
	accounting.KindGaussian:           "Gaussian noise (DP-SGD)",
	accounting.KindLaplace:            "Laplace noise",
	accounting.KindRandomisedResponse: "randomised response",
	accounting.KindPure:               "pure: epsilon",
	accounting.KindApproximate:        "approximate: epsilon and delta",
	accounting.KindRenyi:              "Rényi: epsilon at order alpha",
	accounting.KindConcentrated:       "zero-concentrated (zCDP): rho",
	accounting.KindGaussianDP:         "Gaussian privacy: mu",
}

var accountParameters = []accountField{
	{Name: "sigma", Label: "Sigma", Doc: "standard deviation of the noise", Default: new(1.0)},
	{Name: "scale", Label: "Scale", Doc: "of the noise", Default: new(1.0)},
	{Name: "p", Label: "p", Doc: "probability of the true answer", Default: new(0.75)},
	{Name: "alpha", Label: "Order alpha", Doc: "at which epsilon holds", Default: new(8.0)},
	{Name: "epsilon", Label: "Epsilon", Doc: "of one step", Default: new(0.1)},
	{Name: "stepDelta", Label: "Delta of a step", Default: new(1e-7)},
	{Name: "rho", Label: "Rho", Doc: "of one step", Default: new(0.01)},
	{Name: "mu", Label: "Mu", Doc: "of one step", Default: new(0.1)},
}

var (
	sensitivity = accountField{Name: "sensitivity", Label: "Sensitivity", Doc: "most that one record changes the value", Default: new(1.0)}
	rate        = accountField{Name: "rate", Label: "Sampling rate", Doc: "with which a record takes part in a step, on its own (Poisson)", Default: new(1.0)}
	shared      = []accountField{
		{Name: "steps", Label: "Steps", Doc: "mechanisms in the composition", Default: new(1.0), Integer: true},
		{Name: "group", Label: "Group size", Doc: "records to be hidden together", Default: new(1.0), Integer: true},
		{Name: "delta", Label: "Delta", Doc: "at which epsilon is asked", Default: new(1e-5)},
		{Name: "atEpsilon", Label: "At epsilon", Doc: "at which delta is asked too; empty: not asked"},
	}
)

// accountKinds lists the kinds of accounts.
func accountKinds() []accountKind {
	var all []accountKind
	for _, kind := range accounting.Kinds() {
		a := accountKind{Kind: kind, Title: accountTitles[kind]}
		needed := map[string]bool{}
		for _, name := range kind.Parameters() {
			needed[name] = true
		}
		for _, f := range accountParameters {
			if needed[f.Name] {
				a.Fields = append(a.Fields, f)
			}
		}
		switch kind {
		case accounting.KindGaussian:
			a.Fields = append(a.Fields, sensitivity, rate)
		case accounting.KindLaplace:
			a.Fields = append(a.Fields, sensitivity)
		}
		a.Fields = append(a.Fields, shared...)
		all = append(all, a)
	}
	return all
}
