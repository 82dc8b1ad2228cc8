package finders

import (
	"fmt"
	"github.com/dpscope/dpscope/audit"
)

// unheard is the value of a point whose pair was not explored, or is none: it
// is below that of every trial.
const unheard = -100.0

// ledger is what a search over a space has proposed, and how loud it was.
type ledger struct {
	space *space
	name  string
	keys  map[string]int // the pair's key to its place in tried
	tried []tried
	read  int // trials of the history that were read
}

// tried is a point that was proposed.
type tried struct {
	at    []float64
	known bool // its trial is done
	trial int  // its number
	value float64
}

func newLedger(s *space, name string) *ledger {
	return &ledger{space: s, name: name, keys: map[string]int{}}
}

// note reads the trials that are new in the history.
func (l *ledger) note(history []audit.Trial) {
	for _, t := range history[min(l.read, len(history)):] {
		if i, ok := l.find(t.Pair); ok {
			l.tried[i].known, l.tried[i].trial, l.tried[i].value = true, t.Index, t.Value
		}
	}
	l.read = len(history)
}

// find is where a pair, either way round, is in tried.
func (l *ledger) find(p audit.Pair) (int, bool) {
	if i, ok := l.keys[pairKey(p)]; ok {
		return i, true
	}
	i, ok := l.keys[pairKey(swapped(p))]
	return i, ok
}

// fresh reports whether a point stands for a pair that was not proposed.
func (l *ledger) fresh(u []float64) bool {
	p, ok := l.space.pair(u)
	if !ok {
		return false
	}
	_, known := l.find(p)
	return !known
}

// propose enters a point; ok says that its pair is new and to be explored.
func (l *ledger) propose(u []float64) (p audit.Pair, ok bool) {
	if p, ok = l.space.pair(u); !ok {
		return p, false
	}
	if _, known := l.find(p); known {
		return p, false
	}
	l.keys[pairKey(p)] = len(l.tried)
	l.tried = append(l.tried, tried{at: u, value: unheard})
	p.Label = fmt.Sprintf("%s pair %d: %s", l.name, len(l.tried), p.Label)
	return p, true
}

// value is how loud a point's pair was; unheard where it was not explored.
func (l *ledger) value(u []float64) float64 {
	if p, ok := l.space.pair(u); ok {
		if i, known := l.find(p); known {
			return l.tried[i].value
		}
	}
	return unheard
}
