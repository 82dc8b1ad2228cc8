package bounds

import "math"

// Exact is an exact lower confidence bound on epsilon: for every p1, p0, n1, n0 it exceeds
// log((p1-delta)/p0) with probability at most beta. May be negative, -Inf where nothing can be
// said.
//
// Construction (Buehler 1957 with the score limit as ordering, and the nuisance parameters confined
// as in Berger and Boos 1994):
//
//  1. Let S(x, y) be the [Score] limit and R = {(x', y'): S(x', y') >= S(x, y)}; the R of different
//     counts are nested. T falls with th (proof at nullFit), so R is {T(.; th0) >= z} with th0 =
//     e^S(x, y); T grows with x, so R is {x' >= cut(y')}.
//  2. Let B be the box of the two-sided Clopper-Pearson intervals of p1 and p0, each at level
//     gamma/2, gamma = beta/250, and for th > 0 p(th) = gamma + sup { P(R; p1, p0) : (p0, p1) in B,
//     p1 <= th p0 + delta }.
//  3. The bound is the largest th with p(th) <= beta.
//
// Proof. The null sets in 2 grow with th and R does not depend on th, so p(th) does not fall, and
// the bound exceeds the true th* only if p(th*) <= beta. That needs (p0, p1) outside B, which has
// probability at most gamma, or P(R) <= beta - gamma at the true point, which has probability at
// most beta - gamma: the R being nested, P(R) there is stochastically at least uniform. R being an
// upper set in x, the supremum lies on p1 = th p0 + delta, or on the upper side of the box, where
// the probability falls with p0 and is largest at the corner.
//
// Computation. th starts above the bound, and p0 sweeps over the box in cells. Each is shown to
// stay below beta - gamma (see sweep.show), split, or th is lowered until its midpoint does; a cell
// shown for one th holds for every smaller th. So the th that remains is certified, and near the
// exact solution. Tail cuts and rounding are added to every probability.
func Exact(c Counts, delta, beta float64) float64 {
	mustBeSound(c, delta, beta)
	return RoundDown(math.Log(bound(c, ratioFamily(delta), beta)))
}

// bound is the largest th of the family with p(th) <= beta by steps 1 to 3 at [Exact], or 0.
func bound(c Counts, f family, beta float64) float64 {
	s, ok := newSweep(c, f, scoreCut(beta), beta)
	if !ok {
		return 0
	}
	s.run()
	return s.th
}

// newSweep is the sweep of the region of c, not begun; false where the limit that orders the counts
// is not above 0.
func newSweep(c Counts, f family, z, beta float64) (*sweep, bool) {
	th0 := f.limit(c, z)
	if !(th0 > 0) {
		return nil, false
	}
	gamma := beta * nuisanceShare
	around := nuisance(c, gamma)
	r := newRegion(c, f.edge(c, th0, z), around.low0, around.high0, math.Log(1/beta)+20) // neglected tails: 10^-8 of beta
	return &sweep{region: r, box: around, family: f, goal: beta - gamma, slack: beta / 400}, true
}

// nuisanceShare of beta confines p1 and p0. Mean bounds are flat between .002 and .01.
const nuisanceShare = 0.004

// leastGamma is where p-values look no deeper.
const leastGamma = 1e-50

// nuisance is a box that misses (p0, p1) with probability at most gamma.
func nuisance(c Counts, gamma float64) box {
	return box{
		low0: LowerProportion(c.Y, c.N0, gamma/4), high0: UpperProportion(c.Y, c.N0, gamma/4),
		low1: LowerProportion(c.X, c.N1, gamma/4), high1: UpperProportion(c.X, c.N1, gamma/4),
	}
}

// ClaimPValue is a p-value of the claim (eps, delta) that is at most beta if and only if Exact(c,
// delta, beta) > eps.
//
// It is the p(th) of Exact at th = e^eps, at most one per cent above it: the regions are nested and
// do not depend on eps, so it is a p-value. Where it and the rounded Exact disagree, Exact decides:
// below beta that is its own proof, above it only raises the value.
//
// p(th) cannot fall below gamma. Where it is at most 2 gamma, a second one with a smaller gamma'
// takes its place, at most 2 gamma, and so on: at b >= 2 gamma such a value is at most b where the
// first is, below that only where the second is, so with probability at most b again. No value is
// below 1e-100. 1 if even the score test at beta rejects nothing.
func ClaimPValue(c Counts, eps, delta, beta float64) float64 {
	mustBeSound(c, delta, beta)
	Must(CheckEpsilon(eps))
	return pValueOf(c, ratioFamily(delta), math.Exp(eps), beta, func() bool { return Exact(c, delta, beta) > eps })
}

// pValueOf is p(th) of the family, made to agree at beta with what the bound says.
func pValueOf(c Counts, f family, th, beta float64, refuted func() bool) float64 {
	p := 1.0
	for gamma := beta * nuisanceShare; ; gamma *= gamma {
		s, ok := newSweep(c, f, scoreCut(beta), gamma/nuisanceShare)
		if !ok {
			return 1
		}
		s.th = th
		v := gamma + s.peak(gamma/100)
		p = min(p, v)
		if v > 2*gamma || gamma < leastGamma {
			break
		}
		p = 2 * gamma
	}
	if refuted() {
		return min(p, beta)
	}
	return max(p, math.Nextafter(beta, 1))
}

// peak bounds the supremum of P(region) over the null set of s.th, to a share peakTolerance or
// floor, splitting the cell with the largest bound.
func (s *sweep) peak(floor float64) float64 {
	left := s.start()
	right := min(s.high0, max(s.low0, s.back(s.th, s.high1)))
	if left > right {
		return 0
	}
	at := func(p0 float64) float64 { return s.prob(p0, s.p1(p0)) }
	type cell struct{ l, r, vl, vr, top float64 }
	bounded := func(l, r, vl, vr float64) cell {
		m, top := max(vl, vr), 1.0
		b := s.bend(l, r, m)
		if b < 1 {
			top = min(1, m/(1-b))
		}
		if b > wideBend {
			top = min(top, s.prob(l, s.p1(r)))
		}
		return cell{l, r, vl, vr, top}
	}
	vl, vr := at(left), at(right)
	best := max(vl, vr)
	cells := []cell{bounded(left, right, vl, vr)}
	for {
		worst := 0
		for i := range cells {
			if cells[i].top > cells[worst].top {
				worst = i
			}
		}
		k := cells[worst]
		mid := k.l + (k.r-k.l)/2
		if k.top <= best*(1+peakTolerance)+floor || s.evals > peakEvals || mid <= k.l || mid >= k.r {
			return max(best, k.top)
		}
		v := at(mid)
		best = max(best, v)
		cells[worst] = bounded(k.l, mid, k.vl, v)
		cells = append(cells, bounded(mid, k.r, v, k.vr))
	}
}

const (
	peakTolerance = 0.01
	peakEvals     = 5000
)

// bend bounds how far the probability f of a set R of counts rises above the larger one m of its
// values at the ends of a cell [l, r] on the edge of the null set: the supremum M is at most m/(1 -
// bend) if M >= level, so that m <= level (1 - bend) shows M <= level.
//
// Along the edge, in whatever parameter u the family takes, let S be the score and J the observed
// information of the two binomials: f” = E[1_R (S^2 - J)] >= -E[1_R J]. On the cell J is at most
//
//	K = hit0 Y + miss0 (n0-Y) + hit1 X + miss1 (n1-X),
//
// with the family's numbers ([family.curvature]), a sum of independent terms of spread at most c. A
// function lies above its chord by at most (u(r)-u(l))^2/8 times the largest fall of its slope, and
// at the p0 of the supremum E[1_R K] = M E[K | R], where
//
//	E[K | R] <= E K + inf over s of (log E e^(s(K - E K)) + log(1/M))/s
//	         <= E K + sqrt(2 Var(K) L) + c L/3,  L = log(1/level):
//
// the first by Jensen's inequality, the second by Bernstein's bound of the moment generating
// function. So M <= m + M bend with bend = (u(r)-u(l))^2/8 times the last line, E K and Var(K) at
// their largest on the cell.
func (s *sweep) bend(l, r, level float64) float64 {
	p1l, p1r := s.rise(s.th, l), s.rise(s.th, r)
	if l <= 0 || r >= 1 || p1l <= 0 || p1r >= 1 || level <= 0 {
		return inf
	}
	n1, n0 := float64(s.n1), float64(s.n0)
	k := s.curvature(s.th, l, r)
	mean := n0*(r*k.hit0+(1-l)*k.miss0) + n1*(p1r*k.hit1+(1-p1l)*k.miss1)
	spread0, spread1 := math.Abs(k.hit0-k.miss0), math.Abs(k.hit1-k.miss1)
	variance := n0*largestPQ(l, r)*spread0*spread0 + n1*largestPQ(p1l, p1r)*spread1*spread1
	rare := max(0, -math.Log(level))
	return k.width * k.width / 8 * (mean + math.Sqrt(2*variance*rare) + max(spread0, spread1)*rare/3)
}

func largestPQ(l, r float64) float64 {
	p := max(l, min(r, 0.5))
	return p * (1 - p)
}

// box confines p0 to [low0, high0], p1 to [low1, high1].
type box struct{ low0, high0, low1, high1 float64 }

// sweep lowers th until P(region) <= goal on the null set {(p0, p1) in box : p1 <= g(p0; th)}.
type sweep struct {
	*region
	box
	family
	goal  float64
	slack float64 // nodes are brought below goal - slack/2, so that cells of positive width can be shown
	th    float64 // what is shown so far holds for this th and below; 0 if no th > 0 can be shown
}

func (s *sweep) p1(p0 float64) float64 { return min(s.high1, s.rise(s.th, p0)) }

// start is the smallest p0 of the null set.
func (s *sweep) start() float64 { return max(s.low0, s.back(s.th, s.low1)) }

func (s *sweep) run() {
	end := s.corner()
	s.th = max(0, s.through(end, s.high1))
	left, right := s.start(), min(s.high0, end)
	if left > right {
		return
	}
	const cells = 8
	var node, value [cells + 1]float64
	for i := range node {
		// Even steps of the square root, on which a small p0 has constant spread.
		u := float64(i) / cells
		root := (1-u)*math.Sqrt(left) + u*math.Sqrt(right)
		node[i] = root * root
	}
	node[0], node[cells] = left, right
	// From the middle outwards, as there the supremum usually is.
	for _, i := range [cells + 1]int{4, 2, 6, 0, 8, 1, 3, 5, 7} {
		value[i] = s.visit(node[i])
	}
	for i := range cells {
		s.show(node[i], node[i+1], value[i], value[i+1], 0)
	}
}

// corner is the p0 up to which the sweep goes: the end of the box, or where the goal is met at p1 =
// high1 and so beyond it too.
func (s *sweep) corner() float64 {
	want := s.goal - s.slack
	lo, hi := s.low0, s.high0
	if s.prob(hi, s.high1) > want {
		return hi
	}
	for range 60 {
		mid := (lo + hi) / 2
		v := s.prob(mid, s.high1)
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
	v := s.prob(p0, s.p1(p0))
	if v > s.goal-s.slack/2 && p0 >= s.start() {
		v = s.lower(p0, p0)
	}
	return v
}

// lower sets th so that the probability with p0 at left and p1 that of right is near goal - slack,
// and returns it.
func (s *sweep) lower(left, right float64) float64 {
	want := s.goal - s.slack
	lo, hi := s.rise(0, right), s.p1(right)
	if lo >= hi {
		// As much is in the null set of every th.
		s.th = 0
		return s.prob(left, hi)
	}
	lo = max(lo, s.low1)
	v := s.prob(left, lo)
	if v > want+s.slack/2 {
		// Not even the bottom of the box: no point with this p0 may be left.
		s.th = max(0, min(s.th, s.through(right, lo*(1-1e-12))))
		return v
	}
	// The probability grows with p1: secant on its logarithm, and bisection.
	low, high := math.Log(v/want), math.Log(s.prob(left, hi)/want)
	for i := range 100 {
		p1 := lo + (hi-lo)*max(0.05, min(0.95, -low/(high-low)))
		if i%3 == 2 {
			p1 = lo + (hi-lo)/2
		}
		if p1 <= lo || p1 >= hi {
			break
		}
		at := s.prob(left, p1)
		if at > want+s.slack/2 {
			hi, high = p1, math.Log(at/want)
			continue
		}
		lo, v, low = p1, at, math.Log(at/want)
		if v >= want-s.slack/2 {
			break
		}
	}
	s.th = max(0, min(s.th, s.through(right, lo)))
	return v
}

// show proves the goal for p0 in [l, r] by the values at its ends, splitting as needed.
func (s *sweep) show(l, r, vl, vr float64, depth int) {
	if s.th == 0 {
		return
	}
	if start := s.start(); r < start {
		return
	} else if l < start {
		l, vl = start, s.visit(start)
	}
	bend := s.bend(l, r, s.goal)
	if max(vl, vr) <= s.goal*(1-bend) {
		return
	}
	// A wide cell: p0 at the left end and p1 at its right end's only make the region likelier.
	if bend > wideBend && s.prob(l, s.p1(r)) <= s.goal {
		return
	}
	mid := l + (r-l)/2
	if depth >= maxDepth || mid <= l || mid >= r || s.evals > maxEvals {
		s.lower(l, r) // gives up on precision, not on validity
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
