package estimators

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

const (
	sortedMost  = 1 << 17 // values sorted for quantiles: about 10 ms
	checkEvery  = 1 << 15 // rows between calls of Check
	fewDistinct = 96      // so few distinct values get a bin each
	atomsMost   = 48      // values that repeat often and get a bin of their own
	tailLeast   = 8       // sorted values in the outermost bins
)

// fitPartition divides the column at this offset of a row: symbols as they
// occur, numbers at quantiles of the pooled sample of both sides, with bins of
// their own for values that repeat often. With tails, bins get ever narrower
// towards both ends, where violations of pure privacy live.
func fitPartition(ex audit.Exploration, column audit.Column, offset, bins int, tails bool) (partition, error) {
	var p partition
	carries := map[float64]bool{}
	if column.Kind != audit.Real {
		seen, err := tally(ex, column, offset)
		if err != nil {
			return p, err
		}
		for _, s := range seen {
			p.Symbols = append(p.Symbols, s.symbol)
			if column.Kind == audit.Mixed {
				p.Carries = append(p.Carries, s.varies)
				carries[s.symbol] = s.varies
			}
		}
	}
	if column.Kind != audit.Symbol && bins > 1 {
		pool, err := pooled(ex, column, offset, carries)
		if err != nil {
			return p, err
		}
		p.Edges = quantileEdges(pool, bins, tails)
	}
	return p, ex.Check()
}

// tally counts the symbols of a column, pooled over both sides.
func tally(ex audit.Exploration, column audit.Column, offset int) ([]tallied, error) {
	var t symbolTally
	second := column.Width() - 1 // where the value is; the symbol itself in a symbol column
	for _, side := range []audit.Samples{ex.First, ex.Second} {
		w, n := audit.Width(side.Columns), side.Len()
		for i := range n {
			if i%checkEvery == 0 {
				if err := ex.Check(); err != nil {
					return nil, err
				}
			}
			at := i*w + offset
			t.add(side.Rows[at], side.Rows[at+second])
		}
	}
	return t.most(mostSymbols), nil
}

// pooled returns the sorted values of a column on both sides, every k-th row
// where there are too many.
func pooled(ex audit.Exploration, column audit.Column, offset int, carries map[float64]bool) ([]float64, error) {
	total := ex.First.Len() + ex.Second.Len()
	stride := (total + sortedMost - 1) / sortedMost
	pool := make([]float64, 0, total/stride+2)
	mixed := column.Kind == audit.Mixed
	for _, side := range []audit.Samples{ex.First, ex.Second} {
		w, n := audit.Width(side.Columns), side.Len()
		for i := 0; i < n; i += stride {
			at := i*w + offset
			if !mixed {
				pool = append(pool, side.Rows[at])
			} else if carries[side.Rows[at]] {
				pool = append(pool, side.Rows[at+1])
			}
		}
		if err := ex.Check(); err != nil {
			return nil, err
		}
	}
	slices.Sort(pool)
	return pool, ex.Check()
}

// quantileEdges cuts sorted values into about this many bins of equal counts.
func quantileEdges(sorted []float64, bins int, tails bool) []float64 {
	if len(sorted) == 0 {
		return nil
	}
	last := sorted[len(sorted)-1]
	var edges []float64
	if distinct := slices.Compact(slices.Clone(sorted)); len(distinct) <= min(bins, fewDistinct) {
		edges = distinct
	} else {
		atoms, loose := splitAtoms(sorted, max(5, len(sorted)/(4*bins)), min(atomsMost, bins))
		for _, a := range atoms {
			edges = append(edges, math.Nextafter(a, math.Inf(-1)), a)
		}
		edges = append(edges, cuts(loose, bins, tails)...)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	return slices.DeleteFunc(edges, func(e float64) bool { return e < sorted[0] || e >= last })
}

// splitAtoms takes the values that occur at least least times out of sorted;
// the most frequent ones if there are more than limit.
func splitAtoms(sorted []float64, least, limit int) (atoms, loose []float64) {
	type run struct{ from, to int }
	var runs []run
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		if j-i >= least {
			runs = append(runs, run{i, j})
		}
		i = j
	}
	slices.SortStableFunc(runs, func(a, b run) int { return (b.to - b.from) - (a.to - a.from) })
	runs = runs[:min(limit, len(runs))]
	slices.SortFunc(runs, func(a, b run) int { return a.from - b.from })
	from := 0
	for _, r := range runs {
		atoms = append(atoms, sorted[r.from])
		loose = append(loose, sorted[from:r.from]...)
		from = r.to
	}
	return atoms, append(loose, sorted[from:]...)
}

// cuts are the edges of bins of equal counts and, with tails, of halving counts
// at both ends.
func cuts(sorted []float64, bins int, tails bool) []float64 {
	n := len(sorted)
	var edges []float64
	for k := 1; k < bins; k++ {
		if r := k * n / bins; r > 0 {
			edges = append(edges, sorted[r-1])
		}
	}
	if tails {
		for r := n / bins / 2; r >= tailLeast; r /= 2 {
			edges = append(edges, sorted[r-1], sorted[n-1-r])
		}
	}
	return edges
}
