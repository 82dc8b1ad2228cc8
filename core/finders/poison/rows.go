package poison

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream/linalg"
)

// corner is the one of a box nearest to features.
func corner(x, lower, upper []float64) []float64 {
	c := make([]float64, len(x))
	for j, v := range x {
		if c[j] = lower[j]; v-lower[j] > upper[j]-v {
			c[j] = upper[j]
		}
	}
	return c
}

// cornered are the rows, those nearest to a corner of the box first.
func (q *problem) cornered(lower, upper []float64) []int {
	return q.nearest(func(i int) float64 { return squared(q.x[i], corner(q.x[i], lower, upper)) })
}

// flipped is row i with the other label, in the place of itself and of those like it.
func (q *problem) flipped(what string, i int) point {
	row := slices.Clone(q.Table.Base.Row(i))
	row[q.d] = 1 - q.y[i]
	return point{what, row, q.alike(i)}
}

// cornerFlip flips the label of the row nearest to a corner, of either label: that moves the share,
// sums and squares of either class as far as the row lies from the middle.
func cornerFlip(q *problem) []point {
	order := q.cornered(q.Domain.Lower, q.Domain.Upper)
	first := order[0]
	other := order[slices.IndexFunc(order, func(i int) bool { return q.y[i] != q.y[first] })]
	moved := q.flipped("that row moved into its corner, with its label flipped", first)
	moved.row = poisoned(corner(q.x[first], q.Domain.Lower, q.Domain.Upper), moved.row[q.d])
	return []point{q.flipped("the row nearest to a corner with its label flipped", first), moved,
		q.flipped("the row of the other label nearest to a corner, its label flipped", other)}
}

// cornerMean moves a row from its class's corner to the opposite one, where that moves the mean most.
func cornerMean(q *problem) []point {
	var points []point
	var moves []float64
	for _, y := range []float64{0, 1} {
		near := corner(q.mean(y), q.Domain.Lower, q.Domain.Upper)
		far := audit.Listed(q.d, func(j int) float64 { return q.Domain.Lower[j] + (q.Domain.Upper[j] - near[j]) })
		of, rows := audit.Count(q.y, func(l float64) bool { return l == y }), q.near(near, y)
		points = append(points, point{"the row nearest to its class's corner moved to the opposite one", poisoned(far, y), rows})
		moves = append(moves, squared(q.x[rows[0]], far)/float64(of*of))
	}
	if moves[1] > moves[0] {
		points[0], points[1] = points[1], points[0]
	}
	return points
}

// farthestFlip flips the label of the row most distant from the nearest other, or from all. "To
// increase this chance we target points which are likely to be solitary in each leaf" (section 4.1).
func farthestFlip(q *problem) []point {
	far := func(i int, sum float64, join func(sum, v float64) float64) float64 {
		for k := range q.n {
			if k != i {
				sum = join(sum, away(q.x[i], q.x[k]))
			}
		}
		return -sum
	}
	alone := q.nearest(func(i int) float64 { return far(i, math.Inf(1), math.Min) })[0]
	outside := q.nearest(func(i int) float64 { return far(i, 0, func(a, b float64) float64 { return a + b }) })[0]
	return []point{q.flipped("the row most distant from the nearest other with its label flipped", alone),
		q.flipped("the row most distant from all others with its label flipped", outside)}
}

const crowd = 8

// majority adds to the label that rules a place. Where a leaf has a majority of m rows of weight w, its
// other label has probability near e^(-w m), which a row that changes sides divides by e^(2w); where
// labels are even, it moves 1/2 by half of that at most. It flips the row that its neighbours outvote
// most, then puts rows at the mean of a class and in its corner.
func majority(q *problem) []point {
	outvoted, worst := 0, math.Inf(1)
	for i := range q.n {
		margin := 0.0
		for _, k := range q.nearest(func(k int) float64 { return away(q.x[i], q.x[k]) })[:(q.n+crowd-1)/crowd] {
			margin += math.Copysign(1, 0.5-math.Abs(q.y[k]-q.y[i]))
		}
		if margin < worst {
			outvoted, worst = i, margin
		}
	}
	points := []point{q.flipped("a row outvoted by its neighbours with its label flipped", outvoted)}
	join := func(what string, x []float64, y float64) {
		points = append(points, point{what, poisoned(x, y), q.near(x, 1-y)})
	}
	for _, y := range []float64{0, 1} {
		join("a row at the mean of its class", q.mean(y), y)
	}
	for _, y := range []float64{0, 1} {
		join("a row in the corner of its class", corner(q.mean(y), q.Domain.Lower, q.Domain.Upper), y)
	}
	return points
}

func away(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		sum += math.Abs(v - b[j])
	}
	return sum
}

func rowSwap(q *problem) []point {
	most := min(8, max(1, q.Trials/len(q.copies)))
	var points []point
	for range most {
		i := q.Stream.Intn(q.n)
		others := audit.Listed(q.n, func(k int) int { return k })
		others = slices.DeleteFunc(others, func(k int) bool { return q.y[k] == q.y[i] })
		row := slices.Clone(q.Table.Base.Row(others[q.Stream.Intn(len(others))]))
		row[q.d] = q.y[i]
		points = append(points, point{"a row with the features of one of the other class", row, q.alike(i)})
	}
	return points
}

// least is the right singular vector of the smallest singular value, its largest coordinate above 0.
func (q *problem) least() []float64 {
	// Rows [C | I] of C = X'X, rotated until the rows of C are orthogonal, are [S V' | V'].
	top := 0.0
	for _, x := range q.x {
		top += linalg.Dot(x, x)
	}
	rows := make([][]float64, q.d)
	for j := range rows {
		rows[j] = make([]float64, 2*q.d)
		rows[j][q.d+j] = 1
		for _, x := range q.x {
			for k, v := range x {
				rows[j][k] += float64(x[j]*v) / max(top, 1e-300)
			}
		}
	}
	linalg.Rows(rows, q.d)
	squares := audit.Each(rows, func(r []float64) float64 { return linalg.Dot(r[:q.d], r[:q.d]) })
	v := slices.Clone(rows[slices.Index(squares, slices.Min(squares))][q.d:])
	most := 0
	for j := range v {
		if math.Abs(v[j]) > math.Abs(v[most])+1e-9 {
			most = j
		}
	}
	sign := math.Copysign(1, v[most])
	return audit.Each(v, func(x float64) float64 { return float64(sign * x) })
}

// clipBKD is a row along the axis of least variance, as long as the median row, with the label that the
// model without noise finds unlikelier, or either.
func clipBKD(q *problem) []point {
	norms := audit.Each(q.x, func(row []float64) float64 { return math.Sqrt(linalg.Dot(row, row)) })
	slices.Sort(norms)
	x := audit.Each(q.least(), func(v float64) float64 { return float64(v * norms[q.n/2]) })
	q.project(x)
	labels := []float64{0, 1}
	if q.Table.Probability != nil && q.Table.Train != nil {
		model := q.train(q.Table.Base)
		if q.failed != nil {
			return nil
		}
		if q.Table.Probability(model, x) < 0.5 {
			labels = []float64{1, 0}
		}
		labels = labels[:1]
	}
	rows := make([]int, q.n)
	for i := range rows { // random ones take its place
		k := q.Stream.Intn(i + 1)
		rows[i], rows[k] = rows[k], i
	}
	return audit.Each(labels, func(y float64) point { return point{"a row along the axis of least variance", poisoned(x, y), rows} })
}
