package bounds

import "math"

// TuneBet returns the stake for [PairedBetting] on n pairs that would give the
// best bound if certification repeated the exploration scores x, y (in [0, 1],
// paired). It never sees the certification scores, which is what keeps the bound
// valid. Half a pair with y = 1 is added to the exploration, so that a witness
// that never fired on the second dataset is not taken as certain.
//
// The scores are pooled into at most 1024 cells that keep their means; 100
// stakes on a geometric grid are tried. It panics as PairedBetting does.
func TuneBet(x, y []float64, n int, delta, beta float64) float64 {
	mustBePairs(x, y)
	if CheckDelta(delta) != nil || CheckBeta(beta) != nil || n < 1 {
		panic("bounds: delta, beta or n out of range")
	}
	cells := poolPairs(x, y)
	goal := math.Log(1/beta) / float64(n)
	best, value := math.NaN(), math.Inf(-1)
	try := func(lambda float64) {
		if v := expectedReach(cells, delta, lambda, goal); v > value {
			best, value = lambda, v
		}
	}
	for i := range 60 {
		try(math.Pow(10, -7+9*float64(i)/59))
	}
	if math.IsNaN(best) {
		// Nothing would be certified: a stake near that of the normal
		// approximation, goal = lambda^2/2.
		return math.Min(0.5, math.Sqrt(2*goal))
	}
	middle := best
	for i := range 41 {
		try(middle * math.Pow(10, (float64(i)-20)/20*9/59))
	}
	return best
}

// pairCell is a pool of exploration pairs with similar scores.
type pairCell struct{ weight, x, y float64 }

// poolPairs pools on a grid of 32 by 32; weights sum to 1.
func poolPairs(x, y []float64) []pairCell {
	const side = 32
	var grid [side * side]pairCell
	total := 0.0
	for i := range x {
		u, v := min(side-1, int(x[i]*side)), min(side-1, int(y[i]*side))
		c := &grid[u*side+v]
		c.weight++
		c.x += x[i]
		c.y += y[i]
		total += x[i]
	}
	n := float64(len(x))
	cells := []pairCell{{0.5 / (n + 0.5), total / n, 1}}
	for _, c := range grid {
		if c.weight > 0 {
			cells = append(cells, pairCell{c.weight / (n + 0.5), c.x / c.weight, c.y / c.weight})
		}
	}
	return cells
}

// expectedReach returns the largest th whose growth rate, the mean of
// log(1 + lambda (x - th y - delta)), is at least goal; -Inf if there is none.
func expectedReach(cells []pairCell, delta, lambda, goal float64) float64 {
	rate := func(th float64) float64 {
		sum := 0.0
		for _, c := range cells {
			sum += c.weight * math.Log1p(lambda*(c.x-th*c.y-delta))
		}
		return sum
	}
	lo, hi := 0.0, 1/lambda-delta
	if hi <= 0 || !(rate(0) >= goal) {
		return math.Inf(-1)
	}
	for range 40 {
		if mid := (lo + hi) / 2; rate(mid) >= goal {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
