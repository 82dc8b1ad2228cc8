package bounds

import "math"

const (
	// MethodScoreMixture is [NewScoreMonitor] and [NewDeltaMonitor].
	MethodScoreMixture Method = "anytime-score-mixture"
	// MethodRenyiMixture is [NewRenyiMonitor].
	MethodRenyiMixture Method = "anytime-renyi-mixture"
)

// TableMixture is a lower bound from a bounded witness on a table that may be
// looked at after any number of pairs and stopped at any moment: the probability
// that it ever exceeds the truth is at most beta, over all looks together.
//
// It bets with the paired statistic W(theta) of the fixed-sample bound, with a
// mixture of stakes that do not depend on theta:
//
//	E(theta) = (1/J) sum_j prod (1 + lambda_j W_i(theta)),
//
// a term counting 0 where a factor could be negative. Each term, and so E, falls
// with theta, and at the true value each is a non-negative supermartingale that
// begins at 1. So the bound now, the end of the interval on which E >= 1/beta,
// taken at its largest over the looks, exceeds the true value only if E at the
// true value has reached 1/beta at some look (Ville 1939). Between looks the
// bound moves in steps of at least climbStep and climbShare of itself, and lags by
// less than that.
//
// Conditions: pairs independent of one another, bins and witness fixed
// beforehand.
type TableMixture struct {
	w       *wager
	lambdas []float64
	lo, hi  float64
	none    float64 // the bound when nothing is rejected
	goal    float64
	bound   float64
	found   bool
	next    float64     // the theta whose wealth is followed
	logs    [][]float64 // log(1 + lambda_j W(next)) by stake and cell; empty for a term that counts 0
	pairs   int
}

// climbStep is the smallest step of the bound, climbShare the smallest relative
// to it.
const (
	climbStep  = 1e-6
	climbShare = 1e-3
)

func stepAt(theta float64) float64 { return math.Max(climbStep, climbShare*theta) }

// NewScoreMonitor bounds log((E f(X) - delta)/E f(Y)), hence epsilon at this
// delta, by a score f in [0, 1] by bin, from 0 to 20: -Inf if nothing is
// rejected. 48 stakes from 1e-6 to .98/(1+delta). It panics on arguments out of
// range.
func NewScoreMonitor(f []float64, delta, beta float64) *TableMixture {
	mustBeMixtureScore(f, delta, beta)
	const n = 48
	lambdas := make([]float64, n)
	top := 0.98 / (1 + delta)
	for i := range lambdas {
		lambdas[i] = 1e-6 * math.Pow(top/1e-6, float64(i)/(n-1))
	}
	return newTableMixture(scoreWager(f, delta), lambdas, beta, 0, 20, math.Inf(-1))
}

// NewDeltaMonitor bounds E f(X) - e^eps E f(Y), hence delta at this eps; 0 if
// nothing is rejected. The 25 stakes of [EventMixture] at delta = 1, so that every
// delta keeps all of them.
func NewDeltaMonitor(f []float64, eps, beta float64) *TableMixture {
	mustBeMixtureScore(f, 0, beta)
	mustBeFinite(eps)
	return newTableMixture(deltaWager(f, eps), stakesBelow(math.Exp(eps)+1), beta, 0, 1, 0)
}

// NewRenyiMonitor bounds D_alpha by the witness h, whose mean of exp(alpha h) on
// the second dataset should be near 1, such as the H of a [RenyiPlan]; 0 if
// nothing is rejected. The 25 stakes of [EventMixture], as shares of the largest
// allowed. It panics unless h and alpha pass [CheckRenyiWitness] and alpha |h| is
// at most 600.
func NewRenyiMonitor(h []float64, alpha, beta float64) *TableMixture {
	refuse((RenyiPlan{Alpha: alpha, Method: MethodRenyiBerryEsseen, H: h}).Validate() != nil || CheckBeta(beta) != nil, "witness, alpha or beta out of range")
	w := newRenyiWager(h, alpha)
	return newTableMixture(w.wager, stakesBelow(w.floor()), beta, 0, w.reach(), 0)
}

func stakesBelow(floor float64) []float64 {
	lambdas := make([]float64, len(mixtureStakes))
	for j, u := range mixtureStakes {
		lambdas[j] = u / floor
	}
	return lambdas
}

func newTableMixture(w *wager, lambdas []float64, beta, lo, hi, none float64) *TableMixture {
	m := &TableMixture{w: w, lambdas: lambdas, lo: lo, hi: hi, none: none, bound: none, goal: math.Log(1/beta) + 1e-9}
	m.follow(lo)
	return m
}

// cachedBins keeps the logarithms within some megabytes; beyond it they are
// computed at every look.
const cachedBins = 128

// follow tabulates the logarithms at theta.
func (m *TableMixture) follow(theta float64) {
	m.next = theta
	if len(m.w.a) > cachedBins {
		return
	}
	if m.logs == nil {
		m.logs = make([][]float64, len(m.lambdas))
	}
	u, v, c := m.w.at(theta)
	bins := len(m.w.a)
	for j, lambda := range m.lambdas {
		m.logs[j] = m.logs[j][:0]
		if !(lambda*(v*m.w.top+c) < 1-1e-9) {
			continue
		}
		for a := range bins {
			for b := range bins {
				m.logs[j] = append(m.logs[j], math.Log1p(lambda*(u*m.w.a[a]-v*m.w.b[b]-c)))
			}
		}
	}
}

// followed is log E at next.
func (m *TableMixture) followed(cells []tableCell) float64 {
	if len(m.w.a) > cachedBins {
		return m.logWealth(cells, m.next)
	}
	terms := make([]float64, len(m.logs))
	bins := len(m.w.a)
	for j, logs := range m.logs {
		terms[j] = math.Inf(-1)
		if len(logs) == 0 {
			continue
		}
		sum := 0.0
		for _, k := range cells {
			sum += k.n * logs[k.a*bins+k.b]
		}
		terms[j] = sum
	}
	return logMean(terms)
}

// logWealth is log E at any theta.
func (m *TableMixture) logWealth(cells []tableCell, theta float64) float64 {
	terms := make([]float64, len(m.lambdas))
	for j, lambda := range m.lambdas {
		terms[j] = m.w.logWealth(cells, theta, lambda)
	}
	return logMean(terms)
}

// Observe takes the table of all pairs so far, the earlier ones included. One
// multiplication for each stake and cell that is not empty; where the bound
// climbs, some ten times as many logarithms. It panics if the table does not fit
// the witness or has fewer pairs than at the last look.
func (m *TableMixture) Observe(t Table) {
	mustBeTable(t, m.w.a)
	pairs := t.Pairs()
	refuse(pairs < m.pairs, "a look has fewer pairs than the one before it")
	m.pairs = pairs
	cells := t.cells()
	goal := m.goal + 1e-14*float64(pairs)
	if m.next > m.hi || m.followed(cells) < goal {
		return
	}
	if theta, ok := m.climb(cells, goal); ok {
		m.bound, m.found = theta, true
		m.follow(theta + stepAt(theta))
	}
}

// climb returns the end of the interval on which E reaches goal, from next on,
// to within a quarter of a step and from inside: strides that double, then
// bisection, so that a small climb is cheap. ok = false if next is not in it,
// which can only be by the last bits of two sums.
func (m *TableMixture) climb(cells []tableCell, goal float64) (theta float64, ok bool) {
	in := func(theta float64) bool { return m.logWealth(cells, theta) >= goal }
	if !in(m.next) {
		return 0, false
	}
	lo, stride := m.next, stepAt(m.next)
	for lo+stride < m.hi && in(lo+stride) {
		lo += stride
		stride *= 2
	}
	hi := math.Min(lo+stride, m.hi)
	return bisect(lo, math.Max(lo, hi), stepAt(lo)/4, in)
}

// LowerBound is the bound now, rounded down to six decimals; it never falls.
func (m *TableMixture) LowerBound() float64 {
	if !m.found {
		return m.none
	}
	return math.Max(m.lo, RoundDown(m.bound))
}

// Rejected reports whether a claim that the bounded quantity is at most theta is
// refuted.
func (m *TableMixture) Rejected(theta float64) bool { return m.found && m.LowerBound() > theta }

func mustBeMixtureScore(f []float64, delta, beta float64) {
	refuse(len(f) == 0 || len(f) > maxBins, "a score needs 1 to 1024 values")
	t := NewTable(len(f))
	t.N[0] = 1
	mustBeScore(t, f, delta, beta)
}
