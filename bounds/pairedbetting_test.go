package bounds

import (
	"math"
)

// PairedBetting returns a lower confidence bound on epsilon from scores in
// [0, 1]: x[i] is the witness on an output of the first dataset, y[i] on one of
// the second, all independent; the pairing is arbitrary but must not be chosen
// on the values. It bounds log((E x - delta)/E y), which (epsilon, delta)
// differential privacy keeps at or below epsilon, and exceeds it with
// probability at most beta. Rounded down to six decimals, -Inf if nothing can be
// said.
//
// lambda > 0 is the stake, fixed before the scores are seen; [TuneBet] takes it
// from exploration. For th = e^eps let W_i = x[i] - th y[i] - delta and
//
//	E(th) = prod (1 + lambda W_i) if lambda (th + delta) < 1, else 0.
//
// Validity: under H0(th), E x <= th E y + delta, every factor is non-negative
// with mean at most 1, so E(th) has mean at most 1 and reaches 1/beta with
// probability at most beta (Markov; Waudby-Smith and Ramdas 2024 for betting in
// general). lambda is the same for all th, so each factor, and with it E, is
// non-increasing in th: the th with E >= 1/beta form an interval that begins at
// 0, its upper end is the bound, and that exceeds the true th* only if
// E(th*) >= 1/beta. Errs downwards; the bound is at most log(1/lambda - delta).
//
// Cost O(n) for each of about 60 steps of the bisection. It panics on arguments
// out of range: different or zero lengths, a score outside [0, 1] or NaN, lambda
// not in (0, inf).
func PairedBetting(x, y []float64, delta, beta, lambda float64) float64 {
	mustBePairs(x, y)
	if CheckDelta(delta) != nil || CheckBeta(beta) != nil {
		panic("bounds: delta or beta out of range")
	}
	if !(lambda > 0 && !math.IsInf(lambda, 1)) {
		panic("bounds: the stake must be positive and finite")
	}
	// A product of wealthBlock factors loses less than 2 wealthBlock ulp, the
	// sum of the logarithms less than n ulp of its largest partial sum, at most
	// 40 n.
	goal := math.Log(1/beta) + 1e-9 + 1e-14*float64(len(x))
	rejects := func(eps float64) bool {
		th := math.Exp(eps)
		return lambda*(th+delta) < 1-1e-9 && logWealth(x, y, th, delta, lambda) >= goal
	}
	lo, hi := lowestEpsilon, math.Log(math.Max(1/lambda-delta, math.SmallestNonzeroFloat64))
	if !rejects(lo) {
		return math.Inf(-1)
	}
	for hi-lo > 1e-7 {
		if mid := (lo + hi) / 2; rejects(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return RoundDown(lo)
}

const wealthBlock = 16

// logWealth returns the logarithm of E(th); lambda (th + delta) < 1.
func logWealth(x, y []float64, th, delta, lambda float64) float64 {
	sum := 0.0
	base, down := 1-lambda*delta, lambda*th
	for len(x) >= wealthBlock && len(y) >= wealthBlock {
		a, b := (*[wealthBlock]float64)(x), (*[wealthBlock]float64)(y)
		product := 1.0
		for i := range a {
			product *= base + lambda*a[i] - down*b[i]
		}
		sum += math.Log(product)
		x, y = x[wealthBlock:], y[wealthBlock:]
	}
	for i := range x {
		sum += math.Log(base + lambda*x[i] - down*y[i])
	}
	return sum
}

func mustBePairs(x, y []float64) {
	if len(x) != len(y) || len(x) == 0 {
		panic("bounds: scores must come in pairs, at least one")
	}
	for i := range x {
		if !(x[i] >= 0 && x[i] <= 1 && y[i] >= 0 && y[i] <= 1) {
			panic("bounds: score outside [0, 1]")
		}
	}
}

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
