package bounds

import "math"

// MethodEventMixture is [Monitor].
const MethodEventMixture Method = "anytime-event-mixture"

// mixtureStakes are the stakes of a mixture as shares of the largest allowed:
// .001 and 24 values in geometric progression from .002 to .98.
var mixtureStakes = func() []float64 {
	const n = 24
	u := make([]float64, 1, n+1)
	u[0] = 0.001
	for i := range n {
		u = append(u, 0.002*math.Pow(0.98/0.002, float64(i)/(n-1)))
	}
	return u
}()

// EventMixture is the wealth of a gambler who bets against one claim
// (eps, delta) on an event, a function of the counts of pairs alone. With
// W = 1[first in] - e^eps 1[second in] - delta it is
//
//	E = (1/J) sum_j prod over pairs (1 + lambda_j W),  lambda_j = u_j/(e^eps + delta),
//
// u_j = .001 and 24 values from .002 to .98. Under the claim each product is a
// non-negative martingale or supermartingale that begins at 1, and so is their
// mean: the probability that E ever reaches 1/beta, however often it is looked
// at, is at most beta (Ville 1939; mixtures: Robbins 1970). Outputs must be
// independent over pairs; within a pair they need not be. The event is fixed.
type EventMixture struct {
	logs [][4]float64 // log(1 + lambda_j w) for the pairs 11, 10, 01, 00
}

// NewEventMixture panics unless eps is finite and delta in [0, 1).
func NewEventMixture(eps, delta float64) *EventMixture {
	mustBeFinite(eps)
	if CheckDelta(delta) != nil {
		panic("bounds: delta outside [0, 1); call CheckDelta first")
	}
	m := &EventMixture{logs: make([][4]float64, len(mixtureStakes))}
	th := math.Exp(eps)
	for j, u := range mixtureStakes {
		lambda := u / (th + delta)
		for i, w := range [4]float64{1 - th - delta, 1 - delta, -th - delta, -delta} {
			m.logs[j][i] = math.Log1p(lambda * w)
		}
	}
	return m
}

// LogWealth returns log E after pairs with these counts: n10 with the first
// output in the event and the second outside, and so on. Less than a
// microsecond.
func (m *EventMixture) LogWealth(n11, n10, n01, n00 int) float64 {
	if n11 < 0 || n10 < 0 || n01 < 0 || n00 < 0 {
		panic("bounds: negative count")
	}
	a, b, c, d := float64(n11), float64(n10), float64(n01), float64(n00)
	var logs [64]float64
	for j := range m.logs {
		l := &m.logs[j]
		logs[j] = a*l[0] + b*l[1] + c*l[2] + d*l[3]
	}
	return logMean(logs[:len(m.logs)])
}

// logMean returns log of the mean of exp(v).
func logMean(v []float64) float64 {
	top := largest(v)
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for _, x := range v {
		if x > top-50 {
			sum += math.Exp(x - top)
		}
	}
	return top + math.Log(sum/float64(len(v)))
}
