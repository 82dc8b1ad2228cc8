package audit

import (
	"fmt"
	"math"
	"slices"
)

// Unit says what a privacy unit is under the relation.
func (r Relation) Unit() string {
	switch r {
	case AddRemove:
		return "one row, added or removed"
	case Replace:
		return "one row, replaced"
	case Given:
		return "as defined by whoever recorded the outputs"
	}
	return "one individual, who changes each query's answer by at most its sensitivity"
}

// Relation says which datasets are neighbours.
type Relation string

const (
	// Given is of recorded outputs: neighbours by the word of whoever recorded them.
	Given Relation = "given"
	// AddRemove: one dataset is the other with one row more.
	AddRemove Relation = "add-remove"
	// Replace: the datasets have as many rows and differ in one of them.
	Replace Relation = "replace"
	// LInfinity: two vectors of query answers, no coordinate of which differs by more than the
	// domain's Reach (the sensitivity of a query), as of DP-Sniper and StatDP.
	LInfinity Relation = "l-infinity"
	// BoundedReplace: as Replace, and no coordinate differs by more than the domain's Reach. A
	// row's place counts. In Blowfish privacy (He, Machanavajjhala and Ding, SIGMOD 2014) such
	// neighbours are those of a distance threshold.
	BoundedReplace Relation = "bounded-replace"
)

var relations = []string{string(AddRemove), string(Replace), string(BoundedReplace), string(LInfinity), string(Given)}

// Searchable are the relations that a finder proposes pairs for, in words.
const Searchable = "add-remove, replace, bounded-replace or l-infinity"

// HasReach reports whether a value moves by no more than the domain's Reach.
func (r Relation) HasReach() bool { return r == LInfinity || r == BoundedReplace }

// ParseRelation reads a relation's name.
func ParseRelation(name string) (Relation, error) {
	if slices.Contains(relations, name) {
		return Relation(name), nil
	}
	return "", UnknownName("relation", name, relations)
}

// reachSlack absorbs rounding of coordinates such as 0.1+0.2.
const reachSlack = 1e-12

// Check reports an error unless the pair's datasets lie in the domain and are neighbours. Rows are
// multisets, except under LInfinity and BoundedReplace.
func (r Relation) Check(p Pair, dom Domain) error {
	_, err := r.Steps(p, dom, 1)
	return err
}

// Steps is by how many steps of the relation the pair's datasets differ, each to a neighbour in the
// domain: at most the given number, else an error. More than one is known of AddRemove and Replace
// only: between datasets k rows apart lie k-1 others.
func (r Relation) Steps(p Pair, dom Domain, most int) (int, error) {
	if err := First(dom.Contains(p.First, "pair.first"), dom.Contains(p.Second, "pair.second")); err != nil {
		return 0, err
	}
	n1, n2 := p.First.Len(), p.Second.Len()
	if n1 != n2 && (r == Replace || r.HasReach()) {
		return 0, notNeighbours(r, fmt.Sprintf("%d and %d rows", n1, n2), "the same number of rows in both")
	}
	switch r {
	case Given:
		return 1, nil
	case LInfinity, BoundedReplace:
		rows := 0
		for i := range n1 {
			if !slices.Equal(p.First.Row(i), p.Second.Row(i)) {
				rows++
			}
		}
		if r == BoundedReplace && rows > 1 {
			return 0, notNeighbours(r, fmt.Sprintf("%d rows that differ", rows), "one row that differs, at the same position")
		}
		for i, v := range p.First.Values {
			if gap := math.Abs(v - p.Second.Values[i]); gap > dom.Reach+reachSlack {
				return 0, notNeighbours(r, fmt.Sprintf("coordinate %d moved by %s", i, Number(gap)), "moves of at most "+Number(dom.Reach))
			}
		}
		return 1, nil
	case Replace, AddRemove:
		steps := len(p.First.Alone(p.Second))
		if r == AddRemove {
			steps += len(p.Second.Alone(p.First))
		}
		switch {
		case r == AddRemove && most == 1 && steps != 1:
			return 0, notNeighbours(r, fmt.Sprintf("datasets of %d and %d rows that are not one row apart", n1, n2),
				"one dataset with one row more than the other and otherwise the same rows")
		case most == 1 && steps > 1:
			return 0, notNeighbours(r, fmt.Sprintf("%d rows that differ", steps), "one row that differs")
		case steps > most:
			return 0, notNeighbours(r, fmt.Sprintf("%d rows that differ", steps), fmt.Sprintf("at most %d, the group that the plan allows", most))
		}
		return max(steps, 1), nil
	}
	return 0, UnknownName("relation", string(r), relations)
}

func notNeighbours(r Relation, found, want string) error {
	return Fault(fmt.Sprintf("pair (%s)", r), found, want)
}
