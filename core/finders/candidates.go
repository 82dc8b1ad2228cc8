package finders

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
)

var candidates = audit.FinderSpec{
	Name:   "candidates",
	Title:  "The mechanism's own pairs, the best first",
	Source: "Pairs known to show each mechanism's fault or its full budget",
	New: func(p audit.FinderProblem) (audit.Finder, error) {
		pairs, err := checked(p)
		if err != nil {
			return nil, err
		}
		if len(pairs) == 0 {
			return nil, &audit.InputError{Field: "finder", Found: `"candidates"`, Want: "one that needs no candidates",
				Remedy: fmt.Sprintf(`the mechanism names no pair for relation %s; use "random"`, p.Relation)}
		}
		return (*audit.PairList)(&pairs), nil
	},
}

// checked are the candidates without repeats.
func checked(p audit.FinderProblem) ([]audit.Pair, error) {
	seen := seenPairs{}
	var pairs []audit.Pair
	for i, c := range p.Candidates {
		if _, err := p.Relation.Steps(c, p.Domain, max(1, p.Group)); err != nil {
			return nil, fmt.Errorf("candidate pair %d (%s): %w", i, c.Label, err)
		}
		if seen.add(c) {
			pairs = append(pairs, c)
		}
	}
	return pairs, nil
}
