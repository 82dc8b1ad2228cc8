package finders

import (
	"fmt"
	"github.com/dpscope/dpscope/audit"
)

// candidates proposes the mechanism's own pairs, the best first.
var candidates = audit.FinderSpec{
	Name:   "candidates",
	Title:  "The mechanism's own pairs, the best first",
	Source: "Pairs at which each mechanism's fault, or its whole budget, is known to show",
	New: func(p audit.FinderProblem) (audit.Finder, error) {
		pairs, err := checked(p)
		if err != nil {
			return nil, err
		}
		if len(pairs) == 0 {
			return nil, &audit.InputError{Field: "finder", Found: `"candidates"`, Want: "one that needs no candidates",
				Remedy: fmt.Sprintf(`the mechanism names no pair for relation %s; use "random"`, p.Relation)}
		}
		return &list{pairs: pairs}, nil
	},
}

// list proposes the pairs of a list in order.
type list struct{ pairs []audit.Pair }

// Propose returns the next pairs, at most budget of them.
func (l *list) Propose(_ []audit.Trial, budget int) []audit.Pair {
	n := min(max(budget, 0), len(l.pairs))
	next := l.pairs[:n:n]
	l.pairs = l.pairs[n:]
	return next
}

// checked returns the candidates without repeats; an error if the domain is none,
// or one of them is no pair of neighbours in it.
func checked(p audit.FinderProblem) ([]audit.Pair, error) {
	if err := wellFormed(p.Domain); err != nil {
		return nil, err
	}
	seen := seenPairs{}
	var pairs []audit.Pair
	for i, c := range p.Candidates {
		if err := p.Relation.Check(c, p.Domain); err != nil {
			return nil, fmt.Errorf("candidate pair %d (%s): %w", i, c.Label, err)
		}
		if seen.add(c) {
			pairs = append(pairs, c)
		}
	}
	return pairs, nil
}
