package bounds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dpscope/dpscope/audit"
)

// CanaryTable is the evidence of an audit with canaries (LiDP, algorithm 1): pairs of runs by how
// many of K canaries in the data fell into the event, and how many of M fresh ones. Pairs are
// independent; the two sides of one need not be.
type CanaryTable struct {
	K     int          `json:"k"`     // canaries in the data, 1 to 65536
	M     int          `json:"m"`     // fresh canaries, 1 to 65536
	Cells []CanaryCell `json:"cells"` // sorted by X, then Y; each pair (X, Y) at most once
}

// CanaryCell counts the pairs of runs with X of K canaries and Y of M fresh ones in the event.
type CanaryCell struct {
	X    int `json:"x"`
	Y    int `json:"y"`
	Runs int `json:"runs"` // at least 1
}

// NewCanaryTable returns an empty table. It panics unless 1 <= k, m <= 65536.
func NewCanaryTable(k, m int) CanaryTable {
	Must(checkCanaries(k, m))
	return CanaryTable{K: k, M: m}
}

// CountCells is the table of cells in any order; it sorts them.
func CountCells(k, m int, cells []CanaryCell) CanaryTable {
	t := NewCanaryTable(k, m)
	slices.SortFunc(cells, compareCells)
	for _, c := range cells {
		if n := len(t.Cells); n > 0 && compareCells(t.Cells[n-1], c) == 0 {
			t.Cells[n-1].Runs += c.Runs
			continue
		}
		t.Cells = append(t.Cells, c)
	}
	Must(t.Validate())
	return t
}

// Validate reports the first field that is out of range. A table needs a run.
func (t CanaryTable) Validate() error {
	if err := checkCanaries(t.K, t.M); err != nil {
		return err
	}
	total := 0
	for i, c := range t.Cells {
		switch {
		case c.X < 0 || c.X > t.K:
			return fmt.Errorf("canaries: cells[%d].x is %d, must be 0 to k = %d", i, c.X, t.K)
		case c.Y < 0 || c.Y > t.M:
			return fmt.Errorf("canaries: cells[%d].y is %d, must be 0 to m = %d", i, c.Y, t.M)
		case c.Runs < 1 || c.Runs > maxTrials-total:
			return fmt.Errorf("canaries: cells[%d].runs is %d, must be at least 1, and all together at most %d", i, c.Runs, maxTrials)
		case i > 0 && compareCells(t.Cells[i-1], c) >= 0:
			return fmt.Errorf("canaries: cells[%d] (x %d, y %d) is out of order: sort by x, then y, each pair once", i, c.X, c.Y)
		}
		total += c.Runs
	}
	return require(total > 0, "canaries: the table holds no run: make at least one")
}

func compareCells(a, b CanaryCell) int { return cmp.Or(a.X-b.X, a.Y-b.Y) }

// Add counts runs more pairs with x and y canaries in the event.
func (t *CanaryTable) Add(x, y, runs int) {
	Refuse(x < 0 || x > t.K || y < 0 || y > t.M || runs < 0 || runs > maxTrials, "canary counts out of range")
	if runs == 0 {
		return
	}
	c := CanaryCell{x, y, runs}
	i, found := slices.BinarySearchFunc(t.Cells, c, compareCells)
	if found {
		t.Cells[i].Runs += runs
		return
	}
	t.Cells = slices.Insert(t.Cells, i, c)
}

// Merge adds the pairs of another shard of the same K and M.
func (t *CanaryTable) Merge(u CanaryTable) {
	Refuse(t.K != u.K || t.M != u.M, "canary tables of different sizes do not add up")
	for _, c := range u.Cells {
		t.Add(c.X, c.Y, c.Runs)
	}
}

// Runs is the number of pairs of runs.
func (t CanaryTable) Runs() int {
	total := 0
	for _, c := range t.Cells {
		total += c.Runs
	}
	return total
}

// In counts the runs by the number of canaries of the data in the event.
func (t CanaryTable) In() Exchangeable {
	return t.side(t.K, func(c CanaryCell) int { return c.X })
}

// Out counts the runs by the number of fresh canaries in the event.
func (t CanaryTable) Out() Exchangeable {
	return t.side(t.M, func(c CanaryCell) int { return c.Y })
}

func (t CanaryTable) side(size int, ones func(CanaryCell) int) Exchangeable {
	e := NewExchangeable(size)
	for _, c := range t.Cells {
		e.Runs[ones(c)] += c.Runs
	}
	return e
}

func mustBeCanaries(t CanaryTable, delta, beta float64) {
	Must(t.Validate(), CheckDelta(delta), CheckBeta(beta))
}

// CoinDelta is the delta for bounds from a [CanaryTable] whose runs are by coins: a fair coin of
// its own put each of K canaries in or left it out, and a cell counts the runs, whatever their
// coins, in which X in the event were in and Y were out, so that M = K.
//
// Under (eps, delta)-DP of adding or removing one record
//
//	E X/K <= e^eps E Y/K + delta/2,
//
// which is what the bounds take of p1, p0 and CoinDelta(delta). Proof: let A_k be that canary k is
// in the event, and in_k its coin. Given all other coins, the datasets with in_k = 1 and 0 differ
// by one record, so P(A_k | in_k = 1, others) <= e^eps P(A_k | in_k = 0, others) + delta. The mean
// over the others, which have one law in both cases, with P(in_k) = 1/2 is P(A_k, in_k = 1) <=
// e^eps P(A_k, in_k = 0) + delta/2. The mean over k is the claim.
//
// To select runs by how many were in would compare datasets in which one record is replaced, whose
// epsilon may be twice as large (see the tests).
func CoinDelta(delta float64) float64 { return delta / 2 }

// CoinCeiling is the largest bound that n runs by coins could give, if in of their n K memberships
// were in, spread evenly: no spread gives more for paired betting, as the log of the wealth is
// concave in X/K; for betting on each side it is that of all in. delta is the claim's.
func CoinCeiling(kind CanaryInterval, k, n, in int, delta, beta float64) float64 {
	Refuse(n < 1 || n > maxTrials || in < 0 || in > n*k, "number of runs or of canaries inside out of range")
	delta = CoinDelta(delta)
	t := NewCanaryTable(k, k)
	each, more := in/n, in%n
	t.Add(each, 0, n-more)
	if more > 0 {
		t.Add(each+1, 0, more)
	}
	mustBeCanaries(t, delta, beta)
	kind.mustApply(t)
	switch kind {
	case CanaryPairedBetting:
		return t.pairedCeiling(delta, beta)
	case CanaryBetting:
		return CanaryCeiling(kind, k, k, n, delta, beta)
	}
	return CanaryEpsilon(kind, t, delta, beta, CanaryStakes{})
}

// pairedCeiling is for the best stake where no fresh canary is in the event: the least whose
// wealth, which is concave, is the goal.
func (t CanaryTable) pairedCeiling(delta, beta float64) float64 {
	aim := goal(beta, t.Runs())
	wealth := func(lambda float64) float64 {
		sum := 0.0
		for _, c := range t.Cells {
			sum += float64(c.Runs) * math.Log1p(lambda*(float64(c.X)/float64(t.K)-delta))
		}
		return sum
	}
	// By powers of two up to the first stake that reaches the goal, then by halving.
	hi := math.Ldexp(1, -40)
	for !(wealth(hi) >= aim) {
		if hi *= 2; !(topShare/hi-delta > 0) {
			return -inf
		}
	}
	lambda, _ := Bisect(-hi, -hi/2, hi*1e-12, func(x float64) bool { return wealth(-x) >= aim })
	return logBound(topShare/-lambda - delta)
}

// CanaryStakes are the stakes of the betting intervals, mixed with equal weights and fixed before
// the runs that certify: by [TuneCanary], or, where a list is empty, once and for all, which costs
// two to three times the runs.
type CanaryStakes struct {
	Paired []float64 `json:"paired,omitempty"` // of CanaryPairedBetting; each above 0
	In     []float64 `json:"in,omitempty"`     // of CanaryBetting on the canaries of the data
	Out    []float64 `json:"out,omitempty"`    // the same on the fresh ones
}

// maxStakes bounds the work that a document can ask for.
const maxStakes = 64

// Validate reports a stake that is not positive and finite, or a list of more than 64.
func (s CanaryStakes) Validate() error {
	for _, list := range []struct {
		name   string
		stakes []float64
	}{{"paired", s.Paired}, {"in", s.In}, {"out", s.Out}} {
		if len(list.stakes) > maxStakes {
			return fmt.Errorf("stakes: %s has %d, must have at most %d", list.name, len(list.stakes), maxStakes)
		}
		for i, lambda := range list.stakes {
			if !(lambda > 0 && lambda != inf) {
				return fmt.Errorf("stakes: %s[%d] is %v, must be above 0 and finite", list.name, i, lambda)
			}
		}
	}
	return nil
}

// Without exploration: powers of two.
var pairedStakes, sideStakes = powersOfTwo(-9, 1), powersOfTwo(-8, 7)

func powersOfTwo(from, to int) []float64 {
	return audit.Listed(to-from+1, func(i int) float64 { return math.Ldexp(1, from+i) })
}

func stakesOr(tuned, fixed []float64) []float64 { return audit.Pick(len(tuned) > 0, tuned, fixed) }

// topShare is the most of the wealth at risk in a run by paired betting, sideShare on one side.
const (
	topShare  = 0.995
	sideShare = 0.95
)

// TuneCanary are the stakes that would be best if n certification runs repeated the exploration,
// which alone it sees: so bounds stay valid. Half a run in which one canary falls on the other side
// is added. The largest stake allowed at the bound it promises is raised to what is allowed
// log(modesty) below.
func TuneCanary(explored CanaryTable, n int, delta, beta float64) CanaryStakes {
	mustBeCanaries(explored, delta, beta)
	mustBeRuns(n)
	tune := func(p prospect, beta float64) []float64 {
		x, lambda := p.best(goal(beta, n) / float64(n))
		if lambda*(x+p.c) > 0.9*p.share {
			lambda = p.share / (x/modesty + p.c)
		}
		v, err := strconv.ParseFloat(strconv.FormatFloat(lambda, 'e', 2, 64), 64) // three digits
		Refuse(err != nil, "a stake that is no number")
		return []float64{v}
	}
	return CanaryStakes{
		Paired: tune(explored.prospect(delta), beta),
		In:     tune(explored.In().prospect(), beta/2),
		Out:    tune(explored.Out().mirror().prospect(), beta/2),
	}
}

// modesty is how much smaller than promised e^eps is taken to be.
const modesty = 1.3

// CanaryValue is the bound of paired betting with the best stake, if n pairs of runs repeated the
// exploration.
func CanaryValue(explored CanaryTable, n int, delta, beta float64) float64 {
	mustBeCanaries(explored, delta, beta)
	mustBeRuns(n)
	th, _ := explored.prospect(delta).best(goal(beta, n) / float64(n))
	return logBound(th)
}

func mustBeRuns(n int) { Refuse(n < 1 || n > maxTrials, "number of runs out of range") }

// prospect is a law of W(x) = a - x b - c, b in [0, 1], whose weights sum to 1.
type prospect struct {
	cells []prospectCell
	c     float64
	share float64
}

type prospectCell struct{ weight, a, b float64 }

// prospect of paired betting, as a family in e^eps.
func (t CanaryTable) prospect(delta float64) prospect {
	n, k, m := float64(t.Runs()), float64(t.K), float64(t.M)
	var cells []prospectCell
	mean := 0.0
	for _, c := range t.Cells {
		cells = append(cells, prospectCell{float64(c.Runs) / (n + 0.5), float64(c.X) / k, float64(c.Y) / m})
		mean += float64(c.Runs) * float64(c.X) / k / n
	}
	cells = append(cells, prospectCell{0.5 / (n + 0.5), mean, 1 / m})
	return prospect{cells, delta, topShare}
}

// prospect of a lower limit of the mean x of one side.
func (e Exchangeable) prospect() prospect {
	n, k := float64(e.N()), float64(e.K)
	var cells []prospectCell
	for c, runs := range e.Runs {
		if runs > 0 {
			cells = append(cells, prospectCell{float64(runs) / (n + 0.5), float64(c) / k, 1})
		}
	}
	cells = append(cells, prospectCell{0.5 / (n + 0.5), (k - 1) / k, 1})
	return prospect{cells, 0, sideShare}
}

// best is the largest x, over all stakes, at which the mean growth is at least rate, and its stake.
// The growth is concave in lambda and falls with x, so the stakes that reach an x are nested
// intervals: reach has one peak.
func (p prospect) best(rate float64) (x, lambda float64) {
	lambda = math.Exp(Golden(math.Log(1e-7), math.Log(min(1e4, p.share/p.c)), 1e-3, func(l float64) float64 { return -p.reach(math.Exp(l), rate) }))
	return p.reach(lambda, rate), lambda
}

// reach is the largest x whose growth at this stake is at least rate and at which no factor could
// be negative. Growth falls with x and is concave: Newton's steps from the right stay there.
func (p prospect) reach(lambda, rate float64) float64 {
	var x, growth, slope float64
	for _, share := range [...]float64{0.5, 0.9, p.share} {
		x = share/lambda - p.c
		if growth, slope = p.growth(lambda, x); growth < rate {
			break
		}
	}
	for range 100 {
		if growth >= rate {
			break
		}
		step := (growth - rate) / slope
		x -= step
		if step <= 1e-9*math.Abs(x) {
			break
		}
		growth, slope = p.growth(lambda, x)
	}
	return x
}

func (p prospect) growth(lambda, x float64) (mean, slope float64) {
	for _, c := range p.cells {
		f := lambda * (c.a - x*c.b - p.c)
		mean += c.weight * math.Log1p(f)
		slope -= c.weight * lambda * c.b / (1 + f)
	}
	return mean, slope
}
