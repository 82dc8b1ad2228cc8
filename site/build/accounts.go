package main

import "github.com/dpscope/dpscope/bounds/accounting"

// accountKind is a kind of account with the fields of its [accounting.Query], in the
// order in which to show them.
type accountKind struct {
	Kind   accounting.Kind `json:"kind"`
	Title  string          `json:"title"`
	Fields []string        `json:"fields"`
}

func accountKinds() (all []accountKind) {
	for _, kind := range accounting.Kinds() {
		all = append(all, accountKind{kind, kind.Title(), kind.Fields()})
	}
	return all
}
