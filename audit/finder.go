package audit

import (
	"slices"

	"github.com/dpscope/dpscope/audit/stream"
)

// Trial is one explored pair and how loud it was.
type Trial struct {
	Index int
	Pair  Pair
	// Value is the lower bound that the pair's best witness showed in validation, no certificate.
	Value float64
}

// NoEvidence is the value of a trial below which its witness showed nothing.
const NoEvidence = -90.0

// Finder proposes neighbouring pairs of datasets.
type Finder interface {
	// Propose returns the pairs to explore next, at most budget, none when it has no more. It
	// depends on the history alone.
	Propose(history []Trial, budget int) []Pair
}

// PairList is a finder that proposes its pairs in their order.
type PairList []Pair

// Propose implements [Finder].
func (l *PairList) Propose(_ []Trial, budget int) []Pair {
	n := min(max(budget, 0), len(*l))
	next := (*l)[:n:n]
	*l = (*l)[n:]
	return next
}

// Scanner is a finder that also has up to MostScanned pairs of which a few outputs tell enough,
// drawn from last.
type Scanner interface{ Scan() []Pair }

const MostScanned = 100

// FinderProblem is what a finder starts from.
type FinderProblem struct {
	Relation   Relation
	Domain     Domain
	Candidates []Pair // the mechanism's own pairs, the best first
	Stream     *stream.Stream
	Trials     int // pairs that may be explored in all; 0: not known
	// Table is nil where the mechanism is no learner.
	Table *Table
	// Group is the most steps of the relation that a pair may differ by; 0: one.
	Group int
}

// FinderSpec is one line of the registry of finders.
type FinderSpec struct {
	Name   string
	Title  string
	Source string
	// Attacks are the learners whose tables it poisons; nil: its pairs are of any domain.
	Attacks []Learning
	New     func(FinderProblem) (Finder, error)
}

// Fits reports whether the finder is for the mechanism: an attack is for learners of its kind.
func (f FinderSpec) Fits(m MechanismSpec, p Params) bool {
	if f.Attacks == nil {
		return true
	}
	if m.Table == nil {
		return false
	}
	t := m.Table(p)
	return t != nil && slices.Contains(f.Attacks, t.Learning)
}
