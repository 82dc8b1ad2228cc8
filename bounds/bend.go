package bounds

import "math"

// bend bounds how far the probability f of a set R of counts rises above its
// values at the ends of a cell [l, r] on the line p1 = th p0 + delta: with m the
// larger end value and M the supremum over the cell,
//
//	M <= m/(1 - bend)  if M >= level,
//
// so that m <= level (1 - bend) shows M <= level. At least 1 if nothing can be
// said.
//
// With score S and observed information J of the two binomials along the line,
// the second derivative of f is E[1_R (S^2 - J)] >= -E[1_R J]. On the cell J is
// at most
//
//	K = Y/l^2 + (n0-Y)/(1-r)^2 + th^2 (X/p1(l)^2 + (n1-X)/(1-p1(r))^2),
//
// a sum of independent terms, the largest of them c in spread. A function lies
// above its chord by at most (r-l)^2/8 times the largest fall of its slope, and at
// the p0 of the supremum E[1_R K] = M E[K | R], where
//
//	E[K | R] <= E K + inf over s of (log E e^(s(K - E K)) + log(1/M))/s
//	         <= E K + sqrt(2 Var(K) L) + c L/3,  L = log(1/level):
//
// the first by Jensen's inequality, the second is Bernstein's bound of the
// moment generating function. So M <= m + M bend with bend = (r-l)^2/8 times the
// last line, E K and Var(K) at their largest on the cell.
func (s *sweep) bend(l, r, level float64) float64 {
	p1l, p1r := s.th*l+s.delta, s.th*r+s.delta
	if l <= 0 || r >= 1 || p1l <= 0 || p1r >= 1 || level <= 0 {
		return math.Inf(1)
	}
	n1, n0 := float64(s.region.n1), float64(s.region.n0)
	sq := s.th * s.th
	hit0, miss0 := 1/(l*l), 1/((1-r)*(1-r))
	hit1, miss1 := sq/(p1l*p1l), sq/((1-p1r)*(1-p1r))
	mean := n0*(r*hit0+(1-l)*miss0) + n1*(p1r*hit1+(1-p1l)*miss1)
	spread0, spread1 := math.Abs(hit0-miss0), math.Abs(hit1-miss1)
	variance := n0*largestPQ(l, r)*spread0*spread0 + n1*largestPQ(p1l, p1r)*spread1*spread1
	rare := math.Max(0, -math.Log(level))
	return (r - l) * (r - l) / 8 * (mean + math.Sqrt(2*variance*rare) + math.Max(spread0, spread1)*rare/3)
}

// largestPQ is the largest p(1-p) on [l, r].
func largestPQ(l, r float64) float64 {
	p := math.Max(l, math.Min(r, 0.5))
	return p * (1 - p)
}
