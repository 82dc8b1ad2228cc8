package finder

import "github.com/dpscope/dpscope/core"

// auto proposes the mechanism's own pairs first and spends what is left of the
// budget on random ones.
var auto = core.FinderSpec{
	Name:   core.Auto,
	Title:  "The mechanism's own pairs, then random ones",
	Source: "candidates, then random",
	New: func(p core.FinderProblem) (core.Finder, error) {
		pairs, err := checked(p)
		if err != nil {
			return nil, err
		}
		seen := seenPairs{}
		for _, c := range pairs {
			seen.add(c)
		}
		s, err := newSearch(p, seen)
		if err != nil {
			if len(pairs) == 0 {
				return nil, err
			}
			return &list{pairs: pairs}, nil
		}
		return &chain{list{pairs: pairs}, s}, nil
	},
}

// chain proposes from a list and, when that is done, from a search.
type chain struct {
	list   list
	search *search
}

// Propose returns the next pairs, at most budget of them.
func (c *chain) Propose(history []core.Trial, budget int) []core.Pair {
	pairs := c.list.Propose(history, budget)
	return append(pairs, c.search.Propose(history, budget-len(pairs))...)
}
