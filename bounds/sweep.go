package bounds

import "math"

// box confines the nuisance parameters: p0 to [low0, high0], p1 to
// [low1, high1].
type box struct{ low0, high0, low1, high1 float64 }

// sweep lowers th until P(region) <= goal on the whole null set of th,
//
//	{(p0, p1) in box : p1 <= th p0 + delta}.
type sweep struct {
	region *region
	box    box
	delta  float64
	goal   float64 // the probability that must not be exceeded
	slack  float64 // nodes are brought below goal - slack/2, so that cells of positive width can be shown
	th     float64 // what is shown so far holds for this th and below; 0 if no th > 0 can be shown
}

// p1 is the largest p1 of the null set at p0.
func (s *sweep) p1(p0 float64) float64 {
	return math.Min(s.box.high1, s.th*p0+s.delta)
}

// start is the smallest p0 of the null set: to its left p1 <= th p0 + delta is
// below the box.
func (s *sweep) start() float64 {
	return math.Max(s.box.low0, (s.box.low1-s.delta)/s.th)
}

// run shows the whole null set.
func (s *sweep) run() {
	end := s.corner()
	s.th = (s.box.high1 - s.delta) / end
	left, right := s.start(), math.Min(s.box.high0, end)
	if left > right {
		return
	}
	const cells = 8
	var node, value [cells + 1]float64
	for i := range node {
		// Even steps of the square root: the scale on which p0 has constant
		// spread when it is small.
		u := float64(i) / cells
		root := (1-u)*math.Sqrt(left) + u*math.Sqrt(right)
		node[i] = root * root
	}
	node[0], node[cells] = left, right
	// From the middle outwards: the middle is where the supremum usually is.
	for _, i := range [cells + 1]int{4, 2, 6, 0, 8, 1, 3, 5, 7} {
		value[i] = s.visit(node[i])
	}
	for i := range cells {
		s.show(node[i], node[i+1], value[i], value[i+1], 0)
	}
}

// corner returns the p0 up to which the sweep has to go if it starts from the
// th whose null set has its corner, p1 = high1, there: the end of the box, or a
// p0 where the goal is met at p1 = high1 and so, the probability falling with
// p0, beyond it too.
func (s *sweep) corner() float64 {
	want := s.goal - s.slack
	lo, hi := s.box.low0, s.box.high0
	if s.region.prob(hi, s.box.high1) > want {
		return hi
	}
	for range 60 {
		mid := (lo + hi) / 2
		v := s.region.prob(mid, s.box.high1)
		if v > want {
			lo = mid
			continue
		}
		hi = mid
		if v > want-s.slack {
			break
		}
	}
	return hi
}

// visit returns the probability at p0, after lowering th where it is too large.
func (s *sweep) visit(p0 float64) float64 {
	v := s.region.prob(p0, s.p1(p0))
	if v > s.goal-s.slack/2 && p0 >= s.start() {
		v = s.lower(p0, p0, s.goal-s.slack)
	}
	return v
}

// lower sets th so that the probability with p0 at left and p1 that of right is
// near want, at most want + slack/2, and returns it.
func (s *sweep) lower(left, right, want float64) float64 {
	lo, hi := math.Max(s.delta, s.box.low1), s.p1(right)
	vLo := s.region.prob(left, lo)
	if right == 0 {
		s.th = 0
		return vLo
	}
	if vLo > want+s.slack/2 {
		// Not even the bottom of the box: no point with this p0 may be left.
		s.th = math.Min(s.th, (lo-s.delta)/right*(1-1e-12))
		return vLo
	}
	// The probability grows with p1. Secant on its logarithm, with bisection
	// where that leaves the bracket or stalls.
	best, vBest := lo, vLo
	fLo, fHi := math.Log(vLo/want), math.Log(s.region.prob(left, hi)/want)
	for i := range 100 {
		p1 := lo + (hi-lo)*math.Max(0.05, math.Min(0.95, -fLo/(fHi-fLo)))
		if i%3 == 2 {
			p1 = lo + (hi-lo)/2
		}
		if p1 <= lo || p1 >= hi {
			break
		}
		v := s.region.prob(left, p1)
		if v <= want+s.slack/2 {
			lo, fLo = p1, math.Log(v/want)
			best, vBest = p1, v
			if v >= want-s.slack/2 {
				break
			}
		} else {
			hi, fHi = p1, math.Log(v/want)
		}
	}
	s.th = math.Min(s.th, (best-s.delta)/right)
	return vBest
}

// show proves the goal for p0 in [l, r], whose end values are given (for this
// th or a larger one), splitting as needed.
func (s *sweep) show(l, r, vl, vr float64, depth int) {
	if s.th == 0 {
		return
	}
	if start := s.start(); r < start {
		return
	} else if l < start {
		l, vl = start, s.visit(start)
	}
	m := math.Max(vl, vr)
	bend := s.bend(l, r, s.goal)
	if m <= s.goal*(1-bend) {
		return
	}
	// A wide cell: moving p0 to the left end and p1 to its value at the right
	// end can only make the region likelier.
	if bend > wideBend {
		if s.region.prob(l, s.p1(r)) <= s.goal {
			return
		}
	}
	mid := l + (r-l)/2
	if depth >= maxDepth || mid <= l || mid >= r || s.region.evals > maxEvals {
		// Give up on precision, not on validity.
		s.lower(l, r, s.goal-s.slack)
		return
	}
	vm := s.visit(mid)
	s.show(l, mid, vl, vm, depth+1)
	s.show(mid, r, vm, vr, depth+1)
}

const (
	maxDepth = 60
	maxEvals = 20_000
	wideBend = 0.05 // above it the bound from the curvature is poor
)
