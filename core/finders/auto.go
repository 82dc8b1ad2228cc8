package finders

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/finders/poison"
)

// auto proposes the mechanism's own pairs, attacks that fit a learner, then one of each family of
// patterns; then, as a bandit, a family's other sizes and levels, pairs near the loudest, or random ones.
var auto = audit.FinderSpec{
	Name:   audit.Auto,
	Title:  "The mechanism's own pairs, then patterns, then a bandit that varies them",
	Source: "candidates, patterns and random; UCB1 of Auer, Cesa-Bianchi and Fischer, Finite-time analysis of the multiarmed bandit problem (2002), on ranks",
	New: func(p audit.FinderProblem) (audit.Finder, error) {
		pairs, err := checked(p)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, poison.Pairs(p)...)
		seen := seenPairs{}
		for _, c := range pairs {
			seen.add(c)
		}
		s, err := newSearch(p, seen)
		if err != nil {
			if len(pairs) == 0 {
				return nil, err
			}
			return (*audit.PairList)(&pairs), nil
		}
		return newArms(s, pairs), nil
	},
}

const (
	together = 4   // pairs at a time after the opening, for any number of workers
	boldness = 0.5 // of the bandit; UCB1 has the root of 2, for rewards that are means
)

type arms struct {
	search *search
	first  audit.PairList // candidates and opening
	arms   []*arm         // families, near, random
	of     map[string]int // arm that a pair is of
	read   int            // trials of the history that were read
	near   int
}

type arm struct {
	left  []audit.Pair                           // of a family
	draw  func([]audit.Trial) (audit.Pair, bool) // of the other arms
	tries int
	best  float64 // value of its loudest pair
}

func newArms(s *search, candidates []audit.Pair) *arms {
	a := &arms{search: s, first: candidates, of: map[string]int{}}
	for _, family := range families(s.problem.Relation, s.problem.Domain) {
		a.arms = append(a.arms, &arm{best: unheard, left: family})
	}
	left := max(1, budget(s.problem)-len(candidates))
	opening := left - left/3
	for i := 0; i < len(a.arms) && opening > 0; i++ {
		if p, ok := a.pull(i, nil); ok {
			a.first = append(a.first, p)
			opening--
		}
	}
	if p, ok := a.pullLargest(); ok && left > len(a.arms)/2 {
		a.first = append(a.first, p)
	}
	a.arms = append(a.arms, &arm{best: math.Inf(1), draw: a.nearby}, &arm{best: unheard, draw: func([]audit.Trial) (audit.Pair, bool) { return s.next() }})
	return a
}

func (a *arms) Propose(history []audit.Trial, budget int) []audit.Pair {
	for _, t := range history[min(a.read, len(history)):] {
		if i, ok := a.of[pairKey(t.Pair)]; ok {
			if m := a.arms[i]; m.tries == 1 || t.Value > m.best+sameValue {
				m.best = t.Value
			}
		}
	}
	a.read = len(history)
	pairs := a.first.Propose(nil, budget)
	if len(pairs) > 0 {
		return pairs
	}
	dry := make([]bool, len(a.arms))
	for len(pairs) < min(budget, together) {
		i := a.choose(history, dry)
		if i < 0 {
			break
		}
		if p, ok := a.pull(i, history); ok {
			pairs = append(pairs, p)
		} else {
			dry[i] = true
		}
	}
	return pairs
}

// choose is the arm with the largest upper bound on its loudest pair's rank; -1: all are dry.
func (a *arms) choose(history []audit.Trial, dry []bool) int {
	chosen, most := -1, 0.0
	for i, m := range a.arms {
		if dry[i] || m.draw == nil && len(m.left) == 0 {
			continue
		}
		rank := 0.5 // of an arm that was not heard
		if m.best > unheard {
			quieter := 0.0
			for _, t := range history {
				switch {
				case m.best > t.Value+sameValue:
					quieter++
				case m.best > t.Value-sameValue:
					quieter += 0.5
				}
			}
			rank = quieter / float64(len(history))
		}
		if bound := rank + float64(boldness*math.Sqrt(stream.Log(float64(len(history)+1))/float64(m.tries+1))); chosen < 0 || bound > most+margin {
			chosen, most = i, bound
		}
	}
	return chosen
}

func (a *arms) pull(i int, history []audit.Trial) (p audit.Pair, ok bool) {
	m := a.arms[i]
	if m.draw != nil {
		p, ok = m.draw(history)
	} else {
		for len(m.left) > 0 && !ok {
			p, m.left = m.left[0], m.left[1:]
			ok = a.search.fresh(p) // no other arm came to it
		}
		a.search.seen.add(p)
	}
	if ok {
		m.tries++
		a.of[pairKey(p)] = i
	}
	return p, ok
}

// pullLargest is the first family's pair of most rows, where the opening has none as large.
func (a *arms) pullLargest() (p audit.Pair, ok bool) {
	rows := func(p audit.Pair) int { return max(p.First.Len(), p.Second.Len()) }
	left := a.arms[0].left
	sizes, opening := audit.Each(left, rows), audit.Each(a.first, rows)
	if len(sizes) == 0 || len(opening) == 0 || slices.Max(sizes) <= slices.Max(opening) {
		return p, false
	}
	at := slices.Index(sizes, slices.Max(sizes))
	left[0], left[at] = left[at], left[0]
	return a.pull(0, nil)
}

// nearby differs a little from one of the three loudest.
func (a *arms) nearby(history []audit.Trial) (audit.Pair, bool) {
	r, d := a.search.problem.Stream, a.search.problem.Domain
	loudest := audit.Listed(len(history), func(i int) int { return i })
	slices.SortStableFunc(loudest, func(i, j int) int { return cmp.Compare(history[j].Value, history[i].Value) })
	for range attempts {
		louder := min(r.Intn(3), r.Intn(3))
		if len(history) == 0 {
			break
		}
		from := loudest[min(louder, len(loudest)-1)]
		entries := entriesOf(a.search.problem.Relation, history[from].Pair)
		for n := 1 + r.Intn(2); n > 0; n-- {
			entries = change(r, a.search.problem.Relation, d, entries)
		}
		p := pairOf(a.search.problem.Relation, d, entries)
		if a.search.fresh(p) {
			a.search.seen.add(p)
			a.near++
			p.Label = fmt.Sprintf("near pair %d: a change of trial %d", a.near, from)
			return p, true
		}
	}
	return audit.Pair{}, false
}

// unheard is below the value of every trial.
const unheard = -100.0

const scanned = audit.MostScanned

// Scan implements [audit.Scanner]: rows spread over the domain, so that a fault in a hundredth of it
// shows; each value is once the row that changes. A mechanism with pairs of its own has none, nor have
// answers, which all move.
func (a *arms) Scan() []audit.Pair {
	r, d := a.search.problem.Relation, a.search.problem.Domain
	if len(a.search.problem.Candidates) > 0 || r == audit.LInfinity {
		return nil
	}
	fewest, most := smallerSizes(r, d)
	stay := min(most, max(fewest, scanned-1)) // rows that both datasets have
	stay = audit.Pick(r == audit.AddRemove, stay, max(0, stay-1))
	apart := (scanned + stay) / (stay + 1)
	row := func(share float64) []float64 {
		return audit.Listed(d.Columns, func(c int) float64 { return along(d, c, share) })
	}
	var pairs []audit.Pair
	for k := range scanned {
		// The row that changes stands on a hundredth, the others between two: windows with and without ends.
		changed := row(float64(k) / scanned)
		var rest []float64
		for i := range stay {
			rest = append(rest, row((float64((k+(i+1)*apart)%scanned)+0.5)/scanned)...)
		}
		from, label := row(float64((k+scanned/2)%scanned)/scanned), fmt.Sprintf("%d rows over the domain, one of them moved from", stay+1)
		if r == audit.AddRemove {
			label = fmt.Sprintf("%d rows over the domain, one more at", stay)
		}
		if r.HasReach() {
			for c := range from {
				from[c] = toward(d, c, changed[c], changed[c]+math.Copysign(d.Reach, from[c]-changed[c]))
			}
		}
		p := changedLast(r, fmt.Sprintf("scan %d: %s %d %% of it", k+1, label, k*100/scanned), d.Columns, rest, from, changed)
		if !same(p) && r.Check(p, d) == nil {
			pairs = append(pairs, p)
		}
	}
	return pairs
}
