package bounds

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

func mustBeClaim(eps, delta float64) {
	refuse(!(eps >= 0) || math.IsInf(eps, 1) || CheckDelta(delta) != nil, "a claim needs a finite epsilon >= 0 and a delta in [0, 1)")
}

func mustBeFinite(eps float64) { refuse(CheckEpsilon(eps) != nil, "epsilon is not finite") }

// wager is a family of paired statistics on the bins of a table,
//
//	W(theta) = u a[X] - v b[Y] - c  with (u, v, c) = at(theta),
//
// a, b, u, v, c >= 0, u falling and v, c growing with theta (weakly), such that
// E W(theta) <= 0 whenever theta is at or above the true value. For a stake
// lambda > 0 fixed before the pairs are seen let
//
//	E(theta) = prod (1 + lambda W_i(theta)) if lambda (v max b + c) < 1, else 0.
//
// Every factor is non-negative with mean at most 1, so E at the true value
// reaches 1/beta with probability at most beta (Markov), at any time in a
// sequence of pairs (Ville). Every factor, and so E, falls with theta, lambda
// being the same for all: the theta with E >= 1/beta form an interval from the
// left, and its end exceeds the true value only if E does so there.
type wager struct {
	a, b []float64 // values by bin, of the first and of the second output
	top  float64   // largest of b
	at   func(theta float64) (u, v, c float64)
}

func newWager(a, b []float64, at func(theta float64) (u, v, c float64)) *wager {
	return &wager{a: a, b: b, top: slices.Max(b), at: at}
}

// logEValue returns log E(theta), -Inf where E is 0.
func (w *wager) logEValue(cells []tableCell, theta, lambda float64) float64 {
	u, v, c := w.at(theta)
	if !(lambda*(v*w.top+c) < 1-1e-9) {
		return math.Inf(-1)
	}
	up, down, shift := lambda*u, lambda*v, lambda*c
	sum := 0.0
	for _, k := range cells {
		sum += k.n * math.Log1p(up*w.a[k.a]-down*w.b[k.b]-shift)
	}
	return sum
}

// goal is the log wealth that rejects, with a margin for the rounding of a sum
// over n pairs, whose logarithms are at most 40 each.
func goal(beta float64, n int) float64 { return math.Log(1/beta) + 1e-9 + 1e-14*float64(n) }

// pValue is min(1, 1/E): under the null hypothesis at most b with probability at
// most b.
func pValue(logWealth float64, n int) float64 {
	return math.Min(1, math.Exp(-(logWealth - 1e-9 - 1e-14*float64(n))))
}

// logMean returns log of the mean of exp(v).
func logMean(v []float64) float64 { return floats.LogSumExp(v) - math.Log(float64(len(v))) }
