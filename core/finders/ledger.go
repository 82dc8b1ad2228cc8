package finders

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

type ledger struct {
	space *space
	name  string
	open  [][]float64    // points still to be proposed
	keys  map[string]int // the pair's key to its place in tried
	tried []tried
	read  int // trials read
}

type tried struct {
	at    []float64
	known bool // its trial is done
	value float64
}

func newLedger(s *space, name string, open [][]float64) *ledger {
	return &ledger{space: s, name: name, open: open, keys: map[string]int{}}
}

func (l *ledger) note(history []audit.Trial) {
	for _, t := range history[min(l.read, len(history)):] {
		if i, ok := l.keys[pairKey(t.Pair)]; ok {
			l.tried[i].known, l.tried[i].value = true, t.Value
		}
	}
	l.read = len(history)
}

func (l *ledger) which(known bool) (list []int) {
	for i, t := range l.tried {
		if t.known == known {
			list = append(list, i)
		}
	}
	return list
}

func (l *ledger) loudest() []int {
	order := l.which(true)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(l.tried[j].value, l.tried[i].value) })
	return order
}

// fresh is the pair of a point; false where it is none, or was proposed.
func (l *ledger) fresh(u []float64) (audit.Pair, bool) {
	p, ok := l.space.pair(u)
	if ok {
		_, known := l.keys[pairKey(p)]
		ok = !known
	}
	return p, ok
}

func (l *ledger) propose(u []float64) (p audit.Pair, ok bool) {
	if p, ok = l.fresh(u); ok {
		l.keys[pairKey(p)] = len(l.tried)
		l.tried = append(l.tried, tried{at: u})
		p.Label = fmt.Sprintf("%s pair %d: %s", l.name, len(l.tried), p.Label)
	}
	return p, ok
}

// next proposes at most budget of the open points, or what again makes of one whose pair is not new.
func (l *ledger) next(budget int, again func(k int, u []float64) []float64) (pairs []audit.Pair) {
	for len(l.open) > 0 && len(pairs) < budget {
		u := l.open[0]
		l.open = l.open[1:]
		for k := range attempts {
			if p, ok := l.propose(u); ok {
				pairs = append(pairs, p)
				break
			}
			if again == nil {
				break
			}
			u = again(k, u)
		}
	}
	return pairs
}
