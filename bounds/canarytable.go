package bounds

import (
	"fmt"
	"slices"
)

// CanaryTable is the evidence of an audit with canaries (LiDP, algorithm 1):
// pairs of runs by how many of the K canaries that were in the data fell into the
// event, and how many of M fresh ones that were not. The counts of a table are
// all that the bounds need. Pairs are independent of one another; the two sides
// of a pair need not be.
type CanaryTable struct {
	K     int          `json:"k"`     // canaries in the data, 1 to 65536
	M     int          `json:"m"`     // fresh canaries, 1 to 65536
	Cells []CanaryCell `json:"cells"` // sorted by X, then Y; each pair (X, Y) at most once
}

// CanaryCell counts the pairs of runs with X of K canaries and Y of M fresh ones
// in the event.
type CanaryCell struct {
	X    int `json:"x"`
	Y    int `json:"y"`
	Runs int `json:"runs"` // at least 1
}

// NewCanaryTable returns an empty table. It panics unless 1 <= k, m <= 65536.
func NewCanaryTable(k, m int) CanaryTable {
	if checkCanaries("k", k) != nil || checkCanaries("m", m) != nil {
		panic("bounds: a canary table has 1 to 65536 canaries a side")
	}
	return CanaryTable{K: k, M: m}
}

// CountCells returns the table of cells in any order, which it sorts, and of which
// several may be equal. It panics unless they make a valid table.
func CountCells(k, m int, cells []CanaryCell) CanaryTable {
	t := NewCanaryTable(k, m)
	slices.SortFunc(cells, compareCells)
	for _, c := range cells {
		if n := len(t.Cells); n > 0 && compareCells(t.Cells[n-1], c) == 0 {
			t.Cells[n-1].Runs += c.Runs
			continue
		}
		t.Cells = append(t.Cells, c)
	}
	if err := t.Validate(); err != nil {
		panic("bounds: " + err.Error())
	}
	return t
}

// Validate reports the first field that is out of range, nil if there is none.
// A table without a run is out of range.
func (t CanaryTable) Validate() error {
	if err := checkCanaries("k", t.K); err != nil {
		return err
	}
	if err := checkCanaries("m", t.M); err != nil {
		return err
	}
	total := 0
	for i, c := range t.Cells {
		switch {
		case c.X < 0 || c.X > t.K:
			return fmt.Errorf("canaries: cells[%d].x is %d, must be 0 to k = %d", i, c.X, t.K)
		case c.Y < 0 || c.Y > t.M:
			return fmt.Errorf("canaries: cells[%d].y is %d, must be 0 to m = %d", i, c.Y, t.M)
		case c.Runs < 1 || c.Runs > maxTrials-total:
			return fmt.Errorf("canaries: cells[%d].runs is %d, must be at least 1, and all together at most %d", i, c.Runs, maxTrials)
		case i > 0 && compareCells(t.Cells[i-1], c) >= 0:
			return fmt.Errorf("canaries: cells[%d] (x %d, y %d) is out of order: sort by x, then y, each pair once", i, c.X, c.Y)
		}
		total += c.Runs
	}
	if total == 0 {
		return fmt.Errorf("canaries: the table holds no run: make at least one")
	}
	return nil
}

func compareCells(a, b CanaryCell) int {
	if a.X != b.X {
		return a.X - b.X
	}
	return a.Y - b.Y
}

// Add counts runs more pairs with x and y canaries in the event. It panics if
// one of the three is out of range.
func (t *CanaryTable) Add(x, y, runs int) {
	if x < 0 || x > t.K || y < 0 || y > t.M || runs < 0 || runs > maxTrials {
		panic("bounds: canary counts out of range")
	}
	if runs == 0 {
		return
	}
	c := CanaryCell{x, y, runs}
	i, found := slices.BinarySearchFunc(t.Cells, c, compareCells)
	if found {
		t.Cells[i].Runs += runs
		return
	}
	t.Cells = slices.Insert(t.Cells, i, c)
}

// Merge adds the pairs of another shard. It panics if K or M differ.
func (t *CanaryTable) Merge(u CanaryTable) {
	if t.K != u.K || t.M != u.M {
		panic("bounds: canary tables of different sizes do not add up")
	}
	for _, c := range u.Cells {
		t.Add(c.X, c.Y, c.Runs)
	}
}

// Runs is the number of pairs of runs.
func (t CanaryTable) Runs() int {
	total := 0
	for _, c := range t.Cells {
		total += c.Runs
	}
	return total
}

// In counts the runs by the number of canaries of the data in the event.
func (t CanaryTable) In() Exchangeable {
	e := NewExchangeable(t.K)
	for _, c := range t.Cells {
		e.Runs[c.X] += c.Runs
	}
	return e
}

// Out counts the runs by the number of fresh canaries in the event.
func (t CanaryTable) Out() Exchangeable {
	e := NewExchangeable(t.M)
	for _, c := range t.Cells {
		e.Runs[c.Y] += c.Runs
	}
	return e
}

func mustBeCanaries(t CanaryTable, delta, beta float64) {
	if t.Validate() != nil {
		panic("bounds: canary table out of range; call CanaryTable.Validate first")
	}
	if CheckDelta(delta) != nil || CheckBeta(beta) != nil {
		panic("bounds: delta or beta out of range")
	}
}
