package main

import "github.com/dpscope/dpscope/bounds/accounting"

// accountKind is a kind of account with the fields of its [accounting.Query], in the
// order in which to show them.
type accountKind struct {
	Kind   accounting.Kind `json:"kind"`
	Title  string          `json:"title"`
	Fields []string        `json:"fields"`
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

// accountKinds lists the kinds of accounts.
func accountKinds() (all []accountKind) {
	for _, kind := range accounting.Kinds() {
		all = append(all, accountKind{kind, accountTitles[kind], kind.Fields()})
	}
	return all
}
