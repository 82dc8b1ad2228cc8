package accounting

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Lossy is a mechanism of which two laws P and Q are known that dominate its outputs on
// neighbouring datasets: P(S) - e^epsilon Q(S) at the best S is at least as large as for the
// mechanism (Zhu, Dong and Wang 2022, definition 7), and compositions are dominated by the products
// (theorem 10). All are attained.
type Lossy interface {
	// losses is the pair of a dataset with a record over one without, or the reverse.
	losses(reverse bool) lossPair
}

// lossPair is P and Q in terms of the loss log(P/Q).
type lossPair struct {
	// span is where the loss lies, but for P of at most tail on either side.
	span func(tail float64) (lo, hi float64)
	// masses are P and Q of the losses in (edges[i], edges[i+1]], a loss at an edge on either side
	// of it. Relative error below lossError.
	masses   func(edges []float64) (p, q []float64)
	infinite float64 // P where Q is 0
}

// reversed exchanges P and Q, neither of which is 0 where the other is not.
func (l lossPair) reversed() lossPair {
	return lossPair{
		span: func(tail float64) (lo, hi float64) {
			lo, hi = l.span(tail)
			return -hi, -lo
		},
		masses: func(edges []float64) (p, q []float64) {
			mirror := make([]float64, len(edges))
			for i, e := range edges {
				mirror[len(edges)-1-i] = -e
			}
			q, p = l.masses(mirror)
			slices.Reverse(p)
			slices.Reverse(q)
			return p, q
		},
	}
}

// lossError bounds the relative error of the masses and the absolute one of the losses at the
// edges: the argument z of a normal tail is known to 4 units in the last place, of which the tail
// makes 4 z^2; |z| stays below 36.
const lossError = 1e-12

func (g Gaussian) losses(bool) lossPair { return gaussianNoise(g.Sensitivity/g.Sigma).losses(1, false) }

func (s SubsampledGaussian) losses(reverse bool) lossPair {
	return gaussianNoise(s.Sensitivity/s.Sigma).losses(s.Rate, reverse)
}

func (l Laplace) losses(bool) lossPair { return laplaceNoise(l.Sensitivity/l.Scale).losses(1, false) }

func (s SubsampledLaplace) losses(reverse bool) lossPair {
	return laplaceNoise(s.Sensitivity/s.Scale).losses(s.Rate, reverse)
}

// SubsampledLaplace is [Laplace] noise on a sum over a Poisson sample. Its largest log ratio is e =
// log(1 + Rate (e^s - 1)), s = Sensitivity/Scale; its Renyi divergence is at most [PureDP]'s at e.
type SubsampledLaplace struct{ Scale, Sensitivity, Rate float64 }

func (s SubsampledLaplace) Validate() error {
	return cmp.Or(checkNoise("scale", s.Scale, s.Sensitivity), checkRate(s.Rate))
}

func (s SubsampledLaplace) At(alpha float64) float64 {
	return PureDP{sampledLoss(s.Rate, s.Sensitivity/s.Scale)}.At(alpha)
}

// ApproximateDP is any (Epsilon, Delta) private mechanism: dominated by randomised response at
// Epsilon that shows the record with probability Delta (Kairouz, Oh and Viswanath 2015, theorem
// 3.2).
type ApproximateDP struct{ Epsilon, Delta float64 }

func (a ApproximateDP) losses(bool) lossPair {
	low := (1 - a.Delta) / (1 + math.Exp(a.Epsilon))
	high := (1 - a.Delta) / (1 + math.Exp(-a.Epsilon))
	return Finite{P: []float64{a.Delta, high, low}, Q: []float64{0, low, high}}.losses(false)
}

// Finite is a mechanism whose output i comes with probability P[i] on one dataset and Q[i] on its
// neighbour.
type Finite struct{ P, Q []float64 }

func (f Finite) losses(reverse bool) lossPair {
	type output struct{ loss, p, q float64 }
	var all []output // by loss
	never := 0.0
	for i, p := range f.P {
		q := f.Q[i]
		if reverse {
			p, q = q, p
		}
		switch {
		case q > 0 && p > 0:
			all = append(all, output{math.Log(p) - math.Log(q), p, q})
		case p > 0:
			never += p
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].loss < all[j].loss })
	return lossPair{
		span: func(float64) (lo, hi float64) {
			if len(all) == 0 {
				return 0, 0
			}
			return all[0].loss, all[len(all)-1].loss
		},
		masses: func(edges []float64) (p, q []float64) {
			p, q = make([]float64, len(edges)-1), make([]float64, len(edges)-1)
			i := 0
			for _, a := range all {
				for i < len(p)-1 && a.loss > edges[i+1] {
					i++
				}
				p[i] += a.p
				q[i] += a.q
			}
			return p, q
		},
		infinite: never,
	}
}

// noise is a law on the line and the same law moved, whose log ratio does not fall.
type noise struct {
	shift float64
	// at is the largest output at which the log ratio of the moved law over the law is at most
	// loss; loss its inverse.
	at, loss func(float64) float64
	// mass is the probability of (a, b) under the law.
	mass func(a, b float64) float64
	// reach is beyond what the law has at most tail, and the moved law beyond that and the shift.
	reach func(tail float64) (lo, hi float64)
}

// losses is the law moved with probability rate over the law, or, where that makes a difference,
// the reverse.
func (n noise) losses(rate float64, reverse bool) lossPair {
	l := lossPair{
		span: func(tail float64) (lo, hi float64) {
			lo, hi = n.reach(tail)
			return sampledLoss(rate, n.loss(lo)), sampledLoss(rate, n.loss(hi))
		},
		masses: func(edges []float64) (p, q []float64) {
			p, q = make([]float64, len(edges)-1), make([]float64, len(edges)-1)
			from := n.at(unsampledLoss(rate, edges[0]))
			for i := range p {
				to := n.at(unsampledLoss(rate, edges[i+1]))
				if to > from {
					q[i] = n.mass(from, to)
					p[i] = (1-rate)*q[i] + rate*n.mass(from-n.shift, to-n.shift)
					from = to
				}
			}
			return p, q
		},
	}
	if reverse && rate < 1 {
		return l.reversed()
	}
	return l
}

// sampledLoss is log(1 - rate + rate e^loss).
func sampledLoss(rate, loss float64) float64 {
	if loss > 0 {
		return loss + math.Log(rate+(1-rate)*math.Exp(-loss))
	}
	return math.Log1p(rate * math.Expm1(loss))
}

// unsampledLoss is the inverse of sampledLoss; -Inf below its range.
func unsampledLoss(rate, loss float64) float64 {
	switch {
	case rate == 1 || math.IsInf(loss, 0):
		return loss
	case loss > 1:
		return loss + math.Log1p(-(1-rate)*math.Exp(-loss)) - math.Log(rate)
	}
	v := math.Expm1(loss) + rate
	if v <= 0 {
		return -inf
	}
	return math.Log(v / rate)
}

func gaussianNoise(mu float64) noise {
	return noise{mu,
		func(loss float64) float64 { return loss/mu + mu/2 }, func(at float64) float64 { return mu * (at - mu/2) }, normalMass,
		func(tail float64) (lo, hi float64) {
			far := math.Sqrt(-2 * math.Log(tail)) // where e^(-x^2/2) is the tail
			return -far, far + mu
		}}
}

func laplaceNoise(s float64) noise {
	return noise{s,
		func(loss float64) float64 {
			switch {
			case loss < -s:
				return -inf
			case loss >= s:
				return inf
			}
			return (loss + s) / 2
		}, func(at float64) float64 { return max(-s, min(s, 2*at-s)) }, laplaceMass,
		func(float64) (lo, hi float64) { return 0, s }}
}

// normalMass is the probability that a standard normal variable lies in [a, b]: small intervals by
// Gauss and Legendre with eight points, whose error is below 1e-17 of the whole, others as the
// difference of tails that differ by a factor of e or more.
func normalMass(a, b float64) float64 {
	if a > 0 {
		a, b = -b, -a
	}
	if w := b - a; w <= 1 && max(-a, math.Abs(b))*w <= 2 {
		mid, sum := a+w/2, 0.0
		for i, x := range legendreAt {
			lo, hi := mid-x*w/2, mid+x*w/2
			sum += legendreWeight[i] * (math.Exp(-lo*lo/2) + math.Exp(-hi*hi/2))
		}
		return sum * w / 2 / math.Sqrt(2*math.Pi)
	}
	if b > 0 {
		return (math.Erf(b/math.Sqrt2) - math.Erf(a/math.Sqrt2)) / 2
	}
	return (math.Erfc(-b/math.Sqrt2) - math.Erfc(-a/math.Sqrt2)) / 2
}

// Nodes and weights of eight points (DLMF, table 3.5.3).
var (
	legendreAt     = [4]float64{0.183434642495649805, 0.525532409916328986, 0.796666477413626740, 0.960289856497536232}
	legendreWeight = [4]float64{0.362683783378361983, 0.313706645877887287, 0.222381034453374471, 0.101228536290376259}
)

func laplaceMass(a, b float64) float64 {
	switch {
	case a >= 0:
		return math.Exp(-a) * -math.Expm1(a-b) / 2
	case b <= 0:
		return math.Exp(b) * -math.Expm1(a-b) / 2
	}
	return -(math.Expm1(a) + math.Expm1(-b)) / 2
}
