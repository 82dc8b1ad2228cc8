package bounds

import (
	"fmt"
	"math"
	"sort"

	"github.com/dpscope/dpscope/audit"
)

// CanaryInterval names a way to bound epsilon from a [CanaryTable].
type CanaryInterval string

const (
	// CanaryPairedBetting bets against X/K - e^eps Y/M - delta, with the whole of beta.
	CanaryPairedBetting CanaryInterval = "paired-betting"
	// CanaryBetting bets on each side alone, beta/2 each.
	CanaryBetting CanaryInterval = "betting"
	// CanaryMaurerPontil is an empirical Bernstein interval (Maurer and Pontil 2009).
	CanaryMaurerPontil CanaryInterval = "maurer-pontil"
	// CanaryKL is Hoeffding's bound in Kullback-Leibler form; it sees no variance.
	CanaryKL CanaryInterval = "kl"
	// Bernstein intervals from one, two and four moments: LiDP, algorithms 2 to 4.
	CanaryBernstein1 CanaryInterval = "bernstein-1"
	CanaryBernstein2 CanaryInterval = "bernstein-2"
	CanaryBernstein4 CanaryInterval = "bernstein-4"
	// Wilson intervals: LiDP, algorithms 5 to 7. Asymptotic.
	CanaryWilson1 CanaryInterval = "wilson-1"
	CanaryWilson2 CanaryInterval = "wilson-2"
	CanaryWilson4 CanaryInterval = "wilson-4"
)

type canaryInterval struct {
	order  int // moments it uses; 0 if not a moment interval
	wilson bool
}

var canaryIntervals = map[CanaryInterval]canaryInterval{
	CanaryPairedBetting: {}, CanaryBetting: {}, CanaryMaurerPontil: {}, CanaryKL: {},
	CanaryBernstein1: {order: 1}, CanaryBernstein2: {order: 2}, CanaryBernstein4: {order: 4},
	CanaryWilson1: {order: 1, wilson: true}, CanaryWilson2: {order: 2, wilson: true}, CanaryWilson4: {order: 4, wilson: true},
}

// CanaryIntervals lists what an audit offers, the default first.
func CanaryIntervals() []CanaryInterval {
	return []CanaryInterval{
		CanaryPairedBetting, CanaryBetting, CanaryMaurerPontil, CanaryKL,
		CanaryBernstein1, CanaryBernstein2, CanaryBernstein4,
		CanaryWilson1, CanaryWilson2, CanaryWilson4,
	}
}

func (c CanaryInterval) Known() bool { _, ok := canaryIntervals[c]; return ok }

// Valid reports whether the bound keeps its confidence at every number of runs.
func (c CanaryInterval) Valid() bool { return c.Known() && !canaryIntervals[c].wilson }

// Order is the number of moments used, at most K and M; 0 where it uses none.
func (c CanaryInterval) Order() int { return canaryIntervals[c].order }

// Paired reports whether both runs of a pair are compared: no side alone has limits.
func (c CanaryInterval) Paired() bool { return c == CanaryPairedBetting }

// Check reports why the interval cannot bound epsilon with k canaries in, m out and n pairs of
// runs.
func (c CanaryInterval) Check(k, m, n int, delta, beta float64) error {
	if !c.Known() {
		return fmt.Errorf("interval is %q, must be one of %v", string(c), CanaryIntervals())
	}
	if err := audit.First(checkCanaries(k, m), CheckDelta(delta), CheckBeta(beta)); err != nil {
		return err
	}
	if l := c.Order(); min(k, m) < l {
		return fmt.Errorf("not computed (needs -k %d or more, and as many fresh canaries)", l)
	}
	least := c.MinRuns(k, m, delta, beta)
	return require(n >= least, "not computed (%d runs are too few: no outcome of fewer than %d certifies anything at delta %v, beta %v)", n, least, delta, beta)
}

// MinRuns is the least number of pairs, up to 2^40, whose best outcome certifies any epsilon.
func (c CanaryInterval) MinRuns(k, m int, delta, beta float64) int {
	return 1 + sort.Search(maxTrials-1, func(i int) bool { return CanaryCeiling(c, k, m, i+1, delta, beta) > 0 })
}

// CanaryCeiling is the largest bound that n pairs of runs could give, with the best stakes.
func CanaryCeiling(kind CanaryInterval, k, m, n int, delta, beta float64) float64 {
	t := NewCanaryTable(k, m)
	mustBeRuns(n)
	t.Add(k, 0, n)
	mustBeCanaries(t, delta, beta)
	kind.mustApply(t)
	switch kind {
	case CanaryPairedBetting:
		// n log(1 + lambda (1 - delta)) = log(1/beta), and lambda (th + delta) < 1.
		return logBound(topShare/(math.Expm1(goal(beta, n)/float64(n))/(1-delta)) - delta)
	case CanaryBetting:
		// A share s = min(lambda, .95/x) x of the wealth is at risk: a run multiplies it by 1 +
		// s(1-x)/x.
		q := math.Expm1(goal(beta/2, n) / float64(n))
		x := sideShare / (q + sideShare)
		return canaryRatio(x, 1-x, delta)
	}
	return CanaryEpsilon(kind, t, delta, beta, CanaryStakes{})
}

func logBound(th float64) float64 {
	if !(th > 0) {
		return -inf
	}
	return RoundDown(math.Log(th))
}

func (c CanaryInterval) mustApply(t CanaryTable) {
	Refuse(!c.Known(), "unknown canary interval")
	Refuse(min(t.K, t.M) < c.Order(), "fewer canaries than moments; call CanaryInterval.Check first")
}

// CanaryLimits are a lower limit of the probability that a canary of the data is in the event, and
// an upper one for a fresh canary, each at level beta/2.
func CanaryLimits(kind CanaryInterval, t CanaryTable, beta float64, tuned CanaryStakes) (in, out float64) {
	mustBeCanaries(t, 0, beta)
	kind.mustApply(t)
	Must(tuned.Validate())
	Refuse(kind.Paired(), "a paired interval has no limits of one side")
	x, y := t.In(), t.Out()
	side := func(e Exchangeable) (lo, hi float64) {
		switch kind {
		case CanaryMaurerPontil:
			return e.empiricalBernstein(beta / 2)
		case CanaryKL:
			return e.chernoff(beta / 2)
		}
		return e.momentLimits(kind.Order(), canaryIntervals[kind].wilson, beta/2)
	}
	if kind == CanaryBetting {
		return x.bettingLower(beta/2, stakesOr(tuned.In, sideStakes)), 1 - y.mirror().bettingLower(beta/2, stakesOr(tuned.Out, sideStakes))
	}
	in, _ = side(x)
	_, out = side(y)
	return in, out
}

// CanaryEpsilon is a lower confidence bound on epsilon at delta: log((in - delta)/out) of
// [CanaryLimits] (LiDP, algorithm 1), or by paired betting.
//
// In (epsilon, delta)-DP, p1 <= e^epsilon p0 + delta for the probabilities that a canary of the
// data and a fresh one are in the event (LiDP, theorem 3): canaries are independent draws of one
// distribution, the data with K of them and with K-1 are neighbours. So where
// [CanaryInterval.Valid], the bound exceeds the true epsilon with probability at most beta if runs
// are independent, and event and stakes were fixed beforehand: X/K is in [0, 1] with mean p1,
// whatever canaries do to each other.
//
// Paired betting is the mean over the stakes of
//
//	E_j(th) = prod over pairs (1 + lambda_j (X/K u - Y/M min(th, top_j) - delta)),
//
// th = e^eps, top_j = .995/lambda_j - delta, u = 1 for th <= top_j and top_j/th beyond, by the
// proof of renyiWager: beyond top_j the statistic is top_j/th (X/K - th Y/M - delta th/top_j), with
// mean at most 0 under the claim, and every factor is at least .005 and falls with th.
//
// May be negative, -Inf where nothing can be said.
func CanaryEpsilon(kind CanaryInterval, t CanaryTable, delta, beta float64, tuned CanaryStakes) float64 {
	mustBeCanaries(t, delta, beta)
	kind.mustApply(t)
	Must(tuned.Validate())
	if !kind.Paired() {
		in, out := CanaryLimits(kind, t, beta, tuned)
		return canaryRatio(in, out, delta)
	}
	stakes := stakesOr(tuned.Paired, pairedStakes)
	aim := goal(beta, t.Runs())
	eps, next := Bisect(lowestEpsilon, -2*lowestEpsilon, 1e-8, func(eps float64) bool {
		return t.pairedEValue(math.Exp(eps), delta, stakes) >= aim
	})
	if next == lowestEpsilon {
		return -inf
	}
	return RoundDown(eps)
}

// pairedEValue is the log of the mean wealth of the stakes at th = e^eps.
func (t CanaryTable) pairedEValue(th, delta float64, stakes []float64) float64 {
	logs := make([]float64, len(stakes))
	k, m := float64(t.K), float64(t.M)
	for j, lambda := range stakes {
		top := topShare/lambda - delta
		if !(top > 0) {
			logs[j] = -inf
			continue
		}
		up, down := lambda/k, lambda*min(th, top)/m
		if th > top {
			up *= top / th
		}
		for _, c := range t.Cells {
			logs[j] += float64(c.Runs) * math.Log1p(up*float64(c.X)-down*float64(c.Y)-lambda*delta)
		}
	}
	return logMean(logs)
}

func canaryRatio(in, out, delta float64) float64 {
	if !(in > delta) {
		return -inf
	}
	return max(lowestEpsilon, RoundDown(math.Log((in-delta)/out)))
}

// CanaryPValue is the inverse wealth of paired betting: a p-value where [CanaryEpsilon] is a bound.
func CanaryPValue(t CanaryTable, eps, delta float64, tuned CanaryStakes) float64 {
	mustBeCanaries(t, delta, 0.5)
	Must(CheckEpsilon(eps), tuned.Validate())
	return pValue(t.pairedEValue(math.Exp(eps), delta, stakesOr(tuned.Paired, pairedStakes)), t.Runs())
}

func (e Exchangeable) mirror() Exchangeable {
	m := NewExchangeable(e.K)
	for c, runs := range e.Runs {
		m.Runs[e.K-c] = runs
	}
	return m
}

// bettingLower is a lower limit of the mean: the largest x at which the mean over the stakes of
// prod (1 + min(lambda, .95/x) (m_1 - x)) is at least 1/beta (Waudby-Smith and Ramdas 2024, with
// fixed stakes).
func (e Exchangeable) bettingLower(beta float64, stakes []float64) float64 {
	x, _ := Bisect(0, e.Mean(), 1e-13, func(x float64) bool {
		return e.sideEValue(x, stakes) >= goal(beta, e.N())
	})
	return x
}

func (e Exchangeable) sideEValue(x float64, stakes []float64) float64 {
	logs := make([]float64, len(stakes))
	for j, lambda := range stakes {
		lambda := min(lambda, sideShare/x)
		for c, runs := range e.Runs {
			if runs > 0 {
				logs[j] += float64(runs) * math.Log1p(lambda*(float64(c)/float64(e.K)-x))
			}
		}
	}
	return logMean(logs)
}

// lowestEpsilon is where the search begins: lower bounds are of no interest.
const lowestEpsilon = -20.0
