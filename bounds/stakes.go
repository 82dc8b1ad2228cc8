package bounds

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// Stakes are bets against a claim, by the log odds that an output came from the first dataset. A
// bet multiplies its wealth by a factor for every output, of its cell and side. However the log
// odds came about, the product of the factors of a pair of outputs, one of each side, has mean at
// most 1 where the claim holds and the bet was fixed before: so the wealth is a test
// supermartingale.
//
// Factors are those of the first dataset over the second; the claim holds in both directions, so
// each bet may be turned round. For one goroutine at a time: factors are computed when first asked
// for.
type Stakes struct {
	odds []float64
	bets []stake
}

type stake struct {
	// factors writes the factors of the cells, and returns what the mean of either side's can be.
	factors       func(first, second []float64) (mean float64)
	first, second []float64 // their logs, each less that of the mean; nil before they are asked for
}

// Point is a point of a claim: P(S) <= e^Epsilon Q(S) + Delta for every event S, both ways round.
type Point struct{ Epsilon, Delta float64 }

// What bets are made of. They weigh power only.
var (
	stakeFloors = []float64{0.4, 0.6, 0.75, 0.85, 0.92, 0.96, 0.98, 0.99, 0.995, 0.998}
	stakeSlopes = []float64{1, 0.75, 0.5}
	stakeTops   = []float64{1, 0.5, 0.2, 0.05} // at delta > 0
)

// NewStakes are bets against a claim of these points, on cells with these log odds.
//
// Fix a point, a in (0, 1), b = 2 - a, c = a + b e^-epsilon, and a function u of the outputs with
// values in [0, U], U <= b e^-epsilon. With x drawn on the first dataset, y on the second,
//
//	E = (a + u(x)) (b - e^epsilon u(y)) / (1 + delta U/2)^2
//
// has mean at most 1: with s = E u(x) and t = e^epsilon E u(y), the level sets of u give s <= t +
// delta U, and (a + s)(b - t) <= ((a + b + s - t)/2)^2 <= (1 + delta U/2)^2 as both factors are at
// least 0. At delta = 0 and with eta the true probability that an output is x, u = max(0, c eta -
// a) at the best a is log-optimal: the factors are the likelihood ratio to the reverse information
// projection of the truth on the claim (docs/statistics.md, "Sequential audits"; Larsson, Ramdas
// and Ruf 2025). A top below 1 caps u, which pays at delta > 0.
func NewStakes(points []Point, odds []float64) *Stakes {
	s := &Stakes{odds: odds}
	for _, p := range points {
		slopes, tops := stakeSlopes, stakeTops[:1]
		if p.Delta > 0 {
			slopes, tops = []float64{1, 0.5}, stakeTops
		}
		e, grow := stream.Exp(-p.Epsilon), stream.Exp(p.Epsilon)
		etas := make([][]float64, len(slopes)) // of the cells, once a bet asks for them
		for _, a := range stakeFloors {
			b := 2 - a
			c := a + float64(b*e)
			for k, slope := range slopes {
				for _, top := range tops {
					s.add(func(first, second []float64) float64 {
						if etas[k] == nil {
							etas[k] = audit.Each(odds, func(z float64) float64 { return stream.Logistic(float64(slope * z)) })
						}
						most := 0.0
						for i, eta := range etas[k] {
							u := min(float64(top*b)*e, max(0, float64(c*eta)-a))
							most = max(most, u)
							first[i], second[i] = a+u, max(0, b-float64(grow*u))
						}
						return 1 + float64(float64(p.Delta*most)/2)
					})
				}
			}
		}
	}
	return s
}

func (s *Stakes) add(factors func(first, second []float64) float64) {
	s.bets = append(s.bets, stake{factors: factors})
}

func (s *Stakes) logs(bet int) (first, second []float64) {
	x := &s.bets[bet]
	if x.first == nil {
		x.first, x.second = make([]float64, len(s.odds)), make([]float64, len(s.odds))
		less := stream.Log(x.factors(x.first, x.second))
		for _, list := range [][]float64{x.first, x.second} {
			was, log := 1.0, -less
			for i, v := range list {
				if v != was { // else as in the cell before: where nothing or the most is staked
					was, log = v, stream.Log(v)-less
				}
				list[i] = log
			}
		}
	}
	return x.first, x.second
}

// Orders at which a claim on divergences is bet against, and bets on each.
var (
	renyiWidths = []float64{0.5, 2} // of the witness, over the order
	renyiSlopes = []float64{1, 0.5}
	renyiShares = []float64{0.05, 0.2, 0.5, 0.9}
)

// AddRenyi adds bets against D_alpha <= limit, both ways round, on the cells of the others.
//
// With a witness h, k = alpha/(alpha-1), any b0 > 0, X = e^(-limit/k) b0^(-1/k) e^((alpha-1) h(x))
// and Y = e^(alpha h(y)) / (k b0), the variational formula and the tangent of B^(1/k) at b0 give E
// X <= E Y + 1/alpha where the claim holds (renyiWager has it at b0 = 1). Hence, for s with s Y <=
// b always and a + b = 2,
//
//	(a + s X) (b - s Y) / (1 + s/(2 alpha))^2
//
// has mean at most 1, as in [NewStakes]. h is the log odds, cut to a width and scaled.
func (s *Stakes) AddRenyi(alpha, limit float64, odds []float64) {
	s.odds = odds
	k := alpha / (alpha - 1)
	for _, width := range renyiWidths {
		for _, slope := range renyiSlopes {
			for _, b0 := range []float64{1, stream.Exp(float64((alpha - 1) * limit))} {
				scale := stream.Exp(-limit/k) * stream.Exp(-stream.Log(b0)/k)
				for _, share := range renyiShares {
					top := stream.Exp(float64(alpha*width)) / (k * b0) // of Y
					// Where the claim is just met, both factors' means are to be alike: a + s = b -
					// s/k, or a = 1 - s (1 + 1/k)/2; a is to be at least 0.
					half := float64((1 + 1/k) / 2)
					stake := min(share/(top-half), share/half)
					if !(stake > 0) {
						stake = share / half
					}
					a := 1 - float64(stake*half)
					s.add(func(first, second []float64) float64 {
						for i, z := range odds {
							h := min(width, max(-width, float64(slope*z)))
							first[i] = a + float64(float64(stake*scale)*stream.Exp(float64((alpha-1)*h)))
							second[i] = max(0, 2-a-float64(stake*stream.Exp(float64(alpha*h)))/(k*b0))
						}
						return 1 + stake/(2*alpha)
					})
				}
			}
		}
	}
}

// Len is how many bets there are.
func (s *Stakes) Len() int { return len(s.bets) }

// Most is the log of the most that a bet makes of 1 with a pair of outputs.
func (s *Stakes) Most(bet int) float64 {
	first, second := s.logs(bet)
	return slices.Max(first) + slices.Max(second)
}

// LogAt is the log of what a bet makes of 1 with outputs of the first dataset and the second, as
// many in all, in these cells. Reversed, the bet is on the second over the first, with the odds of
// the mirrored cell.
func (s *Stakes) LogAt(bet int, reversed bool, cells []int, first, second []float64) float64 {
	x, y := s.logs(bet)
	first, second = first[:len(cells)], second[:len(cells)]
	last := 0
	if reversed {
		first, second = second, first
		last = len(x) - 1
	}
	sum := 0.0
	for i, at := range cells {
		if reversed {
			at = last - at
		}
		if n := first[i]; n > 0 {
			sum += float64(n * x[at])
		}
		if n := second[i]; n > 0 {
			sum += float64(n * y[at])
		}
	}
	return sum
}
